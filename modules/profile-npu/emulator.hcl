# The vendor's emulator for x86: which nodes there are, and how heavy they are beside each other to the emulator. No performance.

profile "emulator" {
  default = true

  toolchain "htp_host" {}
  toolchain "gnu_runtime" {}
  toolchain "onnx" {}

  locals {
    htp_host = null
    profile  = step.htp_emulate.net.outputs.profile
    log      = null
    metrics  = null
    emulator = true
    sampled  = {}
  }

  step "htp_emulate" "net" {
    description = "with the runtime's profiling"
    context     = module.net.context
    inputs      = module.net.samples
    profiling   = var.level
  }
}
