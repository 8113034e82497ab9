package measure_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/runner/measure"
)

const printed = "Prefill tokens : 32\nDecode tokens : 7\n"

// files writes files to a folder, and makes it the working directory.
func files(t *testing.T, content map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, c := range content {
		if err := os.WriteFile(name, []byte(c), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// metrics runs the tool. Runs and reference may be in a file.
func metrics(t *testing.T, file string, spec measure.Spec) (int, string) {
	t.Helper()
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := tool.Decode(b, &spec); err != nil {
			t.Fatal(err)
		}
	}
	spec.Out, spec.Known = cmp.Or(spec.Out, "m"), known()
	_, said, code := tooltest.Run(t, measure.Tool, measure.Metrics, spec)
	return code, said
}

// of returns runs with the files as output.
func of(files ...string) (runs []measure.Run) {
	for i, f := range files {
		runs = append(runs, measure.Run{Repetition: i + 1, Stdout: f})
	}
	return runs
}

// compared returns a run whose tokens are compared.
func compared() []measure.Run {
	return []measure.Run{{Repetition: 1, Stdout: "o", Tokens: "got", Expect: "want"}}
}

// The output belongs to the tool's version. If one changes, change the other.
func TestMetricsGolden(t *testing.T) {
	const version, want = "metrics/14", `{
  "title": "t",
  "profile": "simulated",
  "simulated": true,
  "note": "The runner printed no performance summary.",
  "rows": [
    {
      "name": "tokens_equal_reference",
      "label": "tokens as the reference",
      "value": "2 of 2"
    }
  ]
}
`
	files(t, map[string]string{"o": "hello\n", "got": `{"prompt_tokens":[7],"tokens":[1,2]}`, "want": `{"prompt_tokens":[7],"tokens":[1,2],"text":"x"}`})
	if code, said := metrics(t, "", measure.Spec{Title: "t", Profile: "simulated", Runs: compared()}); code != 0 {
		t.Fatal(said)
	}
	b, err := os.ReadFile("m")
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(want, string(b)); d != "" || string(measure.Tool) != version {
		t.Errorf("version %s writes\n%s", string(measure.Tool), d)
	}
}

// Numbers of the simulation have a note, with and without a reference.
func TestNoteOfTheOpenProfile(t *testing.T) {
	files(t, map[string]string{"o": printed})
	for profile, want := range map[string]bool{"simulated": true, "device": false} {
		if code, said := metrics(t, "", measure.Spec{Profile: profile, Runs: of("o")}); code != 0 {
			t.Fatal(said)
		}
		b, err := os.ReadFile("m")
		if err != nil || strings.Contains(string(b), "not a phone's speed") != want {
			t.Errorf("%s: %s, %v", profile, b, err)
		}
	}
}

func TestMetricsMistakes(t *testing.T) {
	same := `{"prompt_tokens":[7],"tokens":[1,2]}`
	for name, c := range map[string]struct {
		got, want string
		code      int
		said      string
	}{
		"equal":            {same, same, 0, ""},
		"other tokens":     {`{"prompt_tokens":[7],"tokens":[1,3]}`, same, 1, "from token 1 on"},
		"fewer tokens":     {`{"prompt_tokens":[7],"tokens":[1]}`, same, 1, "from token 1 on"},
		"other prompt":     {`{"prompt_tokens":[8],"tokens":[1,2]}`, same, 1, "tokenizers disagree"},
		"no tokens at all": {`{"prompt_tokens":[7],"tokens":[]}`, `{"prompt_tokens":[7],"tokens":[]}`, 1, "the list of tokens is empty"},
		"not JSON":         {"tokens", same, 1, "got"},
	} {
		files(t, map[string]string{"o": printed, "got": c.got, "want": c.want})
		code, said := metrics(t, "", measure.Spec{Runs: compared()})
		if code != c.code || !strings.Contains(said, c.said) {
			t.Errorf("%s: %d, %s", name, code, said)
		}
		if _, err := os.Stat("m"); (err == nil) != (c.code == 0) {
			t.Errorf("%s: a table: %v", name, err == nil)
		}
	}
	for name, spec := range map[string]measure.Spec{"no run": {}, "a reference and no tokens": {Runs: []measure.Run{{Stdout: "o", Expect: "want"}}}, "no such file": {Runs: of(filepath.Join("no", "such"))}} {
		if code, said := metrics(t, "", spec); code != 1 || said == "" {
			t.Errorf("%s: %d, %q", name, code, said)
		}
	}
}

// Repetitions are merged, compared with baselines, and checked against limits.
func TestMetricsOfRepetitions(t *testing.T) {
	line := func(ms string) string { return "real_seq_length: 64\nprefill time: " + ms + "ms\n" }
	const spec = `{"patterns":[{"name":"psnr","pattern":"PSNR=([0-9.]+)","unit":"dB"}],"baselines":[
		{"name":"paper","source":"p","rows":[{"metric":"prefill_tokens_per_s","value":333,"when":{"prefill_tokens":64}}]},
		{"name":"ours","source":"o","profile":"simulated","rows":[{"metric":"prefill_time_us","value":100000}]}],
		"limits":[{"metric":"prefill_tokens_per_s","baseline":"paper","regression":0.1}]}`
	for _, c := range []struct {
		name, profile string
		times         [2]string
		code          int
		want          []string
	}{
		{"a phone", "device", [2]string{"200", "202"}, 0, []string{`"name": "prefill_time_us",`, `"value": 201000,`, `"label": "  spread of 2",`,
			`"value": "± 1483 (200000 … 202000)"`, `"label": "  prefill speed, paper",`, `"value": "within noise: 0.96 of 333"`, `"n": 2,`, `"noise": 16.65`}},
		{"a slow phone", "device", [2]string{"400", "401"}, 1, []string{`worse than baseline "paper" (333) by 52.0 %; the limit is 10.0 %`}},
		{"the simulation is no phone", "simulated", [2]string{"400", "401"}, 0, []string{`prefill time, ours`, `worse: 4.00 of 100000`}},
	} {
		files(t, map[string]string{"a": line(c.times[0]), "b": line(c.times[1]), "spec": spec})
		code, said := metrics(t, "spec", measure.Spec{Profile: c.profile, Runs: of("a", "b")})
		b, err := os.ReadFile("m")
		if err != nil || code != c.code {
			t.Fatalf("%s: %d, %s, %v", c.name, code, said, err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(b)+said, want) {
				t.Errorf("%s: no %s in\n%s%s", c.name, want, said, b)
			}
		}
		if c.profile == "simulated" && strings.Contains(string(b), "paper") {
			t.Errorf("the simulation is compared with a phone:\n%s", b)
		}
	}
}

// Values for pipelines: metrics by name, or with a matrix by axis values and name.
func TestMeasured(t *testing.T) {
	const one = `"prefill_time_us": {
    "median": 201000,
    "min": 200000,
    "max": 202000,
    "spread": 1482.6,
    "runs": 2,
    "unit": "us"
  }`
	files(t, map[string]string{"a": "prefill time: 200 ms\n", "b": "prefill time: 202 ms\n", "silent": "hello\n"})
	of64 := func(runs []measure.Run) []measure.Run {
		for i := range runs {
			runs[i].Variant = map[string]string{"seq": "64", "model": "tiny"}
		}
		return runs
	}
	for name, c := range map[string]struct {
		spec measure.Spec
		want string
	}{
		"repetitions": {measure.Spec{Runs: of("a", "b")}, "{\n  " + one + "\n}\n"},
		"a variant":   {measure.Spec{Runs: of64(of("a", "b")), Axes: []string{"model", "seq"}}, "{\n  \"model=tiny,seq=64\": {\n    " + strings.ReplaceAll(one, "\n", "\n  ") + "\n  }\n}\n"},
		"nothing":     {measure.Spec{Runs: of("silent")}, "{}\n"},
	} {
		c.spec.Measured = "numbers"
		if code, said := metrics(t, "", c.spec); code != 0 {
			t.Fatal(said)
		}
		b, err := os.ReadFile("numbers")
		if d := gocmp.Diff(c.want, string(b)); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

// An earlier run is a baseline.
func TestMetricsOfPreviousRun(t *testing.T) {
	files(t, map[string]string{"old": "prefill time: 100 ms\n", "new": "prefill time: 120 ms\n", "limit": `{"limits":[{"metric":"prefill_time_us","baseline":"previous","regression":0.1}]}`})
	if code, said := metrics(t, "", measure.Spec{Profile: "simulated", Runs: of("old"), Out: "before"}); code != 0 {
		t.Fatal(said)
	}
	code, said := metrics(t, "limit", measure.Spec{Profile: "simulated", Runs: of("new"), Previous: "before"})
	if code != 1 || !strings.Contains(said, `prefill_time_us is 120000 us, worse than baseline "previous" (100000) by 20.0 %`) {
		t.Errorf("%d, %s", code, said)
	}
	if code, said := metrics(t, "", measure.Spec{Runs: of("new"), Previous: "new"}); code != 1 || said == "" {
		t.Errorf("what is no table: %d, %q", code, said)
	}
}
