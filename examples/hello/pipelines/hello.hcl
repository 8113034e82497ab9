pipeline {
  description = "Greet everybody on a list, and count the greetings"
}

variable "greeting" {
  type        = string
  default     = "Hello"
  description = "What everybody is told"

  validation {
    condition     = var.greeting != ""
    error_message = "Say something."
  }
}

# One copy of the step for each line of the file. A new line makes one new action; the others are not run again.
step "exec" "greet" {
  for_each = toset(split("\n", trimspace(file("people.txt"))))
  argv     = ["sh", "-c", "echo \"$GREETING, $NAME!\" > greeting.txt"]
  env      = { GREETING = var.greeting, NAME = each.value }
  output "text" { file = "greeting.txt" }
}

# The outputs of all copies are inputs, because they are in argv.
step "exec" "gather" {
  argv = concat(["sh", "-c", "cat \"$@\" > all.txt && grep -c . all.txt > count.txt", "gather"], values(step.exec.greet)[*].outputs.text)
  output "all" { file = "all.txt" }
  output "count" { value = "count.txt" } # its content, not its path
}

# Waits for the value: what the command is depends on what the step before found.
step "exec" "title" {
  argv = ["sh", "-c", "echo \"$1\" | cat - \"$2\" > letter.txt", "title", "${step.exec.gather.outputs.count} greetings", step.exec.gather.outputs.all]
  output "letter" { file = "letter.txt" }
}

output "letter.txt" {
  value = step.exec.title.outputs.letter
}

output "greetings" {
  description = "a file for each"
  value       = { for name, copy in step.exec.greet : name => copy.outputs.text }
}

output "count" {
  value = step.exec.gather.outputs.count
}
