package steps_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/step"
)

// patient is a kind that is not planned before there is a file, which an action makes.
type patient struct {
	File  string `arg:"file,required"`
	Wrong bool   `arg:"wrong"`
}

func (a patient) plan(p *step.Plan) {
	for range 1000 {
		if _, err := os.Stat(a.File); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := os.Stat(a.File); err != nil {
		p.Fail("file", "No action began", "%s is not there.", a.File)
	}
	if a.Wrong {
		p.Fail("wrong", "It is wrong", "This cannot be planned.")
	}
}

// TestPlanStreams has actions that have to run before the last step can be evaluated; and then that step is wrong: it ends as any pipeline that cannot be planned,
// and what was done is known afterwards.
func TestPlanStreams(t *testing.T) {
	w := &workspace{t: t, dir: t.TempDir(), sdks: "/nowhere", at: t.TempDir()}
	pipeline := func(file, wrong string) {
		w.pipeline(`
step "exec" "first" {
  argv = ["sh", "-c", "echo > first"]
  output "first" { file = "first" }
}
step "exec" "second" {
  argv = ["sh", "-c", "touch ` + file + `; cp \"$1\" second", "sh", step.exec.first.outputs.first]
  output "second" { file = "second" }
}
step "patient" "last" {
  for_each = toset(["a"])
  file     = "` + file + `"
  wrong    = ` + wrong + `
}
output "second" { value = step.exec.second.outputs.second }
`)
	}
	run := func() (*events, hcl.Diagnostics, build.Result, error) {
		o := w.options()
		o.Kinds["patient"] = step.New(step.Schema{}, patient.plan)
		parts := make(chan build.Part, 10)
		o.Made = func(made []*plan.Instance) { parts <- build.Part{Instances: made} }
		sink := &events{keys: map[string]string{}}
		var diags hcl.Diagnostics
		go func() {
			p, x, ds := planner.Build(o)
			if diags = ds; p == nil {
				parts <- build.Part{Err: ds}
				return
			}
			parts <- build.Part{Whole: &build.Whole{Plan: p, Sink: sink, Extender: x, Hints: x.Explain, Snapshot: &build.Snapshot{Path: w.snapshot()}}}
		}()
		res, err := build.Stream(t.Context(), "p", parts, w.engine())
		return sink, diags, res, err
	}
	began := filepath.Join(t.TempDir(), "began")
	pipeline(began, "true")
	sink, diags, _, err := run()
	if !errors.As(err, new(*build.UnplannedError)) || len(diags) != 1 || diags[0].Summary != "It is wrong" || len(sink.keys) > 0 {
		t.Fatalf("%v, %v, %v", err, diags, sink)
	}
	for _, name := range []string{"out", "snapshot"} {
		if _, err := os.Stat(filepath.Join(w.at, name)); err == nil {
			t.Errorf("there is %s of a pipeline that could not be planned", name)
		}
	}
	pipeline(began, "false")
	if sink, _, res, err := run(); err != nil || res.Actions != 2 || slices.Contains(sink.ran, "exec.first") || len(sink.failures) > 0 {
		t.Errorf("%v ran, %+v, %v", sink.ran, res, err)
	}
	pipeline(filepath.Join(t.TempDir(), "again"), "false")
	if _, _, res, err := run(); err != nil || res.Executed != 1 || len(res.Outputs) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}
