package steps_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/measure"
)

// specs are a step's actions by name, and the names in their order.
func specs(p step.Planned) (map[string]action.Spec, []string) {
	all := map[string]action.Spec{}
	var names []string
	for _, s := range p.Specs {
		all[s.Name] = s
		names = append(names, s.Name)
	}
	return all, names
}

// readSpec is what the tool metrics is told.
func readSpec(t *testing.T, metrics action.Spec) (s measure.Spec) {
	t.Helper()
	for _, in := range metrics.Inputs {
		if in.Path == tool.ArgsFile {
			if err := tool.Decode(in.Content.Data, &s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(s.Known) < 30 {
		t.Errorf("%d shipped metrics reach the tool", len(s.Known))
	}
	s.Known = nil // the same for all
	return s
}

// Every variant × repetition is an action, in the order of the repetitions; its values are everywhere where the step names its axes.
func TestMatrix(t *testing.T) {
	t.Parallel()
	p, diags := planRun(t, `
matrix = {
  seq  = ["64", "256"]
  mode = ["a/b", "a b"]
}
repeat = 2
warmup = 3
logcat = true
stdin  = "$${matrix.seq} {other} $${matrix.mode}"
push   = { "$${matrix.mode}.bin" = "models/$${matrix.seq}.bin" }
pull   = ["results/$${matrix.seq}.json"]
facts  = { prefill_tokens = "$${matrix.seq}", decode_tokens = 32 }
cooldown {
  timeout = "90s"
  zones   = ["cpu-*"]
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	all, names := specs(p)
	want := []string{
		"run[mode=a_b,seq=64]#1", "run[mode=a_b,seq=256]#1", "run[mode=a_b,seq=64~2]#1", "run[mode=a_b,seq=256~2]#1",
		"run[mode=a_b,seq=64]#2", "run[mode=a_b,seq=256]#2", "run[mode=a_b,seq=64~2]#2", "run[mode=a_b,seq=256~2]#2", "metrics",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Fatal(d)
	}
	run := all["run[mode=a_b,seq=256~2]#2"]
	for name, want := range map[string]string{
		runner.PropertyRepetition: "2", runner.PropertyWarmup: "3", runner.PropertyRecord: "run.json", runner.PropertyLog: "logcat.txt",
		runner.PropertyCooldown: `{"celsius":40,"timeout":"1m30s","zones":["cpu-*"]}`,
	} {
		if got := run.Platform[name]; got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	got := map[string]string{}
	for _, in := range run.Inputs {
		switch {
		case in.Content != nil:
			got[in.Path] = string(in.Content.Data)
		case in.Host != nil:
			got[in.Path] = in.Host.Path
		}
	}
	if d := cmp.Diff(map[string]string{"stdin.txt": "256 {other} a b", "push/a b.bin": "models/256.bin"}, got); d != "" {
		t.Error(d)
	}
	if !slices.ContainsFunc(run.Outputs, func(o action.Output) bool { return o.Path == "results/256.json" }) {
		t.Errorf("outputs %v", run.Outputs)
	}
	spec := readSpec(t, all["metrics"])
	if len(spec.Runs) != 8 || !slices.Equal(spec.Axes, []string{"mode", "seq"}) {
		t.Fatalf("%+v", spec)
	}
	last := measure.Run{Variant: map[string]string{"seq": "256", "mode": "a b"}, Name: "mode=a_b,seq=256~2", Repetition: 2, Stdout: "runs/mode=a_b,seq=256~2/2/stdout.txt",
		Record: "runs/mode=a_b,seq=256~2/2/run.json", Samples: "runs/mode=a_b,seq=256~2/2/samples.json", Facts: map[string]float64{"prefill_tokens": 256, "decode_tokens": 32}}
	if d := cmp.Diff(last, spec.Runs[7]); d != "" {
		t.Error(d)
	}
	var results []string
	for _, part := range p.Outputs["results"].Parts {
		results = append(results, part.Path)
	}
	if !slices.Contains(results, "mode=a_b,seq=64/1/64.json") || !slices.Contains(results, "mode=a_b,seq=64/2/run.json") || len(results) != 8*4 {
		t.Errorf("results %q", results)
	}
	if from := p.Outputs["stdout"].Parts[0].Spec.Spec; from != "metrics" {
		t.Errorf("stdout is of %s", from)
	}
}

// A repetition is another action; of a step with more of them, the first ones are what they were. A step without any of it is planned as if there
// were none of it.
func TestKeysOfRepetitions(t *testing.T) {
	t.Parallel()
	of := func(body string) map[string]action.Spec {
		p, diags := planRun(t, body)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		all, _ := specs(p)
		return all
	}
	plain := of("")
	for _, name := range []string{runner.PropertyRepetition, runner.PropertyRecord, runner.PropertyWarmup, runner.PropertyCooldown} {
		if v, ok := plain["run"].Platform[name]; ok {
			t.Errorf("a single run has %s = %q", name, v)
		}
	}
	if d := cmp.Diff(plain, of("repeat = 1\nwarmup = 0\nmatrix = {}")); d != "" {
		t.Error(d)
	}
	if with := of("warmup = 1"); with["run"].Platform[runner.PropertyRecord] == "" || len(with) != 2 {
		t.Errorf("%v", with)
	}
	two, three := of("repeat = 2"), of("repeat = 3")
	for _, name := range []string{"run#1", "run#2"} {
		if d := cmp.Diff(two[name], three[name]); d != "" || two[name].Name != name {
			t.Errorf("%s: %s", name, d)
		}
	}
	if cmp.Equal(three["run#1"].Platform, three["run#2"].Platform) {
		t.Error("two repetitions have one key")
	}
}

func TestAxisThatChoosesPhones(t *testing.T) {
	t.Parallel()
	p, diags := planRun(t, `matrix = { serial = ["A1", "B2"] }`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	all, names := specs(p)
	if len(names) != 3 || all["run[serial=A1]#1"].Platform[runner.PropertySerial] != "A1" || all["run[serial=B2]#1"].Platform[runner.PropertySerial] != "B2" {
		t.Errorf("%q", names)
	}
	p, diags = planRun(t, "matrix = { phone = [\"A1\"] }\nserial = \"$${matrix.phone}\"\ntitle = \"on $${matrix.phone}\"")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	all, _ = specs(p)
	if got := all["run[phone=A1]#1"].Platform[runner.PropertySerial]; got != "A1" {
		t.Errorf("serial %q", got)
	}
	if s := readSpec(t, all["metrics"]); s.Runs[0].Name != "on A1" || !s.Titled || s.Title != "x" {
		t.Errorf("%+v", s)
	}
}

func TestBenchMistakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"unused axis":           {`matrix = { seq = ["1"] }`, "axis seq has no effect"},
		"empty axis":            {"matrix = { seq = [] }\nstdin = \"$${matrix.seq}\"", `axis "seq" has no values`},
		"a value twice":         {"matrix = { seq = [\"1\", \"1\"] }\nstdin = \"$${matrix.seq}\"", `has "1" twice`},
		"no name":               {"matrix = { \"a b\" = [\"1\"] }\nstdin = \"{a b}\"", `"a b"`},
		"half a run":            {"repeat = 1.5", "repeat is 1.5"},
		"no run":                {"repeat = 0", "from 1 to 1000"},
		"negative warm-up":      {"warmup = -1", "warmup is -1"},
		"too many":              {"matrix = { a = [\"1\", \"2\", \"3\", \"4\", \"5\"] }\nrepeat = 1000\nstdin = \"$${matrix.a}\"", "more than 4096 runs"},
		"no time":               {"cooldown {\n timeout = \"soon\"\n}", `timeout is "soon": want a duration`},
		"no temperature":        {"cooldown {\n celsius = 4\n}", "invalid temperature 4"},
		"no pattern":            {"cooldown {\n zones = [\"[\"]\n}", `"["`},
		"no number":             {`facts = { prefill_tokens = "many" }`, `prefill_tokens is "many"`},
		"two serials":           {"matrix = { serial = [\"A\"] }\nserial = \"B\"", "Remove one"},
		"a phone of an image":   {"matrix = { serial = [\"A\"] }\ndevice = \"image\"", "axis serial chooses real phones"},
		"one name in a variant": {"matrix = { seq = [\"1\"] }\npush = { \"$${matrix.seq}\" = \"a\", \"1\" = \"b\" }", `two entries have the name "1"`},
		"pulls the record":      {"repeat = 2\npull = [\"run.json\"]", "the record of the run"},
	} {
		if _, diags := planRun(t, c.body); !strings.Contains(diags.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, diags, c.want)
		}
	}
}

// A run of a variant compares its tokens with the reference of that variant.
func TestExpectOfVariants(t *testing.T) {
	t.Parallel()
	p, diags := planRun(t, "matrix = { seq = [\"1\", \"2\"] }\nexpect = \"want/$${matrix.seq}.json\"\npull = [\"results/tokens.json\"]")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	all, _ := specs(p)
	s := readSpec(t, all["metrics"])
	for _, r := range s.Runs {
		i := slices.IndexFunc(all["metrics"].Inputs, func(in action.Input) bool { return in.Path == r.Expect })
		if i < 0 || all["metrics"].Inputs[i].Host.Path != "want/"+r.Variant["seq"]+".json" {
			t.Errorf("%+v", r)
		}
	}
}
