# Qwen2 the same way as qwen3-aot-v79: 1.5B and 3B, or another with tied embeddings (Qwen1.5, Qwen2.5):
#   hexmage run qwen2-aot                              a toy model, on Qualcomm's emulator
#   hexmage run qwen2-aot --var model=Qwen2.5-1.5B-Instruct
#   hexmage run qwen2-aot --profile device --var model=Qwen2.5-1.5B-Instruct --soc SM8650
pipeline { description = "Qwen2, W4A16 LPBQ, compiled ahead of time for one Hexagon, and run" }
profile "emulator" { default = true }
profile "simulated" {}
profile "device" {}
target "SM8750" {}
toolchain "qairt" { version = "2.41.0.251128" }
toolchain "hexagon" { version = "6.4.0.2" }
toolchain "ndk" { version = "r28b" }

variable "mllm" { type = optional(string) }
variable "model" { type = optional(string) }
variable "prompt" { type = optional(string) }
variable "serial" { type = optional(string) }
variable "quantizer" { type = optional(string) }
variable "sharing" { type = optional(bool) }

module "aot" {
  source       = "mllm-aot"
  architecture = "qwen2"
  mllm         = var.mllm
  model        = var.model
  prompt       = var.prompt
  serial       = var.serial
  quantizer    = var.quantizer
  sharing      = var.sharing
}

output "model.mllm" { value = module.aot.model }
output "context.bin" { value = module.aot.context }
output "stdout.txt" { value = module.aot.stdout }
output "samples" { value = module.aot.samples }
output "samples.svg" { value = module.aot.plot }
output "htp" { value = module.aot.htp }
output "table" { value = module.aot.table }
output "metrics" { value = module.aot.metrics }
