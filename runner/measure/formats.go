package measure

// knownFormat is a line that some runner prints. NUM stands for a number. Formats are tried in this order, and the first that matches a
// line counts; words is in each line that matches.
type knownFormat struct {
	runner  string // whose line it is
	words   string
	pattern string
}

// knownFormats are the shipped formats.
func knownFormats() []knownFormat {
	// The sign for micro is a Greek letter in some builds and the micro sign in others.
	timed := func(name string) string { return `(?P<` + name + `>NUM) ?(?P<` + name + `_unit>[μµu]s|ms|s|sec)` }
	return []knownFormat{
		// mllm, main branch: the block "Performance Summary", and what models on the processor print beyond it.
		{"mllm", "Prefill time", `^\s*Prefill time\s*:\s*` + timed("prefill_time") + `(?: \(\s*(?P<prefill_tokens_per_s>NUM) tokens/s\))?`},
		{"mllm", "Decode time", `^\s*Decode time\s*:\s*` + timed("decode_time") + `(?: \(\s*(?P<decode_tokens_per_s>NUM) tokens/s\))?`},
		{"mllm", "Total time", `^\s*Total time\s*:\s*` + timed("total_time")},
		{"mllm", "TTFT", `^\s*TTFT[^:]*:\s*` + timed("ttft")},
		{"mllm", "Prefill tokens", `^\s*Prefill tokens\s*:\s*(?P<prefill_tokens>[0-9]+)\s*$`},
		{"mllm", "Decode tokens", `^\s*Decode tokens\s*:\s*(?P<decode_tokens>[0-9]+)\s*$`},
		{"mllm", "Decode steps", `^\s*Decode steps\s*:\s*(?P<decode_steps>[0-9]+)\s*$`},
		{"mllm", "Avg decode time", `^\s*Avg decode time\s*:\s*(?P<decode_us_per_token>NUM) [μµu]s/token`},
		{"mllm", "num_tokens:", `(?:^|[ \]])num_tokens: (?P<prefill_tokens>[0-9]+)\s*$`},
		{"mllm", "Context binary file size", `Context binary file size: (?P<context_size>NUM) MB`},
		// mllm, branch v1 and before.
		{"mllm v1", "prefill time:", `(?:^|\s)prefill time: ?` + timed("prefill_time")},
		{"mllm v1", "decode time:", `(?:^|\s)decode time: ?` + timed("decode_time")},
		{"mllm v1", "Prefill:", `^\s*Prefill: ?` + timed("prefill_time") + `\s*$`},
		{"mllm v1", "vit embedding time", `(?:^|\s)vit embedding time: ?` + timed("vision_time")},
		{"mllm v1", "Load model:", `^\s*Load model: ?` + timed("load_time")},
		{"mllm v1", "Load time:", `^\s*Load time: ?` + timed("load_time")},
		{"mllm v1", "Prefilling speed", `^\s*Prefilling speed: ?(?P<prefill_tokens_per_s>NUM) tokens/s(?: ?, TTFT: ?` + timed("ttft") + `)?`},
		{"mllm v1", "Decoding speed", `^\s*Decoding speed: ?(?P<decode_tokens_per_s>NUM) tokens/s`},
		{"mllm v1", "real_seq_length", `real_seq_length: ?(?P<prefill_tokens>[0-9]+)\s*$`},
		// llama.cpp: llama_print_timings, llama_perf_context_print, and the server.
		{"llama.cpp", "prompt eval time =", `prompt eval time =\s*` + timed("prefill_time") + ` /\s*(?P<prefill_tokens>[0-9]+) tokens(?: \(\s*NUM ms per token,\s*(?P<prefill_tokens_per_s>NUM) tokens per second\))?`},
		{"llama.cpp", "eval time =", `(?:^|[:\s])eval time =\s*` + timed("decode_time") + ` /\s*(?P<decode_tokens>[0-9]+) (?:runs|tokens)\s*(?:\(\s*NUM ms per token,\s*(?P<decode_tokens_per_s>NUM) tokens per second\))?`},
		{"llama.cpp", "load time =", `(?:^|[:\s])load time =\s*` + timed("load_time")},
		{"llama.cpp", "total time =", `(?:^|[:\s])total time =\s*` + timed("total_time")},
		// genie-t2t-run: the block of KPIs.
		{"genie", "Init Time:", `^\s*Init Time: ?` + timed("init_time")},
		{"genie", "Prompt Processing Time", `Prompt Processing Time: ?` + timed("prefill_time") + `(?:, Prompt Processing Rate ?: ?(?P<prefill_tokens_per_s>NUM) tok)?`},
		{"genie", "Token Generation Time", `Token Generation Time: ?` + timed("decode_time") + `(?:, Token Generation Rate ?: ?(?P<decode_tokens_per_s>NUM) tok)?`},
		{"genie", "Time to First Token", `(?i)Time to First Token: ?` + timed("ttft")},
		// qnn-net-run, as qnn-profile-viewer shows its profile.
		{"qnn-net-run", "NetRun IPS", `NetRun IPS[^:]*: ?(?P<inferences_per_s>NUM) inf/s`},
		{"qnn-net-run", "NetRun:", `^\s*NetRun: ?` + timed("netrun_time")},
		{"qnn-net-run", "Accelerator (execute excluding wait) time", `Accelerator \(execute excluding wait\) time\)?: ?` + timed("accelerator_compute_time")},
		{"qnn-net-run", "QNN accelerator (execute) time", `QNN accelerator \(execute\) time\)?: ?` + timed("qnn_accelerator_time")},
		{"qnn-net-run", "Accelerator (execute) time (cycles)", `Accelerator \(execute\) time \(cycles\)\)?: ?(?P<accelerator_cycles>[0-9]+) cycles`},
		{"qnn-net-run", "Accelerator (execute) time", `Accelerator \(execute\) time\)?: ?` + timed("accelerator_time")},
		{"qnn-net-run", "RPC (execute) time", `RPC \(execute\) time\)?: ?` + timed("rpc_time")},
		{"qnn-net-run", "QNN (execute) time", `QNN \(execute\) time\)?: ?` + timed("qnn_time")},
		{"qnn-net-run", "Number of HVX threads used", `Number of HVX threads used\)?: ?(?P<hvx_threads>[0-9]+)`},
	}
}
