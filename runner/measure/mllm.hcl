# mllm, main branch: the block "Performance Summary", and what models on the processor print beyond it.

metric "prefill_time_us" {
  pattern = "^\\s*Prefill time\\s*:\\s*{time}"
  unit    = "us"
}

metric "prefill_tokens_per_s" {
  pattern = "^\\s*Prefill time\\s*:\\s*[0-9.]+ ?[a-zμµ]+ \\(\\s*{number} tokens/s\\)"
  unit    = "tokens/s"
}

metric "decode_time_us" {
  pattern = "^\\s*Decode time\\s*:\\s*{time}"
  unit    = "us"
}

metric "decode_tokens_per_s" {
  pattern = "^\\s*Decode time\\s*:\\s*[0-9.]+ ?[a-zμµ]+ \\(\\s*{number} tokens/s\\)"
  unit    = "tokens/s"
}

metric "total_time_us" {
  pattern = "^\\s*Total time\\s*:\\s*{time}"
  unit    = "us"
}

metric "ttft_us" {
  pattern = "^\\s*TTFT[^:]*:\\s*{time}"
  unit    = "us"
}

metric "prefill_tokens" {
  pattern = "^\\s*Prefill tokens\\s*:\\s*([0-9]+)\\s*$"
  unit    = "tokens"
}

metric "decode_tokens" {
  pattern = "^\\s*Decode tokens\\s*:\\s*([0-9]+)\\s*$"
  unit    = "tokens"
}

metric "decode_steps" {
  pattern = "^\\s*Decode steps\\s*:\\s*([0-9]+)\\s*$"
  unit    = "count"
}

metric "decode_us_per_token" {
  pattern = "^\\s*Avg decode time\\s*:\\s*{number} [μµu]s/token"
  unit    = "us/token"
}

metric "prefill_tokens" {
  pattern = "(?:^|[ \\]])num_tokens: ([0-9]+)\\s*$"
  unit    = "tokens"
}

metric "context_size" {
  pattern = "Context binary file size: {number} MB"
  unit    = "MB"
}

# mllm, branch v1 and before.

metric "prefill_time_us" {
  pattern = "(?:^|\\s)prefill time: ?{time}"
  unit    = "us"
}

metric "prefill_time_us" {
  pattern = "^\\s*Prefill: ?{time}\\s*$"
  unit    = "us"
}

metric "vision_time_us" {
  pattern = "(?:^|\\s)vit embedding time: ?{time}"
  unit    = "us"
}

metric "load_time_us" {
  pattern = "^\\s*Load (?:model|time): ?{time}"
  unit    = "us"
}

metric "prefill_tokens_per_s" {
  pattern = "^\\s*Prefilling speed: ?{number} tokens/s"
  unit    = "tokens/s"
}

metric "ttft_us" {
  pattern = "^\\s*Prefilling speed: ?[0-9.]+ tokens/s ?, TTFT: ?{time}"
  unit    = "us"
}

metric "decode_tokens_per_s" {
  pattern = "^\\s*Decoding speed: ?{number} tokens/s"
  unit    = "tokens/s"
}

metric "prefill_tokens" {
  pattern = "(?:real_seq_length|prompt_length): ?([0-9]+)\\s*$" # the latter: the paper's artifact
  unit    = "tokens"
}
