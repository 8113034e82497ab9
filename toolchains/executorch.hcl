# ExecuTorch with its lowering for Qualcomm's NPU, built against one release of Qualcomm's SDK: 2.37. Its PyTorch is one of its own, as its
# torchao wants.

toolchain "executorch" {
  description   = "ExecuTorch and PyTorch, an environment of Python's"
  download_page = "https://pytorch.org/executorch"
  default       = "1.5.1"

  release "1.5.1" {
    source "python" {
      python        = "3.13"
      exclude_newer = "2026-11-20"
      requirements  = ["executorch==1.5.1", "torch==2.13.0", "numpy==2.4.6"]
    }
  }
}
