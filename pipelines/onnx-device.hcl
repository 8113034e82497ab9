# A language model on a phone or Linux board, by ONNX Runtime, beside the emulator (docs/onnx-device.md).
#
#   hexmage run onnx-device                                           a simulated phone, without an NPU
#   hexmage run onnx-device --profile device --var model=SmolLM2-135M the attached phone; else --serial or --soc
#   hexmage run onnx-device --profile device --var board=ssh://ubuntu@192.168.1.9 --soc QCS9100
#   hexmage run onnx-device --var board=ssh://ubuntu@192.168.1.9      a board without an NPU

pipeline { description = "A small language model on a phone or Linux board, beside Qualcomm's emulator" }
profile "emulator" { default = true }
profile "device" {}
target "SM8750" {} # Snapdragon 8 Elite

variable "board" { type = optional(string) }
variable "model" {
  type        = string
  default     = ""
  description = "A Hugging Face folder or a GGUF; by default two layers with random weights, which say nothing"
}
variable "prompt" { type = optional(string) }
variable "tokens" { type = optional(number) }
variable "runtime" { type = optional(string) }

step "toy_model" "tiny" {
  seed   = 79
  layers = 2
}

module "llm" {
  source  = "onnx-device"
  board   = var.board
  model   = var.model == "" ? step.toy_model.tiny.outputs.dir : var.model
  prompt  = var.prompt
  tokens  = var.tokens
  runtime = var.runtime
}
output "context" { value = module.llm.context }
output "metrics" { value = module.llm.metrics }
output "table" { value = module.llm.table }
