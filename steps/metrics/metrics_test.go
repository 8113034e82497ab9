package metrics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/steps/metrics"
)

// The shipped tables hold what the paper and its reproduction measured, with units and sources; the reproduction's times and speeds agree.
func TestBaselines(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, b := range shipped(t).Baselines {
		if b.Source == "" {
			t.Errorf("%s has no source", b.Name)
		}
		for _, n := range []float64{64, 256, 1024} {
			stats := measure.Summarize([][]measure.Metric{{{Name: "prefill_tokens", Value: n, Unit: "tokens"}, {Name: "prefill_tokens_per_s", Value: 500, Unit: "tokens/s"}, {Name: "prefill_time_us", Value: 1, Unit: "us"}}})
			speed := 0.0
			for _, c := range measure.Compare(stats, b, 0.05) {
				if c.Metric == "prefill_tokens_per_s" {
					speed = c.Base
					got[b.Name] += fmt.Sprint(" ", c.Base)
				}
			}
			for _, c := range measure.Compare(stats, b, 0.05) {
				if c.Metric == "prefill_time_us" && fmt.Sprintf("%.2f", n/c.Base*1e6) != fmt.Sprintf("%.2f", speed) {
					t.Errorf("%s: %v tokens in %v us are not %v tokens/s", b.Name, n, c.Base, speed)
				}
			}
		}
	}
	if got["llm.npu-paper"] != " 333 564 1106" || got["llm.npu-reproduction"] != " 318.27 524.79 1013.68" {
		t.Errorf("%q", got)
	}
}

// What a workspace adds is its own, and says where it is wrong.
func TestOwn(t *testing.T) {
	t.Parallel()
	const good = "metric \"psnr\" {\n  pattern = \"PSNR={number}\"\n  unit    = \"dB\"\n  better  = \"more\"\n}\n"
	s, diags := metrics.Load(map[string][]byte{"metrics/b.hcl": []byte("baseline \"ours\" {\n source = \"x\"\n}\n"), "metrics/a.hcl": []byte(good)})
	if diags.HasErrors() || len(s.Own) != 1 || s.Own[0] != (measure.Pattern{Name: "psnr", Pattern: "PSNR={number}", Unit: "dB", Better: "more"}) ||
		len(s.Known) != len(shipped(t).Known) || len(s.Baselines) != 3 || s.Baselines[0].Name != "ours" {
		t.Errorf("%+v %+v, %v", s.Own, s.Baselines, diags)
	}
	with := func(line string) string {
		return "\nmetric \"x\" {\n  pattern = \"x {number}\"\n  unit = \"ms\"\n" + line + "\n}\n"
	}
	for text, want := range map[string]string{
		"metric \"x\" {\n  pattern = \"(\"\n  unit = \"ms\"\n}":                                "a.hcl:1,1-11: Invalid metric; metric \"x\": error parsing regexp: missing closing )",
		"\n\nmetric \"x\" {\n  pattern = \"x\"\n  unit = \"ms\"\n}":                            "a.hcl:3,1-11: Invalid metric; metric \"x\": pattern \"x\" has no group",
		"metric \"x\" {\n  pattern = \"(?P<unit>ms)\"\n  unit = \"ms\"\n}":                     "has no group",
		"metric \"X\" {\n  pattern = \"x {number}\"\n  unit = \"ms\"\n}":                       "use lower-case letters",
		"metric \"x\" {\n  pattern = \"x {time}\"\n  unit = \"MB\"\n}":                         "the pattern matches a unit of time",
		"metric \"x\" {\n  pattern = \"x {number}\"\n  unit = \"\"\n}":                         "invalid unit \"\"",
		"metric \"x\" {\n  pattern = \"x {number}\"\n  unit = \"frobs\"\n}":                    "unit \"frobs\" has no known direction",
		"metric \"x\" {\n  pattern = \"x {number}\"\n}":                                        "The argument \"unit\" is required",
		"metric \"x\" {\n  pattern = \"" + strings.Repeat("x", 400) + "()\"\n unit = \"s\"\n}": "longer than 400 bytes",
		with("better = \"much\""):                                                              `better is "much"`,
		with("bettr = \"more\""):                                                               `Did you mean "better"?`,
		with("") + with(""):                                                                    "a.hcl:8,1-11: Invalid metric; metric \"x\": duplicate pattern: remove one",
		good + "metrics \"x\" {}":                                                              `Did you mean "metric"?`,
		strings.Repeat("metric \"x\" {\n  pattern = \"{number}\"\n  unit = \"ms\"\n}\n", 101):  "has 101 metrics, more than the limit of 100. Remove some",
		"metric": "a.hcl:1",
	} {
		if _, diags := metrics.Load(map[string][]byte{"a.hcl": []byte(text)}); !diags.HasErrors() || !strings.Contains(diags[0].Error(), want) {
			t.Errorf("%.80s: %v, want %s", text, diags, want)
		}
	}
}

// Whatever a file holds, it is read or refused, and what was read can be looked for.
func FuzzOwn(f *testing.F) {
	f.Add([]byte("metric \"x\" {\n pattern = \"a {time}\"\n unit = \"ms\"\n}"), []byte("a 5 s\n"))
	f.Add([]byte("metric \"x\" {\n pattern = \"(?P<unit>.)(.*)\"\n unit = \"s\"\n}"), []byte("snan\ns1e999"))
	f.Fuzz(func(t *testing.T, src, printed []byte) {
		s, diags := metrics.Load(map[string][]byte{"a.hcl": src})
		if diags.HasErrors() {
			return
		}
		p, err := measure.NewParser(s.Own, s.Known)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range p.Parse(printed) {
			if m.Name == "" || m.Unit == "" || m.Value != m.Value {
				t.Errorf("%+v", m)
			}
		}
	})
}
