# Where a graph's time goes on the NPU, as the vendor's own runtime says. What differs between its emulator and a phone stands in emulator.hcl and device.hcl.

module {
  description = "Where an ONNX graph's time goes, by the profile of the vendor's runtime: on its emulator, or on a phone"
}

variable "model" {
  type        = string
  default     = ""
  description = "The graph: an .onnx file, float or with QuantizeLinear and DequantizeLinear; by default a small example"
}

variable "samples" {
  type        = string
  default     = ""
  description = "A folder of samples, *.npz files with the graph's inputs by name: each is a run; by default the example's"
}

variable "quantise" {
  type        = bool
  default     = true
  description = "Whether to quantise it, a16w8; otherwise it is compiled as it is"
}

variable "level" {
  type        = string
  default     = "detailed"
  description = "What the runtime writes down: basic, of the whole graph; detailed, of each node; optrace, a trace for the vendor's viewer besides"

  validation {
    condition     = contains(["basic", "detailed", "optrace"], var.level)
    error_message = "It is basic, detailed or optrace."
  }
}

variable "top" {
  type        = number
  default     = 20
  description = "Nodes that the table shows, those that take most; the JSON has all"
}

variable "serial" {
  type        = string
  default     = ""
  description = "Profile device: serial number of the phone, when several are attached"
}

module "net" {
  source   = "onnx-htp"
  model    = var.model
  samples  = var.samples
  quantise = var.quantise
  optrace  = var.level == "optrace"
  htp_host = local.htp_host
}

step "npu_profile" "net" {
  title    = "${var.model == "" ? "the example" : basename(var.model)} for ${target.soc}, Hexagon ${target.arch}: ${var.level}"
  profile  = local.profile
  graphs   = "${module.net.context}/graphs"
  emulator = local.emulator
  sampled  = local.sampled
  top      = var.top
}

output "context" {
  description = "what was run"
  value       = module.net.context
}

output "schematic" {
  description = "level optrace: what the vendor's viewer reads traces by"
  value       = module.net.schematic
}

output "profile" {
  description = "what the runtime wrote, as a CSV; of the emulator a folder with it and the log that the vendor's viewer reads"
  value       = local.profile
}

output "log" {
  description = "profile device: the log that the vendor's viewer reads"
  value       = local.log
}

output "nodes" {
  description = "all nodes, and all that the runtime said of the whole (JSON)"
  value       = step.npu_profile.net.outputs.nodes
}

output "rows" {
  description = "the same for checks"
  value       = step.npu_profile.net.outputs.rows
}

output "table" {
  description = "where the time goes"
  show        = "table"
  value       = step.npu_profile.net.outputs.table
}

output "metrics" {
  description = "profile device: what was measured beside it"
  show        = "table"
  value       = local.metrics
}

output "accuracy" {
  description = "whether what was profiled is right: the NPU's outputs beside the CPU's"
  show        = "table"
  value       = module.net.table
}
