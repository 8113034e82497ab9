package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/worker"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/plan/plantest"
	"github.com/hexmage/hexmage/internal/state"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
)

const fn = digest.BLAKE3

// world is a workspace and an engine: real stores, real processes.
type world struct {
	engine.Options
	t      testing.TB
	cache  string
	events []event.Event
	local  *local.Executor
}

// Send implements event.Sink.
func (w *world) Send(e event.Event) { w.events = append(w.events, e) }

// TestMain makes the test's own program a worker, as hexmage is.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "tool" && os.Args[2] == worker.Tool {
		worker.Main(os.Args[3], store.MayBeLink)
		return
	}
	os.Exit(m.Run())
}

func newWorld(t testing.TB) *world {
	t.Helper()
	cache := filepath.Join(t.TempDir(), "cache")
	return openWorld(t, cache, t.TempDir(), filepath.Join(t.TempDir(), "out"))
}

func openWorld(t testing.TB, cache, workspace, out string) *world {
	t.Helper()
	onDisk, err := disk.NewBlobs(cache)
	if err != nil {
		t.Fatal(err)
	}
	results, err := disk.NewResults(cache)
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := os.MkdirTemp(filepath.Join(cache, "tmp"), "run")
	if err != nil {
		t.Fatal(err)
	}
	blobs := store.WithHostFiles(onDisk)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x := local.New(local.Options{Dir: scratch, Store: blobs, Trees: merkle.NewTrees(cache), Fn: fn, Self: self})
	t.Cleanup(func() { _ = x.Close() })
	w := &world{t: t, cache: cache, local: x}
	w.Options = engine.Options{
		Executor: execute.Cached(x,
			execute.CacheOptions{Results: results, Blobs: blobs, Fn: fn,
				Locks: execute.NewLocks(filepath.Join(cache, "lock"))}),
		Blobs: blobs, Hasher: merkle.HashFiles(fn), Fn: fn, Sink: w, Jobs: 4, Prune: true,
		Workspace: workspace, Out: out, State: filepath.Join(cache, "state"), LogDir: filepath.Join(cache, "logs"),
		StateFile: filepath.Join(cache, "state", "request"),
		Planning:  func() (*state.Planning, error) { return &state.Planning{Workspace: workspace}, nil },
	}
	return w
}

func (w *world) write(files map[string]string) {
	w.t.Helper()
	for name, content := range files {
		p := filepath.Join(w.Workspace, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755),
			os.WriteFile(p, []byte(content), 0o644)); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) run(p *plan.Plan) (engine.Result, error) {
	w.t.Helper()
	w.events = nil
	w.Last, _ = state.Read(w.StateFile) // there may be none
	r, err := engine.Run(w.t.Context(), p, w.Options)
	_ = w.local.Close() // waits until exec roots are removed
	if len(w.events) == 0 {
		w.t.Fatal("no events")
	}
	if _, ok := w.events[len(w.events)-1].(event.BuildFinished); !ok {
		w.t.Errorf("the last event is %#v", w.events[len(w.events)-1])
	}
	return r, err
}

// ok runs the plan, which must succeed with so many actions executed.
func (w *world) ok(p *plan.Plan, executed int) engine.Result {
	w.t.Helper()
	r, err := w.run(p)
	if err != nil || r.Failed > 0 || r.Executed != executed {
		w.t.Fatalf("%+v, %v; want %d executed", r.BuildFinished, err, executed)
	}
	return r
}

func (w *world) failure() *event.Failure {
	for _, e := range w.events {
		if f, ok := e.(event.ActionFinished); ok && f.Failure != nil {
			return f.Failure
		}
	}
	return &event.Failure{}
}

