# Simulations for what cannot be downloaded by everybody: real compilers, a simulated phone, a small model.

profile "simulated" {
  default = true

  toolchain "llvm" {} # behind the simulations' compiler wrappers
  toolchain "mllm" {} # the simulation of mllm's programs
  toolchain "qemu" {}
  toolchain "busybox" {}

  locals {
    name     = "a small Qwen2"
    ops      = "${path.module}/../../oppackage/example/LLaMAPackage"
    hvx      = "v66"                             # all that qemu runs right
    int8     = step.convert.floats.outputs.model # the simulated programs read floats, not int8 and 4 bits
    q4k      = step.convert.floats.outputs.model
    vocab    = step.vocab.small.outputs.vocab
    merges   = step.vocab.small.outputs.merges
    main     = step.exec.runner.outputs.bin
    demo     = step.exec.runner.outputs.bin
    flags    = "-d 128 -h 4 -f 256"
    device   = step.simulated_phone.phone.outputs.image
    serial   = null
    repeat   = 1
    pull     = ["results/tokens.json"]
    expect   = step.reference.small.outputs.dir
    open_env = { OPEN_RUNNER_RESULTS = "$HEXMAGE_ROOT/results/tokens.json" } # the simulation's alone: mllm's programs write no file
  }

  step "toy_model" "small" {
    description  = "a small model of the same architecture, for machines without the real one"
    seed         = 15
    layers       = 2
    block_size   = 32
    architecture = "qwen2"
  }

  step "convert" "floats" {
    name        = "floats"
    description = "for the NPU and the CPU"
    model       = step.toy_model.small.outputs.dir
    format      = "v1"
  }

  step "vocab" "small" {
    tokenizer = "${step.toy_model.small.outputs.dir}/tokenizer.json"
  }

  step "reference" "small" {
    description    = "the tokens that the phone must print"
    model          = step.convert.floats.outputs.model
    config         = "${step.toy_model.small.outputs.dir}/config.json"
    tokenizer      = step.vocab.small.outputs.vocab
    prompt         = "Why can greatness not be planned? Give three reasons, one a line, and name somebody who found something great while looking for something else."
    lengths        = [for n in var.lengths : tonumber(n)]
    max_new_tokens = 101
  }

  step "exec" "runner" {
    description = "the simulation's program, with the flags and the output of mllm's"
    argv        = ["sh", "${toolchain.mllm.dir}/bin/build-runner", "${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++"]
    inputs      = [toolchain.llvm.dir]
    output "bin" { file = "runner" }
    output "symbols" { tree = "symbols" } # for `hexmage device debug`
  }

  step "simulated_phone" "phone" {
    description = "a phone for machines without one"
  }
}
