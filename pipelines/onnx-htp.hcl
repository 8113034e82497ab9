# Any ONNX graph with fixed shapes through the vendor's HTP compiler and emulator for x86, beside itself on the CPU:
#
#   hexmage run onnx-htp                                               a small example
#   hexmage run onnx-htp --var model=net.onnx --var samples=samples    samples: *.npz with the graph's inputs by name
#   hexmage run onnx-htp … --var quantise=false                        as it is: quantised, or in 16-bit floats
#   hexmage run onnx-htp … --var fallback=true                         what the NPU does not take stays on the CPU
#   hexmage run onnx-htp … --var optimization=3                        the compiler tries harder
#   hexmage run onnx-htp … --var least=0.9                             a smaller cosine is good enough, too

pipeline { description = "An ONNX graph of your own through Qualcomm's HTP compiler and emulator, beside the CPU" }
profile "emulator" { default = true }
target "SM8750" {}

variable "model" { type = optional(string) }
variable "samples" { type = optional(string) }
variable "quantise" { type = optional(bool) }
variable "fallback" { type = optional(bool) }
variable "optimization" { type = optional(number) }
variable "least" { type = optional(number) }

module "net" {
  source   = "onnx-htp"
  model    = var.model
  samples  = var.samples
  quantise = var.quantise
  fallback = var.fallback
  least    = var.least

  optimization = var.optimization
}

output "context" { value = module.net.context }
output "table" { value = module.net.table }
