# Qwen1.5-1.8B with llm.npu (mllm's branch v1), beside the paper's table:
#   hexmage run llm-npu                                     the simulation: real compilers, a simulated phone
#   hexmage run llm-npu --profile device --var int8=qwen-1.5-1.8b-chat-int8.mllm --var q4k=qwen-1.5-1.8b-chat-q4k.mllm
pipeline { description = "Qwen1.5-1.8B with llm.npu, int8: prompts on a Snapdragon 8 Elite, beside the paper" }
profile "simulated" { default = true }
profile "device" {}
target "SM8750" {}
toolchain "qairt" { version = "2.37.0.250724" }
toolchain "hexagon" { version = "6.3.0.0" }
toolchain "ndk" { version = "r28b" }

variable "int8" { type = optional(string) }
variable "q4k" { type = optional(string) }
variable "tokenizer" { type = optional(string) }
variable "mllm" { type = optional(string) }
variable "lengths" { type = optional(list(string)) }
variable "repeat" { type = optional(number) }
variable "serial" { type = optional(string) }

module "npu" {
  source    = "llm-npu"
  int8      = var.int8
  q4k       = var.q4k
  tokenizer = var.tokenizer
  mllm      = var.mllm
  lengths   = var.lengths
  repeat    = var.repeat
  serial    = var.serial
}

output "oppackage" { value = module.npu.oppackage }
output "vocab.mllm" { value = module.npu.vocab }
output "merges.txt" { value = module.npu.merges }
output "stdout.txt" { value = module.npu.stdout }
output "demo.txt" { value = module.npu.demo }
output "samples" { value = module.npu.samples }
output "metrics" { value = module.npu.metrics }
