package collect_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/history/collect"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/runlog"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// place is a run log and stores.
type place struct {
	t      *testing.T
	dir    string
	stores collect.Stores
	at     time.Time
}

func newPlace(t *testing.T) *place {
	return &place{t: t, dir: filepath.Join(t.TempDir(), "runs"),
		stores: collect.Stores{Blobs: memory.NewBlobs(), Results: memory.NewResults()}, at: time.Now().Add(-time.Hour)}
}

// made puts an action of one file and one argument into the stores, with a result of so many bytes, and returns its
// key.
func (p *place) made(content, arg string, bytes int, noCache bool) digest.Digest {
	p.t.Helper()
	root := &merkle.Dir{}
	err := root.Insert(p.t.Context(), nil, "src/a.c", merkle.File{Digest: digest.BLAKE3.Bytes([]byte(content))})
	if err != nil {
		p.t.Fatal(err)
	}
	top, messages := root.Encode(digest.BLAKE3)
	a := &action.Action{Command: action.Command{Args: []string{"cc", arg}, Outputs: []string{"out"}}, InputRoot: top,
		DoNotCache: noCache}
	e := a.Encode(digest.BLAKE3)
	messages[e.Key], messages[digest.BLAKE3.Bytes(e.Command)] = e.Action, e.Command
	out := digest.BLAKE3.Bytes([]byte(strings.Repeat("x", bytes)))
	if err := p.stores.Results.Put(p.t.Context(), e.Key,
		&action.Result{Files: []action.OutputFile{{Path: "out", Digest: out}}}, messages); err != nil {
		p.t.Fatal(err)
	}
	return e.Key
}

// run records a run, and returns its document.
func (p *place) run(steps []runlog.Step, fresh []string, events ...event.Event) *history.Document {
	p.t.Helper()
	p.at = p.at.Add(time.Minute)
	r := runlog.Record(p.dir, runlog.Info{Pipeline: "p", Version: "1", Started: p.at, Force: fresh})
	if steps != nil {
		r.Toolchains(map[string]string{"cc": "22"})
		r.Steps(steps)
	}
	sum := event.BuildFinished{Seconds: 3}
	for _, e := range events {
		if f, ok := e.(event.ActionFinished); ok {
			sum.Actions++
			switch f.Outcome {
			case event.Executed:
				sum.Executed++
			case event.Cached:
				sum.Cached++
			default:
				sum.Failed++
			}
		}
		time.Sleep(time.Millisecond) // what ends later is recorded as later
		r.Send(e)
	}
	r.Send(sum)
	if err := r.Err(); err != nil {
		p.t.Fatal(err)
	}
	return p.document(0)
}

func (p *place) document(at int) *history.Document {
	p.t.Helper()
	book := runlog.Open(p.dir)
	d, err := collect.Document(p.t.Context(), book, book.Runs()[at], p.stores, explain.NewHider(nil))
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}

func did(step, name string, o event.Outcome, key digest.Digest) event.ActionFinished {
	return event.ActionFinished{Step: step, Name: name, Outcome: o, Action: key, Seconds: 1}
}

func reasons(d *history.Document) (all []string) {
	for _, s := range d.Steps {
		for _, a := range s.Actions {
			all = append(all, strings.TrimSpace(s.Step+" "+a.Copy+" "+a.Name)+": "+a.Reason)
		}
	}
	return all
}

