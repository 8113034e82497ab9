# The programs of the model runtime: context compiler, device runner. With the real SDKs they are built from
# the project's sources by the pipeline (a `git` step); the open stand-in is part of hexmage.

toolchain "mllm" {
  description = "programs of the mllm runtime"
  page        = "https://github.com/UbiquitousLearning/mllm"
  default     = "1"

  verify {
    layout = ["bin/mllm-qwen3-aot-sha-c", "src/runner/main.cc"]
  }

  release "1" {
    source "embedded" {}
    source "manual" {
      steps = "release 1 is the open stand-in and exists in profile \"open\" only: in another profile build the real programs from the project's sources with a `git` step"
    }
  }
}
