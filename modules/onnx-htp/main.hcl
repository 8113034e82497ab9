# Any graph for the HTP, with nothing but public packages.

module {
  description = "An ONNX graph with fixed shapes through Qualcomm's HTP compiler and emulator for x86, beside itself on the CPU"
}

variable "model" {
  type        = string
  default     = ""
  description = "The graph: an .onnx file, float or with QuantizeLinear and DequantizeLinear; by default a small example"
}

variable "samples" {
  type        = string
  default     = ""
  description = "A folder of samples, *.npz files with the graph's inputs by name: to calibrate with, and to compare with; by default the example's"
}

variable "quantise" {
  type        = bool
  default     = true
  description = "Whether to quantise it, a16w8; otherwise it is compiled as it is: quantised as it stands there, or in 16-bit floats"
}

variable "fallback" {
  type        = bool
  default     = false
  description = "Whether nodes that the NPU does not take may stay on the CPU"
}

variable "optimization" {
  type        = optional(number)
  description = "How hard the compiler tries: 1, 2 or 3; by default its own choice, which is 2"
}

variable "optrace" {
  type        = bool
  default     = false
  description = "Whether it is compiled so that the vendor's runtime can trace its operations"
}

variable "htp_host" {
  type        = optional(string)
  description = "The release of the vendor's compiler, such as 2.4.0, where what loads the context is older than the newest"
}

variable "least" {
  type        = number
  default     = 0.99
  description = "The cosine that is good enough, of the worst output of the worst sample"
}

toolchain "htp_host" { version = var.htp_host }
toolchain "gnu_runtime" {}
toolchain "onnx" {}

locals {
  model   = var.model == "" ? "${step.python.example.outputs.dir}/net.onnx" : var.model
  samples = var.samples == "" ? "${step.python.example.outputs.dir}/samples" : var.samples
}

step "python" "example" {
  when        = var.model == "" || var.samples == ""
  environment = toolchain.onnx.dir
  script      = "${path.module}/example.py"
  args        = ["example"]
  output "dir" { tree = "example" }
}

step "onnx_quantize" "net" {
  when        = var.quantise
  graphs      = local.model
  calibration = local.samples
}

step "htp_context" "net" {
  graphs   = var.quantise ? step.onnx_quantize.net.outputs.dir : local.model
  fallback = var.fallback
  optrace  = var.optrace

  optimization = var.optimization
}

step "onnx_run" "net" {
  description = "what the graph says as it is"
  graphs      = local.model
  inputs      = local.samples
}

step "onnx_run" "quantised" {
  description = "what the quantised graph says on the CPU"
  when        = var.quantise
  graphs      = step.onnx_quantize.net.outputs.dir
  inputs      = local.samples
}

step "htp_emulate" "net" {
  description = "what the NPU would say"
  context     = step.htp_context.net.outputs.dir
  inputs      = local.samples
}

step "accuracy" "net" {
  title         = "${var.model == "" ? "the example" : basename(var.model)} for ${target.soc}, Hexagon ${target.arch}"
  least         = var.least
  reference     = step.onnx_run.net.outputs.dir
  outputs       = merge({ htp = step.htp_emulate.net.outputs.dir }, var.quantise ? { cpu = step.onnx_run.quantised.outputs.dir } : {})
  contexts      = { htp = step.htp_context.net.outputs.dir }
  compile_times = { htp = step.htp_context.net.outputs.times }
  times         = { htp = step.htp_emulate.net.outputs.times }
}

check "near" {
  description = "the NPU's outputs are near the CPU's"
  condition   = step.accuracy.net.outputs.first_bad == ""
  error_message = join("", [
    "${step.accuracy.net.outputs.first_bad} has a cosine of ${format("%.4f", step.accuracy.net.outputs.rows[step.accuracy.net.outputs.first_bad].cosine)}, ",
    "and ${var.least} is wanted. ", {
      cpu = "Quantising did that: give samples that are like what the graph will see, and more of them."
      htp = "The compiler did that: it takes some node otherwise than ONNX Runtime. Look first at softmaxes of 8 bits whose zero point is not the type's least number, then at halves of the graph."
    }[step.accuracy.net.outputs.first_bad],
  ])
}

output "context" {
  description = "device/: the context; manifest.json; nodes.json: which node runs where"
  value       = step.htp_context.net.outputs.dir
}

output "schematic" {
  description = "with optrace what the vendor's viewer reads traces by"
  value       = var.optrace ? step.htp_context.net.outputs.schematic : null
}

output "samples" {
  description = "what it was run on"
  value       = local.samples
}

output "rows" {
  description = "the table's numbers, for checks"
  value       = step.accuracy.net.outputs.rows
}

output "table" {
  description = "the NPU's outputs beside the CPU's"
  show        = "table"
  value       = step.accuracy.net.outputs.table
}
