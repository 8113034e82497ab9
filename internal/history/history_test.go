package history_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/runlog"
)

// TestParse: a document of somebody else is looked at before it is used.
func TestParse(t *testing.T) {
	for text, says := range map[string]string{
		``:                           "invalid run document",
		`[]`:                         "invalid run document",
		`{"format":"hexmage-x/0"}`:   `format "hexmage-x/0"`,
		`{"format":"hexmage-run/0"}`: "version 0, but this hexmage reads version 1; export",
		`{"format":"hexmage-run/1","steps":[` + strings.Repeat("{},", 1<<20) + `{}]}`: "more than 1048576 objects",
		`{"format":"hexmage-run/1","steps":[{"step":"a","needs":[0]}]}`:               `"a" precedes one of its dependencies`,
		`{"format":"hexmage-run/1","steps":[{"step":"a"},{"step":"b","needs":[-1]}]}`: `"b" precedes`,
		`{"format":"hexmage-run/1","steps":[{"step":"a"},{"step":"b","needs":[0]}]}`:  "",
	} {
		_, err := history.Parse([]byte(text))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// table is an output with repetitions.
func table(profile string, simulated bool, values ...float64) runlog.Output {
	var runs []string
	sum := 0.0
	for _, v := range values {
		runs = append(runs, fmt.Sprintf(`{"metrics":[{"name":"speed","value":%g,"unit":"words/s"}]}`, v))
		sum += v
	}
	text := fmt.Sprintf(`{"title":"t","profile":%q,"simulated":%v,"rows":[{"name":"size","value":3},{"name":"word","value":"x"}],
		"variants":[{"variant":{"n":"1","m":"2"},"runs":[%s],"stats":[{"name":"speed","label":"the speed","unit":"words/s","value":%g,"n":%d,"spread":1,"better":"more"}]}]}`,
		profile, simulated, strings.Join(runs, ","), sum/float64(len(values)), len(values))
	return runlog.Output{Name: "bench", Path: "out/bench", Show: "table", Bytes: int64(len(text)),
		Content: []byte(text)}
}

// TestMetrics: of metrics that were measured several times a difference is judged by their spread; what was measured
// otherwise is not set beside.
func TestMetrics(t *testing.T) {
	of := func(o runlog.Output) []history.Metric {
		return (&history.Document{Outputs: []runlog.Output{o}}).Metrics()
	}
	base := of(table("open", false, 10, 11, 12))
	if len(base) != 2 || base[0].Variant != "m=2,n=1" || base[0].Label != "the speed" ||
		!slices.Equal(base[0].Values, []float64{10, 11, 12}) || base[1].Name != "size" {
		t.Fatalf("%+v", base)
	}
	for _, c := range []struct {
		other []history.Metric
		want  history.Verdict
	}{
		{of(table("open", false, 10.5, 11.5, 12)), history.Within},
		{of(table("open", false, 20, 21, 22)), history.Significant},
		{of(table("open", false, 10, 11, 12)), history.Equal},
		{of(table("open", false, 13)), history.Single},
		{of(table("another", false, 20, 21, 22)), history.Apart},
		{of(table("open", true, 20, 21, 22)), history.Apart},
		{nil, history.OnlyA},
	} {
		if got := history.CompareMetrics(base, c.other)[0]; got.Verdict != c.want {
			t.Errorf("%+v: %s, want %s", c.other, got.Verdict, c.want)
		}
	}
	if got := history.CompareMetrics(nil, base)[0]; got.Verdict != history.OnlyB || got.Metric().Name != "speed" {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"", "[]", `[{"a":1}]`, "x", `{"variants":[{"stats":[{"value":"x"}]}]}`} {
		if got := of(runlog.Output{Show: "table", Content: []byte(text)}); len(got) > 0 {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// TestWelch: p values as integrating the density of Student's distribution gives them.
func TestWelch(t *testing.T) {
	sample := func(v ...float64) history.Sample {
		s := history.Sample{N: len(v)}
		for _, x := range v {
			s.Mean += x / float64(len(v))
		}
		for _, x := range v {
			s.Deviation += (x - s.Mean) * (x - s.Mean)
		}
		s.Deviation = math.Sqrt(s.Deviation / float64(len(v)-1))
		return s
	}
	for _, c := range []struct {
		a, b history.Sample
		p    float64
	}{
		{sample(27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4),
			sample(27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.9),
			0.007561397502},
		{sample(1, 2, 3), sample(1, 2, 3), 1},
		{sample(1, 2, 3), sample(4, 5, 6), 0.0213116411288},
		{sample(1, 2), sample(10, 12, 14, 16), 0.0015680525133},
		{sample(5, 5), sample(6, 6), 0},
		{sample(1, 1.1, 0.9, 1.05), sample(1e6, 1e6+1), 2.591772e-7},
	} {
		if got := history.Welch(c.a, c.b); math.Abs(got-c.p) > 1e-9+1e-6*c.p {
			t.Errorf("%+v, %+v: %.10g, want %.10g", c.a, c.b, got, c.p)
		}
		if a, b := history.Welch(c.a, c.b), history.Welch(c.b, c.a); math.Abs(a-b) > 1e-12 {
			t.Errorf("the order of the samples counts: %g, %g", a, b)
		}
	}
}

// trees are those of an action with an input and a toolchain, below "root", or "root other".
func trees(input, toolchain string) map[string]history.Folder {
	root := history.Folder{"a.c": input, "same": "s", "toolchains": "folder tools" + input}
	return map[string]history.Folder{"root": root, "root other": root, "tools" + input: {"cc": toolchain}}
}

// TestCompare: what two runs were made of, and what came of it.
func TestCompare(t *testing.T) {
	step := func(name, key, made string, seconds float64, of map[string]string) history.Step {
		return history.Step{Step: name, Executed: 1, Made: made,
			Actions: []history.Action{{Outcome: event.Executed, Key: key, Seconds: seconds, Of: of}}}
	}
	a := &history.Document{Profile: "open", Seconds: 3, Toolchains: map[string]string{"cc": "22"},
		Host:   map[string]string{"os": "linux"},
		Checks: []event.CheckFinished{{Check: "check.x", Result: event.CheckPassed}},
		Steps: []history.Step{
			step("exec.same", "1", "m", 1, nil),
			step("exec.input", "2", "m", 1, map[string]string{"argument 0": "-O1"}),
			step("exec.slow", "3", "m", 1, nil), step("exec.gone", "4", "", 1, nil),
			step("exec.random", "5", "m", 1, nil), step("exec.lost", "6", "", 1, nil), {Step: "exec.quiet"},
		}}
	b := &history.Document{Profile: "host", Seconds: 4, Toolchains: map[string]string{"cc": "23"},
		Host:   map[string]string{"os": "linux"},
		Checks: []event.CheckFinished{{Check: "check.x", Result: event.CheckFailed}},
		Steps: []history.Step{
			step("exec.same", "1", "m", 1.1, nil),
			step("exec.input", "2b", "m", 1, map[string]string{"argument 0": "-O2"}),
			step("exec.slow", "3", "m", 5, nil), step("exec.random", "5", "other", 1, nil),
			step("exec.lost", "7", "", 1, nil), step("exec.new", "8", "", 1, nil), step("exec.quiet", "9", "", 1, nil),
		}}
	a.Trees = trees("x", "folder 1")
	b.Trees = trees("y", "folder 2")
	a.Steps[1].Actions[0].Root, b.Steps[1].Actions[0].Root = "root", "root other"
	c := history.Compare(a, b)
	want := map[string]string{"exec.input": history.StepChanged, "exec.slow": history.StepTime,
		"exec.gone": history.StepOnlyA, "exec.random": history.StepOutcome, "exec.lost": history.StepChanged,
		"exec.new": history.StepOnlyB}
	got := map[string]string{}
	for _, s := range c.Steps {
		got[s.Step] = s.Change
		switch s.Step {
		case "exec.input":
			if diff := cmp.Diff([]history.Change{{Name: "argument 0", A: "-O1", B: "-O2"},
				{Name: "toolchain cc", A: "22 (1)", B: "23 (2)"}, {Name: "input a.c", A: "x", B: "y"}},
				s.Inputs); diff != "" || s.Outputs != "the same" {
				t.Error(diff, s.Outputs)
			}
		case "exec.lost":
			if s.Unknown == "" {
				t.Error("it is not said that what it was made of is not known")
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c.Same != 2 || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "in only one of the runs: 1") {
		t.Errorf("%d same, %q", c.Same, c.Notes)
	}
	a.Host = nil
	if c := history.Compare(a, b); len(c.Host) != 0 || len(c.Notes) != 1 {
		t.Errorf("of a machine that is not on record: %+v, %q", c.Host, c.Notes)
	}
	if diff := cmp.Diff([]history.Change{{Name: "profile", A: "open", B: "host"}}, c.Settings); diff != "" {
		t.Error(diff)
	}
	if len(c.Tools) != 1 || len(c.Host) != 0 || len(c.Checks) != 1 || c.Checks[0].B != "failed" {
		t.Errorf("%+v", c)
	}
}

// TestWaited: on the critical path each step counts from the end of the one before.
func TestWaited(t *testing.T) {
	d := &history.Document{Steps: []history.Step{{Critical: true, Start: 1, End: 6}, {Start: 0, End: 9},
		{Critical: true, Start: 5, End: 10}, {Critical: true, Start: 11, End: 12}}}
	if diff := cmp.Diff(map[int]float64{0: 5, 2: 4, 3: 1}, d.Critical()); diff != "" {
		t.Error(diff)
	}
}
