# Where a graph's time goes, node by node, as the vendor's own runtime says (docs/profile.md):
#
#   hexmage run profile-npu                                               a small example, on the vendor's emulator
#   hexmage run profile-npu --var model=net.onnx --var samples=samples    samples: *.npz with the graph's inputs by name
#   hexmage run profile-npu … --var level=basic                           the whole graph alone; or optrace
#   hexmage run profile-npu … --profile device                            on a phone, with GPU and memory beside it

pipeline { description = "Where an ONNX graph's time goes on the NPU: the vendor's profile, on emulator or phone" }
profile "emulator" { default = true }
profile "device" {}
target "SM8750" {}

variable "model" { type = optional(string) }
variable "samples" { type = optional(string) }
variable "quantise" { type = optional(bool) }
variable "level" { type = optional(string) }
variable "top" { type = optional(number) }
variable "serial" { type = optional(string) }

module "net" {
  source   = "profile-npu"
  model    = var.model
  samples  = var.samples
  quantise = var.quantise
  level    = var.level
  top      = var.top
  serial   = var.serial
}

output "profile" { value = module.net.profile }
output "nodes.json" { value = module.net.nodes }
output "log" { value = module.net.log }
output "context" { value = module.net.context }
output "schematic" { value = module.net.schematic }
output "accuracy" { value = module.net.accuracy }
output "metrics" { value = module.net.metrics }
output "table" { value = module.net.table }
