# A recipe of Olive's, pass by pass, and a context of what comes out (docs/olive.md):
#
#   hexmage run olive                                                   a small example
#   hexmage run olive --var recipe=recipe.json --var model=net.onnx     one of your own
#   hexmage run olive … --var data='{ seen = "raw" }'                   with samples for its data_configs
#   hexmage run olive … --var samples=samples                           held to what the model says of *.npz samples
#   hexmage run olive … --soc SM8650                                    another soc_model; no pass runs again
#   hexmage inspect out/olive/context/device/*.bin                      what came out

pipeline { description = "A recipe of Olive's, each pass cached, compiled in place of its QNN pass" }
profile "emulator" { default = true }
target "SM8750" {}

variable "recipe" { type = optional(string) }
variable "model" { type = optional(string) }
variable "data" { type = optional(map(string)) }
variable "samples" { type = optional(string) }
variable "fallback" { type = optional(bool) }
variable "floats" { type = optional(bool) }
variable "least" { type = optional(number) }

module "net" {
  source   = "olive"
  recipe   = var.recipe
  model    = var.model
  data     = var.data
  samples  = var.samples
  fallback = var.fallback
  floats   = var.floats
  least    = var.least
}

output "model" { value = module.net.model }
output "context" { value = module.net.context }
output "passes" { value = module.net.passes }
output "table" { value = module.net.table }
