# The whole way through the vendor's own HTP compiler and emulator, with a model that is too small to say anything.
pipeline { description = "Two layers with seeded weights, through Qualcomm's HTP compiler and emulator for x86" }
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
step "model" "tiny" {
  seed   = 79
  layers = 2
}
module "llm" {
  source    = "ort-llm"
  model     = step.model.tiny.outputs.dir
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
check "npu" {
  condition     = alltrue([for row in values(module.llm.rows) : row.cpu_nodes == 0 && row.cosine > 0.95])
  error_message = "A node stayed on the CPU, or the emulator's outputs are far from the float model's."
}
output "contexts" { value = module.llm.contexts }
output "table" { value = module.llm.table }
output "twins" { value = module.llm.twins }
