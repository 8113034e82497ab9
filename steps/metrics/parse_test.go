package metrics_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/steps/metrics"
)

func shipped(t testing.TB) metrics.Set {
	t.Helper()
	s, diags := metrics.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return s
}

const summary = "\x1b[32mQNN Backend Build Id: v2.41.0.251128145156\x1b[0m\nhello, decode time : soon\n" +
	"============== Performance Summary ===============\n" +
	"\x1b[1mPrefill time        :   12345.60 μs (2592.02 tokens/s)\x1b[0m\n" +
	"Decode time         :  900000.00 µs ( 33.33 tokens/s)\r\n" +
	"Prefill tokens      :         32\n" +
	"Decode tokens       :         30\n" +
	"==================================================\n"

// parse finds what known runners print.
func parse(t testing.TB, stdout []byte) []measure.Metric {
	t.Helper()
	p, err := measure.NewParser(nil, shipped(t).Known)
	if err != nil {
		t.Fatal(err)
	}
	return p.Parse(stdout)
}

func TestParseMetrics(t *testing.T) {
	t.Parallel()
	full := []measure.Metric{
		{Name: "prefill_time_us", Value: 12345.6, Unit: "us"},
		{Name: "prefill_tokens", Value: 32, Unit: "tokens"},
		{Name: "prefill_tokens_per_s", Value: 2592.02, Unit: "tokens/s"},
		{Name: "decode_time_us", Value: 900000, Unit: "us"},
		{Name: "decode_tokens", Value: 30, Unit: "tokens"},
		{Name: "decode_tokens_per_s", Value: 33.33, Unit: "tokens/s"},
	}
	for _, c := range []struct {
		name, in string
		want     []measure.Metric
	}{
		{"nothing", "", nil},
		{"no summary", "Prefill: 3\nDecode tokens : many\n", nil},
		{"full", summary, full},
		{"the last counts", "Prefill tokens : 99\n" + summary, full},
		{"no rate", "Decode time : 5.00 us\n", []measure.Metric{{Name: "decode_time_us", Value: 5, Unit: "us"}}},
		{"overwritten line", "50%\rDecode tokens : 7", []measure.Metric{{Name: "decode_tokens", Value: 7, Unit: "tokens"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, parse(t, []byte(c.in))); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzParseMetrics(f *testing.F) {
	f.Add([]byte(summary))
	f.Add([]byte("Decode time : 1e999 us\x1b["))
	p, err := measure.NewParser(nil, shipped(f).Known)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, m := range p.Parse(in) {
			if m.Name == "" || m.Unit == "" || m.Value < 0 {
				t.Errorf("%+v", m)
			}
		}
	})
}
