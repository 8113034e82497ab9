# Edits of a model's ONNX graphs that are checked: what says something else afterwards is refused (docs/onnx.md).
#
#   hexmage run onnx-edit                                                 two layers with seeded weights
#   hexmage run onnx-edit --var model=models/SmolLM2-135M-Instruct --var layers=30 --var tolerance=0.01
#   hexmage inspect --diff out/onnx-edit/graphs/decode.onnx out/onnx-edit/edited/decode.onnx

pipeline { description = "A model's ONNX graphs edited and cut in two, checked against what they were, node by node" }
profile "emulator" { default = true }

variable "model" { type = optional(string) }
variable "layers" { type = optional(number) }
variable "norms" { type = optional(number) }
variable "prompt" { type = optional(string) }
variable "tolerance" { type = optional(number) }

step "model" "tiny" {
  when         = var.model == null
  architecture = "llama"
  block_size   = 32
  seed         = 79
  layers       = 2
}

module "edit" {
  source    = "onnx-edit"
  model     = coalesce(var.model, step.model.tiny.outputs.dir)
  layers    = var.layers
  norms     = var.norms
  prompt    = var.prompt
  tolerance = var.tolerance
}

output "edited" { value = module.edit.edited }
output "graphs" { value = module.edit.graphs }
output "halves" { value = module.edit.halves }
output "table" { value = module.edit.table }
