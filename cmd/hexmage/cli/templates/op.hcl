# Your op package, for a phone's processor and for its NPU:
#
#   hexmage run @name@                     with real compilers behind simulations of the SDKs: no account
#   hexmage run @name@ --profile device    with Qualcomm's SDKs and the NDK
#   hexmage watch @name@                   after each save, what changed
#   hexmage init --op NAME@pad@one more op, in src/ops of the package

pipeline { description = "An op package for AArch64 and Hexagon" }
profile "simulated" {
  default = true
  toolchain "llvm" {} # the simulations' compilers
}
profile "device" {}
target "@soc@" {}
toolchain "qairt" { version = "@qairt@" }
toolchain "hexagon" { version = "@hexagon@" }
toolchain "ndk" { version = "r28b" }

step "oppackage" "ops" {
  source  = "@path@"
  targets = ["htp_aarch64", "htp_${target.arch}"] # "htp_v75" and so on for more
}
output "libraries" { value = step.oppackage.ops.outputs.device } # as a phone loads them
output "report" { value = step.oppackage.ops.outputs.report }
