package runlog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/runlog"
)

// TestSummary: at its end a run tells its steps, outputs with the content of tables and pictures, checks, failures
// and warnings.
func TestSummary(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	file := func(name, text string) string {
		at := filepath.Join(out, name)
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return at
	}
	table, plot, other, large := file("table", "{}"), file("plot.svg", "<svg/>"), file("other", "text"),
		file("large", strings.Repeat("x", 300<<10))
	steps := []runlog.Step{{Step: "toolchain.cc"}, {Step: "exec.a", Needs: []int{0}}}
	r := runlog.Record(dir, info())
	r.Toolchains(map[string]string{"cc": "22"})
	r.Steps(steps)
	failed := did("exec.a", "x", event.Failed, "a", time.Second)
	failed.Failure = &event.Failure{Summary: "exit code 1", Where: "p.hcl:3", ExitCode: 1,
		Output: strings.Repeat("x", 9000), Hints: []string{"Do this."}}
	warned := did("exec.b", "", event.Executed, "b", time.Second)
	warned.Warning = "careful"
	check := event.CheckFinished{Check: "check.x", Severity: "error", Result: event.CheckFailed, Message: "no"}
	for _, e := range []event.Event{
		failed, warned, event.OutputReady{Name: "table", Path: table, Show: "table"},
		event.OutputReady{Name: "plot", Path: plot}, event.OutputReady{Name: "other", Path: other},
		event.OutputReady{Name: "large", Path: large, Show: "table"}, event.OutputReady{Name: "dir", Path: out}, check,
		event.BuildFinished{Actions: 7, Executed: 1, Failed: 1, ChecksFailed: 1},
	} {
		r.Send(e)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	file("table", "another run's")
	want := runlog.Summary{
		Steps: steps, Actions: 7, ChecksFailed: 1,
		Checks: []event.CheckFinished{check}, Cut: true,
		Outputs: []runlog.Output{
			{Name: "table", Path: table, Show: "table", Bytes: 2, Content: []byte("{}")},
			{Name: "plot", Path: plot, Bytes: 6, Content: []byte("<svg/>")},
			{Name: "other", Path: other, Bytes: 4}, {Name: "large", Path: large, Show: "table", Bytes: 300 << 10},
			{Name: "dir", Path: out},
		},
		Failures: []runlog.Failure{{Step: "exec.a", Name: "x", Summary: "exit code 1", Where: "p.hcl:3", ExitCode: 1,
			Output: "…" + strings.Repeat("x", 8<<10), Hints: []string{"Do this."}}},
		Warnings: []runlog.Warning{{Step: "exec.b", Text: "careful"}},
	}
	got := runlog.Open(dir).Runs()[0]
	if diff := cmp.Diff(want, got.Summary); diff != "" {
		t.Error(diff)
	}
	if len(got.ID) != 8 {
		t.Errorf("the run is %q", got.ID)
	}
	if refs := runlog.Open(dir).Refs(); len(refs) != 1 || refs[0].ID != got.ID ||
		!refs[0].Started.Equal(got.Started) || refs[0].Run().ID != got.ID {
		t.Errorf("%+v", refs)
	}
}

// TestManyOutputs: a record takes so many, and says that there were more.
func TestManyOutputs(t *testing.T) {
	dir := t.TempDir()
	events := []event.Event{did("a", "", event.Executed, "a", 0)}
	for i := range 1200 {
		events = append(events, event.OutputReady{Name: fmt.Sprint(i), Path: "absent"})
	}
	record(t, dir, append(events, event.BuildFinished{Executed: 1})...)
	if s := runlog.Open(dir).Runs()[0].Summary; len(s.Outputs) != 1000 || !s.Cut {
		t.Errorf("%d outputs, cut %v", len(s.Outputs), s.Cut)
	}
}

// TestDamagedSummary: a summary that is damaged counts as the record's end.
func TestDamagedSummary(t *testing.T) {
	dir := t.TempDir()
	r := runlog.Record(dir, info())
	r.Steps([]runlog.Step{{Step: "a"}, {Step: "b", Needs: []int{0}}})
	for _, e := range []event.Event{did("a", "", event.Executed, "a", 0),
		event.BuildFinished{Actions: 1, Executed: 1}} {
		r.Send(e)
	}
	if got := runlog.Open(dir).Runs()[0]; !got.Ended || len(got.Summary.Steps) != 2 {
		t.Fatalf("%+v", got)
	}
	file := theFile(t, dir)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`[5]`, `[1]`, `[-1]`, `["0"]`, `[`} {
		if err := os.WriteFile(file, bytes.Replace(whole, []byte(`"needs":[0]`), []byte(`"needs":`+bad), 1),
			0o644); err != nil {
			t.Fatal(err)
		}
		if got := runlog.Open(dir).Runs()[0]; got.Ended || len(got.Actions) != 1 || len(got.Summary.Steps) != 0 {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

// TestEarlier: only an earlier run of the same profile counts.
func TestEarlier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for i := range 3 {
			time.Sleep(time.Second)
			record(t, dir, did("often", "", event.Executed, fmt.Sprint(i), 0), event.BuildFinished{Executed: 1})
		}
		b := runlog.Open(dir)
		runs := b.Runs()
		if r, a := b.LastBefore(runs[0], "often", ""); r != runs[1] || a == nil || a.Key != key("1") {
			t.Errorf("the run before the last is %+v", r)
		}
		if r := b.Earlier(runs[0], func(r *runlog.Run) bool { return r.Actions[0].Key == key("0") }); r != runs[2] {
			t.Errorf("the first run is %+v", r)
		}
		other := *runs[0]
		if other.Profile = "another"; b.Earlier(&other, func(*runlog.Run) bool { return true }) != nil {
			t.Error("a run of another profile is an earlier one")
		}
	})
}
