pipeline {
  description = "A C program: a generated header, a file compiled for each source, a link, a test"
}

# A program of the workspace is an input by itself. So is the file that becomes its standard input.
step "exec" "version" {
  argv  = ["./tools/header", "VERSION"]
  stdin = "version.txt"
  output "include" { tree = "include" }
}

# One copy for each source. The folders count by the names in them and by what the compiler says that it read: a changed
# header compiles those sources anew that include it, and no other.
step "exec" "compile" {
  for_each = toset([for f in fileset("src", "*.c") : trimsuffix(basename(f), ".c")])
  argv = [
    "gcc", "-O2", "-Wall", "-MMD", "-MF", "${each.key}.d",
    "-Iinclude", "-I${step.exec.version.outputs.include}",
    "-c", "src/${each.key}.c", "-o", "${each.key}.o",
  ]
  inputs  = ["src/${each.key}.c", "include"]
  depfile = "${each.key}.d"
  output "o" { file = "${each.key}.o" }
}

step "exec" "link" {
  argv = concat(["gcc", "-o", "app"], values(step.exec.compile)[*].outputs.o)
  output "app" { file = "app" }
}

# A script runs with /bin/sh -eu. Values reach it by env, where no quoting is needed.
step "exec" "test" {
  argv = [<<-EOT
    "./$APP" 6 7 > said.txt
    grep -q 42 said.txt
  EOT
  ]
  shell    = true
  programs = ["grep"]
  env      = { APP = step.exec.link.outputs.app }
  output "said" { value = "said.txt" }
}

output "app" {
  value = step.exec.link.outputs.app
}

output "said" {
  value = step.exec.test.outputs.said
}
