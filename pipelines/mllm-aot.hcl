# qwen3-aot-v79 for Qwen3, Qwen2 and Llama 3, and for any number of SoCs:
#   hexmage run mllm-aot --var model=Qwen3-4B --var block_size=32 --soc SM8550,SM8650,SM8750,SM8850
pipeline { description = "Qwen3, Qwen2 or Llama 3, W4A16 LPBQ, compiled ahead of time for each target, and run" }
profile "emulator" { default = true }
profile "simulated" {}
profile "device" {}
target "SM8750" {}
toolchain "qairt" { version = "2.42.0.251225" }
variable "architecture" { type = optional(string) }
variable "mllm" { type = optional(string) }
variable "model" { type = optional(string) }
variable "prompt" { type = optional(string) }
variable "serial" { type = optional(string) }
variable "block_size" { type = optional(number) }
variable "quantizer" { type = optional(string) }
variable "share_weights" { type = optional(bool) }

module "aot" {
  source        = "mllm-aot"
  for_each      = targets
  target        = each.value
  architecture  = var.architecture
  mllm          = var.mllm
  model         = var.model
  prompt        = var.prompt
  serial        = var.serial
  block_size    = var.block_size
  quantizer     = var.quantizer
  share_weights = var.share_weights
}
output "contexts" { value = { for soc, m in module.aot : soc => m.context } }
output "htp" { value = { for soc, m in module.aot : soc => m.htp } }
output "table" {
  value = { for soc, m in module.aot : soc => m.table }
  show  = "table"
}
output "metrics" {
  value = { for soc, m in module.aot : soc => m.metrics }
  show  = "table"
}
