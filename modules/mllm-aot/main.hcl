# What mllm's users do by hand for a model that is compiled ahead of time: op package, quantiser, converter, compiler, phone.
# What differs between our stand-ins and the real thing stands in open.hcl and device.hcl.

module {
  description = "Qwen3 in mllm's scheme (W4A16 LPBQ), compiled ahead of time into a context for one Hexagon, run on a phone"
}

variable "model" {
  type        = string
  default     = ""
  description = "Profile device: folder of the Hugging Face model (config.json, tokenizer.json, *.safetensors), such as Qwen3-1.7B"
}

variable "block_size" {
  type        = number
  default     = 16
  description = "LPBQ block size: 16 for 1.7B, 32 for 4B"
}

variable "prompt" {
  type        = string
  default     = "Why can greatness not be planned? Give three reasons, one a line, and name somebody who found something great while looking for something else."
  description = "What the model is asked"
}

variable "mllm" {
  type        = string
  default     = ""
  description = "Profile open: a clone of upstream (github.com/UbiquitousLearning/mllm), whose op package is built instead of our example"

  validation {
    condition     = var.mllm == "" || length(fileset(var.mllm, "**/LLaMAPackage/src/LLaMAPackageInterface.cpp")) == 1
    error_message = "It must be the folder of one clone of upstream: there is to be one LLaMAPackage/src/LLaMAPackageInterface.cpp below it."
  }
}

variable "serial" {
  type        = string
  default     = ""
  description = "Profile device: serial number of the phone, when several are attached"
}

toolchain "adb" {}

# --- the op package -------------------------------------------------------------------------------------------------

step "patch" "ops" {
  description = "rewrite what the SDK has renamed"
  source      = local.ops
  series      = "mllm"
}

step "makefile" "llama" {
  source  = step.patch.ops.outputs.dir
  package = "LLaMAPackage"
  hvx     = local.hvx
}

step "oppackage" "llama" {
  source  = step.patch.ops.outputs.dir
  package = "LLaMAPackage"
  targets = ["htp_aarch64", "htp_${target.arch}"]
  hvx     = local.hvx
}

# --- the model ------------------------------------------------------------------------------------------------------

step "quantize" "qwen3" {
  model      = local.model
  block_size = var.block_size
  pymllm     = local.pymllm
}

step "convert" "qwen3" {
  model = step.quantize.qwen3.outputs.dir
  name  = "qwen3"
}

step "context" "qwen3" {
  model     = step.convert.qwen3.outputs.model
  config    = "${step.quantize.qwen3.outputs.dir}/config.json"
  compiler  = "${local.compilers}/mllm-qwen3-aot-sha-c"
  memory_gb = local.memory_gb
}

# --- the device -----------------------------------------------------------------------------------------------------

step "run" "qwen3" {
  description = "prefill in chunks of 32, then decode"
  when        = local.runs
  title       = "qwen3-aot-${target.arch} on ${target.soc}"
  device      = local.device
  serial      = local.serial
  timeout     = "30m"

  argv = ["./mllm-qwen3-aot-runner", "-m", "model.bin", "-t", "tokenizer.json", "-c", "config.json", "--ar_len", "32"]
  env = {
    LD_LIBRARY_PATH   = "$HEXMAGE_ROOT"
    ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp" # a list with ':' is taken as one folder
  }
  stdin  = "${var.prompt}\n"
  pull   = local.pull
  expect = local.expect

  push = merge(toolchain.qairt.htp_runtime[target.arch], local.packages, local.runner, {
    "model.bin"      = step.context.qwen3.outputs.context
    "tokenizer.json" = "${step.quantize.qwen3.outputs.dir}/tokenizer.json"
    "config.json"    = step.context.qwen3.outputs.config
  })
}

# --- what comes out -------------------------------------------------------------------------------------------------

output "oppackage" {
  description = "libQnnLLaMAPackage.so for each target"
  value       = step.oppackage.llama.outputs.dir
}

output "makefile" {
  description = "the same package for make, by hand"
  value       = step.makefile.llama.outputs.dir
}

output "compile_commands" {
  description = "for clangd"
  value       = step.oppackage.llama.outputs.compile_commands
}

output "model" {
  description = "the quantised model, as upstream's runner reads it"
  value       = step.convert.qwen3.outputs.model
}

output "context" {
  description = "the context binary"
  value       = step.context.qwen3.outputs.context
}

output "stdout" {
  description = "what the runner printed"
  value       = step.run.qwen3.outputs.stdout
}

output "samples" {
  description = "memory, processors, clocks, temperatures and battery while it ran: samples.csv, samples.json"
  value       = step.run.qwen3.outputs.samples
}

output "metrics" {
  description = "what was measured"
  value       = step.run.qwen3.outputs.metrics
  show        = "table"
}
