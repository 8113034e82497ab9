# The programs of the model runtime: context compiler, device runner. With the real SDKs they are built from
# the project's sources by the pipeline (a `git` step); the simulation is part of hexmage.

toolchain "mllm" {
  description   = "programs of the mllm runtime"
  download_page = "https://github.com/UbiquitousLearning/mllm"
  default       = "1"

  verify {
    layout = ["bin/mllm-qwen3-aot-sha-c", "bin/mllm-qwen2-aot-c-sha", "bin/mllm-llama-aot-c-sha", "src/runner/main.cc"]
  }

  release "1" {
    source "embedded" {}
    source "manual" {
      steps = "release 1 is the simulation and exists in profile \"simulated\" only: in another profile build the real programs from the project's sources with a `git` step"
    }
  }
}

# What mllm's quantizer runs in: PyTorch as the index has it, with CUDA, which is most of its 3 GB. It works without a GPU, too. The versions are those that mllm asks for.
toolchain "mllm_quantizer" {
  description   = "PyTorch and what goes with it for mllm's quantizer, an environment of Python's"
  download_page = "https://github.com/UbiquitousLearning/mllm"
  default       = "2.6.0"

  release "2.6.0" {
    source "python" {
      python        = "3.13"
      exclude_newer = "2026-11-20"
      requirements  = ["torch==2.6.0", "torchao==0.12.0", "transformers==4.57.3", "datasets==2.21.0", "safetensors==0.8.0", "numpy==2.4.6", "ml-dtypes==0.6.0", "accelerate==1.15.0", "zstandard==0.25.0", "pillow==13.0.0"]
    }
  }
}
