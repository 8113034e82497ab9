# qwen3-aot-v79 for the phones of four generations, each with its own context from one quantised model:
#   hexmage run qwen3-aot                                    v73, v75, v79 and v81, one after the other
#   hexmage run qwen3-aot --soc SM8550                       for one of them alone
#   hexmage run qwen3-aot --profile device --var model=Qwen3-4B --var block_size=32
pipeline { description = "Qwen3, W4A16 LPBQ, compiled ahead of time for Hexagon v73, v75, v79 and v81, and run" }
profile "emulator" { default = true }
profile "simulated" {}
profile "device" {}
target "SM8550" {}
target "SM8650" {}
target "SM8750" {}
target "SM8850" {}
toolchain "qairt" { version = "2.42.0.251225" }
toolchain "hexagon" { version = "6.4.0.2" }
toolchain "ndk" { version = "r28b" }

variable "model" { type = optional(string) }
variable "prompt" { type = optional(string) }
variable "block_size" { type = optional(number) }
variable "quantizer" { type = optional(string) }
variable "sharing" { type = optional(bool) }

module "aot" {
  source     = "mllm-aot"
  for_each   = targets
  target     = each.value
  model      = var.model
  prompt     = var.prompt
  block_size = var.block_size
  quantizer  = var.quantizer
  sharing    = var.sharing
}

output "contexts" { value = { for soc, m in module.aot : soc => m.context } }
output "htp" { value = { for soc, m in module.aot : soc => m.htp } }
output "metrics" {
  value = { for soc, m in module.aot : soc => m.metrics }
  show  = "table"
}
