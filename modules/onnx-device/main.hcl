# A language model on a phone or Linux board: one C program on ONNX Runtime answers a prompt from the context that onnx-htp compiled. emulator.hcl and device.hcl
# have the parts that only one profile needs.

module {
  description = "A compiled language model on a phone or Linux board: tokens, speed, and its logits beside the emulator's"
}

variable "board" {
  type        = optional(string)
  description = "A Linux board: ssh://USER@HOST:PORT, a name of devices.hcl, or a serial number of adb; by default a phone"
}

variable "model" {
  type        = string
  description = "A folder in the Hugging Face layout, or a GGUF file: of Llama, Qwen2 or Qwen3 architecture"
}

variable "scheme" {
  type        = string
  default     = "a16w8"
  description = "Quantization scheme: a16w8, a16w4, lpbq"
}

variable "prompt" {
  type        = string
  default     = "What is the capital of France?"
  description = "User's message; the chat template of the model is filled in with it"
}

variable "tokens" {
  type        = number
  default     = 12
  description = "Tokens of the answer, at most"
}

variable "context_len" {
  type        = number
  default     = 128
  description = "Tokens that the key/value cache holds: prompt and answer together"
}

variable "licenses" {
  type        = optional(list(string))
  description = "Files with the texts of the model's license, or folders of them, beside those in its folder"
}

variable "launcher" {
  type        = list(string)
  default     = []
  description = "Command in front of the program on the device, such as [\"taskset\", \"f0\"]"
}

variable "runtime" {
  type        = optional(string)
  description = "Profile device, phones: a folder with libonnxruntime.so for Android and the libraries that it loads; by default hexmage fetches the AARs"
  validation {
    condition     = var.runtime == null || length(fileset(var.runtime, "libonnxruntime.so")) == 1
    error_message = "The folder has no libonnxruntime.so. Copy jni/arm64-v8a of the AARs com.microsoft.onnxruntime:onnxruntime-android and com.qualcomm.qti:onnxruntime-android-qnn into it: docs/onnx-device.md."
  }
}

toolchain "adb" {}
toolchain "llvm" { when = local.linux }
toolchain "linux_arm64_dev" { when = local.linux }
toolchain "onnx" {}
toolchain "ort_linux_arm64" { when = local.linux }

locals {
  context = module.host.contexts[var.scheme]
  on_linux = !local.linux ? null : {
    compiler = ["${toolchain.llvm.dir}/usr/bin/clang-22", "--target=aarch64-linux-gnu", "--sysroot=${toolchain.linux_arm64_dev.dir}", "-fuse-ld=lld"]
    runtime  = { "libonnxruntime.so" = "${toolchain.ort_linux_arm64.dir}/onnxruntime/capi/libonnxruntime.so.1.31.1" }
  }
}

module "host" {
  source      = "onnx-htp"
  compiler    = "onnxruntime"
  model       = var.model
  schemes     = [var.scheme]
  prompt      = var.prompt
  tokens      = var.tokens
  context_len = var.context_len
  licenses    = var.licenses
}

step "exec" "program" {
  description = "the program that answers on the device"
  argv        = concat(local.compiler, ["-std=gnu11", "-O2", "-Wall", "-fPIE", "-pie", "-o", "answer", "${path.module}/answer.c", "-ldl"])
  inputs      = ["${path.module}/answer.c"]
  output "bin" { file = "answer" }
}

step "run" "device" {
  title  = "${target.soc} on ${local.where}"
  device = local.device
  serial = var.board
  push = merge(local.graphs, { for name, from in local.runtime : "runtime/${name}" => from }, {
    "answer"     = step.exec.program.outputs.bin
    "prompt.txt" = "${module.host.measured.outputs[var.scheme]}/prompt.txt"
    "context/"   = "${local.context}/device"
  })
  argv = concat(var.launcher, ["./answer", "--context", "context", "--prompt", "prompt.txt", "--tokens", tostring(var.tokens), "--runtime", "runtime", "--report", "said"], local.options)
  env  = merge({ LD_LIBRARY_PATH = "$HEXMAGE_ROOT/runtime" }, local.env)
  pull = ["said/said.json", "said/said.npy", "said/times.json"]
}

step "accuracy" "device" {
  title     = "${target.soc}, Hexagon ${target.arch}, on ${local.where}: ${var.prompt}"
  reference = module.host.measured.outputs[var.scheme]
  outputs   = { device = step.run.device.outputs.results, float = module.host.measured.reference }
  times     = { device = "${step.run.device.outputs.results}/times.json", float = module.host.measured.float_times }
  tokenizer = module.host.graphs
}

output "context" {
  description = "device/ has the pushed context, the model's license texts, and the tables of the program"
  value       = local.context
}

output "measured" {
  description = "speeds of the device, for checks"
  value       = step.run.device.outputs.measured
}

output "metrics" {
  description = "speeds of the device"
  show        = "table"
  value       = step.run.device.outputs.metrics
}

output "rows" {
  description = "numbers of the table, for checks"
  value       = step.accuracy.device.outputs.rows
}

output "table" {
  description = "the device beside the emulator"
  show        = "table"
  value       = step.accuracy.device.outputs.table
}
