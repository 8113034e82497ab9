# What others have measured. A step run names tables by `baselines = ["…"]`; its workspace, or the step itself, may have more.

baseline "llm.npu-paper" {
  source = "llm.npu (Xu et al., ASPLOS 2025): prefill of Qwen1.5-1.8B, INT8, on a phone's Hexagon NPU, as the reproduction quotes it"

  row "prefill_tokens_per_s" {
    value = 333
    when  = { prefill_tokens = 64 }
  }
  row "prefill_tokens_per_s" {
    value = 564
    when  = { prefill_tokens = 256 }
  }
  row "prefill_tokens_per_s" {
    value = 1106
    when  = { prefill_tokens = 1024 }
  }
}

baseline "llm.npu-reproduction" {
  source = "Reproduction of llm.npu on a Snapdragon 8 Elite (SM8750): Qwen1.5-1.8B-Chat, INT8, QNN 2.37.0.250724, Hexagon SDK 6.3.0.0, v79"

  row "prefill_time_us" {
    value = 201087
    when  = { prefill_tokens = 64 }
  }
  row "prefill_tokens_per_s" {
    value = 318.27
    when  = { prefill_tokens = 64 }
  }
  row "prefill_time_us" {
    value = 487811
    when  = { prefill_tokens = 256 }
  }
  row "prefill_tokens_per_s" {
    value = 524.79
    when  = { prefill_tokens = 256 }
  }
  row "prefill_time_us" {
    value = 1010180
    when  = { prefill_tokens = 1024 }
  }
  row "prefill_tokens_per_s" {
    value = 1013.68
    when  = { prefill_tokens = 1024 }
  }
}
