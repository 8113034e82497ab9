# The profile of Qualcomm's emulator: the nodes, and roughly which are heavy. Its times are not a device's.

profile "emulator" {
  default = true

  locals {
    emulated  = true
    htp_host  = null
    profiling = var.profiling == "" ? null : var.profiling
    profiles  = { for scheme, s in step.htp_emulate.scheme : scheme => s.outputs.profile if var.profiling != "" }
    csv       = { for scheme, dir in local.profiles : scheme => "${dir}/${local.stem}.csv" }
    logs      = {}
    metrics   = {}
  }
}
