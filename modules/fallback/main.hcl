# What of a graph stays on the CPU, whichever front end it is for.

module {
  description = "Which nodes of an ONNX graph or a .pte stay on the CPU and why, in how many partitions the NPU runs the rest, and what crosses between them"
}

variable "model" {
  type        = string
  default     = ""
  description = "An .onnx with fixed shapes, float or with QuantizeLinear and DequantizeLinear; or a .pte, which is compiled already; by default a small example, an .onnx"
}

variable "samples" {
  type        = string
  default     = ""
  description = "Of a float .onnx that is to be quantised a folder of samples, *.npz files with the graph's inputs by name; by default it is compiled as it is"
}

variable "partitions" {
  type        = optional(number)
  description = "Partitions on the NPU at most: more are a failed check; by default any number will do"
}

variable "top" {
  type        = number
  default     = 20
  description = "Nodes that the table shows; the JSON has all"
}

toolchain "htp_host" { when = !local.compiled }
toolchain "gnu_runtime" { when = !local.compiled }
toolchain "onnx" { when = !local.compiled }

locals {
  compiled = trimsuffix(var.model, ".pte") != var.model
  example  = var.model == ""
  model    = local.example ? "${step.python.example.outputs.dir}/net.onnx" : var.model
}

step "python" "example" {
  when        = local.example
  environment = toolchain.onnx.dir
  script      = "${path.module}/example.py"
  args        = ["example"]
  output "dir" { tree = "example" }
}

step "onnx_quantize" "net" {
  when        = !local.compiled && var.samples != ""
  graphs      = local.model
  calibration = var.samples
}

step "htp_context" "net" {
  when     = !local.compiled
  graphs   = var.samples == "" ? local.model : step.onnx_quantize.net.outputs.dir
  fallback = true
  floats   = true
}

step "fallback" "net" {
  title    = "${local.example ? "the example" : basename(var.model)}${local.compiled ? "" : " for ${target.soc}, Hexagon ${target.arch}"}"
  compiled = local.compiled ? var.model : step.htp_context.net.outputs.dir
  top      = var.top
}

check "partitions" {
  description   = "the NPU runs it in as few partitions as is wanted"
  condition     = var.partitions == null || step.fallback.net.outputs.rows.partitions <= coalesce(var.partitions, 0)
  error_message = "The NPU runs ${step.fallback.net.outputs.rows.partitions} partitions, ${coalesce(var.partitions, 0)} at most are wanted: between them ${step.fallback.net.outputs.rows.cpu_nodes} nodes run on the CPU. The table says what to put in their place."
}

output "rows" {
  description = "the table's numbers, for checks"
  value       = step.fallback.net.outputs.rows
}

output "nodes" {
  description = "every node on the CPU (JSON)"
  value       = step.fallback.net.outputs.nodes
}

output "table" {
  description = "what stays on the CPU, why, and what to change"
  show        = "table"
  value       = step.fallback.net.outputs.table
}
