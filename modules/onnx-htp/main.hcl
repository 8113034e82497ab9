# An ONNX graph or a language model for the HTP. emulator.hcl has Qualcomm's compiler and emulator from public packages; device.hcl and simulated.hcl have
# QAIRT's own tools and a phone: qairt.hcl.

module {
  description = "An ONNX graph or a language model through Qualcomm's HTP compiler, and its emulator or a phone: each quantization scheme beside the float model"
}

variable "model" {
  type        = optional(string)
  description = "Language model: a Hugging Face folder or a GGUF (Llama, Qwen2, Qwen3)"
}

variable "graph" {
  type        = optional(string)
  description = "Any other graph in place of a language model: an .onnx file with fixed shapes, or example, a small one"
}

variable "samples" {
  type        = string
  default     = ""
  description = "Graph: a folder of *.npz files with its inputs by name, for calibration and comparison; without them the graph is compiled and does not run. Language model: a text file for calibration, a prompt per line"
}

variable "schemes" {
  type        = optional(set(string))
  description = "Quantization schemes, by default a16w8, for a language model also lpbq, for a graph without samples none: a16w8, a16w4, lpbq, lpbq_rotated, mobilequant, ort, aimet_a16w8, aimet_a8w8, quark_a16w8, quark_a8w8, in profile device also qairt_a16w8 and qairt_a8w8, by qairt-quantizer; or none, for a model that is quantized already or to compile 16-bit floats"
  validation {
    condition     = alltrue([for s in coalesce(var.schemes, []) : can(regex("^(none|a16w[48]|lpbq|lpbq_rotated|mobilequant|ort|(aimet|quark|qairt)_a(8|16)w8)$", s))])
    error_message = "schemes: unknown value. Use none, a16w8, a16w4, lpbq, lpbq_rotated, mobilequant, ort, aimet_a16w8, aimet_a8w8, quark_a16w8, quark_a8w8, qairt_a16w8 or qairt_a8w8."
  }
}

variable "prompt" {
  type        = string
  default     = "What is the capital of France?"
  description = "Language model: prompt, put into its chat template"
}

variable "tokens" {
  type        = number
  default     = 12
  description = "Language model: maximum number of tokens of the answer"
}

variable "context_len" {
  type        = number
  default     = 128
  description = "Language model: tokens that the key/value cache holds, prompt and answer together"
}

variable "ar_len" {
  type        = optional(number)
  description = "Language model: tokens per prefill call, by default 32"
}

variable "layers" {
  type        = optional(number)
  description = "Language model: number of layers, from the first. Truncated models show in which layer a scheme breaks"
}

variable "kv" {
  type        = string
  default     = "uint16"
  description = "Language model: type of the key/value cache, uint16 or uint8"
}

variable "num_shards" {
  type        = optional(number)
  description = "Language model: number of contexts that the layers are cut into"
}

variable "embedding" {
  type        = optional(string)
  description = "Language model: the graphs look up the rows of tokens (inside, the default), or the CPU does, in a file beside the contexts (outside)"
}

variable "share_weights" {
  type        = optional(bool)
  description = "Language model: prefill and decode share their weights in one context, by default true"
}

variable "text" {
  type        = optional(string)
  description = "Language model: text file for perplexity and cosine; by default a few lines"
}

variable "choices" {
  type        = optional(bool)
  description = "Language model: answers three dozen multiple-choice questions"
}

variable "licenses" {
  type        = optional(list(string))
  description = "Language model: files with the texts of its license, or folders of them, beside those in its folder; device/ of the contexts has all texts"
}

variable "min_cosine" {
  type        = optional(number)
  description = "Minimum mean cosine to the float model; by default 0.99 for a graph and none for a language model"
}

variable "allow_cpu_fallback" {
  type        = bool
  default     = false
  description = "Lets nodes that the NPU does not run stay on the CPU"
}

variable "allow_fp16" {
  type        = bool
  default     = false
  description = "Lets the compiler compute products of quantized tensors in 16-bit floats"
}

