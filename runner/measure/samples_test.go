package measure_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/runner/sample"
)

func TestSamplesAreMetrics(t *testing.T) {
	var p sample.Parser
	stream := "hexmage-samples 1\ncolumn rss kB\ncolumn temperature0 mC cpu\nbegin\n1 1000 40000\n2 3000 55000\n3 2000 45000\n"
	if _, err := p.Write([]byte(stream)); err != nil {
		t.Fatal(err)
	}
	var good, none bytes.Buffer
	if err := p.Series().WriteJSON(&good); err != nil {
		t.Fatal(err)
	}
	if err := (sample.Series{Note: "no samples: the device is a teapot"}).WriteJSON(&none); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, samples string
		code          int
		want          []string // parts of the output or the error
	}{
		{"samples", good.String(), 0, []string{`"name": "peak_rss",
      "label": "peak RSS",
      "value": 3.1,
      "unit": "MB"`, `"label": "max temperature",
      "value": 55,
      "unit": "°C"`, `"prefill_tokens_per_s"`}},
		{"none", none.String(), 0, []string{"no samples: the device is a teapot", `"prefill_tokens_per_s"`}},
		{"nonsense", "{}", 1, []string{"metrics:", "samples.json: samples: unknown version 0"}},
	} {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		for name, content := range map[string]string{"stdout.txt": "Prefill time: 1000 μs\nPrefill tokens: 100\nprompt eval time = 1000.00 ms / 10 tokens\n", "samples.json": c.samples} {
			if err := os.WriteFile(at(name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		code, said := metrics(t, "", measure.Spec{Runs: []measure.Run{{Repetition: 1, Stdout: at("stdout.txt"), Samples: at("samples.json")}}, Out: at("metrics.json")})
		b, err := os.ReadFile(at("metrics.json"))
		if code != c.code || (err == nil) != (code == 0) || err == nil && !json.Valid(b) {
			t.Errorf("%s: exit code %d, %v\n%s", c.name, code, err, said)
		}
		for _, want := range c.want {
			if !strings.Contains(string(b)+said, want) {
				t.Errorf("%s: no %q in\n%s%s", c.name, want, b, said)
			}
		}
	}
}

// A note that all runs share appears once. Samples alone do not count as a summary of the program.
func TestSamplesOfManyRunsWarnOnce(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var none bytes.Buffer
	if err := (sample.Series{Note: "no samples: the device is a teapot"}).WriteJSON(&none); err != nil {
		t.Fatal(err)
	}
	spec := measure.Spec{Out: at("metrics.json")}
	for i := range 3 {
		spec.Runs = append(spec.Runs, measure.Run{Repetition: i + 1, Stdout: at("stdout.txt"), Samples: at("samples.json")})
	}
	for name, content := range map[string]string{"stdout.txt": "hello\n", "samples.json": none.String()} {
		if err := os.WriteFile(at(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, said := metrics(t, "", spec); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	b, err := os.ReadFile(at("metrics.json"))
	if n := strings.Count(string(b), "Warning: no samples: the device is a teapot"); err != nil || n != 1 || !strings.Contains(string(b), "printed no performance summary") {
		t.Errorf("%v, told %d times in\n%s", err, n, b)
	}
}
