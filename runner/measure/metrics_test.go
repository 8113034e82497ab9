package measure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/measure"
)

// known are patterns for the runners of these tests.
func known() []measure.Pattern {
	return []measure.Pattern{
		{Name: "prefill_time_us", Pattern: `(?i)prefill time\s*:\s*{time}`, Unit: "us"},
		{Name: "prefill_tokens", Pattern: `^(?:Prefill tokens|real_seq_length)\s*:\s*([0-9]+)\s*$`, Unit: "tokens"},
		{Name: "decode_tokens", Pattern: `^Decode tokens\s*:\s*([0-9]+)\s*$`, Unit: "tokens"},
		{Name: "inferences_per_s", Pattern: `IPS[^:]*: {number} inf/s`, Unit: "inferences/s"},
	}
}

func TestOwnPatterns(t *testing.T) {
	t.Parallel()
	p, err := measure.NewParser([]measure.Pattern{{Name: "warm", Pattern: `warm-up took ([0-9.]+)`, Unit: "ms"}, {Name: "psnr", Pattern: `PSNR=([0-9.]+)`, Unit: "dB"}}, known())
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(p.Parse([]byte("warm-up took 1.5\nPSNR=33\nPSNR=...\nPrefill tokens : 3\n")))
	if want := "[{prefill_tokens 3 tokens} {warm_us 1500 us} {psnr 33 dB}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for want, bad := range map[string]measure.Pattern{"missing closing": {Name: "x", Pattern: "("}, "has no group": {Name: "x", Pattern: "x"}} {
		if _, err := measure.NewParser([]measure.Pattern{bad}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := measure.NewParser(make([]measure.Pattern, 101), nil); err == nil {
		t.Error("101 patterns are taken")
	}
}

// Facts that are not printed complete the speeds.
func TestFacts(t *testing.T) {
	t.Parallel()
	p, err := measure.NewParser(nil, known())
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(measure.WithFacts(p.Parse([]byte("prefill time: 1000 ms")), map[string]float64{"prefill_tokens": 256, "layers": 28}))
	if want := "[{prefill_time_us 1e+06 us} {prefill_tokens 256 tokens} {prefill_tokens_per_s 256 tokens/s} {layers 28 count}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
