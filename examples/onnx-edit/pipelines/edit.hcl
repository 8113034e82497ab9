pipeline { description = "Replace an operation in an ONNX graph, and check that the outputs stay the same" }
profile "emulator" { default = true }

variable "model" {
  type        = optional(string)
  description = "An ONNX graph with float inputs of fixed shapes. Default: a small example with a Cosh"
}

toolchain "onnx" {} # Python with onnx, numpy and ONNX Runtime

step "python" "net" {
  when        = var.model == null
  environment = toolchain.onnx.dir
  script      = "make.py"
  args        = ["net.onnx"]
  output "onnx" { file = "net.onnx" }
}

step "python" "edit" {
  environment = toolchain.onnx.dir
  script      = "edit.py"
  args        = [coalesce(var.model, step.python.net.outputs.onnx), "edited.onnx"]
  inputs      = var.model == null ? [] : [var.model]
  output "onnx" { file = "edited.onnx" }
}

output "net.onnx" { value = coalesce(var.model, step.python.net.outputs.onnx) }
output "edited.onnx" { value = step.python.edit.outputs.onnx }
