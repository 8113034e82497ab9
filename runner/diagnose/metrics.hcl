# What hexmage says itself of a run that ended well.

failure "limit-breached" {
  where    = ["tool"]
  patterns = ["metrics: (?:.*: )?(?P<metric>[a-z0-9_]+) is .*(?:below|above) its limit of", "metrics: (?:.*: )?(?P<metric>[a-z0-9_]+) is .*worse than baseline"]
  cause    = "{metric} is beyond the limit that the step sets."
  remedy   = "If the phone was hot or busy, let it cool and run again with --force=run.NAME; compare with an earlier run (`previous`); if the number is what it now is, change the step's `limit`."
  source   = "hexmage"
  examples = [
    "metrics: prefill_tokens_per_s is 290, below its limit of 300 tokens/s",
    "metrics: prefill_tokens_per_s is 160 tokens/s, worse than baseline \"llm.npu-paper\" (333) by 52.0 %: more than the 10.0 % that are allowed",
    "metrics: seq=256, cold: prefill_time_us is 720000, above its limit of 300000 us",
  ]
}

failure "limit-not-measured" {
  where    = ["tool"]
  patterns = ["metrics: (?:.*: )?(?P<metric>[a-z0-9_]+) has a limit (?:but was not measured|relative to baseline|for runs with)"]
  cause    = "The step has a limit for {metric}, and the run printed no value for it."
  remedy   = "Correct the name of the limit (the message lists the measured metrics), or add a `metric` block with the pattern of the line. For a known value, use `facts`."
  source   = "hexmage"
  examples = [
    "metrics: decode has a limit but was not measured. Measured metrics: prefill_time_us, prefill_tokens",
    "metrics: seq=64: ttft_us has a limit but was not measured. Measured metrics: prefill_time_us",
    "metrics: prefill_time_us has a limit for runs with prefill_tokens = 32, but no run matches",
  ]
}
