# A step of your own with a file of an SDK, which is checked first: what must be there, each library's machine, one build id.
#
#   hexmage run @name@                     with the simulation
#   hexmage run @name@ --profile device    with yours

pipeline { description = "What an SDK says that it is" }
profile "simulated" { default = true }
profile "device" {}
target "@soc@" {}
toolchain "@sdk@" { version = "@simulated@" }

step "exec" "version" {
  argv = ["cp", "${toolchain.@sdk@.dir}/@file@", "version.txt"]
  output "version" { file = "version.txt" }
}
output "version.txt" { value = step.exec.version.outputs.version }
