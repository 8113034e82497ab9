# What of a model stays on the CPU, why, and what to change (docs/fallback.md):
#
#   hexmage run fallback                                              a small example with an op that the NPU lacks
#   hexmage run fallback --var model=net.onnx                         as it is: quantised, or in 16-bit floats
#   hexmage run fallback --var model=net.onnx --var samples=samples   quantised first; samples: *.npz with its inputs
#   hexmage run fallback --var model=net.pte                          ExecuTorch's: where its calls go
#   hexmage run fallback … --var partitions=1                         more partitions are a failed check

pipeline { description = "Which nodes of a model stay on the CPU, why, what crosses, and what to change" }
profile "emulator" { default = true }
target "SM8750" {}

variable "model" { type = optional(string) }
variable "samples" { type = optional(string) }
variable "partitions" { type = optional(number) }
variable "top" { type = optional(number) }

module "net" {
  source     = "fallback"
  model      = var.model
  samples    = var.samples
  partitions = var.partitions
  top        = var.top
}

output "nodes.json" { value = module.net.nodes }
output "table" { value = module.net.table }
