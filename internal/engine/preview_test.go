package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/plan/plantest"
)

// preview returns what a build would do, a line for each action: "exec.a a cached".
func preview(t *testing.T, w *world, p *plan.Plan) []string {
	t.Helper()
	before := files(t, w.cache)
	seen, err := engine.Preview(t.Context(), p, w.Options, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, files(t, w.cache)); d != "" {
		t.Errorf("a preview writes: %s", d)
	}
	var lines []string
	for _, v := range seen.Actions {
		line := v.Instance.At.Short()
		if v.Spec != nil {
			line += " " + v.Spec.Name
		}
		line += " " + string(v.Status)
		if len(v.Waits) > 0 {
			line += ": " + strings.Join(v.Waits, ", ")
		}
		if v.Err != nil {
			line += ": " + v.Err.Error()
		}
		lines = append(lines, line)
		switch v.Status {
		case engine.WillRun: // what it will be made of can be read
			if _, err := merkle.Load(t.Context(), seen.Store, v.Action.InputRoot); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			fallthrough
		case engine.WillUse:
			if v.Key != v.Action.Key(fn) {
				t.Errorf("%s: its key is not that of its action", line)
			}
		}
	}
	return lines
}

// files are the files below a folder, with their sizes.
func files(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err == nil {
			found[p] = st.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPreview(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{"name": "world"})
	host := action.Input{Path: "name", Host: &action.HostPath{Path: "name"}}
	upper := func(k plan.ResolvedInputs) (*plan.Instance, error) {
		art := action.Artifact{Class: action.Tree}
		var specs []action.Spec
		for _, f := range k.Listing["src"] {
			specs = append(specs, action.Spec{Name: f, Args: []string{"sh", "-c", "tr a-z A-Z < src > o"},
				Outputs: []action.Output{{Path: "o"}},
				Inputs:  []action.Input{{Path: "src", Artifact: out("gen"), Sub: f}}})
			art.Parts = append(art.Parts, action.Input{Path: f, Spec: &action.SpecOutput{Spec: f, Path: "o"}})
		}
		return &plan.Instance{At: at("ex"), Deps: []addrs.Instance{at("gen")}, Specs: specs,
			Outputs: map[string]action.Artifact{"out": art}}, nil
	}
	w.Resolver = plantest.Fake{Instances: map[addrs.Instance]func(plan.ResolvedInputs) (*plan.Instance, error){
		at("ex"): upper,
		at("later"): func(k plan.ResolvedInputs) (*plan.Instance, error) {
			if string(k.Values[*out("value")]) == "bad" {
				return nil, errors.New("not like this")
			}
			return sh("later", fmt.Sprintf("echo %s > out", k.Values[*out("value")])), nil
		}}}
	make := func() *plan.Plan {
		ex := &plan.Instance{At: at("ex"), Deps: []addrs.Instance{at("gen")}, Waits: plan.ForListing,
			Await: []action.Input{{Path: "src", Artifact: out("gen")}}, Deferred: "x"}
		later := &plan.Instance{At: at("later"), Deps: []addrs.Instance{at("value")}, Waits: plan.ForValues,
			AwaitValues: []addrs.Output{*out("value")}, Deferred: "x"}
		always := sh("always", "echo > out")
		always.Specs[0].NoCache = true
		return planOf(nil, shTree("gen", "mkdir out; cp name out/a; echo b > out/b", host), ex,
			sh("value", "cat name > out", host), later, always,
			sh("last", "cat in > out", action.Input{Path: "in", Artifact: out("later")},
				action.Input{Path: "too", Artifact: out("always")}))
	}
	compare := func(when string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, preview(t, w, make())); d != "" {
			t.Errorf("%s: %s", when, d)
		}
	}
	compare("at first", "exec.gen gen will run", "exec.ex deferred: exec.gen", "exec.value value will run",
		"exec.later deferred: exec.value",
		"exec.always always will run", "exec.last last deferred: exec.always, exec.later")
	w.ok(make(), 7)
	compare("after a run", "exec.gen gen cached", "exec.ex a cached", "exec.ex b cached", "exec.value value cached",
		"exec.later later cached",
		"exec.always always will run", "exec.last last deferred: exec.always")
	w.write(map[string]string{"name": "bad"})
	w.ok(planOf(nil, sh("value", "cat name > out", host)), 1)
	compare("a value that a step refuses", "exec.gen gen will run", "exec.ex deferred: exec.gen",
		"exec.value value cached", "exec.later cannot run: not like this",
		"exec.always always will run", "exec.last last deferred: exec.always, exec.later")
	if err := os.Remove(filepath.Join(w.Workspace, "name")); err != nil {
		t.Fatal(err)
	}
	lines := preview(t, w, make())
	if !strings.HasPrefix(lines[0], "exec.gen gen cannot run: ") ||
		!strings.Contains(lines[0], "the workspace has no file or folder name") {
		t.Errorf("a file that is not there: %q", lines)
	}
	w.write(map[string]string{"name": "world"})
	w.Force = func(string) bool { return true }
	if lines := preview(t, w, make()); lines[0] != "exec.gen gen will run" {
		t.Errorf("force: %q", lines)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := engine.Preview(ctx, make(), w.Options, nil); err == nil {
		t.Error("an interrupted preview has no error")
	}
}
