# Tiny actions: each copies a source, and one sorts the lines of all copies.
pipeline { description = "tiny actions" }

step "exec" "copy" {
  for_each = toset(fileset("src", "*"))
  argv     = ["./tools/busybox", "cp", each.value, "copy"]
  inputs   = ["tools/busybox", each.value]
  output "copy" { file = "copy" }
}

step "exec" "all" {
  argv   = concat(["./tools/busybox", "sort", "-o", "all"], [for s in step.exec.copy : s.outputs.copy])
  inputs = ["tools/busybox"]
  output "all" { file = "all" }
}

output "all" { value = step.exec.all.outputs.all }
output "copies" { value = [for s in step.exec.copy : s.outputs.copy] }
