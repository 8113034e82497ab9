# A quantiser of others', in an environment of its own. It wants PyTorch, which the index has with CUDA alone: most of its gigabytes. It works without a
# GPU. The version is that of mllm_quantiser, so that it is downloaded once.

toolchain "aimet" {
  description = "Qualcomm's AIMET for ONNX, an environment of Python's"
  page        = "https://github.com/quic/aimet"
  default     = "2.42.0"

  release "2.42.0" {
    source "python" {
      python       = "3.13"
      until        = "2026-11-20"
      requirements = ["aimet-onnx==2.42.0", "onnx==1.23.2", "onnxruntime==1.31.1", "torch==2.6.0", "numpy==2.4.6", "ml-dtypes==0.6.0"]
    }
  }
}
