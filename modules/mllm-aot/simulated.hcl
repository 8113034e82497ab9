# The simulated phone and all that runs on it, for profiles simulated and emulator: the op package, a toy model, its compiler and its runner.

locals {
  simulated = profile.name != "device"
  clone     = var.mllm == "" ? [] : fileset(var.mllm, "**/LLaMAPackage/src/LLaMAPackageInterface.cpp")
  sources   = var.mllm == "" ? "${path.module}/../../oppackage/example/LLaMAPackage" : dirname(dirname(one(local.clone)))

  toy = local.simulated ? {
    context   = step.context.toy.outputs.context
    config    = step.context.toy.outputs.config
    tokenizer = "${step.quantize.toy.outputs.dir}/tokenizer.json"

    serial = null
    device = step.simulated_phone.phone.outputs.image
    runner = { (local.program) = step.exec.runner.outputs.bin }
    packages = {
      "libQnnLLaMAPackage_CPU.so" = "${step.oppackage.llama.outputs.dir}/htp_aarch64/libQnnLLaMAPackage.so"
      "libQnnLLaMAPackage_HTP.so" = "${step.oppackage.llama.outputs.dir}/htp_${target.arch}/libQnnLLaMAPackage.so"
    }
    flags  = []
    pull   = ["results/tokens.json"]
    expect = step.reference.toy.outputs.tokens
    env    = { OPEN_RUNNER_RESULTS = "results/tokens.json" } # the simulated runner's alone: mllm's writes no file
  } : null
}

toolchain "llvm" { when = local.simulated } # real compilers behind the names of the simulated SDKs
toolchain "mllm" {} # the simulation of mllm's programs
toolchain "qemu" {}
toolchain "busybox" {}

profile "simulated" {
  locals {
    model     = null
    pymllm    = null
    ops       = local.sources
    phone     = local.toy
    quantized = step.convert.toy.outputs.model
    htp       = null
    table     = null
  }
}

step "model" "toy" {
  when         = local.simulated
  description  = "a toy model of the same architecture"
  seed         = 79
  architecture = var.architecture
  block_size   = local.block_size
}

step "quantize" "toy" {
  when         = local.simulated
  model        = step.model.toy.outputs.dir
  architecture = var.architecture
  block_size   = local.block_size
  tensors      = "simulated"
}

step "convert" "toy" {
  when  = local.simulated
  model = step.quantize.toy.outputs.dir
  name  = var.architecture
}

step "context" "toy" {
  when        = local.simulated
  description = "a context that the simulated phone alone can run"
  model       = step.convert.toy.outputs.model
  config      = "${step.quantize.toy.outputs.dir}/config.json"
  compiler    = "${toolchain.mllm.dir}/bin/${local.compiler}"
}

step "reference" "toy" {
  when        = local.simulated
  description = "the tokens that the phone must print"
  model       = step.convert.toy.outputs.model
  config      = step.context.toy.outputs.config
  tokenizer   = "${step.quantize.toy.outputs.dir}/tokenizer.json"
  prompt      = var.prompt
}

step "exec" "runner" {
  when        = local.simulated
  description = "the simulated runner, with the flags and the output of mllm's for Qwen3"
  argv        = ["sh", "${toolchain.mllm.dir}/bin/build-runner", "${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++"]
  inputs      = [toolchain.llvm.dir]
  output "bin" { file = "runner" }
  output "symbols" { tree = "symbols" } # for `hexmage debug`
}

step "simulated_phone" "phone" {
  when        = local.simulated
  description = "a phone for machines without one"
}
