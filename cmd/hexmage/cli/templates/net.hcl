# Your network on the NPU: which of its nodes stay on the CPU, why, and what to change. From public packages: no SDK, no account, no phone.
#
#   hexmage run @name@                          as it is: quantised, or in 16-bit floats
#   hexmage run @name@ --var samples=samples    an .onnx is quantised first; samples: *.npz with its inputs by name

pipeline { description = "What of a network the NPU runs" }
profile "emulator" { default = true }
target "@soc@" {}
variable "samples" { type = optional(string) }

module "net" {
  source  = "fallback" # hexmage show module fallback has what else it takes
  model   = "@path@"
  samples = var.samples
}
output "nodes.json" { value = module.net.nodes }
output "table" { value = module.net.table }
