# Simulations for what cannot be downloaded by everybody: real compilers, a simulated phone.

profile "simulated" {
  toolchain "llvm" {} # behind the simulations' compiler wrappers
  toolchain "mllm" {} # the simulation of upstream's programs
  toolchain "qemu" {}
  toolchain "busybox" {}

  locals {
    clone = var.mllm == "" ? [] : fileset(var.mllm, "**/LLaMAPackage/src/LLaMAPackageInterface.cpp")
    ops   = var.mllm == "" ? "${path.module}/../../oppackage/example/LLaMAPackage" : dirname(dirname(one(local.clone)))

    # qemu runs HVX up to v66 alone, so our example is built for that, and the real op package, which is not, is not run.
    hvx  = var.mllm == "" ? "v66" : null
    runs = var.mllm == ""

    model   = step.model.llm.outputs.dir
    pymllm  = null
    tensors = "simulated"

    oppackage = step.oppackage.llama.outputs.dir
    makefile  = step.makefile.llama.outputs.dir
    commands  = step.oppackage.llama.outputs.compile_commands
    context   = step.context.llm.outputs.context
    config    = step.context.llm.outputs.config
    htp       = null
    table     = null

    device = step.simulated_phone.phone.outputs.image
    serial = null
    runner = { (local.program) = step.exec.runner.outputs.bin }
    packages = {
      "libQnnLLaMAPackage_CPU.so" = "${step.oppackage.llama.outputs.dir}/htp_aarch64/libQnnLLaMAPackage.so"
      "libQnnLLaMAPackage_HTP.so" = "${step.oppackage.llama.outputs.dir}/htp_${target.arch}/libQnnLLaMAPackage.so"
    }
    flags  = []
    pull   = ["results/tokens.json"]
    expect = step.reference.llm.outputs.tokens
    env    = { OPEN_RUNNER_RESULTS = "results/tokens.json" } # the simulation's alone: upstream's runner writes no file
  }

  step "model" "llm" {
    description  = "a small model of the same architecture, for machines without the real one"
    seed         = 79
    architecture = var.architecture
    block_size   = local.block_size
  }

  step "exec" "runner" {
    description = "the simulation's runner, with the flags and the output of upstream's for Qwen3"
    argv        = ["sh", "${toolchain.mllm.dir}/bin/build-runner", "${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++"]
    inputs      = [toolchain.llvm.dir]
    output "bin" { file = "runner" }
    output "symbols" { tree = "symbols" } # for `hexmage debug`
  }

  step "simulated_phone" "phone" {
    description = "a phone for machines without one"
  }

  step "reference" "llm" {
    description = "what the device must say"
    model       = step.convert.llm.outputs.model
    config      = step.context.llm.outputs.config
    tokenizer   = "${step.quantize.llm.outputs.dir}/tokenizer.json"
    prompt      = var.prompt
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

  step "context" "llm" {
    model    = step.convert.llm.outputs.model
    config   = "${step.quantize.llm.outputs.dir}/config.json"
    compiler = "${toolchain.mllm.dir}/bin/${local.compiler}"
  }
}
