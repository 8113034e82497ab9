# What users of llm.npu (the paper's own program, mllm's branch v1) do by hand: op package, programs, models, vocabulary and merges onto the phone; a prompt of 64, 256 and 1024
# tokens through int8 layers on the NPU, then tokens on the CPU. What differs between Simulations and the real thing stands in simulated.hcl and device.hcl.

module {
  description = "Qwen1.5-1.8B with mllm's branch v1: the prompt in int8 on the NPU, tokens on the CPU, beside what the paper measured"
}

variable "int8" {
  type        = string
  default     = ""
  description = "Profile device: the NPU's model, qwen-1.5-1.8b-chat-int8.mllm of mllm's authors"
}

variable "q4k" {
  type        = string
  default     = ""
  description = "Profile device: the CPU's, qwen-1.5-1.8b-chat-q4k.mllm"
}

variable "tokenizer" {
  type        = optional(string)
  description = "Profile device: the model's tokenizer.json, to make vocabulary and merges of; by default mllm's own files"
}

variable "mllm" {
  type        = optional(string)
  description = "Profile device: sources of yours, such as the paper's artifact; by default mllm's of 2025-02-24, which build both programs"
}

variable "lengths" {
  type        = list(string)
  default     = ["64", "256", "1024"]
  description = "How many tokens the prompt is filled up to: -s of main_qwen_npu"
}

variable "repeat" {
  type        = number
  default     = 3
  description = "Profile device: how often each length is measured"
}

variable "serial" {
  type        = optional(string)
  description = "Profile device: serial number of the phone, when several are attached"
}

toolchain "qairt" { default = true }
toolchain "hexagon" { default = true }
toolchain "ndk" { default = true }
toolchain "adb" {}

locals {
  push = merge({ for name, file in toolchain.qairt.htp_runtime[target.arch] : "qnn-lib/${name}" => file }, {
    "qnn-lib/libQnnHtpPrepare.so"         = "${toolchain.qairt.dir}/lib/aarch64-android/libQnnHtpPrepare.so" # the phone compiles the graph
    "qnn-lib/libQnnLLaMAPackage_CPU.so"   = "${step.oppackage.llama.outputs.dir}/htp_aarch64/libQnnLLaMAPackage.so"
    "qnn-lib/libQnnLLaMAPackage_HTP.so"   = "${step.oppackage.llama.outputs.dir}/htp_${target.arch}/libQnnLLaMAPackage.so"
    "models/qwen-1.5-1.8b-chat-int8.mllm" = local.int8
    "models/qwen-1.5-1.8b-chat-q4k.mllm"  = local.q4k
    "vocab/qwen_vocab.mllm"               = local.vocab
    "vocab/qwen_merges.txt"               = local.merges
    "bin/main_qwen_npu"                   = local.main
    "bin/demo_qwen_npu"                   = local.demo
  })

  # The programs look beside the folder they start in, which is a new one for each run: what an older model left, such as qnn_context.bin, is not there.
  start = "cd bin && exec"

  env = merge(local.open_env, { LD_LIBRARY_PATH = "$HEXMAGE_ROOT/qnn-lib", ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT/qnn-lib;/vendor/dsp/cdsp;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp" })
}

step "patch" "ops" {
  description = "rewrite what the SDK has renamed"
  source      = local.ops
  series      = "mllm"
}

step "oppackage" "llama" {
  source  = step.patch.ops.outputs.dir
  package = "LLaMAPackage"
  targets = ["htp_aarch64", "htp_${target.arch}"]
  hvx     = local.hvx
}

step "run" "main" {
  description = "prompts of several lengths"
  title       = "${local.name}, int8, on ${target.soc}"
  device      = local.device
  serial      = local.serial
  timeout     = "30m"
  repeat      = local.repeat
  matrix      = { seq = var.lengths }
  argv        = ["sh", "-c", "${local.start} ./main_qwen_npu -s ${matrix.seq} -c $((${matrix.seq} > 512)) ${local.flags}"] # 1024 in chunks, the others at once: as the reproduction ran them
  env         = local.env
  push        = local.push
  pull        = local.pull
  expect      = local.expect == null ? null : "${local.expect}/${matrix.seq}.json"
  facts       = { prefill_tokens = matrix.seq } # so the paper counts: all that goes through, also what the prompt is filled up with
  columns     = ["prefill_tokens_per_s", "prefill_time_us", "load_time_us"]
  baselines   = ["llm.npu-paper", "llm.npu-reproduction"]

  metric "prompt_tokens" {
    pattern = "(?:real_seq_length|prompt_length): ?([0-9]+)\\s*$"
    unit    = "tokens"
  }
}

step "run" "demo" {
  description = "mllm's demo, which goes through the prompt in chunks of 128"
  title       = "demo_qwen_npu on ${target.soc}"
  device      = local.device
  serial      = local.serial
  timeout     = "30m"
  argv        = ["sh", "-c", "${local.start} ./demo_qwen_npu ${local.flags}"]
  env         = local.env
  push        = local.push
}

output "oppackage" {
  description = "libQnnLLaMAPackage.so for each target"
  value       = step.oppackage.llama.outputs.dir
}

output "vocab" {
  description = "vocabulary and merges, without which mllm's programs say \"merge file is broken\""
  value       = local.vocab
}

output "merges" { value = local.merges }

output "stdout" {
  description = "what main_qwen_npu printed"
  value       = step.run.main.outputs.stdout
}

output "demo" {
  description = "what demo_qwen_npu printed"
  value       = step.run.demo.outputs.stdout
}

output "samples" {
  description = "memory, processors, clocks, temperatures and battery while it ran"
  value       = step.run.main.outputs.samples
}

output "metrics" {
  description = "what was measured, beside the paper's table and the reproduction's"
  value       = step.run.main.outputs.metrics
  show        = "table"
}
