pipeline {
  description = "An op package with one op, for the phone's processor and its NPU"
}

target "SM8750" {}

profile "simulated" { default = true } # simulations with real compilers behind them
profile "device" {}                    # the real SDKs

toolchain "qairt" { version = "2.41.0.251128" }
toolchain "hexagon" { version = "6.4.0.2" }
toolchain "ndk" { version = "r28b" }

toolchain "llvm" { when = profile.name == "simulated" } # behind the simulations' compiler wrappers

step "oppackage" "clip" {
  source  = "clip"
  targets = ["htp_aarch64", "htp_${target.arch}"]
}

step "makefile" "clip" {
  description = "the same build for make"
  source      = "clip"
}

output "oppackage" {
  value = step.oppackage.clip.outputs.dir
}

output "makefile" {
  value = step.makefile.clip.outputs.dir
}

output "compile_commands.json" {
  value = step.oppackage.clip.outputs.compile_commands
}
