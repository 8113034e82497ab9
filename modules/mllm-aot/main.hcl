# What mllm's users do by hand for a model that is compiled ahead of time: op package, quantiser, converter, compiler, phone.
# What differs between Simulations, the vendor's compiler and emulator for x86, and the real thing stands in simulated.hcl, emulator.hcl and device.hcl.

module {
  description = "Qwen3, Qwen2 or Llama in mllm's scheme (W4A16 LPBQ), compiled ahead of time into a context for one Hexagon, run on a phone"
}

variable "architecture" {
  type        = string
  default     = "qwen3"
  description = "The model's: qwen3, qwen2 (also Qwen1.5 and Qwen2.5) or llama (Llama 3)"

  validation {
    condition     = contains(["qwen3", "qwen2", "llama"], var.architecture)
    error_message = "It is qwen3, qwen2 or llama, by the model_type of config.json."
  }
}

variable "model" {
  type        = string
  default     = ""
  description = "Profiles device and emulator: folder of the Hugging Face model (config.json, tokenizer.json, *.safetensors), such as Qwen3-1.7B; host does without, and takes a small one"
}

variable "block_size" {
  type        = optional(number)
  description = "LPBQ block size: of Qwen3 16 for 1.7B, which is the default, and 32 for 4B; of Qwen2 and Llama 32"
}

variable "prompt" {
  type        = string
  default     = "Why can greatness not be planned? Give three reasons, one a line, and name somebody who found something great while looking for something else."
  description = "What the model is asked"
}

variable "mllm" {
  type        = string
  default     = ""
  description = "A clone of upstream (github.com/UbiquitousLearning/mllm). Profile simulated builds its op package instead of our example; host runs its quantiser, which is fetched otherwise"

  validation {
    condition     = var.mllm == "" || length(fileset(var.mllm, "**/LLaMAPackage/src/LLaMAPackageInterface.cpp")) == 1
    error_message = "It must be the folder of one clone of upstream: there is to be one LLaMAPackage/src/LLaMAPackageInterface.cpp below it."
  }
}

variable "quantizer" {
  type        = string
  default     = "upstream"
  description = "Profiles device and emulator: upstream's train.py, on the CPU (upstream) or a GPU (upstream-cuda); or native, hexmage's own on ONNX Runtime with the same arithmetic, for a model of any size, without upstream's sources and 3 GB of PyTorch"

  validation {
    condition     = contains(["upstream", "upstream-cuda", "native"], var.quantizer)
    error_message = "It is upstream, upstream-cuda or native."
  }
}

variable "calibration" {
  type        = string
  default     = ""
  description = "Profiles device and emulator: a text file whose paragraphs the quantiser watches the model read; by default a few of ours"
}

variable "context" {
  type        = number
  default     = 256
  description = "Profile emulator: tokens that the cache holds, prompt and answer together"
}

variable "tokens" {
  type        = number
  default     = 12
  description = "Profile emulator: tokens of the answer, at most"
}

variable "near" {
  type        = number
  default     = 0.9
  description = "Profile emulator: cosine that the quantised model's words are to have to the float model's, on average; misread block scales make 0.88 of 0.99"
}

variable "serial" {
  type        = string
  default     = ""
  description = "Profile device: serial number of the phone, when several are attached"
}

toolchain "adb" {}

locals {
  block_size = var.block_size == null ? { qwen3 = 16, qwen2 = 32, llama = 32 }[var.architecture] : var.block_size

  # Upstream's names: the last words change places. The latter two compilers write one file of theirs and take no -o.
  compiler = { qwen3 = "mllm-qwen3-aot-sha-c", qwen2 = "mllm-qwen2-aot-c-sha", llama = "mllm-llama-aot-c-sha" }[var.architecture]
  program  = "mllm-${var.architecture}-aot-runner"
}

# --- the model ------------------------------------------------------------------------------------------------------

step "quantize" "llm" {
  model        = local.model
  architecture = var.architecture
  block_size   = local.block_size
  pymllm       = local.pymllm
  tensors      = local.tensors
  calibration  = var.calibration == "" ? null : var.calibration
  device       = var.quantizer == "upstream-cuda" ? "cuda" : "cpu"
}

step "convert" "llm" {
  model = step.quantize.llm.outputs.dir
  name  = var.architecture
}

step "audit" "llm" {
  description = "whether the model fits its config, and what upstream's programs do to it without a word"
  model       = step.convert.llm.outputs.model
  config      = "${step.quantize.llm.outputs.dir}/config.json"
}

check "range" {
  when          = var.architecture != "qwen3" # which has a point of its own there
  severity      = "warning"
  condition     = step.audit.llm.outputs.found.widest < 2
  error_message = "Upstream's quantiser gives what goes into q and k the range of the rotation: in ${step.audit.llm.outputs.found.widest_at} ${format("%.1f", step.audit.llm.outputs.found.widest)} times its own, so that of its 65,536 steps one in as many is left. Profile emulator shows beside the float model what that costs."
}

# --- the device -----------------------------------------------------------------------------------------------------

step "run" "llm" {
  description = "prefill in chunks of 32, then decode"
  when        = local.runs
  title       = "${var.architecture}-aot-${target.arch} on ${target.soc}"
  device      = local.device
  serial      = local.serial
  timeout     = "30m"

  argv = concat(["./${local.program}", "-m", "model.bin", "-t", "tokenizer.json", "-c", "config.json", "--ar_len", "32"], local.flags)
  env = merge(local.env, {
    LD_LIBRARY_PATH   = "$HEXMAGE_ROOT"
    ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp" # a list with ':' is taken as one folder
  })
  stdin  = "${var.prompt}\n"
  pull   = local.pull
  expect = local.expect

  push = merge(toolchain.qairt.htp_runtime[target.arch], local.packages, local.runner, {
    "model.bin"      = local.context
    "tokenizer.json" = "${step.quantize.llm.outputs.dir}/tokenizer.json"
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
  value       = step.convert.llm.outputs.model
}

output "context" {
  description = "the context binary"
  value       = local.context
}

output "htp" {
  description = "profile emulator: device/, a context of the vendor's compiler; emulator/, manifest.json, nodes.json"
  value       = local.htp
}

output "table" {
  description = "profile emulator: the emulator, and the same numbers on the CPU, beside the float model"
  show        = "table"
  value       = local.table
}

output "stdout" {
  description = "what the runner printed"
  value       = step.run.llm.outputs.stdout
}

output "samples" {
  description = "memory, processors, clocks, temperatures and battery while it ran: samples.csv, samples.json"
  value       = step.run.llm.outputs.samples
}

output "plot" {
  description = "temperature and memory while it ran, drawn"
  value       = step.run.llm.outputs.plot
}

output "metrics" {
  description = "what was measured"
  value       = step.run.llm.outputs.metrics
  show        = "table"
}
