# ExecuTorch quantizes a PyTorch module and lowers it for a target's NPU (docs/executorch.md):
#
#   hexmage run executorch-qnn --profile device           a small example, with the SDK that ExecuTorch needs
#   hexmage run executorch-qnn … --var module=net.py      a module of your own: module() and samples()
#   hexmage run executorch-qnn … --var precision=a16w4    or a8w8, f16
#   hexmage run executorch-qnn --profile emulator         public packages alone: fails, and says why

pipeline { description = "A PyTorch module lowered to a .pte for the NPU by ExecuTorch" }
profile "device" { default = true }
profile "emulator" {}
target "SM8750" {}

variable "module" { type = optional(string) }
variable "precision" { type = optional(string) }

module "net" {
  source    = "executorch-qnn"
  module    = var.module
  precision = var.precision
}

output "net.pte" { value = module.net.pte }
output "nodes.json" { value = module.net.nodes }
