# A program on phones, measured: each variant three times, on a phone that is cool.
#
#   hexmage run @name@                     on a simulated phone
#   hexmage run @name@ --profile device    on any that is free: yours, or those of ~/.config/hexmage/devices.hcl, which has
#                                       lines such as device "desk" { serial = "R5CX123ABCD" }

pipeline { description = "Variants of a program, measured on phones" }
profile "simulated" {
  default = true
  toolchain "llvm" {}
  toolchain "qemu" {}
  toolchain "busybox" {}
  step "simulated_phone" "phone" {}
  locals { phone = step.simulated_phone.phone.outputs.image }
}
profile "device" {
  locals { phone = null }
}
target "@soc@" {}
toolchain "adb" {}

step "run" "bench" {
  device = local.phone
  push   = { "bench.sh" = "bench.sh" } # programs, models, libraries: toolchain.qairt.htp_runtime[target.arch]
  argv   = ["sh", "./bench.sh", matrix.n]
  matrix = { n = ["10000", "50000"] } # with serial = ["desk", "window"] each of these phones measures
  repeat = 3
  cooldown { celsius = 40 }
  metric "loop" {
    pattern = "^loop: {time}$"
    unit    = "ms"
  }
}
output "metrics" {
  value = step.run.bench.outputs.metrics
  show  = "table"
}
