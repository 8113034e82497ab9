# What users of mllm's QNN backend (branch v1: prefill on the NPU, tokens on the CPU) do by hand to a model before it goes to the phone, with mllm's own
# programs: ranges, rotation, int8 with shadow outliers; then .mllm, vocabulary and merges.

module {
  description = "A Qwen1.5, Qwen2 or Qwen2.5 for mllm v1: rotated, int8 for the NPU, floats and q4k for the CPU, vocabulary and merges"
}

variable "model" {
  type        = optional(string)
  description = "Folder of the Hugging Face model (config.json, tokenizer.json, *.safetensors), such as Qwen1.5-1.8B-Chat; by default a small one with seeded weights"
}

variable "mllm" {
  type        = optional(string)
  description = "A clone of mllm with its branch v1 checked out; by default the branch is fetched"
}

variable "calibration" {
  type        = optional(string)
  description = "A text file whose paragraphs the model reads while its ranges are taken; by default a few that hexmage has. mllm's data set, pile-val-backup, is gone"
}

variable "pictures" {
  type        = optional(string)
  description = "For a model that sees, such as ShowUI-2B: the folder with mllm's data set ScreenSpot. mllm's program for these models needs a GPU"
}

variable "samples" {
  type        = number
  default     = 8
  description = "How many paragraphs, at most"
}

variable "threshold" {
  type        = number
  default     = 64
  description = "Shadow outliers: a layer keeps its precision where its range is as many times as wide as without its top 0.1 %"
}

variable "rotate" {
  type        = bool
  default     = true
  description = "Whether the model is rotated first"
}

toolchain "mllm_quantizer" {}

step "toy_model" "small" {
  when         = var.model == null
  description  = "a small model of the same architecture, for machines without the real one"
  seed         = 15
  layers       = 2
  block_size   = 32
  architecture = "qwen2"
}

step "git" "mllm" {
  when        = var.mllm == null
  description = "mllm's branch v1"
  url         = "https://github.com/UbiquitousLearning/mllm"
  commit      = "013e4cecf183358ce5fe5e6a19bee332c50d880c"
}

locals {
  model   = var.model == null ? step.toy_model.small.outputs.dir : var.model
  sources = var.mllm == null ? step.git.mllm.outputs.dir : var.mllm
}

step "rotate_v1" "llm" {
  when     = var.rotate
  sources  = local.sources
  model    = local.model
  pictures = var.pictures
}

step "quantize_v1" "llm" {
  description = "ranges, then int8"
  sources     = local.sources
  model       = local.model
  calibration = var.calibration
  pictures    = var.pictures
  num_samples = var.samples
  rotation    = var.rotate ? step.rotate_v1.llm.outputs.rotation : null
  threshold   = var.threshold
}

step "convert" "int8" {
  name        = "int8"
  description = "for the NPU"
  model       = step.quantize_v1.llm.outputs.model
  format      = "v1"
}

# A folder with model.safetensors, or the file of the rotated model.
step "convert" "floats" {
  name        = "floats"
  description = "for the CPU, in floats"
  model       = var.rotate ? step.rotate_v1.llm.outputs.model : local.model
  format      = "v1"
}

step "exec" "quantizer" {
  description = "mllm's quantizer for the CPU"
  programs    = ["g++", "as", "ld.bfd"]
  shell       = true
  inputs      = [local.sources]
  argv = [<<-EOT
    cd "${substr(local.sources, 0, 1) == "/" ? "host${local.sources}" : local.sources}"
    g++ -std=c++17 -O2 -mavx2 -mf16c -fopenmp -fuse-ld=bfd -ffile-prefix-map="$HEXMAGE_ROOT"=. -DFMT_HEADER_ONLY -I. -Imllm -Ithird_party -Ithird_party/fmt/include -Itools/quantizer -o "$HEXMAGE_ROOT/quantize" \
      tools/quantizer/*.cpp mllm/ParamLoader.cpp mllm/backends/cpu/compute/GemmKleidiai.cpp mllm/backends/cpu/third_party/ggml/GemmPack.cpp mllm/backends/cpu/third_party/ggml/Quantize*.cpp
  EOT
  ]
  output "program" { file = "quantize" }
}

step "exec" "q4k" {
  description = "4 bits for the CPU, which goes on where the NPU ends"
  argv        = [step.exec.quantizer.outputs.program, step.convert.floats.outputs.model, "q4k.mllm", "Q4_K"]
  output "model" { file = "q4k.mllm" }
}

step "vocab" "llm" {
  tokenizer = "${local.model}/tokenizer.json"
}

check "rotation" {
  when          = var.rotate
  condition     = step.rotate_v1.llm.outputs.same.cosine_min >= 0.9999 && step.rotate_v1.llm.outputs.same.argmax_equal == 1
  error_message = "The outputs of the rotated model differ from the original model's: minimum cosine ${step.rotate_v1.llm.outputs.same.cosine_min}."
}

output "int8" {
  description = "the int8 model for the NPU, as mllm's programs read it"
  value       = step.convert.int8.outputs.model
}

output "floats" {
  description = "the model in floats for the CPU, rotated where that is asked for"
  value       = step.convert.floats.outputs.model
}

output "q4k" {
  description = "the same in 4 bits, as mllm's quantizer writes it"
  value       = step.exec.q4k.outputs.model
}

output "rotation" {
  description = "the matrices of the rotation"
  value       = var.rotate ? step.rotate_v1.llm.outputs.rotation : null
}

output "layers" {
  description = "how many layers keep their precision at which threshold"
  show        = "table"
  value       = step.quantize_v1.llm.outputs.layers
}

output "vocab" {
  description = "vocabulary and merges, without which mllm's programs say \"merge file is broken\""
  value       = step.vocab.llm.outputs.vocab
}

output "merges" { value = step.vocab.llm.outputs.merges }
