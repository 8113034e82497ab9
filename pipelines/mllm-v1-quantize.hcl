# A model for mllm's QNN backend of branch v1, with mllm's own programs on the CPU:
#   hexmage run mllm-v1-quantize --var model=Qwen1.5-1.8B-Chat
#   hexmage run mllm-v1-quantize --var mllm=mllm-v1        a clone of your own, and a small model with seeded weights
pipeline { description = "Qwen1.5, Qwen2 or Qwen2.5 for mllm v1: rotated, int8, 4 bits, vocabulary and merges" }
profile "emulator" { default = true }

variable "mllm" { type = optional(string) }
variable "model" { type = optional(string) }
variable "calibration" { type = optional(string) }
variable "pictures" { type = optional(string) }
variable "samples" { type = optional(number) }
variable "threshold" { type = optional(number) }
variable "rotate" { type = optional(bool) }

module "v1" {
  source      = "mllm-v1-quantize"
  mllm        = var.mllm
  model       = var.model
  calibration = var.calibration
  pictures    = var.pictures
  samples     = var.samples
  threshold   = var.threshold
  rotate      = var.rotate
}

output "int8.mllm" { value = module.v1.int8 }
output "floats.mllm" { value = module.v1.floats }
output "q4k.mllm" { value = module.v1.q4k }
output "rotation.bin" { value = module.v1.rotation }
output "vocab.mllm" { value = module.v1.vocab }
output "merges.txt" { value = module.v1.merges }
output "layers" { value = module.v1.layers }