variable "optimization_level" {
  type        = optional(number)
  description = "Optimization level of the compiler: 1, 2 or 3; by default its own, 2"
}

variable "profiling" {
  type        = optional(string)
  description = "Profile of the runtime: basic, for the whole graph; detailed, per node; optrace, also a trace for Qualcomm's viewer. By default none"
  validation {
    condition     = contains(["basic", "detailed", "optrace"], coalesce(var.profiling, "basic"))
    error_message = "profiling: use basic, detailed or optrace."
  }
}

variable "serial" {
  type        = optional(string)
  description = "Profile device: serial number of the phone that runs the profile"
}

variable "compiler" {
  type        = string
  default     = "qairt"
  description = "Profile device: qairt, QAIRT's own tools and a phone; onnxruntime, the compiler of ONNX Runtime's provider. Profile emulator has the latter"
}

variable "socs" {
  type        = any
  default     = {}
  description = "Profile device: targets that get a context, too: socs = targets"
}

variable "native_io" {
  type        = bool
  default     = false
  description = "Profile device: inputs and outputs in the context's types; by default float32, which qnn-net-run converts"
}

variable "perf_profile" {
  type        = string
  default     = "burst"
  description = "Profile device: clocks of the NPU, such as burst or balanced"
}

toolchain "htp_host" { when = !local.qairt }
toolchain "gnu_runtime" { when = !local.qairt }
toolchain "onnx" {}
toolchain "aimet" { when = length(setintersection(local.schemes, ["aimet_a16w8", "aimet_a8w8"])) > 0 }
toolchain "quark" { when = length(setintersection(local.schemes, ["quark_a16w8", "quark_a8w8"])) > 0 }

locals {
  settings = { # arguments of onnx_quantize that differ from its defaults
    a16w8        = { method = "a16w8" }
    a16w4        = { method = "a16w4" }
    lpbq         = { method = "lpbq" }
    lpbq_rotated = { method = "lpbq", rotate = true }
    mobilequant  = { method = "mobilequant" }
    ort          = { method = "ort" }
    aimet_a16w8  = { method = "aimet" }
    aimet_a8w8   = { method = "aimet", activation_bits = 8 }
    quark_a16w8  = { method = "quark" }
    quark_a8w8   = { method = "quark", activation_bits = 8, symmetric = true }
  }
  levels = { quark_a8w8 = 1 } # at its own level the compiler makes an op of float norms that it cannot compile: docs/quantizers.md

  llm      = var.graph == null
  example  = var.graph == "example"
  runs     = local.example || var.samples != "" || local.llm && !local.qairt
  name     = local.llm ? "model" : basename(var.graph)
  names    = local.llm ? ["prefill", "decode"] : [local.stem]
  stem     = local.llm ? "decode" : local.example ? "net" : trimsuffix(basename(var.graph), ".onnx")
  schemes  = var.schemes == null ? toset(local.llm ? ["a16w8", "lpbq"] : local.example || var.samples != "" ? ["a16w8"] : ["none"]) : var.schemes
  prompt   = local.llm ? var.prompt : ""
  graph    = local.example ? "${step.python.example.outputs.dir}/net.onnx" : var.graph
  samples  = local.example && var.samples == "" ? "${step.python.example.outputs.dir}/samples" : var.samples
  inputs   = local.llm ? "" : local.samples
  float    = local.llm ? step.onnx_llm.float.outputs.dir : local.graph
  profiled = var.profiling == null || !local.runs ? [] : local.schemes
  graphs   = merge(contains(local.schemes, "none") ? { none = local.float } : {}, { for scheme, s in step.onnx_quantize.scheme : scheme => s.outputs.dir })

  # What Qualcomm's compiler and emulator make, or QAIRT's tools and a phone.
  own      = local.qairt ? [] : local.schemes
  runs_on  = local.runs ? local.own : []
  contexts = local.qairt ? { for key, s in step.python.context : key => s.outputs.dir } : { for scheme, s in step.htp_context.scheme : scheme => s.outputs.dir }
  outputs  = local.qairt ? { for scheme, s in step.python.outputs : scheme => s.outputs.dir } : { for scheme, s in step.htp_emulate.scheme : scheme => s.outputs.dir }
  profiles = local.qairt ? { for scheme, s in step.exec.view : scheme => s.outputs.csv } : { for scheme, s in step.htp_emulate.scheme : scheme => s.outputs.profile if var.profiling != null }
  csv      = { for scheme, at in local.profiles : scheme => local.qairt ? at : "${at}/${local.stem}.csv" }
  places   = { for scheme, s in step.htp_context.scheme : scheme => s.outputs.dir } # with nodes, which QAIRT's contexts do not list
}

