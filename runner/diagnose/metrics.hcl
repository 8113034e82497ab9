# What hexmage says itself of a run that ended well.

failure "limit-breached" {
  where    = ["tool"]
  patterns = ["metrics: (?P<metric>[a-z0-9_]+) is .*(?:below|above) its limit of", "metrics: (?P<metric>[a-z0-9_]+) is .*worse than baseline"]
  cause    = "{metric} is beyond the limit that the step sets."
  remedy   = "If the phone was hot or busy, let it cool and run again with --fresh; compare with an earlier run (`previous`); if the number is what it now is, change the step's `limit`."
  source   = "hexmage"
  examples = [
    "metrics: prefill_tokens_per_s is 290, below its limit of 300 tokens/s",
    "metrics: prefill_tokens_per_s is 160 tokens/s, worse than baseline \"llm.npu-paper\" (333) by 52.0 %: more than the 10.0 % that are allowed",
  ]
}

failure "limit-not-measured" {
  where    = ["tool"]
  patterns = ["metrics: (?P<metric>[a-z0-9_]+) has a limit (?:and was not measured|against baseline)"]
  cause    = "The step limits {metric}, of which the run says nothing."
  remedy   = "The message lists what was measured. Correct the limit's name, add a block `metric` with the pattern of its line, or say what is known by `facts`."
  source   = "hexmage"
  examples = ["metrics: decode has a limit and was not measured; the run printed prefill_time_us, prefill_tokens"]
}
