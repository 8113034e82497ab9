# mllm's ahead-of-time flow: patched op package, quantized and converted model, context binary, and a run on a phone.
# simulated.hcl has the simulated phone, emulator.hcl Qualcomm's compiler and emulator for x86-64, device.hcl the real SDKs and a phone.

module {
  description = "Qwen3, Qwen2 or Llama in mllm's scheme (W4A16 LPBQ), compiled ahead of time into a context for one Hexagon, run on a phone"
}

variable "architecture" {
  type        = string
  default     = "qwen3"
  description = "The model's: qwen3, qwen2 (also Qwen1.5 and Qwen2.5) or llama (Llama 3)"
  validation {
    condition     = contains(["qwen3", "qwen2", "llama"], var.architecture)
    error_message = "architecture: unknown value ${var.architecture}. Use the model_type of config.json: qwen3, qwen2 or llama."
  }
}

variable "model" {
  type        = string
  default     = ""
  description = "Profiles device and emulator: folder of the Hugging Face model (config.json, tokenizer.json, *.safetensors), such as Qwen3-1.7B; by default emulator takes a toy model"
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
  type        = optional(string)
  description = "A clone of mllm (github.com/UbiquitousLearning/mllm), whose op package is built in place of the example, and whose quantizer runs if `quantizer` says so. Profile device builds its programs, too: clone it with submodules"
  validation {
    condition     = var.mllm == null || length(fileset(var.mllm, "**/LLaMAPackage/src/LLaMAPackageInterface.cpp")) == 1
    error_message = "mllm must be the folder of one clone of mllm, with exactly one LLaMAPackage/src/LLaMAPackageInterface.cpp below it."
  }
}

variable "quantizer" {
  type        = string
  default     = "native"
  description = "Profiles device and emulator: native is hexmage's own quantizer on ONNX Runtime, with mllm's arithmetic; mllm and mllm-cuda run mllm's train.py on the CPU or a GPU, with 3 GB of PyTorch"
  validation {
    condition     = contains(["native", "mllm", "mllm-cuda"], var.quantizer)
    error_message = "quantizer: use native, mllm or mllm-cuda."
  }
}

variable "calibration" {
  type        = optional(string)
  description = "Profiles device and emulator: a text file for calibration, a sample per paragraph; by default a few paragraphs that hexmage has"
}

variable "context_len" {
  type        = optional(number)
  description = "Profile emulator: tokens that the key/value cache holds, prompt and answer together; by default 256"
}

variable "tokens" {
  type        = number
  default     = 12
  description = "Profile emulator: tokens of the answer, at most"
}

variable "share_weights" {
  type        = optional(bool)
  description = "Profile emulator: prefill and decode share their weights in one context, by default; false compiles one context each, in half the memory"
}

variable "min_cosine" {
  type        = number
  default     = 0.9
  description = "Profile emulator: minimum mean cosine between quantized and float logits. Wrong block scales drop it from 0.99 to 0.88"
}

variable "serial" {
  type        = optional(string)
  description = "Profile device: serial number of the phone, when several are attached"
}

toolchain "qairt" { default = true }
toolchain "hexagon" { default = true }
toolchain "ndk" { default = true }
toolchain "adb" {}
toolchain "mllm_quantizer" { when = local.quantizer != null && local.quantizer != "native" }

locals {
  block_size = var.block_size == null ? { qwen3 = 16, qwen2 = 32, llama = 32 }[var.architecture] : var.block_size

  # mllm's names: the last words change places. The latter two compilers write a fixed file and take no -o.
  compiler = { qwen3 = "mllm-qwen3-aot-sha-c", qwen2 = "mllm-qwen2-aot-c-sha", llama = "mllm-llama-aot-c-sha" }[var.architecture]
  program  = "mllm-${var.architecture}-aot-runner"
}

locals {
  clone   = var.mllm == null ? [] : fileset(var.mllm, "**/LLaMAPackage/src/LLaMAPackageInterface.cpp")
  sources = var.mllm == null ? "${path.module}/../../oppackage/example/LLaMAPackage" : dirname(dirname(one(local.clone)))
  hvx     = local.example ? "v66" : null # the newest HVX that qemu has; mllm's op package needs a newer one, and does not run there

  packages = { # and a library that they link to, which a finished context does not need
    "libQnnHtpPrepare.so"       = "${toolchain.qairt.dir}/lib/aarch64-android/libQnnHtpPrepare.so"
    "libQnnLLaMAPackage_CPU.so" = "${step.oppackage.llama.outputs.dir}/htp_aarch64/libQnnLLaMAPackage.so"
    "libQnnLLaMAPackage_HTP.so" = "${step.oppackage.llama.outputs.dir}/htp_${target.arch}/libQnnLLaMAPackage.so"
  }
}

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

step "quantize" "llm" {
  when         = local.quantizer != null
  model        = local.model
  architecture = var.architecture
  block_size   = local.block_size
  pymllm       = local.quantizer == "native" ? null : local.mllm
  calibration  = var.calibration
  device       = local.quantizer == "mllm-cuda" ? "cuda" : "cpu"
}

step "convert" "llm" {
  when  = local.quantizer != null
  model = step.quantize.llm.outputs.dir
  name  = var.architecture
}

step "audit" "llm" {
  when        = local.quantizer != null
  description = "whether the model fits its config, and what mllm's programs silently change"
  model       = step.convert.llm.outputs.model
  config      = "${step.quantize.llm.outputs.dir}/config.json"
}

check "range" {
  when          = local.quantizer != null && var.architecture != "qwen3" # Qwen3 has a point of its own there
  severity      = "warning"
  condition     = step.audit.llm.outputs.found.widest < 2
  error_message = "mllm's quantizer gives the inputs of q and k the range of the rotation. In ${step.audit.llm.outputs.found.widest_at} it is ${format("%.1f", step.audit.llm.outputs.found.widest)} times the input's own range, so the input uses that many times fewer of the 65,536 steps. Profile emulator shows the cost beside the float model."
}

step "run" "llm" {
  description = "prefill in chunks of 32, then decode"
  when        = local.runs
  title       = "${local.title}${var.architecture} on ${target.soc}, Hexagon ${target.arch}"
  device      = local.phone.device
  serial      = local.phone.serial
  timeout     = "30m"

  argv = concat(["./${local.program}", "-m", "model.bin", "-t", "tokenizer.json", "-c", "config.json", "--ar_len", "32"], local.phone.flags)
  env = merge(local.phone.env, {
    LD_LIBRARY_PATH   = "$HEXMAGE_ROOT"
    ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT;/vendor/dsp/cdsp;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp" # a list with ':' is taken as one folder
  })
  stdin  = "${var.prompt}\n"
  pull   = local.phone.pull
  expect = local.phone.expect

  push = merge(toolchain.qairt.htp_runtime[target.arch], local.phone.packages, local.phone.runner, {
    "model.bin"      = local.phone.context
    "tokenizer.json" = local.phone.tokenizer
    "config.json"    = local.phone.config
  })
}

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
  description = "the quantized model, as mllm's runner reads it"
  value       = local.quantized
}

output "context" {
  description = "the context binary that the phone runs"
  value       = local.phone.context
}

output "htp" {
  description = "profile emulator: Qualcomm's compiler: device/ has the context for a phone, emulator/ one for the emulator; manifest.json, nodes.json"
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

output "metrics" {
  description = "what was measured"
  value       = step.run.llm.outputs.metrics
  show        = "table"
}
