# Quantisers side by side: one model, one text, many ways, and one table that says what each keeps of the float model and what it costs. What the vendor's
# compiler makes something else of, without a word, is found by running the same numbers on the CPU, and marked as wrong.

module {
  description = "One language model quantised in many ways, side by side on Qualcomm's HTP emulator for x86: ONNX Runtime, AIMET, Quark, MobileQuant's recipe, LPBQ, mllm's own"
}

variable "model" {
  type        = string
  description = "A folder in the Hugging Face layout, or a GGUF file: of Llama, Qwen2 or Qwen3 architecture."
}

variable "architecture" {
  type        = string
  default     = "llama"
  description = "The model's, for the way mllm: llama, qwen2 or qwen3"
}

variable "ways" {
  type        = set(string)
  default     = ["ort", "a16w8", "lpbq", "lpbq_rotated", "mobilequant", "a8w8_shadow", "aimet_a16w8", "quark_a16w8", "quark_a8w8", "mllm"]
  description = "Ways to quantise: ort, a16w8, a16w4, lpbq, lpbq_rotated, mobilequant, a8w8_shadow, aimet_a16w8, aimet_a8w8, quark_a16w8, quark_a8w8, quark_xint8, mllm"

  validation {
    condition = length(setsubtract(var.ways, [
      "ort", "a16w8", "a16w4", "lpbq", "lpbq_rotated", "mobilequant", "a8w8_shadow", "aimet_a16w8", "aimet_a8w8", "quark_a16w8", "quark_a8w8", "quark_xint8", "mllm",
    ])) == 0
    error_message = "A way is ort, a16w8, a16w4, lpbq, lpbq_rotated, mobilequant, a8w8_shadow, aimet_a16w8, aimet_a8w8, quark_a16w8, quark_a8w8, quark_xint8 or mllm."
  }
}

variable "prompt" {
  type        = string
  default     = "What is the capital of France?"
  description = "What the model is asked, put into its chat template"
}

variable "tokens" {
  type        = number
  default     = 8
  description = "Tokens of the answer, at most"
}

variable "context" {
  type        = number
  default     = 128
  description = "Tokens that the key/value cache holds: prompt and answer together"
}

variable "text" {
  type        = string
  default     = ""
  description = "A text file, for perplexity and cosine; by default a few lines of ours"
}

variable "first" {
  type        = number
  default     = 2
  description = "So many of the first layers are compared by themselves, too: a whole model carries each rounding on, these do not"
}

variable "agree" {
  type        = number
  default     = 0.9
  description = "The mean cosine of the emulator to the same numbers on the CPU, from which on it is not wrong"
}

variable "bisect" {
  type        = set(string)
  default     = []
  description = "Schemes of onnx_quantize of which the layers are looked for that break, with the exceptions that mend them"
}

variable "mllm" {
  type        = string
  default     = ""
  description = "A clone of mllm, whose own quantiser then runs for the way mllm; by default ours, with the same arithmetic"
}

toolchain "mllm_quantiser" { when = var.mllm != "" }
toolchain "onnx" {}

step "hf_folder" "mllm" {
  when  = contains(var.ways, "mllm")
  model = var.model
}

step "quantize" "mllm" {
  when         = contains(var.ways, "mllm")
  model        = step.hf_folder.mllm.outputs.dir
  architecture = var.architecture
  block_size   = 32
  pymllm       = var.mllm == "" ? null : var.mllm
  tensors      = "upstream"
}

module "whole" {
  source    = "quantizers-ways"
  model     = var.model
  quantised = step.quantize.mllm.outputs.dir
  ways      = var.ways
  prompt    = var.prompt
  tokens    = var.tokens
  context   = var.context
  text      = var.text
  choices   = true
}

module "first" {
  source    = "quantizers-ways"
  model     = var.model
  quantised = step.quantize.mllm.outputs.dir
  layers    = var.first
  ways      = var.ways
  prompt    = var.prompt
  context   = var.context
  text      = var.text
}

step "accuracy" "ways" {
  title         = "${target.soc}, Hexagon ${target.arch}: ${var.prompt}"
  reference     = module.whole.float
  outputs       = module.whole.said
  on_cpu        = module.whole.on_cpu
  agree         = var.agree
  twin          = module.first.float
  twins         = module.first.said
  contexts      = module.whole.contexts
  compile_times = module.whole.compile_times
  times         = module.whole.times
}

step "onnx_bisect" "way" {
  for_each = var.bisect
  graphs   = module.whole.graphs
  scheme   = each.value
  text     = var.text
  title    = "layers that ${each.value} breaks"
}

check "agree" {
  severity      = "warning"
  condition     = length(step.accuracy.ways.outputs.wrong) == 0
  error_message = "The emulator says something else than the same numbers on the CPU: ${join(", ", step.accuracy.ways.outputs.wrong)}. The compiler took these graphs whole, and said nothing."
}

output "table" {
  description = "each way beside the float model"
  show        = "table"
  value       = step.accuracy.ways.outputs.table
}

output "plot" {
  description = "the same as a picture (SVG)"
  value       = step.accuracy.ways.outputs.plot
}

output "rows" {
  description = "the table's numbers, for checks"
  value       = step.accuracy.ways.outputs.rows
}

output "wrong" {
  description = "the ways of which the emulator says something else than the same numbers on the CPU"
  value       = step.accuracy.ways.outputs.wrong
}

output "exceptions" {
  description = "of each scheme in bisect the first layer that breaks, and the exceptions that mend it"
  value       = { for way, s in step.onnx_bisect.way : way => s.outputs.found }
}

output "layers" {
  description = "of each scheme in bisect each layer's own error"
  show        = "table"
  value       = { for way, s in step.onnx_bisect.way : way => s.outputs.table }
}

output "contexts" {
  description = "of each way device/ for a phone, emulator/, manifest.json, nodes.json"
  value       = module.whole.contexts
}

output "encodings" {
  description = "of each way of AIMET's the float graphs with its encodings in three formats, for the vendor's converters"
  value       = module.whole.encodings
}
