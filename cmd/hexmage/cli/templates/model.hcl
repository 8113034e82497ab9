# Your language model through Qualcomm's own compiler and emulator for x86, from public packages: no SDK, no account, no phone.
#
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
output "contexts" { value = module.llm.contexts } # of each way a folder, whose device/ goes onto a phone or board
output "table" { value = module.llm.table }