step "python" "example" {
  when        = local.example
  environment = toolchain.onnx.dir
  script      = "${path.module}/example.py"
  args        = ["example"]
  output "dir" { tree = "example" }
}

step "onnx_llm" "float" {
  when        = local.llm
  model       = var.model
  context_len = var.context_len
  ar_len      = var.ar_len
  layers      = var.layers
  embedding   = var.embedding
  licenses    = var.licenses
}

step "onnx_run" "float" {
  description = "outputs of the float model"
  when        = local.runs
  graphs      = local.float
  inputs      = local.inputs
  prompt      = local.prompt
  tokens      = var.tokens
  text        = var.text
  choices     = var.choices
}

step "onnx_quantize" "scheme" {
  for_each        = { for scheme, of in local.settings : scheme => of if contains(local.schemes, scheme) }
  graphs          = local.float
  calibration     = local.samples
  method          = each.value.method
  rotate          = try(each.value.rotate, null)
  activation_bits = try(each.value.activation_bits, null)
  symmetric       = try(each.value.symmetric, null)
  kv              = contains(["a16w8", "a16w4", "lpbq", "mobilequant"], each.value.method) ? var.kv : null
  num_shards      = var.num_shards
}

step "htp_context" "scheme" {
  for_each           = local.own
  title              = "${local.name}, ${each.key}, for ${target.soc}, Hexagon ${target.arch}"
  graphs             = local.graphs[each.key]
  share_weights      = var.share_weights
  allow_cpu_fallback = var.allow_cpu_fallback
  allow_fp16         = var.allow_fp16
  optimization_level = var.optimization_level == null ? try(local.levels[each.key], null) : var.optimization_level
  optrace            = var.profiling == "optrace"
}

step "htp_emulate" "scheme" {
  description = "outputs on Qualcomm's emulator"
  for_each    = local.runs_on
  context     = step.htp_context.scheme[each.key].outputs.dir
  inputs      = local.inputs
  prompt      = local.prompt
  tokens      = var.tokens
  text        = var.text
  choices     = var.choices
  profiling   = var.profiling
}

step "onnx_run" "scheme" {
  description = "outputs of the same graphs on the CPU"
  for_each    = local.runs_on
  graphs      = local.graphs[each.key]
  inputs      = local.inputs
  prompt      = local.prompt
  tokens      = var.tokens
  text        = var.text
  choices     = var.choices
}

step "npu_profile" "scheme" {
  for_each = local.profiled
  title    = "${local.name}, ${each.key}, for ${target.soc}, Hexagon ${target.arch}: ${var.profiling}"
  profile  = local.csv[each.key]
  graphs   = local.qairt ? null : "${step.htp_context.scheme[each.key].outputs.dir}/graphs"
  emulator = !local.qairt
}

step "accuracy" "schemes" {
  when          = local.runs
  title         = local.llm ? "${target.soc}, Hexagon ${target.arch}: ${var.prompt}" : "${local.note}${local.name} for ${target.soc}, Hexagon ${target.arch}"
  min_cosine    = var.min_cosine == null ? (local.llm ? 0 : 0.99) : var.min_cosine
  reference     = step.onnx_run.float.outputs.dir
  outputs       = local.outputs
  cpu_outputs   = { for scheme, s in step.onnx_run.scheme : scheme => s.outputs.dir }
  contexts      = local.places
  compile_times = { for scheme, s in step.htp_context.scheme : scheme => s.outputs.times }
  times         = { for scheme, s in step.htp_emulate.scheme : scheme => s.outputs.times }
}

