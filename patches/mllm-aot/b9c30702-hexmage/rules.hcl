# mllm's runner for Qwen3 can print how long prompt and answer took, as those for Qwen2 and Llama do, and is not asked to: the
# parameter that says so is false unless a caller gives it, and this one gives none.

replace "performance" {
  description = "the runner prints its performance summary"
  from        = "bool perf = false"
  to          = "bool perf = true"
  files       = ["mllm/backends/qnn/aot_rt/QnnAOTRuntime.hpp"]

  expect {
    max = 1

    file "mllm/backends/qnn/aot_rt/QnnAOTRuntime.hpp" {
      min = 1
      max = 1
    }
  }
}

# mllm's runner for Qwen2 has the model go on from the numbers 0, 1, 2, …, as many as --seq_len says, whatever one would ask it.

replace "prompt" {
  description = "the runner for Qwen2 reads a prompt, a line of standard input, as that for Qwen3 does"
  from        = ".prompt = \"hello\""
  to          = ".prompt = [] { std::string line; std::getline(std::cin, line); return line; }()"
  files       = ["examples/qwen2_qnn_aot/aot_run.cpp"]

  expect {
    max = 1

    file "examples/qwen2_qnn_aot/aot_run.cpp" {
      min = 1
      max = 1
    }
  }
}

replace "numbers" {
  description = "what the model gets is the prompt, not numbers in a row"
  from        = "input_tensor[\"sequence\"] = mllm::Tensor::arange($$x).view({1, -1})"
  to          = ""
  files       = ["examples/qwen2_qnn_aot/aot_run.cpp"]

  expect {
    max = 1
  }
}

# The caches of keys and values are as wide as the heads that have some. With all heads in their place, the runners read beyond them.

replace "heads_qwen2" {
  description = "the runner for Qwen2 has caches for the heads of keys and values"
  from        = "config.num_heads = qwen2_cfg.num_attention_heads"
  to          = "config.num_heads = qwen2_cfg.num_key_value_heads"
  files       = ["examples/qwen2_qnn_aot/aot_run.cpp"]

  expect {
    max = 1

    file "examples/qwen2_qnn_aot/aot_run.cpp" {
      min = 1
      max = 1
    }
  }
}

replace "heads_llama" {
  description = "the runner for Llama has caches for the heads of keys and values"
  from        = "config.num_heads = llama_cfg.num_attention_heads"
  to          = "config.num_heads = llama_cfg.num_key_value_heads"
  files       = ["examples/llama_qnn_aot/aot_run.cpp"]

  expect {
    max = 1

    file "examples/llama_qnn_aot/aot_run.cpp" {
      min = 1
      max = 1
    }
  }
}
