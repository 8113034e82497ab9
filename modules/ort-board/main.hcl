# A language model on a board with Linux, over ssh: its bundle with all that it runs with, how fast it answers, and its logits beside the emulator's.

module {
  description = "A language model's bundle on a board over ssh: tokens, how fast, and its logits beside the emulator's"
}

variable "board" {
  type        = string
  description = "The board: ssh://USER@HOST:PORT, or its name in devices.hcl"
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
  default     = false
  description = "Whether the board's processor does what its NPU would, by ONNX Runtime's own kernels: for boards without one. Every report says so"
}

variable "python" {
  type        = string
  default     = "$HEXMAGE_ROOT/python/usr/bin/python3.13"
  description = "The board's command for Python: by default that of the one that is pushed"
}

toolchain "onnx" {}
toolchain "python_arm64" {}
toolchain "onnx_arm64" {}
toolchain "htp_linux_arm64" { when = !var.processor }
toolchain "adb" { when = substr(var.board, 0, 6) != "ssh://" } # devices.hcl may have a phone of the name

locals {
  bundle = module.host.bundles[var.scheme]
  where  = var.processor ? "ONNX Runtime's own kernels in the NPU's place" : "the NPU"

  # The vendor's execution provider, and what it opens, for the board's arch alone.
  arch = upper(target.arch)
  npu = var.processor ? {} : {
    for name in ["libonnxruntime_providers_qnn.so", "libQnnHtp.so", "libQnnSystem.so", "libQnnHtp${local.arch}Stub.so", "libQnnHtp${local.arch}Skel.so"] :
    "qnn/${name}" => "${toolchain.htp_linux_arm64.dir}/onnxruntime_qnn/${name}"
  }
}

module "host" {
  source      = "onnx-htp"
  model       = var.model
  schemes     = [var.scheme]
  prompt      = var.prompt
  tokens      = var.tokens
  context_len = var.context
}

step "run" "board" {
  description = "what the board says"
  title       = "The board, on ${local.where}"
  serial      = var.board
  push = merge({
    "bundle/" = local.bundle
    "python/" = toolchain.python_arm64.dir
    "site/"   = "${toolchain.onnx_arm64.dir}/lib/python3.13/site-packages"
  }, local.npu, var.processor ? { "graphs/" = module.host.quantized[var.scheme] } : {})
  argv = concat(["bundle/run.sh", var.prompt, "--tokens", tostring(var.tokens), "--report", "said"],
  var.processor ? ["--processor", "graphs"] : ["--libraries", "qnn"])
  env = {
    PYTHON          = var.python
    PYTHONHOME      = "$HEXMAGE_ROOT/python/usr"
    PYTHONPATH      = "$HEXMAGE_ROOT/site"
    LD_LIBRARY_PATH = "$HEXMAGE_ROOT/python/usr/lib/aarch64-linux-gnu"
  }
  pull = ["said/said.json", "said/said.npy", "said/times.json"]
}

step "accuracy" "board" {
  title     = "${target.soc}, Hexagon ${target.arch}, the board on ${local.where}: ${var.prompt}"
  reference = module.host.emulated[var.scheme]
  outputs   = { board = step.run.board.outputs.results, float = module.host.float }
  times     = { board = "${step.run.board.outputs.results}/times.json", float = module.host.float_times }
}

output "bundle" {
  description = "what was pushed, but for Python and the vendor's libraries: docs/emulator.md"
  value       = local.bundle
}

output "measured" {
  description = "how fast the board was, for checks"
  value       = step.run.board.outputs.measured
}

output "metrics" {
  description = "how fast the board was"
  show        = "table"
  value       = step.run.board.outputs.metrics
}

output "rows" {
  description = "the table's numbers, for checks"
  value       = step.accuracy.board.outputs.rows
}

output "table" {
  description = "the board beside the emulator"
  show        = "table"
  value       = step.accuracy.board.outputs.table
}
