# Your ONNX graph through Qualcomm's own compiler and emulator for x86, beside ONNX Runtime on the CPU. From public
# packages: no SDK, no account, no phone.
#
#   hexmage run @name@                         compiled as it is: floats have 16 bits on the NPU
#   hexmage run @name@ --var samples=FOLDER    quantized, compiled, emulated, and compared with the CPU
#
# Inputs: @inputs@

pipeline { description = "An ONNX graph quantized and compiled for the NPU, beside the CPU" }
profile "emulator" { default = true }
target "@soc@" {}
variable "samples" {
  type        = string
  default     = ""
  description = "@samples@"
}

module "net" {
  source  = "onnx-htp" # hexmage show module onnx-htp has what else it takes
  graph   = "@path@"
  samples = var.samples
}
output "contexts" { value = module.net.contexts }
output "table" { value = module.net.table }
