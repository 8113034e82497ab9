# One op package with one release of QAIRT, for every target: what compiles, and the first line that does not.

module {
  description = "What of an op package compiles with one release of QAIRT, for every target"
}

variable "release" {
  type        = string
  description = "The release of QAIRT, such as 2.41.0.251128"
}

variable "sources" {
  type        = optional(string)
  description = "Folder of the op package (src/*.cpp, src/ops/*.cpp); by default our example"
}

variable "package" {
  type        = string
  default     = "LLaMAPackage"
  description = "Name of the package"
}

variable "series" {
  type        = optional(string)
  description = "A series of patches that the sources get first, such as mllm; by default none: they are compiled as they are"
}

variable "targets" {
  type        = list(string)
  default     = ["htp_aarch64", "htp_v73", "htp_v75", "htp_v79", "htp_v81"]
  description = "What to compile for"
}

toolchain "qairt" { version = var.release }

profile "simulated" {
  default = true

  toolchain "llvm" {} # behind the simulations' compiler wrappers
}

profile "device" {}

locals {
  sources = var.sources == null ? "${path.module}/../../oppackage/example/LLaMAPackage" : var.sources
}

step "patch" "ops" {
  when   = var.series != null
  source = local.sources
  series = var.series
}

step "sdk_matrix" "package" {
  source  = var.series == null ? local.sources : step.patch.ops.outputs.dir
  package = var.package
  targets = var.targets
}

output "found" { value = step.sdk_matrix.package.outputs.found }
