# ExecuTorch's way to the NPU: ExecuTorch quantizes and lowers a PyTorch module itself.

module {
  description = "A PyTorch module lowered to a .pte for the target by ExecuTorch, with the QAIRT that it was built against"
}

variable "module" {
  type        = optional(string)
  description = "A Python file with module(), which returns a torch.nn.Module, and samples(), which returns a list of tuples of its inputs. Default: a small example"
}

variable "precision" {
  type        = string
  default     = "a16w8"
  description = "Bits of activations and weights: a16w8, a8w8, a16w4; or f16"
  validation {
    condition     = contains(["a16w8", "a8w8", "a16w4", "f16"], var.precision)
    error_message = "precision: unknown value ${var.precision}. Use a16w8, a8w8, a16w4 or f16."
  }
}

toolchain "executorch" {}
toolchain "gnu_runtime" {}

locals {
  net     = var.module == null ? "${path.module}/net.py" : var.module
  runtime = toolchain.gnu_runtime.dir
}

step "python" "net" {
  environment = toolchain.executorch.dir
  script      = "${path.module}/lower.py"
  args = [local.net, "--soc", target.soc, "--precision", var.precision, "--libraries", local.libraries,
  "--out", "net.pte", "--nodes", "nodes.json"]
  inputs                   = [local.net]
  env                      = { LD_LIBRARY_PATH = "${local.libraries}:${local.runtime}/usr/lib/x86_64-linux-gnu:${local.runtime}/lib/x86_64-linux-gnu" }
  disable_aslr             = true
  nondeterministic_because = "a signature of ExecuTorch has the time"
  output "pte" { file = "net.pte" }
  output "nodes" { file = "nodes.json" }
}

output "pte" {
  description = "the lowered module"
  value       = step.python.net.outputs.pte
}

output "nodes" {
  description = "number of partitions on the NPU, and the operations on the CPU (JSON)"
  value       = step.python.net.outputs.nodes
}
