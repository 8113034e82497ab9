# Qualcomm's own compiler and its emulator for x86-64, from public packages: the quantized model as a graph, a real context, and the emulator's
# answer beside the float model's. The op package and the runner go onto the simulated phone (simulated.hcl).

profile "emulator" {
  toolchain "htp_host" {}
  toolchain "gnu_runtime" {}
  toolchain "onnx" {}
  toolchain "mllm_quantiser" { when = var.quantizer != "native" }

  locals {
    model  = var.model == "" ? step.model.toy.outputs.dir : var.model
    pymllm = var.quantizer == "native" ? null : var.mllm == "" ? step.git.mllm.outputs.dir : var.mllm

    ops       = local.sources
    phone     = local.toy
    quantized = step.convert.llm.outputs.model
    htp       = step.htp_context.llm.outputs.dir
    table     = step.accuracy.llm.outputs.table
  }

  step "git" "mllm" {
    when        = var.quantizer != "native" && var.mllm == ""
    description = "upstream's sources"
    url         = "https://github.com/UbiquitousLearning/mllm"
    commit      = "b9c307020b2e200ea43cd67747d1581e4eba85fd"
  }

  step "onnx_llm" "llm" {
    description = "the quantised model as a graph, with upstream's points of quantisation"
    model       = step.quantize.llm.outputs.dir
    context     = var.context
  }

  # By its own choice the compiler makes contexts of these graphs whose rows from the 16th of a chunk on are wrong, by 1 part of 100 and without a word.
  step "htp_context" "llm" {
    graphs       = step.onnx_llm.llm.outputs.dir
    optimization = 3
  }

  step "htp_emulate" "llm" {
    description = "what the NPU would say"
    context     = step.htp_context.llm.outputs.dir
    prompt      = var.prompt
    tokens      = var.tokens
  }

  step "onnx_run" "llm" {
    description = "what the same numbers say on the CPU"
    graphs      = step.onnx_llm.llm.outputs.dir
    prompt      = var.prompt
    tokens      = var.tokens
  }

  # A difference of one step in 65,535 moves what later layers say, so the gate is a twin of the first layers.
  step "onnx_llm" "twin" {
    description = "the first layers alone"
    model       = step.quantize.llm.outputs.dir
    context     = var.context
    layers      = 2
  }

  step "htp_context" "twin" {
    graphs       = step.onnx_llm.twin.outputs.dir
    optimization = 3
  }

  step "htp_emulate" "twin" {
    context = step.htp_context.twin.outputs.dir
    prompt  = var.prompt
    tokens  = 1
  }

  step "onnx_run" "twin" {
    graphs = step.onnx_llm.twin.outputs.dir
    prompt = var.prompt
    tokens = 1
  }

  step "onnx_llm" "float" {
    description = "the model before it was quantised"
    model       = local.model
    context     = var.context
  }

  step "onnx_run" "float" {
    graphs = step.onnx_llm.float.outputs.dir
    prompt = var.prompt
    tokens = var.tokens
  }

  step "accuracy" "twin" {
    reference = step.onnx_run.twin.outputs.dir
    outputs   = { twin = step.htp_emulate.twin.outputs.dir }
  }

  step "accuracy" "llm" {
    title     = "Qualcomm's emulator: ${var.model == "" ? "a toy " : ""}${var.architecture} on ${target.soc}, Hexagon ${target.arch}"
    reference = step.onnx_run.float.outputs.dir
    outputs   = { emulator = step.htp_emulate.llm.outputs.dir, cpu = step.onnx_run.llm.outputs.dir }
    contexts  = { emulator = step.htp_context.llm.outputs.dir }
    times     = { emulator = step.htp_emulate.llm.outputs.times }

    compile_times = { emulator = step.htp_context.llm.outputs.times }
  }

  check "twin" {
    condition     = step.accuracy.twin.outputs.rows.twin.cosine_min >= 0.9999 && step.accuracy.twin.outputs.rows.twin.argmax_equal == 1
    error_message = "The first layers say something else on the emulator than on the CPU: cosine ${step.accuracy.twin.outputs.rows.twin.cosine_min} at least."
  }

  check "npu" {
    condition     = step.accuracy.llm.outputs.rows.emulator.cpu_nodes == 0
    error_message = "Nodes stayed on the CPU."
  }

  check "quantised" {
    condition     = step.accuracy.llm.outputs.rows.emulator.cosine >= var.near
    error_message = "The quantised model is far from the float one: cosine ${step.accuracy.llm.outputs.rows.emulator.cosine}."
  }
}
