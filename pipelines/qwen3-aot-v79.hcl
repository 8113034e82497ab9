# From nothing to a model running on a phone's NPU:
# profile simulated: simulations, real compilers, a simulated phone; host: upstream's quantiser, the vendor's compiler and
# emulator; device: the real SDKs and a real phone (HEXMAGE_PROFILE=device mage plan qwen3-aot-v79)
pipeline { description = "Qwen3, W4A16 LPBQ, compiled ahead of time for Hexagon v79 (Snapdragon 8 Elite)" }
profile "simulated" { default = true }
profile "emulator" {}
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

module "aot" {
  source     = "mllm-aot"
  mllm       = var.mllm
  model      = var.model
  prompt     = var.prompt
  serial     = var.serial
  block_size = var.block_size
  quantizer  = var.quantizer
}

output "oppackage" { value = module.aot.oppackage }
output "makefile" { value = module.aot.makefile }
output "compile_commands.json" { value = module.aot.compile_commands }
output "model.mllm" { value = module.aot.model }
output "context.bin" { value = module.aot.context }
output "stdout.txt" { value = module.aot.stdout }
output "samples" { value = module.aot.samples }
output "samples.svg" { value = module.aot.plot }
output "htp" { value = module.aot.htp }
output "table" { value = module.aot.table }
output "metrics" { value = module.aot.metrics }
