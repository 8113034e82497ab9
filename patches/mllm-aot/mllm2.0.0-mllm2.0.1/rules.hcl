# Upstream's runner for Qwen3 can print how long prompt and answer took, as those for Qwen2 and Llama do, and is not asked to: the
# parameter that says so is false unless a caller gives it, and this one gives none.

call "performance" {
  description = "the runner prints its performance summary"
  from        = "bool perf = false"
  to          = "bool perf = true"
  files       = ["mllm/backends/qnn/aot_rt/QnnAOTRuntime.hpp"]

  expect {
    min = 1
    max = 1
  }
}