// TestCollect: the document of a run has its steps in the plan's order, copies together, with why each action ran.
func TestCollect(t *testing.T) {
	p := newPlace(t)
	steps := []runlog.Step{{Step: "toolchain.cc"}, {Step: "module.m.exec.obj", Needs: []int{0}},
		{Step: "exec.all", Needs: []int{1}}}
	obj := `module.m["x"].exec.obj["a.c"]`
	one, all := p.made("a", "-O1", 10, false), p.made("all", "-O1", 20, false)
	d := p.run(steps, nil, did("exec.all", "", event.Failed, all), did(obj, "o", event.Executed, one))
	if got := []string{d.Steps[0].Step, d.Steps[1].Step, d.Steps[2].Step}; !slices.Equal(got,
		[]string{"toolchain.cc", "module.m.exec.obj", "exec.all"}) {
		t.Errorf("steps %q", got)
	}
	s := d.Steps[1]
	if s.Module != "module.m" || !slices.Equal(s.Needs, []int{0}) || s.Executed != 1 || s.Bytes != 10 ||
		s.Actions[0].Copy != obj || s.Made == "" {
		t.Errorf("%+v", s)
	}
	made := s.Actions[0]
	src, ok := strings.CutPrefix(d.Trees[made.Root]["src"], history.FolderPrefix)
	if made.Of["argument 1"] != "-O1" || !ok || !strings.HasSuffix(d.Trees[src]["a.c"], "(1 bytes)") {
		t.Errorf("made of %q, %q", made.Of, d.Trees)
	}
	if d.Result != history.Failed || d.Toolchains["cc"] != "22" || d.Steps[0].Ran() {
		t.Errorf("%+v", d)
	}

	// The next run has no plan of its own: its graph is that of the run before.
	two, every := p.made("b", "-O1", 10, false), p.made("every", "", 1, true)
	d = p.run(nil, nil, did(obj, "o", event.Executed, two), did("exec.all", "", event.Failed, all),
		did("exec.every", "", event.Executed, every), did("exec.gone", "", event.Failed, digest.Digest{}))
	if len(d.Steps) != 5 || !slices.Equal(d.Steps[1].Needs, []int{0}) {
		t.Errorf("%+v", d)
	}
	want := []string{
		"module.m.exec.obj " + obj + " o: src/a.c changed", "exec.all: failed last time",
		"exec.every: the step runs every time (cache = false)", "exec.gone: an input was missing",
	}
	if diff := cmp.Diff(want, reasons(d)); diff != "" {
		t.Error(diff)
	}

	// A run that did not come to a step.
	id := d.ID
	d = p.run(nil, nil, did("exec.all", "", event.Failed, all))
	if len(d.Steps[1].Actions) > 0 || d.Steps[1].Executed > 0 {
		t.Errorf("%+v", d.Steps[1])
	}
	d = p.run(nil, []string{"exec.all"}, did(obj, "o", event.Cached, two), did("exec.all", "", event.Executed, all),
		did("exec.new", "", event.Executed, p.made("n", "", 1, false)))
	want = []string{"module.m.exec.obj " + obj + " o: nothing changed since run " + id, "exec.all: --force",
		"exec.new: never ran before"}
	if diff := cmp.Diff(want, reasons(d)); diff != "" {
		t.Error(diff)
	}
	d = p.run(nil, nil, did(obj, "o", event.Cached, one), did("exec.all", "", event.Executed, all),
		did("exec.new", "", event.Executed, p.made("n", "-g", 1, false)))
	want = []string{"module.m.exec.obj " + obj + " o: the result is from a run before the previous one",
		"exec.all: the cache evicted the result", `exec.new: argument "" is now -g`}
	if diff := cmp.Diff(want, reasons(d)); diff != "" {
		t.Error(diff)
	}

	// What is written down is what is read.
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	back, err := history.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(back); string(again) != string(b) {
		t.Errorf("%s\n%s", b, again)
	}

	// Where the cache has nothing any more, the document says so.
	p.stores = collect.Stores{Blobs: memory.NewBlobs(), Results: memory.NewResults()}
	d = p.document(0)
	if len(d.Unknown) == 0 || !strings.Contains(d.Unknown[0], "The sizes omit the outputs of 3 actions") ||
		d.Steps[1].Made != "" || d.Steps[1].Actions[0].Of != nil {
		t.Errorf("%q %+v", d.Unknown, d.Steps[1])
	}
}

// TestCritical: the critical path goes back from what ended last to what it waited for, through steps that nobody
// looked at.
func TestCritical(t *testing.T) {
	p := newPlace(t)
	steps := []runlog.Step{{Step: "exec.a"}, {Step: "exec.slow"}, {Step: "exec.quiet", Needs: []int{0, 1}},
		{Step: "exec.end", Needs: []int{0, 2}}, {Step: "exec.other"}}
	end := did("exec.end", "", event.Executed, digest.Digest{})
	var events []event.Event
	for _, s := range []string{"exec.other", "exec.a", "exec.slow"} {
		events = append(events, did(s, "", event.Executed, digest.Digest{}))
	}
	d := p.run(steps, nil, append(events, end)...)
	waited := d.Critical()
	var critical []string
	for i, s := range d.Steps {
		if _, ok := waited[i]; ok != s.Critical {
			t.Errorf("%s: critical %v, waited for %v", s.Step, s.Critical, waited)
		}
		if s.Critical {
			critical = append(critical, s.Step)
		}
	}
	if !slices.Equal(critical, []string{"exec.slow", "exec.end"}) {
		t.Errorf("critical are %q", critical)
	}
}

// TestTreesAreBounded: of more entries than a document takes, the deepest folders are not listed, and that is said;
// what several actions share is listed once.
func TestTreesAreBounded(t *testing.T) {
	blobs := memory.NewBlobs()
	file := &merkle.File{Digest: digest.BLAKE3.Bytes([]byte("x"))}
	wide := func(n int) *merkle.Dir {
		d := &merkle.Dir{Files: map[string]*merkle.File{}}
		for i := range n {
			d.Files[fmt.Sprint(i)] = file
		}
		return d
	}
	tree := func(extra string, deep *merkle.Dir) digest.Digest {
		d := &merkle.Dir{Files: map[string]*merkle.File{extra: file},
			Dirs: map[string]*merkle.Dir{"shared": wide(200_000), "more": {Dirs: map[string]*merkle.Dir{"deep": deep}}}}
		root, err := d.Put(t.Context(), blobs, digest.BLAKE3)
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	m := explain.NewMaterials(explain.NewHider(nil))
	for i, root := range []digest.Digest{tree("a", wide(5)), tree("b", wide(99_900)), tree("c", wide(99_990)),
		tree("d", wide(7))} {
		var to history.Action
		if m.Add(t.Context(), &to, &action.Action{InputRoot: root}, blobs); to.Root == "" {
			t.Fatalf("%d has no root", i)
		}
	}
	trees, whole, err := m.Trees(t.Context())
	if err != nil || whole {
		t.Fatalf("%v, whole %v", err, whole)
	}
	entries, sizes := 0, map[int]int{}
	for _, f := range trees {
		entries += len(f)
		sizes[len(f)]++
	}
	if entries > 300_000 || sizes[200_000] != 1 || sizes[99_900] != 1 || sizes[99_990] != 0 || sizes[5] != 1 ||
		sizes[7] != 1 {
		t.Errorf("%d entries, in folders of %v", entries, sizes)
	}
}
