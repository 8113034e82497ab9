package build_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
)

// streamed is a build of a plan whose parts a test hands on.
type streamed struct {
	w      *world
	parts  chan build.Part
	ended  chan struct{}
	result build.Result
	err    error
}

func (w *world) stream() *streamed {
	s := &streamed{w: w, parts: make(chan build.Part), ended: make(chan struct{})}
	w.events = nil
	o := w.Options
	o.Sink = nil // it is not known yet
	go func() {
		defer close(s.ended)
		s.result, s.err = build.Stream(w.t.Context(), "p", s.parts, o)
	}()
	return s
}

func (s *streamed) whole(p *plan.Plan) {
	s.parts <- build.Part{Whole: &build.Whole{Plan: p, Sink: s.w.Sink, Snapshot: s.w.Snapshot}}
	<-s.ended
}

// await waits for a file that an action makes.
func await(t *testing.T, file string) {
	t.Helper()
	for range 1000 {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no action has made %s", file)
}

// An action begins before there is a plan; nobody is told until there is one, and then of all that would have been told of a plan that was whole from the
// start. The snapshots are the same.
func TestStream(t *testing.T) {
	w := newWorld(t)
	whole := openWorld(t, filepath.Join(t.TempDir(), "cache"), w.Workspace, "")
	w.Out = "" // a snapshot has the stamps of what was exported
	marker := filepath.Join(t.TempDir(), "began")
	w.write(map[string]string{"src": "x"})
	if err := os.Chtimes(filepath.Join(w.Workspace, "src"), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	a, b, late := sh("a", "touch "+marker+"; cp src out", action.Input{Path: "src", Host: &action.HostPath{Path: "src"}}), sh("b", "cat i > out", action.Input{Path: "i", Artifact: out("a")}), sh("late", "echo > out")
	late.After = []addrs.Instance{a.At}
	p := planOf([]plan.Output{{Name: "o", Class: action.File, Artifact: action.Input{Artifact: out("b")}, Deps: []addrs.Instance{b.At}}}, late, a, b)
	p.Instances = []*plan.Instance{a, late, b}
	w.Snapshot = &build.Snapshot{Path: filepath.Join(t.TempDir(), "snapshot")}
	whole.Snapshot = &build.Snapshot{Path: filepath.Join(t.TempDir(), "snapshot")}

	s := w.stream()
	s.parts <- build.Part{Instances: []*plan.Instance{a}}
	await(t, marker)
	s.parts <- build.Part{Instances: []*plan.Instance{b}}
	s.parts <- build.Part{Instances: []*plan.Instance{late}}
	if len(w.events) > 0 {
		t.Errorf("told before there is a plan: %v", w.events)
	}
	s.whole(p)
	if s.err != nil || s.result.Executed != 3 {
		t.Fatalf("%+v, %v", s.result, s.err)
	}
	whole.ok(p, 3)
	ignore := cmpopts.IgnoreFields
	told := func(w *world) map[string]int {
		all := map[string]int{}
		for _, e := range w.events {
			if f, ok := e.(event.ActionFinished); ok {
				all[f.Step+" "+string(f.Outcome)+" "+f.Key]++
				continue
			}
			all[e.EventName()]++
		}
		return all
	}
	if diff := cmp.Diff(told(whole), told(w)); diff != "" {
		t.Errorf("events (-whole +streamed):\n%s", diff)
	}
	if diff := cmp.Diff(event.BuildStarted{Pipeline: "p", Actions: 3}, w.events[0]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(whole.events[len(whole.events)-1], w.events[len(w.events)-1], ignore(event.BuildFinished{}, "Seconds")); diff != "" {
		t.Error(diff)
	}
	read := func(w *world) string {
		text, err := os.ReadFile(w.Snapshot.Path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if read(w) != read(whole) {
		t.Error("another snapshot than of a plan that was whole")
	}
}

// Without a plan in the end, what runs is stopped, nobody is told of anything, and nothing is exported; what was done is known to the next build.
func TestStreamWithoutAPlan(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	quick, slow := sh("quick", "echo > out"), sh("slow", "touch "+dir+"/slow; sleep 100; echo > out", action.Input{Path: "i", Artifact: out("quick")})
	bad := sh("bad", "touch "+dir+"/bad; exit 1")
	w.KeepGoing = true
	s := w.stream()
	s.parts <- build.Part{Instances: []*plan.Instance{bad, quick, slow}}
	await(t, dir+"/slow")
	await(t, dir+"/bad")
	start := time.Now()
	wrong := errors.New("the last step is wrong")
	s.parts <- build.Part{Err: wrong}
	<-s.ended
	if none := (*build.UnplannedError)(nil); !errors.As(s.err, &none) || none.Err != wrong || len(w.events) > 0 || time.Since(start) > 20*time.Second {
		t.Errorf("%v after %v, and %d events", s.err, time.Since(start), len(w.events))
	}
	if _, err := os.Stat(w.Out); err == nil {
		t.Error("something is exported")
	}
	w.ok(planOf(nil, quick), 0)
}

// What has effects outside of its outputs, or may have, waits until it is known that the whole pipeline can be planned.
func TestStreamEffectsWait(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	var all []*plan.Instance
	effect := func(name string, change func(n *plan.Instance, s *action.Spec)) {
		n := sh(name, "touch "+dir+"/"+name+"; echo > out")
		n.Specs[0].Platform = map[string]string{}
		change(n, &n.Specs[0])
		all = append(all, n)
	}
	effect("flash", func(n *plan.Instance, _ *action.Spec) { n.Cache = plan.CacheInputs })
	effect("off", func(n *plan.Instance, _ *action.Spec) { n.Cache = plan.CacheOff })
	effect("uncached", func(_ *plan.Instance, s *action.Spec) { s.NoCache = true })
	effect("net", func(_ *plan.Instance, s *action.Spec) { s.Platform[action.PropertyNetwork] = "true" })
	effect("secret", func(_ *plan.Instance, s *action.Spec) { s.Platform[action.PropertySecret+"TOKEN"] = "var.token" })
	effect("elsewhere", func(_ *plan.Instance, s *action.Spec) { s.Platform[action.PropertyExecutor] = "elsewhere" })
	effect("after", func(n *plan.Instance, _ *action.Spec) { n.After = []addrs.Instance{at("plain")} })
	effect("lacks", func(n *plan.Instance, _ *action.Spec) { n.Missing = []string{"a program"} })
	effect("needs", func(n *plan.Instance, s *action.Spec) {
		s.Inputs, n.Deps = []action.Input{{Path: "i", Artifact: out("flash")}}, []addrs.Instance{at("flash")}
	})
	plain := sh("plain", "echo > out")
	last := sh("last", "touch "+dir+"/last; echo > out", action.Input{Path: "i", Artifact: out("plain")})
	s := w.stream()
	s.parts <- build.Part{Instances: append(all, plain, last)}
	await(t, dir+"/last")
	time.Sleep(100 * time.Millisecond)
	s.parts <- build.Part{Err: errors.New("no plan")}
	<-s.ended
	ran, err := os.ReadDir(dir)
	if err != nil || len(ran) != 1 {
		t.Errorf("%v ran, %v", ran, err)
	}
	flash := all[0]
	s = w.stream()
	s.parts <- build.Part{Instances: []*plan.Instance{flash, plain}}
	s.whole(planOf(nil, flash, all[8], plain, last))
	if s.err != nil || s.result.Executed != 2 || s.result.Cached != 2 {
		t.Errorf("%+v, %v", s.result, s.err)
	}
	await(t, filepath.Join(dir, "needs"))
}

// A failure before the plan is whole is told when it is, with hints of who comes with the plan.
func TestStreamFailure(t *testing.T) {
	w := newWorld(t)
	bad, after := sh("bad", "exit 3"), sh("after", "echo > out", action.Input{Path: "i", Artifact: out("bad")})
	bad.Explains = true
	s := w.stream()
	s.parts <- build.Part{Instances: []*plan.Instance{bad, after}}
	s.parts <- build.Part{Whole: &build.Whole{Plan: planOf(nil, bad, after), Sink: w, Hints: func(addrs.Instance, plan.Known, string, []byte) []string { return []string{"a hint"} }}}
	<-s.ended
	if f := w.failure(); s.err != nil || s.result.Failed != 1 || s.result.Skipped != 1 || f.ExitCode != 3 || len(f.Hints) != 1 {
		t.Errorf("%+v, %v: %+v", s.result, s.err, f)
	}
}
