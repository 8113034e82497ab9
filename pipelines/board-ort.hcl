# A language model on a board with Linux, over ssh: how fast, and its logits beside the emulator's (docs/boards.md).
#
#   hexmage run board-ort --var board=ssh://ubuntu@192.168.1.9 --soc QCS9100
#   hexmage run board-ort --var board=desk --var model=SmolLM2-135M-Instruct    a name of devices.hcl, a model of yours
#   hexmage run board-ort --var board=… --var processor=true    ONNX Runtime's own kernels in the NPU's place

pipeline { description = "A small language model on a board over ssh, beside Qualcomm's emulator" }
profile "emulator" { default = true }
target "SC8380XP" {} # Snapdragon X Elite

variable "board" {
  type        = string
  default     = "ssh://user@board"
  description = "The board: ssh://USER@HOST:PORT, or its name in devices.hcl"
}
variable "model" {
  type        = string
  default     = ""
  description = "A Hugging Face folder or a GGUF; by default two layers with seeded weights, which say nothing"
}
variable "prompt" { type = optional(string) }
variable "tokens" { type = optional(number) }
variable "processor" { type = optional(bool) }

step "model" "tiny" {
  seed   = 79
  layers = 2
}

module "llm" {
  source    = "ort-board"
  board     = var.board
  model     = var.model == "" ? step.model.tiny.outputs.dir : var.model
  prompt    = var.prompt
  tokens    = var.tokens
  processor = var.processor
}
output "bundle" { value = module.llm.bundle }
output "metrics" { value = module.llm.metrics }
output "table" { value = module.llm.table }
