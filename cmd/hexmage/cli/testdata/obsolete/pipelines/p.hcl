pipeline {
  description = "leaves a state file of every kind"
}

# A large file: when it was last read is remembered.
step "exec" "big" {
  argv = ["sh", "-c", "head -c 1100000 /dev/zero > big"]
  output "o" { file = "big" }
}

# A folder of so many files that it is kept, laid out, for the next run.
step "exec" "many" {
  argv = ["sh", "-c", "mkdir many; for i in $(seq 520); do echo $((i % 7)) > many/f$i; done"]
  output "o" { tree = "many" }
}

step "exec" "sum" {
  argv   = ["sh", "-c", "cat src/* > all; cat $1/* | cksum >> all; cksum < $2 >> all", "sum", step.exec.many.outputs.o, step.exec.big.outputs.o]
  inputs = ["src"]
  output "o" { file = "all" }
}

# It has an effect: with which inputs it last ran is remembered.
step "exec" "effect" {
  argv  = ["sh", "-c", "tail -n 1 $1 > out", "effect", step.exec.sum.outputs.o]
  cache = "inputs"
  output "o" { file = "out" }
}

output "all" {
  value = step.exec.sum.outputs.o
}
output "last" {
  value = step.exec.effect.outputs.o
}
