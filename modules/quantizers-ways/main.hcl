# One model, or its first layers, quantised in many ways; of each what the vendor's emulator says, and what the same numbers say on the CPU.

module {
  description = "A language model quantised in many ways, each through Qualcomm's HTP compiler and emulator for x86, and beside it on the CPU"
}

variable "model" {
  type        = string
  description = "A folder in the Hugging Face layout, or a GGUF file: of Llama, Qwen2 or Qwen3 architecture"
}

variable "quantised" {
  type        = string
  default     = ""
  description = "What mllm's quantiser made of the model, for the way mllm"
}

variable "layers" {
  type        = optional(number)
  description = "Only the first layers: a truncated twin"
}

variable "ways" {
  type        = set(string)
  description = "Ways to quantise, as of module quantizers"
}

variable "prompt" {
  type        = string
  description = "What the model is asked"
}

variable "tokens" {
  type        = number
  default     = 1
  description = "Tokens of the answer, at most"
}

variable "context" {
  type        = number
  description = "Tokens that the key/value cache holds"
}

variable "text" {
  type        = string
  default     = ""
  description = "A text file that the model reads; by default a few lines of ours"
}

variable "choices" {
  type        = bool
  default     = false
  description = "Whether it answers our questions, too"
}

toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
toolchain "aimet" { when = length(setintersection(var.ways, keys(local.aimet))) > 0 }
toolchain "quark" { when = length(setintersection(var.ways, keys(local.quark))) > 0 }

locals {
  shifts = ["shift_cut", "shift_bias", "shift_read", "shift_write", "shift_swish"]
  ours = {
    ort          = { scheme = "ort", rotate = false }
    a16w8        = { scheme = "a16w8", rotate = false }
    a16w4        = { scheme = "a16w4", rotate = false }
    lpbq         = { scheme = "lpbq", rotate = false }
    lpbq_rotated = { scheme = "lpbq", rotate = true }
    mobilequant  = { scheme = "mobilequant", rotate = false }
    a8w8_shadow  = { scheme = "a8w8_shadow", rotate = false }
  }
  aimet = {
    aimet_a16w8 = { activations = 16, weights = 8 }
    aimet_a8w8  = { activations = 8, weights = 8 }
  }
  quark = { # of norms with signed integers the vendor's compiler takes none: they stay float
    quark_a16w8 = { activations = "uint16", asymmetric = true, power_of_two = false, ranges = "min_max", adjust = [], exclude = [] }
    quark_a8w8  = { activations = "int8", asymmetric = false, power_of_two = false, ranges = "min_max", adjust = [], exclude = ["RMSNormalization"] }
    quark_xint8 = { activations = "int8", asymmetric = false, power_of_two = true, ranges = "min_mse", adjust = local.shifts, exclude = ["RMSNormalization"] }
  }
  optimization = {
    mllm        = 3 # by its own choice the compiler makes contexts of these graphs that are a little wrong: docs/emulator.md
    quark_a8w8  = 1 # of norms in floats before matrices of int8 the optimiser makes an op that it then cannot make: docs/quantizers.md
    quark_xint8 = 1
  }
  graphs = merge(
    { for way, s in step.onnx_quantize.way : way => s.outputs.dir },
    { for way, s in step.aimet_quantize.way : way => s.outputs.dir },
    { for way, s in step.quark_quantize.way : way => s.outputs.dir },
    { for way, s in step.onnx_llm.mllm : way => s.outputs.dir },
  )
}

step "onnx_llm" "float" {
  model   = var.model
  context = var.context
  layers  = var.layers
}

step "onnx_run" "float" {
  description = "what the float model says"
  graphs      = step.onnx_llm.float.outputs.dir
  prompt      = var.prompt
  tokens      = var.tokens
  text        = var.text
  choices     = var.choices
}

# --- the ways -------------------------------------------------------------------------------------------------------

step "onnx_quantize" "way" {
  for_each = { for way, of in local.ours : way => of if contains(var.ways, way) }
  graphs   = step.onnx_llm.float.outputs.dir
  scheme   = each.value.scheme
  rotate   = each.value.rotate
}

step "aimet_quantize" "way" {
  for_each    = { for way, of in local.aimet : way => of if contains(var.ways, way) }
  graphs      = step.onnx_llm.float.outputs.dir
  activations = each.value.activations
  weights     = each.value.weights
}

step "quark_quantize" "way" {
  for_each         = { for way, of in local.quark : way => of if contains(var.ways, way) }
  graphs           = step.onnx_llm.float.outputs.dir
  activations      = each.value.activations
  asymmetric       = each.value.asymmetric
  power_of_two     = each.value.power_of_two
  ranges           = each.value.ranges
  adjust           = each.value.adjust
  exclude_op_types = each.value.exclude
}

step "onnx_llm" "mllm" {
  description = "what mllm's quantiser made, as a graph with its points of quantisation"
  for_each    = setintersection(var.ways, ["mllm"])
  model       = var.quantised
  context     = var.context
  layers      = var.layers
}

# --- each on the emulator, and on the CPU -----------------------------------------------------------------------------

step "htp_context" "way" {
  for_each     = var.ways
  graphs       = local.graphs[each.key]
  optimization = try(local.optimization[each.key], null)
}

step "htp_emulate" "way" {
  description = "what the NPU would say"
  for_each    = var.ways
  context     = step.htp_context.way[each.key].outputs.dir
  prompt      = var.prompt
  tokens      = var.tokens
  text        = var.text
  choices     = var.choices
}

step "onnx_run" "way" {
  description = "what the same numbers say on the CPU"
  for_each    = var.ways
  graphs      = local.graphs[each.key]
  prompt      = var.prompt
  tokens      = var.tokens
  text        = var.text
  choices     = var.choices
}

# --- what comes out -------------------------------------------------------------------------------------------------

output "float" {
  description = "what the float model said"
  value       = step.onnx_run.float.outputs.dir
}

output "graphs" {
  description = "the float graphs"
  value       = step.onnx_llm.float.outputs.dir
}

output "said" {
  description = "of each way what the emulator said"
  value       = { for way, s in step.htp_emulate.way : way => s.outputs.dir }
}

output "on_cpu" {
  description = "of each way what the same numbers said on the CPU"
  value       = { for way, s in step.onnx_run.way : way => s.outputs.dir }
}

output "contexts" {
  description = "of each way device/ for a phone, emulator/, manifest.json, nodes.json"
  value       = { for way, s in step.htp_context.way : way => s.outputs.dir }
}

output "compile_times" {
  description = "of each way how long compiling took"
  value       = { for way, s in step.htp_context.way : way => s.outputs.times }
}

output "times" {
  description = "of each way how long answering took on the emulator"
  value       = { for way, s in step.htp_emulate.way : way => s.outputs.times }
}

output "encodings" {
  description = "of each way of AIMET's the float graphs with its encodings, for the vendor's converters"
  value       = { for way, s in step.aimet_quantize.way : way => s.outputs.encodings }
}
