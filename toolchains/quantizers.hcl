# Quantizers of others', each in an environment of its own. All want PyTorch, which the index has with CUDA alone: most of their gigabytes. They work without a
# GPU. The version is that of mllm_quantizer, so that it is downloaded once.

toolchain "aimet" {
  description   = "Qualcomm's AIMET for ONNX, an environment of Python's"
  download_page = "https://github.com/quic/aimet"
  default       = "2.42.0"

  release "2.42.0" {
    source "python" {
      python        = "3.13"
      exclude_newer = "2026-11-20"
      requirements  = ["aimet-onnx==2.42.0", "onnx==1.23.2", "onnxruntime==1.31.1", "torch==2.6.0", "numpy==2.4.6", "ml-dtypes==0.6.0"]
    }
  }
}

toolchain "quark" {
  description   = "AMD's Quark for ONNX, an environment of Python's"
  download_page = "https://quark.docs.amd.com"
  default       = "0.13"

  release "0.13" {
    source "python" {
      python        = "3.13"
      exclude_newer = "2026-11-20"
      requirements  = ["amd-quark==0.13", "torch==2.6.0", "onnxruntime==1.23.2", "numpy==2.4.6", "ml-dtypes==0.6.0"]
    }
  }
}
