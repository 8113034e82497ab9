# The profile of Qualcomm's emulator: the nodes, and roughly which are heavy. Its times are not a device's.

profile "emulator" {
  default = true

  locals {
    htp_host  = null
    profiling = var.profiling == "" ? null : var.profiling
    profiles  = { for scheme, s in step.htp_emulate.scheme : scheme => s.outputs.profile if var.profiling != "" }
    logs      = {}
    metrics   = {}
  }

  step "npu_profile" "scheme" {
    for_each = var.profiling == "" || !local.runs ? [] : local.schemes
    title    = "${local.name}, ${each.key}, for ${target.soc}, Hexagon ${target.arch}: ${var.profiling}"
    profile  = "${local.profiles[each.key]}/${local.llm ? "decode" : local.example ? "net" : trimsuffix(basename(var.graph), ".onnx")}.csv"
    graphs   = "${step.htp_context.scheme[each.key].outputs.dir}/graphs"
    emulator = true
    top      = var.top
  }
}
