# From mllm's op sources and a Hugging Face model to Qualcomm's emulator (profile emulator) or a phone (device).
pipeline { description = "Qwen3, W4A16 LPBQ, compiled ahead of time for Hexagon v79 (Snapdragon 8 Elite)" }
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
variable "block_size" { type = optional(number) }
variable "quantizer" { type = optional(string) }
variable "share_weights" { type = optional(bool) }

module "aot" {
  source        = "mllm-aot"
  mllm          = var.mllm
  model         = var.model
  prompt        = var.prompt
  serial        = var.serial
  block_size    = var.block_size
  quantizer     = var.quantizer
  share_weights = var.share_weights
}

output "oppackage" { value = module.aot.oppackage }
output "makefile" { value = module.aot.makefile }
output "compile_commands.json" { value = module.aot.compile_commands }
output "model.mllm" { value = module.aot.model }
output "context.bin" { value = module.aot.context }
output "stdout.txt" { value = module.aot.stdout }
output "samples" { value = module.aot.samples }
output "htp" { value = module.aot.htp }
output "table" { value = module.aot.table }
output "metrics" { value = module.aot.metrics }
