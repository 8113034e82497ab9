# Where a language model goes wrong on its way to the HTP: twins of its first layers, each the whole way, each beside the float twin of as many layers.

module {
  description = "Truncated twins of a language model through Qualcomm's HTP compiler and emulator for x86: the first that is bad says in which layers to look"
}

variable "model" {
  type        = string
  description = "A folder in the Hugging Face layout, or a GGUF file: of Llama, Qwen2 or Qwen3 architecture"
}

variable "layers" {
  type        = set(number)
  default     = [1, 2, 4]
  description = "How many layers each twin has"
}

variable "scheme" {
  type        = string
  default     = "lpbq"
  description = "How they are quantised: a16w8, a16w4 or lpbq"
}

variable "least" {
  type        = number
  default     = 0.95
  description = "The mean cosine to the float twin that is good enough"
}

variable "prompt" {
  type        = string
  default     = "What is the capital of France?"
  description = "What the twins are asked: their words mean nothing, what they think of each token is compared"
}

variable "context" {
  type        = number
  default     = 128
  description = "Tokens that the key/value cache holds"
}

variable "chunk" {
  type        = number
  default     = 32
  description = "Tokens that prefill takes at once"
}

variable "kv" {
  type        = string
  default     = "uint16"
  description = "Type of the key/value cache: uint16 or uint8"
}

variable "text" {
  type        = string
  default     = ""
  description = "A text file that they read; by default a few lines of ours"
}

toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}

locals {
  twins = { for n in var.layers : "${n}" => n }
}

step "onnx_llm" "float" {
  for_each = local.twins
  model    = var.model
  context  = var.context
  chunk    = var.chunk
  layers   = each.value
}

step "onnx_run" "float" {
  for_each = local.twins
  graphs   = step.onnx_llm.float[each.key].outputs.dir
  prompt   = var.prompt
  tokens   = 1
  text     = var.text
}

step "onnx_quantize" "twin" {
  for_each = local.twins
  graphs   = step.onnx_llm.float[each.key].outputs.dir
  scheme   = var.scheme
  kv       = var.kv
}

step "onnx_run" "quantised" {
  description = "the quantised twin on the CPU: what the quantiser did to it, and nobody else"
  for_each    = local.twins
  graphs      = step.onnx_quantize.twin[each.key].outputs.dir
  prompt      = var.prompt
  tokens      = 1
  text        = var.text
}

step "htp_context" "twin" {
  for_each = local.twins
  graphs   = step.onnx_quantize.twin[each.key].outputs.dir
}

step "htp_emulate" "twin" {
  for_each = local.twins
  context  = step.htp_context.twin[each.key].outputs.dir
  prompt   = var.prompt
  tokens   = 1
  text     = var.text
}

step "accuracy" "twins" {
  title      = "${var.scheme}, twins of the first layers, beside float ones: ${target.soc}, Hexagon ${target.arch}"
  least      = var.least
  references = merge([for n in keys(local.twins) : { for on in ["CPU", "NPU"] : "${n} on the ${on}" => step.onnx_run.float[n].outputs.dir }]...)
  outputs = merge(
    { for n, run in step.onnx_run.quantised : "${n} on the CPU" => run.outputs.dir },
    { for n, run in step.htp_emulate.twin : "${n} on the NPU" => run.outputs.dir },
  )
  contexts = { for n, c in step.htp_context.twin : "${n} on the NPU" => c.outputs.dir }
}

check "good" {
  description = "no truncated twin is bad"
  condition   = step.accuracy.twins.outputs.first_bad == ""
  error_message = join(" ", [
    "Of the truncated twins, the first bad one is ${step.accuracy.twins.outputs.first_bad}. Look at the layers that it has and the twin before it has not:",
    contains(split(" ", step.accuracy.twins.outputs.first_bad), "CPU") ? "what the quantiser made of them." : "what the compiler made of them, since on the CPU they are good.",
  ])
}

output "rows" {
  description = "the table's numbers, for checks"
  value       = step.accuracy.twins.outputs.rows
}

output "table" {
  description = "each twin beside the float one"
  show        = "table"
  value       = step.accuracy.twins.outputs.table
}
