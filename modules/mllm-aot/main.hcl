# What mllm's users do by hand for a model that is compiled ahead of time: op package, quantiser, converter, compiler, phone.
# What differs between our stand-ins, the vendor's compiler and emulator for x86, and the real thing stands in open.hcl, host.hcl and device.hcl.

module {
  description = "Qwen3 in mllm's scheme (W4A16 LPBQ), compiled ahead of time into a context for one Hexagon, run on a phone"
}

variable "model" {
  type        = string
  default     = ""
  description = "Profiles device and host: folder of the Hugging Face model (config.json, tokenizer.json, *.safetensors), such as Qwen3-1.7B; host does without, and takes a small one"
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
  description = "A clone of upstream (github.com/UbiquitousLearning/mllm). Profile open builds its op package instead of our example; host runs its quantiser, which is fetched otherwise"

  validation {
    condition     = var.mllm == "" || length(fileset(var.mllm, "**/LLaMAPackage/src/LLaMAPackageInterface.cpp")) == 1
    error_message = "It must be the folder of one clone of upstream: there is to be one LLaMAPackage/src/LLaMAPackageInterface.cpp below it."
  }
}

variable "quantizer" {
  type        = string
  default     = "upstream"
  description = "Profiles device and host: upstream's train.py, on the CPU (upstream) or a GPU (upstream-cuda); or native, our own with the same arithmetic, where upstream's sources and 3 GB of PyTorch cannot be had"

  validation {
    condition     = contains(["upstream", "upstream-cuda", "native"], var.quantizer)
    error_message = "It is upstream, upstream-cuda or native."
  }
}

variable "calibration" {
  type        = string
  default     = ""
  description = "Profiles device and host: a text file whose paragraphs the quantiser watches the model read; by default a few of ours"
}

variable "context" {
  type        = number
  default     = 256
  description = "Profile host: tokens that the cache holds, prompt and answer together"
}

variable "tokens" {
  type        = number
  default     = 12
  description = "Profile host: tokens of the answer, at most"
}

variable "near" {
  type        = number
  default     = 0.9
  description = "Profile host: cosine that the quantised model's words are to have to the float model's, on average; misread block scales make 0.88 of 0.99"
}

variable "serial" {
  type        = string
  default     = ""
  description = "Profile device: serial number of the phone, when several are attached"
}

toolchain "adb" {}

# --- the model ------------------------------------------------------------------------------------------------------

step "quantize" "qwen3" {
  model       = local.model
  block_size  = var.block_size
  pymllm      = local.pymllm
  tensors     = local.tensors
  calibration = var.calibration == "" ? null : var.calibration
  device      = var.quantizer == "upstream-cuda" ? "cuda" : "cpu"
}

step "convert" "qwen3" {
  model = step.quantize.qwen3.outputs.dir
  name  = "qwen3"
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
  env = merge(local.env, {
    LD_LIBRARY_PATH   = "$HEXMAGE_ROOT"
    ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp" # a list with ':' is taken as one folder
  })
  stdin  = "${var.prompt}\n"
  pull   = local.pull
  expect = local.expect

  push = merge(toolchain.qairt.htp_runtime[target.arch], local.packages, local.runner, {
    "model.bin"      = local.context
    "tokenizer.json" = "${step.quantize.qwen3.outputs.dir}/tokenizer.json"
    "config.json"    = local.config
  })
}

# --- what comes out -------------------------------------------------------------------------------------------------

output "oppackage" {
  description = "libQnnLLaMAPackage.so for each target"
  value       = local.oppackage
}

output "makefile" {
  description = "the same package for make, by hand"
  value       = local.makefile
}

output "compile_commands" {
  description = "for clangd"
  value       = local.commands
}

output "model" {
  description = "the quantised model, as upstream's runner reads it"
  value       = step.convert.qwen3.outputs.model
}

output "context" {
  description = "the context binary"
  value       = local.context
}

output "htp" {
  description = "profile host: device/, a context of the vendor's compiler; emulator/, manifest.json, nodes.json"
  value       = local.htp
}

output "table" {
  description = "profile host: the emulator, and the same numbers on the CPU, beside the float model"
  show        = "table"
  value       = local.table
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
