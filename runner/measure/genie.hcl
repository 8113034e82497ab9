# genie-t2t-run: the block of KPIs.

metric "init_time_us" {
  pattern = "^\\s*Init Time: ?{time}"
  unit    = "us"
}

metric "prefill_time_us" {
  pattern = "Prompt Processing Time: ?{time}"
  unit    = "us"
}

metric "prefill_tokens_per_s" {
  pattern = "Prompt Processing Time: ?[0-9.]+ ?[a-zμµ]+, Prompt Processing Rate ?: ?{number} tok"
  unit    = "tokens/s"
}

metric "decode_time_us" {
  pattern = "Token Generation Time: ?{time}"
  unit    = "us"
}

metric "decode_tokens_per_s" {
  pattern = "Token Generation Time: ?[0-9.]+ ?[a-zμµ]+, Token Generation Rate ?: ?{number} tok"
  unit    = "tokens/s"
}

metric "ttft_us" {
  pattern = "(?i)Time to First Token: ?{time}"
  unit    = "us"
}
