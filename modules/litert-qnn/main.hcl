# LiteRT's way to the NPU, with nothing but public packages: its own plug-in for the vendor's compiler, and that compiler.

module {
  description = "A .tflite with fixed shapes compiled for the target by LiteRT's plug-in of the vendor's and the vendor's HTP compiler for x86"
}

variable "model" {
  type        = string
  default     = ""
  description = "The .tflite; by default a small example"
}

variable "fallback" {
  type        = bool
  default     = true
  description = "Whether operations that the plug-in does not take may stay on the CPU; the table says which do"
}

variable "dlc" {
  type        = bool
  default     = false
  description = "Whether to write each partition as a DLC, too, for the vendor's own tools"
}

variable "partitions" {
  type        = optional(number)
  description = "Partitions on the NPU at most: more are a failed check; by default any number will do"
}

toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "litert" {}

locals {
  model = var.model == "" ? "${step.python.example.outputs.dir}/net.tflite" : var.model
}

step "python" "example" {
  when        = var.model == ""
  environment = toolchain.litert.dir
  script      = "${path.module}/example.py"
  args        = ["example"]
  output "dir" { tree = "example" }
}

step "litert_context" "net" {
  model    = local.model
  fallback = var.fallback
  dlc      = var.dlc
}

step "fallback" "net" {
  title    = "${var.model == "" ? "the example" : basename(var.model)} for ${target.soc}, Hexagon ${target.arch}, by LiteRT"
  compiled = step.litert_context.net.outputs.dir
}

check "partitions" {
  description   = "the NPU runs it in as few partitions as is wanted"
  condition     = var.partitions == null || step.fallback.net.outputs.rows.partitions <= coalesce(var.partitions, 0)
  error_message = "The NPU runs ${step.fallback.net.outputs.rows.partitions} partitions, ${coalesce(var.partitions, 0)} at most are wanted: between them ${step.fallback.net.outputs.rows.cpu_nodes} nodes run on the CPU. The table says what to put in their place."
}

output "compiled" {
  description = "the compiled .tflite; contexts/, ir/, refused.json, manifest.json"
  value       = step.litert_context.net.outputs.dir
}

output "dlc" {
  description = "with dlc each partition as a DLC"
  value       = var.dlc ? step.litert_context.net.outputs.dlc : null
}

output "example" {
  description = "without a model the examples"
  value       = var.model == "" ? step.python.example.outputs.dir : null
}

output "rows" {
  description = "the table's numbers, for checks"
  value       = step.fallback.net.outputs.rows
}

output "nodes" {
  description = "every operation on the CPU (JSON)"
  value       = step.fallback.net.outputs.nodes
}

output "table" {
  description = "what stays on the CPU, why, and what to change"
  show        = "table"
  value       = step.fallback.net.outputs.table
}