check "accuracy" {
  when          = local.runs
  description   = "each scheme is near the float model"
  condition     = step.accuracy.schemes.outputs.first_below_min == ""
  error_message = "${step.accuracy.schemes.outputs.first_below_min}: mean cosine to the float model is below min_cosine. If the column \"to the CPU\" is as low, the compiler changed the graph: look at softmaxes of 8 bits whose zero point is not the type's minimum, then bisect the graph. Otherwise quantization did: use more samples, or samples like real inputs."
}

check "compiler" {
  when          = length(local.runs_on) > 0
  description   = "the emulator computes what ONNX Runtime computes"
  severity      = "warning"
  condition     = length(step.accuracy.schemes.outputs.mismatches) == 0
  error_message = "The emulator's outputs differ from those of the same graph on the CPU: ${join(", ", step.accuracy.schemes.outputs.mismatches)}. The compiler changed these graphs silently."
}

output "contexts" {
  description = "per scheme device/ for a phone, emulator/, graphs/, manifest.json, nodes.json"
  value       = local.contexts
}

output "placement" {
  description = "per scheme partitions, nodes on the CPU with reasons, and replacements"
  show        = "table"
  value       = { for scheme, s in step.htp_context.scheme : scheme => s.outputs.placement_table if var.allow_cpu_fallback }
}

output "placed" {
  description = "the numbers of placement, for checks"
  value       = { for scheme, s in step.htp_context.scheme : scheme => s.outputs.placement }
}

output "profile" {
  description = "per scheme the profile as CSV"
  value       = local.profiles
}

output "hot_nodes" {
  description = "per scheme the nodes with most cycles"
  show        = "table"
  value       = { for scheme, s in step.npu_profile.scheme : scheme => s.outputs.table }
}

output "nodes" {
  description = "per scheme all nodes and totals of the profile (JSON)"
  value       = { for scheme, s in step.npu_profile.scheme : scheme => s.outputs.nodes }
}

output "log" {
  description = "per scheme the log that Qualcomm's viewer reads, of a phone"
  value       = { for scheme, s in step.run.net : scheme => s.outputs.results if var.profiling != null }
}

output "schematic" {
  description = "per scheme what Qualcomm's viewer reads traces by, with optrace"
  value       = { for scheme, s in step.htp_context.scheme : scheme => s.outputs.schematic if var.profiling == "optrace" }
}

output "metrics" {
  description = "per scheme measurements of the phone"
  show        = "table"
  value       = { for scheme, s in step.run.net : scheme => s.outputs.metrics }
}

output "encodings" {
  description = "per scheme of AIMET the float graphs with AIMET's encodings, for Qualcomm's converters"
  value       = { for scheme, s in step.onnx_quantize.scheme : scheme => s.outputs.encodings if local.settings[scheme].method == "aimet" }
}

output "graphs" {
  description = "the float graphs"
  value       = local.float
}

output "quantized" {
  description = "per scheme the quantized graphs"
  value       = local.graphs
}

output "measured" {
  description = "arguments of step accuracy: outputs, seconds and memory; and seconds of the float model"
  value = {
    reference     = step.onnx_run.float.outputs.dir
    float_times   = step.onnx_run.float.outputs.times
    outputs       = local.outputs
    cpu_outputs   = { for scheme, s in step.onnx_run.scheme : scheme => s.outputs.dir }
    compile_times = { for scheme, s in step.htp_context.scheme : scheme => s.outputs.times }
    times         = { for scheme, s in step.htp_emulate.scheme : scheme => s.outputs.times }
  }
}

output "rows" {
  description = "the table's numbers, for checks"
  value       = step.accuracy.schemes.outputs.rows
}

output "table" {
  description = "each scheme beside the float model"
  show        = "table"
  value       = step.accuracy.schemes.outputs.table
}
