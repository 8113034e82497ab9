# A toy model on a simulated phone: seeded weights, a simulation of mllm's compiler and runner, and the tokens that the phone must print.

module {
  description = "A toy model, compiled by a simulation for a simulated phone"
}

variable "architecture" {
  type        = string
  description = "The model's: qwen3, qwen2 or llama"
}

variable "block_size" {
  type        = number
  description = "LPBQ block size"
}

variable "prompt" {
  type        = string
  description = "What the model is asked"
}

variable "compiler" {
  type        = string
  description = "Name of mllm's compiler"
}

variable "program" {
  type        = string
  description = "Name of mllm's runner"
}

toolchain "mllm" {} # the simulation of mllm's programs
toolchain "qemu" {}
toolchain "busybox" {}

step "toy_model" "toy" {
  description  = "a toy model of the same architecture"
  seed         = 79
  architecture = var.architecture
  block_size   = var.block_size
}

step "convert" "toy" {
  model = step.toy_model.toy.outputs.dir
  name  = var.architecture
}

step "context" "toy" {
  description = "a context that the simulated phone alone can run"
  model       = step.convert.toy.outputs.model
  config      = "${step.toy_model.toy.outputs.dir}/config.json"
  compiler    = "${toolchain.mllm.dir}/bin/${var.compiler}"
}

step "reference" "toy" {
  description = "the tokens that the phone must print"
  model       = step.convert.toy.outputs.model
  config      = step.context.toy.outputs.config
  tokenizer   = "${step.toy_model.toy.outputs.dir}/tokenizer.json"
  prompt      = var.prompt
}

step "exec" "runner" {
  description = "the simulated runner, with the flags and the output of mllm's for Qwen3"
  argv        = ["sh", "${toolchain.mllm.dir}/bin/build-runner", "${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++"]
  inputs      = [toolchain.llvm.dir]
  output "bin" { file = "runner" }
  output "symbols" { tree = "symbols" } # for `hexmage device debug`
}

step "simulated_phone" "phone" {
  description = "a phone for machines without one"
}

output "folder" {
  description = "the toy model, in float"
  value       = step.toy_model.toy.outputs.dir
}

output "model" {
  description = "the same as a .mllm file"
  value       = step.convert.toy.outputs.model
}

output "phone" {
  description = "the simulated phone, and what runs on it"
  value = {
    serial = null
    device = step.simulated_phone.phone.outputs.image
    runner = { (var.program) = step.exec.runner.outputs.bin }

    context   = step.context.toy.outputs.context
    config    = step.context.toy.outputs.config
    tokenizer = "${step.toy_model.toy.outputs.dir}/tokenizer.json"

    flags  = []
    pull   = ["results/tokens.json"]
    expect = step.reference.toy.outputs.tokens
    env    = { OPEN_RUNNER_RESULTS = "results/tokens.json" } # the simulated runner's alone: mllm's writes no file
  }
}
