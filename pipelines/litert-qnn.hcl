# A .tflite compiled for a target's NPU, by LiteRT's plug-in of the vendor's (docs/fallback.md):
#
#   hexmage run litert-qnn                              a small example
#   hexmage run litert-qnn --var model=net.tflite       one of your own, with fixed shapes
#   hexmage run litert-qnn … --var fallback=false       an op that the NPU lacks is an error
#   hexmage run litert-qnn … --var dlc=true             each partition as a DLC, too
#   hexmage inspect out/litert-qnn/compiled/*.tflite    what is in it

pipeline { description = "A .tflite compiled for the NPU by LiteRT, and what of it stays on the CPU" }
profile "emulator" { default = true }
target "SM8750" {}

variable "model" { type = optional(string) }
variable "fallback" { type = optional(bool) }
variable "dlc" { type = optional(bool) }
variable "partitions" { type = optional(number) }

module "net" {
  source     = "litert-qnn"
  model      = var.model
  fallback   = var.fallback
  dlc        = var.dlc
  partitions = var.partitions
}

output "compiled" { value = module.net.compiled }
output "dlc" { value = module.net.dlc }
output "example" { value = module.net.example }
output "nodes.json" { value = module.net.nodes }
output "table" { value = module.net.table }
