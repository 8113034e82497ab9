# An Olive recipe, pass by pass, and a context of what its passes leave.

module {
  description = "A recipe of Olive's as it is, each pass an action of its own, compiled for the target by htp_context, beside the float model on the emulator"
}

variable "recipe" {
  type        = string
  default     = ""
  description = "The recipe, a JSON file of the workspace; by default a small example"
}

variable "model" {
  type        = string
  default     = ""
  description = "The recipe's input_model: an ONNX graph, or a folder in the Hugging Face layout; by default the example's"
}

variable "data" {
  type        = map(string)
  default     = {}
  description = "Samples for the recipe's data_configs, by name: a file, or of a RawDataContainer a folder"
}

variable "samples" {
  type        = string
  default     = ""
  description = "A folder of *.npz files with the graph's inputs by name, for an ONNX model: the context is held to what the model says of them; by default the example's, and of another recipe none"
}

variable "fallback" {
  type        = bool
  default     = false
  description = "Whether nodes that the NPU does not take may stay on the CPU"
}

variable "floats" {
  type        = bool
  default     = false
  description = "Whether products of quantised tensors may be computed in 16-bit floats"
}

variable "least" {
  type        = number
  default     = 0.99
  description = "The cosine that is good enough, of the worst output of the worst sample"
}

toolchain "olive" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}

locals {
  example  = var.recipe == ""
  recipe   = local.example ? "${path.module}/recipe.json" : var.recipe
  made     = step.python.example.outputs.dir
  model    = local.example ? "${local.made}/net.onnx" : var.model
  data     = local.example ? { seen = "${local.made}/raw" } : var.data
  samples  = local.example ? "${local.made}/samples" : var.samples
  compared = local.example || var.samples != ""
}

step "python" "example" {
  when        = local.example
  environment = toolchain.onnx.dir
  script      = "${path.module}/example.py"
  args        = ["example"]
  output "dir" { tree = "example" }
}

step "olive" "passes" {
  title  = "${local.example ? "the example" : basename(local.recipe)} for ${target.soc}, Hexagon ${target.arch}"
  recipe = local.recipe
  model  = local.model
  data   = local.data
}

step "htp_context" "net" {
  description  = "what stands for EPContextBinaryGenerator"
  graphs       = step.olive.passes.outputs.dir
  optimization = step.olive.passes.outputs.compile.optimization
  sharing      = step.olive.passes.outputs.compile.sharing
  fallback     = var.fallback
  floats       = var.floats
}

step "onnx_run" "net" {
  description = "what the model says before the recipe"
  when        = local.compared
  graphs      = local.model
  inputs      = local.samples
}

step "htp_emulate" "net" {
  description = "what the NPU would say"
  when        = local.compared
  context     = step.htp_context.net.outputs.dir
  inputs      = local.samples
}

step "accuracy" "net" {
  when      = local.compared
  title     = "the context beside the model that the recipe was given"
  least     = var.least
  reference = step.onnx_run.net.outputs.dir
  outputs   = { htp = step.htp_emulate.net.outputs.dir }
  contexts  = { htp = step.htp_context.net.outputs.dir }
  times     = { htp = step.htp_emulate.net.outputs.times }
}

check "near" {
  description   = "the NPU's outputs are near the model's"
  when          = local.compared
  condition     = step.accuracy.net.outputs.first_bad == ""
  error_message = "The context has a cosine of ${format("%.4f", step.accuracy.net.outputs.rows["htp"].cosine)} to the model that the recipe was given, and ${var.least} is wanted: leave out one pass after the other to see which it is."
}

output "model" {
  description = "what the last pass of Olive's left, with model_config.json and manifest.json"
  value       = step.olive.passes.outputs.dir
}

output "context" {
  description = "device/: the context; manifest.json; nodes.json: which node runs where"
  value       = step.htp_context.net.outputs.dir
}

output "rows" {
  description = "the passes, for checks"
  value       = step.olive.passes.outputs.rows
}

output "passes" {
  description = "who ran each pass, what it left, and what is otherwise than the recipe says"
  show        = "table"
  value       = step.olive.passes.outputs.table
}

output "table" {
  description = "with samples the context on the emulator beside the model that the recipe was given"
  show        = "table"
  value       = local.compared ? step.accuracy.net.outputs.table : null
}
