# A language model on a phone, through adb: how fast, and its logits beside the emulator's (docs/phones.md).
#
#   hexmage run phone-ort       a simulated phone, whose processor does what the NPU would; every report says so
#   hexmage run phone-ort --profile device --var phone=R5CX123ABCD --var model=SmolLM2-135M-Instruct

pipeline { description = "A small language model on a phone through adb, beside Qualcomm's emulator" }
profile "emulator" { default = true }
profile "device" {}
target "SM8750" {} # Snapdragon 8 Elite

variable "phone" { type = optional(string) }
variable "model" {
  type        = string
  default     = ""
  description = "A Hugging Face folder or a GGUF; by default two layers with seeded weights, which say nothing"
}
variable "prompt" { type = optional(string) }
variable "tokens" { type = optional(number) }
variable "processor" { type = optional(bool) }
variable "runtime" { type = optional(string) }

step "model" "tiny" {
  seed   = 79
  layers = 2
}

module "llm" {
  source    = "ort-phone"
  phone     = var.phone
  model     = var.model == "" ? step.model.tiny.outputs.dir : var.model
  prompt    = var.prompt
  tokens    = var.tokens
  processor = var.processor
  runtime   = var.runtime
}
output "bundle" { value = module.llm.bundle }
output "metrics" { value = module.llm.metrics }
output "table" { value = module.llm.table }
