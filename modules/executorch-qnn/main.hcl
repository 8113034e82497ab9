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

toolchain "executorch" {}
toolchain "gnu_runtime" {}

step "executorch_context" "net" {
  module    = var.module == "" ? "${path.module}/net.py" : var.module
  libraries = local.libraries
  precision = var.precision
}

output "pte" {
  description = "the lowered module; hexmage inspect lists its delegates and its operations on the CPU"
  value       = step.executorch_context.net.outputs.pte
}
