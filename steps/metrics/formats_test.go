package metrics_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/measure"
)

// formats are what each runner prints, and what is read from it.
func formats() []struct{ name, in, want string } {
	return []struct{ name, in, want string }{
		{"mllm, all of the block", "Total time : 2500.00 μs\nPrefill time        :    1000.00 μs (8000.00 tokens/s)\nDecode time         :    1500.00 μs ( 33.30 tokens/s)\n" +
			"TTFT                :    1100.00 μs\nPrefill tokens      :          8\nDecode tokens       :          5\nDecode steps        :          4\nAvg decode time     :     375.00 μs/token\n",
			"prefill_time_us=1000us prefill_tokens=8tokens prefill_tokens_per_s=8000tokens/s ttft_us=1100us decode_time_us=1500us decode_tokens=5tokens decode_tokens_per_s=33.3tokens/s total_time_us=2500us decode_steps=4count decode_us_per_token=375us/token"},
		{"mllm, what the runner says before", "\x1b[32m[INFO]\x1b[0m num_tokens: 64\n\x1b[1mContext binary file size: 812 MB\x1b[0m\n", "prefill_tokens=64tokens context_size=812MB"},
		{"mllm v1: the reproduction's first line", "real_seq_length: 64\nprefill time: 201.087ms\nLoad model: 1.54524 s\n",
			"prefill_time_us=201087us prefill_tokens=64tokens prefill_tokens_per_s=318.27tokens/s load_time_us=1.54524e+06us"},
		{"mllm v1: the paper's artifact", "prompt_length: 64\nprefill time: 201.087ms\nLoad model: 1.54524 s\n",
			"prefill_time_us=201087us prefill_tokens=64tokens prefill_tokens_per_s=318.27tokens/s load_time_us=1.54524e+06us"},
		{"mllm v1: vision", "vit embedding time: 321 ms\nPrefill:88 ms\n", "prefill_time_us=88000us vision_time_us=321000us"},
		{"mllm v1: profiling of modules", "  Load time: 2.5 s\n  Prefilling speed: 318.3 tokens/s , TTFT: 0.2 s\n  Decoding speed: 12.5 tokens/s\n",
			"prefill_tokens_per_s=318.3tokens/s ttft_us=200000us decode_tokens_per_s=12.5tokens/s load_time_us=2.5e+06us"},
		{"the program of onnx-device", "Paris.\nran on: the NPU\nload: 500.0 ms\nprompt: 3 tokens in 250.5 ms\ntime to first token: 250.5 ms\nanswer: 2 more tokens in 125.0 ms\n",
			"prefill_time_us=250500us prefill_tokens=3tokens prefill_tokens_per_s=11.98tokens/s ttft_us=250500us decode_time_us=125000us decode_tokens=2tokens decode_tokens_per_s=16tokens/s load_time_us=500000us"},
		{"qnn-net-run", "Execute Stats (Average):\n------------------------\nTotal Inference Time:\n    NetRun: 1816 us\n    Backend (Number of HVX threads used): 4 count\n    Backend (RPC (execute) time): 1700 us\n    Backend (QNN accelerator (execute) time): 1500 us\n" +
			"    Backend (Accelerator (execute) time (cycles)): 1234567 cycles\n    Backend (Accelerator (execute) time): 1450 us\n    Backend (Accelerator (execute excluding wait) time): 1400 us\n    Backend (QNN (execute) time): 1750 us\nNetRun IPS (includes IO and misc. time): 550.1000 inf/sec\n",
			"netrun_time_us=1816us hvx_threads=4count rpc_time_us=1700us qnn_accelerator_time_us=1500us accelerator_cycles=1.234567e+06cycles accelerator_time_us=1450us accelerator_compute_time_us=1400us qnn_time_us=1750us inferences_per_s=550.1inferences/s"},
		{"text of a model that looks like it", "He said: Prefill tokens : 3 or so\nmy prompt eval time = forever\n", ""},
	}
}

// What each runner prints, old and new, becomes the same quantities in the same units.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, c := range formats() {
		var got []string
		for _, m := range parse(t, []byte(c.in)) {
			got = append(got, fmt.Sprintf("%s=%v%s", m.Name, math.Round(m.Value*100)/100, m.Unit))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, s, c.want)
		}
	}
}

// Every shipped pattern is there for a line: each finds its metric in what the runners print.
func TestEveryPatternHasALine(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, c := range formats() {
		all.WriteString(c.in)
	}
	for _, m := range shipped(t).Known {
		p, err := measure.NewParser(nil, []measure.Pattern{m})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Parse([]byte(all.String())); len(got) != 1 || got[0].Name != m.Name {
			t.Errorf("metric %q, %s: %v", m.Name, m.Pattern, got)
		}
	}
}
