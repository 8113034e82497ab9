# The program of pipeline onnx-device.

metric "load_time_us" {
  pattern = "^load: {time}$"
  unit    = "us"
}

metric "prefill_tokens" {
  pattern = "^prompt: {number} tokens in "
  unit    = "tokens"
}

metric "prefill_time_us" {
  pattern = "^prompt: [0-9]+ tokens in {time}$"
  unit    = "us"
}

metric "decode_tokens" {
  pattern = "^answer: {number} more tokens in "
  unit    = "tokens"
}

metric "decode_time_us" {
  pattern = "^answer: [0-9]+ more tokens in {time}$"
  unit    = "us"
}

metric "ttft_us" {
  pattern = "^time to first token: {time}$"
  unit    = "us"
}
