# A small language model for the HTP, with nothing but public packages: static graphs, quantised in several ways, compiled by the vendor's own compiler for
# x86, and run on the vendor's emulator beside the float model. onnx-device calls it for what goes onto a device.

module {
  description = "A language model through Qualcomm's HTP compiler and emulator for x86, from public packages; each way of quantising beside the float model"
}

variable "model" {
  type        = string
  description = "A folder in the Hugging Face layout, or a GGUF file: of Llama, Qwen2 or Qwen3 architecture"
}

variable "schemes" {
  type        = set(string)
  default     = ["a16w8", "lpbq"]
  description = "Ways to quantise: a16w8, a16w4, lpbq"
}

variable "prompt" {
  type        = string
  default     = "What is the capital of France?"
  description = "What the model is asked, put into its chat template"
}

variable "tokens" {
  type        = number
  default     = 12
  description = "Tokens of the answer, at most"
}

variable "context" {
  type        = number
  default     = 128
  description = "Tokens that the key/value cache holds: prompt and answer together"
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

variable "splits" {
  type        = number
  default     = 1
  description = "Contexts that the layers are cut into, if one would be too large"
}

variable "embedding" {
  type        = string
  default     = "inside"
  description = "Whether the graphs look the rows of tokens up, inside, or are given them, outside: then the table is a file beside the contexts"
}

variable "sharing" {
  type        = bool
  default     = true
  description = "Whether prefill and decode share their weights in one context"
}

variable "text" {
  type        = string
  default     = ""
  description = "A text file, for perplexity and cosine; by default a few lines of ours"
}

variable "licences" {
  type        = list(string)
  default     = []
  description = "Files with the texts of the model's license, or folders of them; contexts.NAME/device has all texts"
}

variable "twins" {
  type        = set(number)
  default     = []
  description = "Numbers of layers: of each a truncated twin is compared with the float one, to find out which layer goes wrong"
}

toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}

step "onnx_llm" "float" {
  model     = var.model
  licenses  = var.licences
  context   = var.context
  chunk     = var.chunk
  embedding = var.embedding
}

step "onnx_run" "float" {
  description = "what the float model says"
  graphs      = step.onnx_llm.float.outputs.dir
  prompt      = var.prompt
  tokens      = var.tokens
  text        = var.text
}

step "onnx_quantize" "way" {
  for_each = var.schemes
  graphs   = step.onnx_llm.float.outputs.dir
  scheme   = each.value
  kv       = var.kv
  splits   = var.splits
}

step "htp_context" "way" {
  for_each = var.schemes
  graphs   = step.onnx_quantize.way[each.key].outputs.dir
  sharing  = var.sharing
}

step "htp_emulate" "way" {
  description = "what the NPU would say"
  for_each    = var.schemes
  context     = step.htp_context.way[each.key].outputs.dir
  prompt      = var.prompt
  tokens      = var.tokens
  text        = var.text
}

step "accuracy" "way" {
  title         = "${target.soc}, Hexagon ${target.arch}: ${var.prompt}"
  reference     = step.onnx_run.float.outputs.dir
  outputs       = { for way, e in step.htp_emulate.way : way => e.outputs.dir }
  contexts      = { for way, c in step.htp_context.way : way => c.outputs.dir }
  compile_times = { for way, c in step.htp_context.way : way => c.outputs.times }
  times         = { for way, e in step.htp_emulate.way : way => e.outputs.times }
}

module "twins" {
  source   = "ort-llm-twins"
  for_each = length(var.twins) > 0 ? var.schemes : []
  model    = var.model
  layers   = var.twins
  scheme   = each.value
  prompt   = var.prompt
  context  = var.context
  chunk    = var.chunk
  kv       = var.kv
  text     = var.text
}

output "contexts" {
  description = "for each way of quantising: device/ for a phone, emulator/, manifest.json, nodes.json"
  value       = { for way, c in step.htp_context.way : way => c.outputs.dir }
}

output "emulated" {
  description = "for each way of quantising, what the NPU would say, as accuracy reads it"
  value       = { for way, e in step.htp_emulate.way : way => e.outputs.dir }
}

output "float" {
  description = "what the float model says, likewise"
  value       = step.onnx_run.float.outputs.dir
}

output "float_times" {
  description = "how long that took"
  value       = step.onnx_run.float.outputs.times
}

output "graphs" {
  description = "the float graphs"
  value       = step.onnx_llm.float.outputs.dir
}

output "quantised" {
  description = "for each way of quantising, the graphs"
  value       = { for way, q in step.onnx_quantize.way : way => q.outputs.dir }
}

output "rows" {
  description = "the table's numbers, for checks"
  value       = step.accuracy.way.outputs.rows
}

output "table" {
  description = "each way beside the float model"
  show        = "table"
  value       = step.accuracy.way.outputs.table
}

output "twins" {
  description = "for each way of quantising: truncated twins beside the float ones"
  show        = "table"
  value       = { for way, m in module.twins : way => m.table }
}