// list returns what is in the folder: content by path, "dir/" for folders.
func list(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		if err != nil || rel == "." {
			return err
		}
		if d.IsDir() {
			found[rel+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(p)
		found[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func at(name string) addrs.Instance {
	return addrs.Instance{Step: addrs.Step{Kind: "exec", Name: name}}
}

func out(name string) *addrs.Output { return &addrs.Output{Instance: at(name), Name: "out"} }

// sh is a step with one action, a shell script that writes "out".
func sh(name, script string, inputs ...action.Input) *plan.Instance {
	n := &plan.Instance{At: at(name), Where: "p.hcl:1", Specs: []action.Spec{{
		Name: name, Args: []string{"sh", "-c", script}, Inputs: inputs, Outputs: []action.Output{{Path: "out"}},
	}}}
	n.Outputs = map[string]action.Artifact{"out": {Class: action.File,
		Parts: []action.Input{{Spec: &action.SpecOutput{Spec: name, Path: "out"}}}}}
	for _, in := range inputs {
		if in.Artifact != nil {
			n.Deps = append(n.Deps, in.Artifact.Instance)
		}
	}
	return n
}

// shTree is sh with a folder as its output.
func shTree(name, script string, inputs ...action.Input) *plan.Instance {
	n := sh(name, script, inputs...)
	n.Specs[0].Outputs[0].Tree = true
	a := n.Outputs["out"]
	a.Class = action.Tree
	n.Outputs["out"] = a
	return n
}

func output(name, from, sub string) plan.Output {
	return plan.Output{Name: name, Class: action.File, Artifact: action.Input{Artifact: out(from), Sub: sub},
		Deps: []addrs.Instance{at(from)}}
}

func planOf(outs []plan.Output, nodes ...*plan.Instance) *plan.Plan {
	return &plan.Plan{Pipeline: "p", Instances: nodes, Outputs: outs}
}

func TestInputsComeTogether(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{"src/a.c": "a", "src/sub/b.c": "b", "one.txt": "one"})
	gen := shTree("gen", "mkdir -p out/lib64 && echo deep > out/lib64/x.so.1 && ln -s x.so.1 out/lib64/x.so && ln "+
		"-s lib64 out/lib")
	use := sh("use", "l=$(find . -type f | sort); echo \"$l\" > out; cat x.so >> out; test -L x.so && exit 1; "+
		"./run.sh >> out",
		action.Input{Path: "src", Host: &action.HostPath{Path: "src"}},
		action.Input{Path: "in/one", Host: &action.HostPath{Path: "one.txt"}},
		action.Input{Path: "abs", Host: &action.HostPath{Path: filepath.Join(w.Workspace, "one.txt")}},
		action.Input{Path: "run.sh", Content: &action.Content{Data: []byte("#!/bin/sh\necho ran\n"), Executable: true}},
		action.Input{Path: "x.so", Artifact: out("gen"), Sub: "lib/x.so"},
		action.Input{Path: "whole", Artifact: out("gen"), Sub: "."})
	p := planOf([]plan.Output{output("o", "use", "")}, gen, use)
	w.ok(p, 2)
	got := list(t, w.Out)["o"]
	want := "./abs\n./in/one\n./run.sh\n./src/a.c\n./src/sub/b.c\n./whole/lib64/x.so.1\n./x.so\ndeep\nran\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	w.ok(p, 0)
	w.write(map[string]string{"src/a.c": "changed"})
	w.ok(p, 1)
}

// Mistakes in a pipeline are told as such, with what they are about; none of them is a panic.
func TestInputMistakes(t *testing.T) {
	gen := func() *plan.Instance {
		return shTree("gen", "mkdir -p out && echo x > out/f && ln -s g out/loop && ln -s loop out/g")
	}
	host := func(p, h string) action.Input { return action.Input{Path: p, Host: &action.HostPath{Path: h}} }
	for name, c := range map[string]struct {
		inputs []action.Input
		want   string
		usage  bool
	}{
		"no such file": {[]action.Input{host("x", "nope.txt")}, "has no file or folder nope.txt", true},
		"no such sub-path": {[]action.Input{{Path: "x", Artifact: out("gen"), Sub: "no/f"}},
			"step.exec.gen.outputs.out does not contain no/f", true},
		"below a file":   {[]action.Input{{Path: "x", Artifact: out("gen"), Sub: "f/g"}}, "does not contain f/g", true},
		"above the tree": {[]action.Input{{Path: "x", Artifact: out("gen"), Sub: "../f"}}, "..", false},
		"symlinks in a circle": {[]action.Input{{Path: "x", Artifact: out("gen"), Sub: "loop"}},
			"resolves through more than 40 symlinks", false},
		"part of a file": {[]action.Input{{Path: "x", Host: &action.HostPath{Path: "a.txt"}, Sub: "y"}},
			"use an output that is a folder",
			false},
		"two at a path":  {[]action.Input{host("x", "a.txt"), host("x", "b.txt")}, "x", false},
		"file as folder": {[]action.Input{host("x", "a.txt"), host("x/y", "b.txt")}, "x", false},
		"from nowhere":   {[]action.Input{{Path: "x"}}, "lacks a source", false},
		"a socket":       {[]action.Input{host("x", "/dev/null")}, "neither a file nor a folder", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(map[string]string{"a.txt": "a", "b.txt": "b"})
			r, err := w.run(planOf(nil, gen(), sh("use", "touch out", c.inputs...)))
			if err == nil || r.Failed != 1 || !strings.Contains(err.Error(), c.want) ||
				!w.failure().InfrastructureError {
				t.Errorf("%+v, %v; want %q", r.BuildFinished, err, c.want)
			}
			if errors.As(err, new(*engine.InputError)) != c.usage {
				t.Errorf("%v: is an InputError: %v", err, !c.usage)
			}
		})
	}
}

// An artifact that names what is not there is a mistake of a kind: an error, not a panic, also when only an output
// needs it.
func TestKindsThatLie(t *testing.T) {
	for name, change := range map[string]func(*plan.Instance){
		"no such action": func(n *plan.Instance) {
			n.Outputs["out"] = action.Artifact{Class: action.File,
				Parts: []action.Input{{Spec: &action.SpecOutput{Spec: "other", Path: "out"}}}}
		},
		"no such output": func(n *plan.Instance) { delete(n.Outputs, "out") },
		"a file as a folder": func(n *plan.Instance) {
			n.Outputs["out"] = action.Artifact{Class: action.Tree, Parts: n.Outputs["out"].Parts}
		},
	} {
		w := newWorld(t)
		n := sh("a", "touch out")
		change(n)
		if _, err := w.run(planOf([]plan.Output{output("o", "a", "")}, n)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	w := newWorld(t)
	if _, err := w.run(planOf([]plan.Output{output("o", "gone", "")})); err == nil {
		t.Error("an output of a step that is not in the plan")
	}
	if _, err := w.run(planOf(nil,
		&plan.Instance{At: at("twice"), Specs: []action.Spec{{Name: "x"}, {Name: "x"}}})); err == nil {
		t.Error("two actions of one name")
	}
}

// What goes wrong while a step is expanded decides how the build ends, as with any action.
func TestErrorsOfExpansions(t *testing.T) {
	w := newWorld(t)
	n := &plan.Instance{At: at("ex"), Waits: plan.ForListing,
		Await: []action.Input{{Path: "src", Host: &action.HostPath{Path: "no/such/folder"}}}}
	w.Resolver = plantest.Fake{}
	r, err := w.run(planOf(nil, n))
	if !errors.As(err, new(*engine.InputError)) || r.Failed != 1 {
		t.Errorf("%+v, %v; want an InputError", r.BuildFinished, err)
	}
	w.write(map[string]string{"file": "x"})
	n.Await[0].Host.Path = "file"
	if _, err := w.run(planOf(nil, n)); err == nil {
		t.Error("a file was listed")
	}
}

func TestExpansionSeesTheFiles(t *testing.T) {
	w := newWorld(t)
	n := &plan.Instance{At: at("ex"), Deps: []addrs.Instance{at("gen")}, Waits: plan.ForListing,
		Await: []action.Input{{Path: "src", Artifact: out("gen")}}}
	w.Resolver = plantest.Fake{Instances: map[addrs.Instance]func(plan.ResolvedInputs) (*plan.Instance,
		error){n.At: func(k plan.ResolvedInputs) (*plan.Instance, error) {
		art := action.Artifact{Class: action.Tree}
		more := &plan.Instance{At: n.At, Deps: n.Deps}
		for _, f := range k.Listing["src"] {
			more.Specs = append(more.Specs,
				action.Spec{Name: f, Args: []string{"sh", "-c", "tr a-z A-Z < src > o"},
					Outputs: []action.Output{{Path: "o"}},
					Inputs:  []action.Input{{Path: "src", Artifact: out("gen"), Sub: f}}})
			art.Parts = append(art.Parts, action.Input{Path: f, Spec: &action.SpecOutput{Spec: f, Path: "o"}})
		}
		art.Parts = append(art.Parts, action.Input{Path: "note", Content: &action.Content{Data: []byte("n")}})
		more.Outputs = map[string]action.Artifact{"out": art}
		return more, nil
	}}}
	e := output("o", "ex", "")
	e.Class = action.Tree
	w.Roots = []addrs.Output{*out("ex")}
	r := w.ok(planOf([]plan.Output{e}, shTree("gen", "mkdir -p out/d; echo a > out/d/a; echo b > out/b"), n), 3)
	want := map[string]string{"o/": "", "o/d/": "", "o/d/a": "A\n", "o/b": "B\n", "o/note": "n"}
	if d := cmp.Diff(want, list(t, w.Out)); d != "" {
		t.Error(d)
	}
	if d, err := merkle.Load(t.Context(), w.Blobs, r.Roots[*out("ex")]); err != nil || len(d.Files) != 2 {
		t.Errorf("its root: %v, %v", d, err)
	}
}

func TestValues(t *testing.T) {
	w := newWorld(t)
	value := sh("value", "printf 41 > out")
	later := &plan.Instance{At: at("later"), Deps: []addrs.Instance{at("value")}, Waits: plan.ForValues,
		AwaitValues: []addrs.Output{*out("value")}}
	e := plan.Output{Name: "sum", Waits: plan.ForValues, AwaitValues: []addrs.Output{*out("later")}}
	if r, err := w.run(planOf([]plan.Output{e}, value, later)); err == nil ||
		!strings.Contains(err.Error(), "exec.later") || r.Failed != 1 {
		t.Errorf("nobody extends the plan: %+v, %v", r, err)
	}
	refuse := false
	x := plantest.Fake{
		Instances: map[addrs.Instance]func(plan.ResolvedInputs) (*plan.Instance,
			error){later.At: func(k plan.ResolvedInputs) (*plan.Instance, error) {
			if refuse {
				return nil, errors.New("not like this")
			}
			if string(k.Values[*out("value")]) != "41" {
				return nil, fmt.Errorf("got %q", k.Values)
			}
			return sh("later", "echo 42 > out"), nil
		}},
		Outputs: map[string]func(plan.ResolvedInputs) (plan.Output, error){"sum": func(
			k plan.ResolvedInputs) (plan.Output, error) {
			return plan.Output{Name: "sum", Literal: "it is " + string(k.Values[*out("later")])}, nil
		}},
	}
	w.Resolver = x
	w.ok(planOf([]plan.Output{e}, value, later), 1)
	if got := list(t, w.Out)["sum"]; got != "it is 42\n\n" {
		t.Errorf("got %q", got)
	}
	value.Specs[0].Args[2] = "head -c 1048577 /dev/zero > out"
	if r, err := w.run(planOf(nil, value, later)); err == nil || !strings.Contains(err.Error(), "1048576") ||
		r.Failed != 1 {
		t.Errorf("a huge value: %+v, %v", r, err)
	}
	refuse = true
	value.Specs[0].Args[2] = "printf 41 > out"
	if r, err := w.run(planOf(nil, value, later)); err != nil || r.Failed != 1 ||
		w.failure().Summary != "not like this" {
		t.Errorf("refused: %+v, %v", r, err)
	}
}

// TestNoRoom: two commands that took more than half of the memory do not run at once, one that is in the cache waits
// for neither, and what came of it is as ever.
func TestNoRoom(t *testing.T) {
	w := newWorld(t)
	alone := filepath.Join(t.TempDir(), "alone")
	hog := func(name string) *plan.Instance {
		return sh(name, fmt.Sprintf("mkdir %s || exit 9; sleep 0.3; rmdir %s; echo %s > out", alone, alone, name))
	}
	known := sh("known", "touch out")
	w.Pools = map[string]int64{engine.MemoryPool: 100}
	w.PeakMemory = func(step, name string) int64 { return 60 }
	w.ok(planOf(nil, known), 1)
	w.ok(planOf(nil, hog("one"), hog("two"), hog("three"), known), 3)
	var order []string
	for _, e := range w.events {
		if e, ok := e.(event.ActionFinished); ok {
			order = append(order, e.Step)
		}
	}
	if len(order) != 4 || order[0] != "exec.known" {
		t.Errorf("ended in the order %v", order)
	}
	w.PeakMemory = nil
	w.Force = func(string) bool { return true }
	if r, err := w.run(planOf(nil, hog("one"), hog("two"), hog("three"))); err != nil || r.Failed == 0 {
		t.Errorf("with any room: %+v, %v", r.BuildFinished, err)
	}
}
