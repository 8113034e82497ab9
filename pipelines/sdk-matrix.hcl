# An op package against releases of QAIRT and Hexagon archs: what compiles, and what does not:
#   hexmage run sdk-matrix                              the example as it is, with simulated headers
#   hexmage run sdk-matrix --var series=mllm            the example, with the rules for renamed APIs
#   hexmage run sdk-matrix --var sources=LLaMAPackage   your package; --profile device has Qualcomm's headers
pipeline { description = "One op package against several SDK releases and every Hexagon: what compiles where" }
profile "simulated" { default = true }
profile "device" {}
toolchain "hexagon" { version = "6.4.0.2" }
toolchain "ndk" { version = "r28b" }

variable "sources" { type = optional(string) }
variable "series" { type = optional(string) }
variable "package" { type = optional(string) }
variable "targets" { type = optional(list(string)) }
variable "releases" {
  type    = list(string)
  default = ["2.31.0.250130", "2.41.0.251128", "2.42.0.251225"]
}

module "sdk" {
  source   = "sdk-matrix"
  for_each = toset(var.releases)
  release  = each.value
  sources  = var.sources
  series   = var.series
  package  = var.package
  targets  = var.targets
}

output "compiled" {
  value = [for release, m in module.sdk : merge({ QAIRT = release },
  { for target, c in m.found : target => "${c.compiled} of ${c.of}" })]
  show = "table"
}
output "first_errors" {
  value = flatten([for release, m in module.sdk : [for target, c in m.found :
  { QAIRT = release, target = target, error = c.first, rule = c.rule } if c.compiled < c.of]])
  show = "table"
}
