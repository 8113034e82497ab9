# Edits of a language model's float graphs, each held to the number of places that it is meant for, and to what the model said before.

module {
  description = "The graphs of a language model, edited and cut in two, each checked against what it was, and what the model says before and after"
}

variable "model" {
  type        = string
  description = "A folder in the Hugging Face layout, or a GGUF file: of Llama, Qwen2 or Qwen3 architecture"
}

variable "layers" {
  type        = number
  default     = 2
  description = "The first layers, which are taken"
}

variable "norms" {
  type        = optional(number)
  description = "How many normalisations they have, with the last; by default two a layer and one, as Llama and Qwen2 have. Qwen3 has four a layer"
}

variable "prompt" {
  type        = string
  default     = "What is the capital of France?"
  description = "What the model is asked before and after"
}

variable "tokens" {
  type        = number
  default     = 12
  description = "Tokens of the answer, at most"
}

variable "tolerance" {
  type        = number
  default     = 0.00001
  description = "How much an output may differ after the edits, as a part of its largest value"
}

toolchain "onnx" {}

step "onnx_llm" "float" {
  model   = var.model
  layers  = var.layers
  context = 128
}

step "onnx_edit" "plain" {
  description = "normalisations of older operator sets, and an activation of one node"
  model       = step.onnx_llm.float.outputs.dir
  tolerance   = var.tolerance

  edit "replace" {
    expect  = coalesce(var.norms, 2 * var.layers + 1)
    pattern = ["y = RMSNormalization(x, w, axis=-1, epsilon=$e)"]
    by = [
      "square = Mul(x, x)",
      "mean = ReduceMean(square, [-1], keepdims=1)",
      "more = Add(mean, $e)",
      "root = Sqrt(more)",
      "unit = Div(x, root)",
      "y = Mul(unit, w)",
    ]
  }

  edit "replace" {
    expect  = var.layers
    pattern = ["s = Sigmoid(x)", "y = Mul(x, s)"]
    by      = ["y = com.microsoft.QuickGelu(x, alpha=1.0)"]
  }
}

step "onnx_edit" "halves" {
  description = "the first layer, and the others, as two graphs"
  model       = step.onnx_llm.float.outputs.dir
  graphs      = ["prefill"]

  edit "split" {
    expect  = 1
    tensors = ["layer0_out"]
    into    = ["front", "back"]
  }
}

step "onnx_run" "float" {
  description = "what the model says as it was"
  graphs      = step.onnx_llm.float.outputs.dir
  prompt      = var.prompt
  tokens      = var.tokens
}

step "onnx_run" "edited" {
  description = "what it says after the edits"
  graphs      = step.onnx_edit.plain.outputs.dir
  prompt      = var.prompt
  tokens      = var.tokens
}

step "accuracy" "edited" {
  title     = "before the edits, and after: ${var.prompt}"
  reference = step.onnx_run.float.outputs.dir
  outputs   = { edited = step.onnx_run.edited.outputs.dir }
}

check "words" {
  condition     = step.accuracy.edited.outputs.rows["edited"].equal == step.accuracy.edited.outputs.rows["edited"].tokens
  error_message = "The edited model says other words: give a smaller tolerance, and see which edit is refused."
}

output "edited" {
  description = "the edited graphs, diff.txt: what was done, for people, and manifest.json"
  value       = step.onnx_edit.plain.outputs.dir
}

output "halves" {
  description = "front.onnx and back.onnx, which together are prefill.onnx, and decode.onnx as it was"
  value       = step.onnx_edit.halves.outputs.dir
}

output "graphs" {
  description = "the graphs before the edits, to compare: hexmage inspect --diff"
  value       = step.onnx_llm.float.outputs.dir
}

output "done" {
  description = "what was done in numbers, for checks"
  value       = step.onnx_edit.plain.outputs.graphs
}

output "table" {
  description = "what the model says before and after"
  show        = "table"
  value       = step.accuracy.edited.outputs.table
}
