# Qualcomm's own compiler and its emulator for x86-64, from public packages: the quantized model as a graph, a real context, and the emulator's
# answer beside the float model's. The op package and a toy model go onto the simulated phone.

profile "emulator" {
  default = true

  toolchain "htp_host" {}
  toolchain "gnu_runtime" {}
  toolchain "onnx" {}

  toolchain "llvm" {} # real compilers behind the names of the simulated SDKs

  module "toy" {
    source       = "./toy"
    architecture = var.architecture
    block_size   = local.block_size
    prompt       = var.prompt
    compiler     = local.compiler
    program      = local.program
  }

  locals {
    model     = var.model == "" ? module.toy.folder : var.model
    quantizer = var.quantizer
    mllm      = var.mllm == "" ? step.git.mllm.outputs.dir : var.mllm
    quantized = step.convert.llm.outputs.model
    htp       = step.htp_context.llm.outputs.dir
    table     = step.accuracy.llm.outputs.table

    example = var.mllm == ""
    runs    = local.example
    title   = "Simulated phone: toy "
    ops     = local.sources
    phone   = merge(module.toy.phone, { packages = local.packages })
  }

  step "git" "mllm" {
    when        = var.quantizer != "native" && var.mllm == ""
    description = "mllm's sources"
    url         = "https://github.com/UbiquitousLearning/mllm"
    commit      = "b9c307020b2e200ea43cd67747d1581e4eba85fd"
  }

  step "onnx_llm" "llm" {
    description = "the quantized model as a graph, with mllm's points of quantization"
    model       = step.quantize.llm.outputs.dir
    context_len = var.context_len
  }

  # At its default optimization level the compiler silently miscompiles these graphs: rows 16 and up of each prefill call are off by about 1 %.
  step "htp_context" "llm" {
    graphs             = step.onnx_llm.llm.outputs.dir
    share_weights      = var.share_weights
    optimization_level = 3
  }

  step "htp_emulate" "llm" {
    description = "outputs on Qualcomm's emulator"
    context     = step.htp_context.llm.outputs.dir
    prompt      = var.prompt
    tokens      = var.tokens
  }

  step "onnx_run" "llm" {
    description = "outputs of the same graphs on the CPU"
    graphs      = step.onnx_llm.llm.outputs.dir
    prompt      = var.prompt
    tokens      = var.tokens
  }

  # Rounding by one step in 65,535 changes the outputs of later layers, so the check uses a truncated model.
  step "onnx_llm" "first" {
    description = "the first layers alone"
    model       = step.quantize.llm.outputs.dir
    context_len = var.context_len
    layers      = 2
  }

  step "htp_context" "first" {
    graphs             = step.onnx_llm.first.outputs.dir
    optimization_level = 3
  }

  step "htp_emulate" "first" {
    context = step.htp_context.first.outputs.dir
    prompt  = var.prompt
    tokens  = 1
  }

  step "onnx_run" "first" {
    graphs = step.onnx_llm.first.outputs.dir
    prompt = var.prompt
    tokens = 1
  }

  step "onnx_llm" "float" {
    description = "the model before quantization"
    model       = local.model
    context_len = var.context_len
  }

  step "onnx_run" "float" {
    graphs = step.onnx_llm.float.outputs.dir
    prompt = var.prompt
    tokens = var.tokens
  }

  step "accuracy" "first" {
    reference = step.onnx_run.first.outputs.dir
    outputs   = { first = step.htp_emulate.first.outputs.dir }
  }

  step "accuracy" "llm" {
    title     = "Qualcomm's emulator: ${var.model == "" ? "toy " : ""}${var.architecture} on ${target.soc}, Hexagon ${target.arch}"
    reference = step.onnx_run.float.outputs.dir
    outputs   = { emulator = step.htp_emulate.llm.outputs.dir, cpu = step.onnx_run.llm.outputs.dir }
    contexts  = { emulator = step.htp_context.llm.outputs.dir }
    times     = { emulator = step.htp_emulate.llm.outputs.times }

    compile_times = { emulator = step.htp_context.llm.outputs.times }
  }

  check "first" {
    description   = "the emulator and the CPU agree on the first layers"
    condition     = step.accuracy.first.outputs.rows.first.cosine_min >= 0.9999 && step.accuracy.first.outputs.rows.first.argmax_equal == 1
    error_message = "The first layers differ on the emulator and on the CPU: minimum cosine ${step.accuracy.first.outputs.rows.first.cosine_min} (at least 0.9999), equal argmax ${step.accuracy.first.outputs.rows.first.argmax_equal} (must be 1)."
  }

  check "npu" {
    description   = "all nodes are on the NPU"
    condition     = step.accuracy.llm.outputs.rows.emulator.cpu_nodes == 0
    error_message = "Nodes stayed on the CPU."
  }

  check "quantized" {
    description   = "the quantized model is near the float one"
    condition     = step.accuracy.llm.outputs.rows.emulator.cosine >= var.min_cosine
    error_message = "The quantized model is far from the float one: cosine ${step.accuracy.llm.outputs.rows.emulator.cosine}."
  }
}
