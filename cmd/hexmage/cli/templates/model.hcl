# Your language model through Qualcomm's own compiler and emulator for x86, from public packages: no SDK, no account, no phone.
#
#   hexmage fit MODEL --soc @soc@                            first: what it takes of the phone
#   hexmage run @name@                                       each quantization scheme beside the float model
#   hexmage run @name@ --var prompt="Name three fruits."     compiles nothing again

pipeline { description = "A language model, quantized by two schemes, on Qualcomm's emulator" }
profile "emulator" { default = true }
target "@soc@" {}
variable "prompt" { default = "What is the capital of France?" }

module "llm" {
  source  = "onnx-htp" # hexmage show module onnx-htp has what else it takes
  model   = "@path@"
  schemes = ["a16w8", "lpbq"]
  prompt  = var.prompt
}
output "bundles" { value = module.llm.bundles } # what a phone or board needs, in a folder each
output "table" { value = module.llm.table }
