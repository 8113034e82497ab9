package measure_test

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/runner/measure"
)

// variants are the files of two variants with two runs each. The first two ran on one phone, and one of them stayed
// hot.
func variants() map[string]string {
	spec := func(limits string) string {
		return `{"axes":["seq"],"runs":[
			{"variant":{"seq":"64"},"name":"seq=64","repetition":1,"stdout":"a","record":"a.json"},
			{"variant":{"seq":"256"},"name":"seq=256","repetition":1,"stdout":"c","record":"c.json","facts":{"prefill_tokens":256}},
			{"variant":{"seq":"64"},"name":"seq=64","repetition":2,"stdout":"b","record":"b.json"},
			{"variant":{"seq":"256"},"name":"seq=256","repetition":2,"stdout":"d","record":"d.json","facts":{"prefill_tokens":256}}],
			"baselines":[{"name":"paper","source":"p","rows":[{"metric":"prefill_tokens_per_s","value":333,"when":{"prefill_tokens":64}}]}],
			"limits":[` + limits + `]}`
	}
	record := func(serial, cooldown string) string {
		return `{"started":"2026-01-02T03:04:05.000Z","serial":"` + serial + `","soc":"SM8750","duration_us":300000,"sent_bytes":7` + cooldown +
			`,"thermal_before":[{"zone":"battery","celsius":60},{"zone":"cpu-0","celsius":41}],"thermal_after":[{"zone":"cpu-0","celsius":52}]}`
	}
	return map[string]string{
		"a": "real_seq_length: 64\nprefill time: 200ms\n", "b": "real_seq_length: 64\nprefill time: 202ms\n",
		"c": "prefill time: 800ms\n", "d": "prefill time: 640ms\n",
		"a.json": record("A", ""), "b.json": record("A", `,"cooldown":{"below_celsius":40,"reached":false,"waited_us":5,"warning":"it stayed hot"}`),
		"c.json": record("B", ""), "d.json": record("C", ""),
		"spec": spec(""), "wrong": `{"runs":[{"stdout":"a","record":"a"}]}`, "lost": `{"runs":[{"stdout":"a","record":"none"}]}`,
		"regressed": spec(`{"metric":"prefill_tokens_per_s","baseline":"paper","regression":0.01}`),
		"slow":      spec(`{"metric":"prefill_time_us","max":300000}`),
		"slow64":    spec(`{"metric":"prefill_time_us","max":300000,"when":{"prefill_tokens":64}}`),
		"when":      spec(`{"metric":"prefill_time_us","max":1,"when":{"prefill_tokens":32}}`),
		"other":     spec(`{"metric":"ttft_us","max":1}`),
		"before":    spec(`{"metric":"prefill_time_us","baseline":"previous"}`),
	}
}

// The table has a line for each variant, the file each single value.
func TestMetricsOfVariants(t *testing.T) {
	files(t, variants())
	if code, said := metrics(t, "spec", measure.Spec{Profile: "device", Title: "t", Printed: "all"}); code != 0 {
		t.Fatal(said)
	}
	b, err := os.ReadFile("m")
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"columns": []any{
			map[string]any{"name": "seq", "label": "seq"}, map[string]any{"name": "prefill_tokens_per_s", "label": "prefill speed", "unit": "tokens/s"},
			map[string]any{"name": "n", "label": "runs"}, map[string]any{"name": "phone", "label": "phone"},
		},
		"lines": []any{[]any{"64", "318.42 ± 2.35", "2", "A"}, []any{"256", "360 ± 59.30", "2", "B C"}},
		"rows":  []any{map[string]any{"name": "prefill_tokens_per_s_vs_paper", "label": "seq=64: prefill speed, paper", "value": "within noise: 0.96 of 333", "unit": "tokens/s"}},
		"note":  "Warning: seq=64 #2 on A: it stayed hot",
	}
	got := map[string]any{}
	for name := range want {
		got[name] = m[name]
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	one := m["variants"].([]any)[1].(map[string]any)["runs"].([]any)[1].(map[string]any)
	if one["repetition"] != 2.0 || one["record"].(map[string]any)["serial"] != "C" {
		t.Errorf("%v", one)
	}
	values := map[string]any{}
	for _, x := range one["metrics"].([]any) {
		values[x.(map[string]any)["name"].(string)] = x.(map[string]any)["value"]
	}
	if d := cmp.Diff(map[string]any{"prefill_time_us": 640000.0, "prefill_tokens": 256.0, "prefill_tokens_per_s": 400.0, "run_time_us": 300000.0, "temperature_before": 41.0, "temperature_after": 52.0}, values); d != "" {
		t.Error(d)
	}
	all, err := os.ReadFile("all")
	if err != nil || !strings.HasPrefix(string(all), "==> seq=64 #1 <==\nreal_seq_length: 64\nprefill time: 200ms\n\n==> seq=256 #1 <==\n") {
		t.Errorf("%s, %v", all, err)
	}
}

