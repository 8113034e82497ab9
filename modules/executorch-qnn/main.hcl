# ExecuTorch's way to the NPU: a PyTorch module, quantised and lowered by ExecuTorch itself.

module {
  description = "A PyTorch module lowered to a .pte for the target by ExecuTorch, with the vendor's SDK that it was built against"
}

variable "module" {
  type        = string
  default     = ""
  description = "A Python file with module(), which returns a torch.nn.Module, and samples(), a list of tuples of its inputs; by default a small example"
}

variable "precision" {
  type        = string
  default     = "a16w8"
  description = "a16w8, a8w8 or a16w4: bits of activations and weights; or f16"
}

variable "partitions" {
  type        = optional(number)
  description = "Partitions on the NPU at most: more are a failed check; by default any number will do"
}

toolchain "executorch" {}
toolchain "gnu_runtime" {}

locals {
  title = "${var.module == "" ? "the example" : basename(var.module)} for ${target.soc}, Hexagon ${target.arch}, by ExecuTorch"
}

step "executorch_context" "net" {
  module    = var.module == "" ? "${path.module}/net.py" : var.module
  libraries = local.libraries
  precision = var.precision
}

step "fallback" "net" {
  title    = local.title
  compiled = step.executorch_context.net.outputs.pte
}

check "partitions" {
  description   = "the NPU runs it in as few partitions as is wanted"
  condition     = var.partitions == null || step.fallback.net.outputs.rows.partitions <= coalesce(var.partitions, 0)
  error_message = "The NPU runs ${step.fallback.net.outputs.rows.partitions} partitions, ${coalesce(var.partitions, 0)} at most are wanted: between them ${step.fallback.net.outputs.rows.cpu_nodes} calls run on the CPU. The table says which."
}

output "pte" {
  description = "the lowered module"
  value       = step.executorch_context.net.outputs.pte
}

output "rows" {
  description = "the table's numbers, for checks"
  value       = step.fallback.net.outputs.rows
}

output "nodes" {
  description = "every call on the CPU (JSON)"
  value       = step.fallback.net.outputs.nodes
}

output "table" {
  description = "what stays on the CPU"
  show        = "table"
  value       = step.fallback.net.outputs.table
}
