# llama.cpp: llama_print_timings, llama_perf_context_print, and the server.

metric "prefill_time_us" {
  pattern = "prompt eval time =\\s*{time} /\\s*[0-9]+ tokens"
  unit    = "us"
}

metric "prefill_tokens" {
  pattern = "prompt eval time =\\s*[0-9.]+ ?[a-zμµ]+ /\\s*([0-9]+) tokens"
  unit    = "tokens"
}

metric "prefill_tokens_per_s" {
  pattern = "prompt eval time =\\s*[0-9.]+ ?[a-zμµ]+ /\\s*[0-9]+ tokens \\(\\s*[0-9.]+ ms per token,\\s*{number} tokens per second\\)"
  unit    = "tokens/s"
}

# No "t" before "eval": that is the prompt's line.

metric "decode_time_us" {
  pattern = "(?:^\\s*|:|[^t\\s]\\s+)eval time =\\s*{time} /\\s*[0-9]+ (?:runs|tokens)"
  unit    = "us"
}

metric "decode_tokens" {
  pattern = "(?:^\\s*|:|[^t\\s]\\s+)eval time =\\s*[0-9.]+ ?[a-zμµ]+ /\\s*([0-9]+) (?:runs|tokens)"
  unit    = "tokens"
}

metric "decode_tokens_per_s" {
  pattern = "(?:^\\s*|:|[^t\\s]\\s+)eval time =\\s*[0-9.]+ ?[a-zμµ]+ /\\s*[0-9]+ (?:runs|tokens)\\s*\\(\\s*[0-9.]+ ms per token,\\s*{number} tokens per second\\)"
  unit    = "tokens/s"
}

metric "load_time_us" {
  pattern = "(?:^|[:\\s])load time =\\s*{time}"
  unit    = "us"
}

metric "total_time_us" {
  pattern = "(?:^|[:\\s])total time =\\s*{time}"
  unit    = "us"
}