// A limit applies to the variants that match it and that its baseline has values for. An earlier run is compared by
// variant.
func TestLimitsOfVariants(t *testing.T) {
	files(t, variants())
	if code, said := metrics(t, "spec", measure.Spec{Profile: "device"}); code != 0 {
		t.Fatal(said)
	}
	for spec, want := range map[string]string{
		"regressed": "", // by 4 %, which is noise
		"slow":      "metrics: seq=256: prefill_time_us is 720000, above its limit of 300000 us\n",
		"slow64":    "",
		"when":      "metrics: prefill_time_us has a limit for runs with prefill_tokens = 32, but no run matches\n",
		"other":     "metrics: seq=64: ttft_us has a limit but was not measured. Measured metrics:",
		"before":    "",
	} {
		code, said := metrics(t, spec, measure.Spec{Profile: "device", Previous: "m", Out: "m2"})
		if (code != 0) != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: %d, %s", spec, code, said)
		}
	}
	if err := os.WriteFile("c", []byte("prefill time: 1900ms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("d", []byte("prefill time: 1910ms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := metrics(t, "before", measure.Spec{Profile: "device", Previous: "m", Out: "m2"}); code != 1 || !strings.Contains(said, `seq=256: prefill_time_us is 1905000 us, worse than baseline "previous" (720000)`) || strings.Contains(said, "seq=64") {
		t.Errorf("%d, %s", code, said)
	}
	for _, spec := range []string{"wrong", "lost"} {
		if code, said := metrics(t, spec, measure.Spec{Out: "m2"}); code != 1 || said == "" {
			t.Errorf("%s: %d, %q", spec, code, said)
		}
	}
}

// Repetitions of the only variant are rows, with their phone.
func TestMetricsOfOneVariant(t *testing.T) {
	v := variants()
	v["spec"] = `{"runs":[{"repetition":1,"stdout":"a","record":"a.json","tokens":"got","expect":"want"},{"repetition":2,"stdout":"b","record":"b.json","tokens":"got2","expect":"want"}]}`
	v["want"], v["got"], v["got2"] = `{"prompt_tokens":[7],"tokens":[1,2]}`, `{"prompt_tokens":[7],"tokens":[1,2]}`, `{"prompt_tokens":[7],"tokens":[1,2]}`
	files(t, v)
	if code, said := metrics(t, "spec", measure.Spec{}); code != 0 {
		t.Fatal(said)
	}
	b, err := os.ReadFile("m")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"label": "  spread of 2",`, `"name": "phone",`, `"value": "2 of 2",`, `"note": "Warning: #2 on A: it stayed hot"`, `"stats": [`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
	if err := os.WriteFile("got2", []byte(`{"prompt_tokens":[7],"tokens":[1,3]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := metrics(t, "spec", measure.Spec{}); code != 1 || !strings.Contains(said, "#2: the device's tokens differ from the reference's from token 1 on") {
		t.Errorf("%d, %s", code, said)
	}
}

// A run without metrics still has its duration.
func TestColumns(t *testing.T) {
	v := variants()
	for _, name := range []string{"a", "b", "c", "d"} {
		v[name] = "hello\n"
	}
	v["chosen"] = strings.Replace(v["spec"], `{"axes"`, `{"columns":["temperature_after","absent"],"axes"`, 1)
	files(t, v)
	for spec, want := range map[string]string{"spec": `"300000"`, "chosen": `"–"`} {
		if code, said := metrics(t, spec, measure.Spec{}); code != 0 {
			t.Fatal(said)
		}
		b, err := os.ReadFile("m")
		if err != nil || !strings.Contains(string(b), want) || !strings.Contains(string(b), "no performance summary") {
			t.Errorf("%s: no %s in %s, %v", spec, want, b, err)
		}
	}
}

// hexmage never compares numbers of a simulated phone with numbers of a phone, whatever the profile. The table has a
// note.
func TestMetricsOfAnEmulatedPhone(t *testing.T) {
	all := variants()
	all["a"] = "real_seq_length: 64\nprefill time: 901ms\n"
	all["b"] = "real_seq_length: 64\nprefill time: 900ms\n"
	real := maps.Clone(all)
	for name, text := range all {
		if strings.HasSuffix(name, ".json") {
			all[name] = strings.Replace(text, `"soc":`, `"simulated":true,"soc":`, 1)
		}
	}
	files(t, all)
	if code, said := metrics(t, "regressed", measure.Spec{Profile: "device"}); code != 0 {
		t.Errorf("it is held against a phone's numbers: %s", said)
	}
	b, err := os.ReadFile("m")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(b); !strings.Contains(text, "not a phone's speed") || strings.Contains(text, "paper") {
		t.Errorf("the table does not say what was measured, or compares it with a phone:\n%s", text)
	}
	for _, name := range []string{"a", "b", "c", "d"} { // a program without metrics still has time and memory
		all[name] = "hello\n"
	}
	files(t, all)
	if code, said := metrics(t, "spec", measure.Spec{Profile: "device"}); code != 0 {
		t.Error(said)
	}
	if b, err := os.ReadFile("m"); err != nil || !strings.Contains(string(b), "not a phone's speed") {
		t.Errorf("a silent program on a simulated phone: %s, %v", b, err)
	}
	files(t, real)
	if code, _ := metrics(t, "regressed", measure.Spec{Profile: "device"}); code != 1 {
		t.Error("a phone's own regression is not seen")
	}
	// A run without a record also names its phone.
	for phone, want := range map[string]int{`{"simulated":true}`: 0, `{"simulated":false}`: 1, "none": 1} {
		files(t, map[string]string{"o": "real_seq_length: 64\nprefill time: 901ms\n", "p": phone})
		spec := measure.Spec{Profile: "device", Runs: []measure.Run{{Repetition: 1, Stdout: "o", Phone: "p"}}, Limits: []measure.Limit{{Metric: "prefill_tokens_per_s", Baseline: "paper"}},
			Baselines: []measure.Baseline{{Name: "paper", Rows: []measure.BaselineRow{{Metric: "prefill_tokens_per_s", Value: 333}}}}}
		code, said := metrics(t, "", spec)
		b, _ := os.ReadFile("m")
		if code != want || want == 0 && !strings.Contains(string(b), "not a phone's speed") {
			t.Errorf("%s: exit code %d, %s\n%s", phone, code, said, b)
		}
	}
}
