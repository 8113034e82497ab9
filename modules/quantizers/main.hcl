# One language model quantized by many schemes in one table: accuracy of the whole model and of its first layers, sizes, times, and silent miscompiles.

module {
  description = "One language model quantized by ONNX Runtime, AIMET, Quark, MobileQuant's recipe, LPBQ and mllm, side by side on Qualcomm's HTP emulator for x86"
}

variable "model" {
  type        = string
  description = "A Hugging Face folder or a GGUF (Llama, Qwen2, Qwen3)"
}

variable "architecture" {
  type        = string
  default     = "llama"
  description = "The model's architecture, for scheme mllm: llama, qwen2 or qwen3"
}

variable "schemes" {
  type        = set(string)
  default     = ["ort", "a16w8", "lpbq", "lpbq_rotated", "mobilequant", "aimet_a16w8", "quark_a16w8", "quark_a8w8", "mllm"]
  description = "Quantization schemes: those of module onnx-htp, and mllm"
}

variable "prompt" {
  type        = string
  default     = "What is the capital of France?"
  description = "Prompt, put into the model's chat template"
}

variable "tokens" {
  type        = number
  default     = 8
  description = "Maximum number of tokens of the answer"
}

variable "context_len" {
  type        = number
  default     = 128
  description = "Tokens that the key/value cache holds, prompt and answer together"
}

variable "text" {
  type        = optional(string)
  description = "Text file for perplexity and cosine; by default a few lines"
}

variable "layers" {
  type        = number
  default     = 2
  description = "Number of layers of the truncated model, whose rounding errors do not add up as those of the whole model do"
}

variable "mllm" {
  type        = optional(string)
  description = "A clone of mllm, whose own quantizer runs for scheme mllm; by default hexmage's, with the same arithmetic"
}

toolchain "mllm_quantizer" { when = var.mllm != null }
toolchain "onnx" {}

locals {
  models = merge({ whole = { mllm = false, layers = null }, first = { mllm = false, layers = var.layers } },
  contains(var.schemes, "mllm") ? { mllm_whole = { mllm = true, layers = null }, mllm_first = { mllm = true, layers = var.layers } } : {})
  whole    = [for name, m in module.model : m if name == "mllm_whole"]
  contexts = merge(module.model["whole"].contexts, [for m in local.whole : { mllm = m.contexts["none"] }]...)
}

step "hf_folder" "mllm" {
  when  = contains(var.schemes, "mllm")
  model = var.model
}

step "quantize" "mllm" {
  when         = contains(var.schemes, "mllm")
  model        = step.hf_folder.mllm.outputs.dir
  architecture = var.architecture
  block_size   = 32
  pymllm       = var.mllm
}

module "model" {
  source             = "onnx-htp"
  compiler           = "onnxruntime"
  for_each           = local.models
  model              = each.value.mllm ? step.quantize.mllm.outputs.dir : var.model
  schemes            = each.value.mllm ? toset(["none"]) : setsubtract(var.schemes, ["mllm"])
  optimization_level = each.value.mllm ? 3 : null # at its own level the compiler miscompiles mllm's graphs slightly: docs/emulator.md
  layers             = each.value.layers
  prompt             = var.prompt
  tokens             = each.value.layers == null ? var.tokens : 1
  context_len        = var.context_len
  text               = var.text
  choices            = each.value.layers == null
}

step "accuracy" "schemes" {
  title               = "${target.soc}, Hexagon ${target.arch}: ${var.prompt}"
  reference           = module.model["whole"].measured.reference
  truncated_reference = module.model["first"].measured.reference
  outputs             = merge(module.model["whole"].measured.outputs, [for m in local.whole : { mllm = m.measured.outputs["none"] }]...)
  cpu_outputs         = merge(module.model["whole"].measured.cpu_outputs, [for m in local.whole : { mllm = m.measured.cpu_outputs["none"] }]...)
  truncated_outputs   = merge(module.model["first"].measured.outputs, [for name, m in module.model : { mllm = m.measured.outputs["none"] } if name == "mllm_first"]...)
  contexts            = local.contexts
  compile_times       = merge(module.model["whole"].measured.compile_times, [for m in local.whole : { mllm = m.measured.compile_times["none"] }]...)
  times               = merge(module.model["whole"].measured.times, [for m in local.whole : { mllm = m.measured.times["none"] }]...)
}

output "table" {
  description = "each scheme beside the float model"
  show        = "table"
  value       = step.accuracy.schemes.outputs.table
}

output "contexts" {
  description = "per scheme device/ for a phone, emulator/, manifest.json, nodes.json"
  value       = local.contexts
}

output "encodings" {
  description = "per scheme of AIMET the float graphs with AIMET's encodings, for Qualcomm's converters"
  value       = module.model["whole"].encodings
}
