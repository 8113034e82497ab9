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
    mllm      = var.mllm == null ? step.git.mllm.outputs.dir : var.mllm
    quantized = step.convert.llm.outputs.model
    htp       = step.htp_context.llm["whole"].outputs.dir
    table     = step.accuracy.llm.outputs.table
    answers   = { whole = var.tokens, first = 1 } # tokens

    example = var.mllm == null
    runs    = local.example
    title   = "Simulated phone: toy "
    ops     = local.sources
    phone   = merge(module.toy.phone, { packages = local.packages })
  }

  step "git" "mllm" {
    when        = var.quantizer != "native" && var.mllm == null
    description = "mllm's sources"
    url         = "https://github.com/UbiquitousLearning/mllm"
    commit      = "b9c307020b2e200ea43cd67747d1581e4eba85fd"
  }

  # Rounding by one step in 65,535 changes the outputs of later layers, so check "first" uses a truncated model.
  step "onnx_llm" "llm" {
    for_each    = { whole = null, first = 2 } # layers
    description = "the quantized model as a graph, with mllm's points of quantization"
    model       = step.quantize.llm.outputs.dir
    context_len = var.context_len
    layers      = each.value
  }

  # At its default optimization level the compiler silently miscompiles these graphs: rows 16 and up of each prefill call are off by about 1 %.
  step "htp_context" "llm" {
    for_each           = local.answers
    graphs             = step.onnx_llm.llm[each.key].outputs.dir
    share_weights      = var.share_weights
    optimization_level = 3
  }

  step "htp_emulate" "llm" {
    description = "outputs on Qualcomm's emulator"
    for_each    = local.answers
    context     = step.htp_context.llm[each.key].outputs.dir
    prompt      = var.prompt
    tokens      = each.value
  }

  step "onnx_run" "llm" {
    description = "outputs of the same graphs on the CPU"
    for_each    = local.answers
    graphs      = step.onnx_llm.llm[each.key].outputs.dir
    prompt      = var.prompt
    tokens      = each.value
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
    reference = step.onnx_run.llm["first"].outputs.dir
    outputs   = { first = step.htp_emulate.llm["first"].outputs.dir }
  }

  step "accuracy" "llm" {
    title         = "Qualcomm's emulator: ${var.model == "" ? "toy " : ""}${var.architecture} on ${target.soc}, Hexagon ${target.arch}"
    reference     = step.onnx_run.float.outputs.dir
    outputs       = { emulator = step.htp_emulate.llm["whole"].outputs.dir, cpu = step.onnx_run.llm["whole"].outputs.dir }
    contexts      = { emulator = step.htp_context.llm["whole"].outputs.dir }
    times         = { emulator = step.htp_emulate.llm["whole"].outputs.times }
    compile_times = { emulator = step.htp_context.llm["whole"].outputs.times }
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
    error_message = "The outputs of the quantized model are far from the float model's: cosine ${step.accuracy.llm.outputs.rows.emulator.cosine}."
  }
}
