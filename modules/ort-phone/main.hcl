# A language model on a phone, through adb: its bundle with a small program in the place of Python, how fast it answers, and its logits beside the emulator's. What differs
# between the simulated phone and a real one stands in emulator.hcl and device.hcl.

module {
  description = "A language model's bundle on a phone through adb: tokens, how fast, and its logits beside the emulator's"
}

variable "phone" {
  type        = string
  default     = ""
  description = "The phone's serial number, or its name in devices.hcl: profile device takes the one that is attached without it; profile emulator a simulated one"
}

variable "model" {
  type        = string
  description = "A folder in the Hugging Face layout, or a GGUF file: of Llama, Qwen2 or Qwen3 architecture"
}

variable "scheme" {
  type        = string
  default     = "a16w8"
  description = "The way to quantise: a16w8, a16w4, lpbq"
}

variable "prompt" {
  type        = string
  default     = "What is the capital of France?"
  description = "What the model is asked, put into its chat template"
}

variable "tokens" {
  type        = number
  default     = 12
  description = "Tokens of the answer, at most"
}

variable "context" {
  type        = number
  default     = 128
  description = "Tokens that the key/value cache holds: prompt and answer together"
}

variable "processor" {
  type        = bool
  default     = true
  description = "Profile emulator: whether the phone's processor does what its NPU would, by ONNX Runtime's own kernels, and every report says so; false for arm64 Linux with an NPU that adb reaches"
}

variable "runtime" {
  type        = string
  default     = ""
  description = "Profile device: a folder with libonnxruntime.so for Android, and what it loads, as AARs have it in jni/arm64-v8a; by default the AARs are fetched, once they are pinned"

  validation {
    condition     = var.runtime == "" || length(fileset(var.runtime, "libonnxruntime.so")) == 1
    error_message = "It has no libonnxruntime.so. Put there what lies in jni/arm64-v8a of the AARs com.microsoft.onnxruntime:onnxruntime-android and com.qualcomm.qti:onnxruntime-android-qnn: docs/phones.md."
  }
}

locals { bundle = module.host.bundles[var.scheme] }

toolchain "adb" {}
toolchain "onnx" {}

module "host" {
  source      = "onnx-htp"
  model       = var.model
  schemes     = [var.scheme]
  prompt      = var.prompt
  tokens      = var.tokens
  context_len = var.context
}

step "exec" "program" {
  description = "the bundle's program for phones"
  argv        = concat(local.compiler, ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-fPIE", "-pie", "-o", "answer", "${local.bundle}/run/phone.c", "-ldl"])
  output "bin" { file = "answer" }
}

step "python" "ask" {
  description = "the prompt's tokens, and the tables of a rotary embedding"
  environment = toolchain.onnx.dir
  script      = "${local.bundle}/run/phone.py"
  inputs      = [local.bundle]
  args        = ["ask", var.prompt, "ask", "--tokens", tostring(var.tokens)]
  output "dir" { tree = "ask" }
}

step "run" "phone" {
  description = "what the phone says"
  title       = "The phone, on ${local.where}"
  device      = local.device
  serial      = local.serial
  push = merge(local.runtime, {
    "answer"  = step.exec.program.outputs.bin
    "ask/"    = step.python.ask.outputs.dir
    "graphs/" = local.graphs
  })
  argv = concat(["./answer", "--ask", "ask", "--graphs", "graphs", "--runtime", "runtime", "--report", "said"], local.options)
  env  = local.env
  pull = ["said/said.json", "said/said.npy", "said/times.json"]
}

step "python" "words" {
  description = "the words of its tokens"
  environment = toolchain.onnx.dir
  script      = "${local.bundle}/run/phone.py"
  inputs      = [local.bundle]
  args        = ["words", var.prompt, step.run.phone.outputs.results, "said"]
  output "dir" { tree = "said" }
}

step "accuracy" "phone" {
  title     = "${target.soc}, Hexagon ${target.arch}, the phone on ${local.where}: ${var.prompt}"
  reference = module.host.emulated[var.scheme]
  outputs   = { phone = step.python.words.outputs.dir, float = module.host.float }
  times     = { phone = "${step.python.words.outputs.dir}/times.json", float = module.host.float_times }
}

output "bundle" {
  description = "what was pushed, but for the program and the libraries: docs/emulator.md"
  value       = local.bundle
}

output "measured" {
  description = "how fast the phone was, for checks"
  value       = step.run.phone.outputs.measured
}

output "metrics" {
  description = "how fast the phone was"
  show        = "table"
  value       = step.run.phone.outputs.metrics
}

output "rows" {
  description = "the table's numbers, for checks"
  value       = step.accuracy.phone.outputs.rows
}

output "table" {
  description = "the phone beside the emulator"
  show        = "table"
  value       = step.accuracy.phone.outputs.table
}
