# From nothing to a context binary for the NPU, with simulations of Qualcomm's parts: no SDK, no account, no download.
#
#   hexmage run @name@                  out/@name@/context.bin, in seconds; the second time nothing is left to do
#   hexmage run @name@ --soc SM8650     for another phone: only what depends on it
#   hexmage inspect out/@name@/context.bin

pipeline { description = "A toy model, compiled for the NPU" }
profile "simulated" { default = true }
target "@soc@" {}
toolchain "qairt" { version = "@qairt@" }
toolchain "mllm" {} # has the context compiler

step "toy_model" "small" { seed = 1 } # seeded weights, which say nothing
step "convert" "small" {
  name  = "small"
  model = step.toy_model.small.outputs.dir
}
step "context" "small" {
  model    = step.convert.small.outputs.model
  config   = "${step.toy_model.small.outputs.dir}/config.json"
  compiler = "${toolchain.mllm.dir}/bin/mllm-qwen3-aot-sha-c"
}
output "context.bin" { value = step.context.small.outputs.context }
