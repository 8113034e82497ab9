package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/state"
)

func outputTree(name, from string) plan.Output {
	e := output(name, from, "")
	e.Class = action.Tree
	return e
}

// An output takes whatever form it has now, whatever stood there before.
func TestOutputsReplaceWhatIsThere(t *testing.T) {
	w := newWorld(t)
	file := planOf([]plan.Output{output("o", "f", "")}, sh("f", "echo file > out; chmod +x out"))
	folder := planOf([]plan.Output{outputTree("o", "d")},
		shTree("d", "mkdir -p out/sub/empty; echo x > out/sub/x; ln -s sub/x out/link"))
	literal := planOf([]plan.Output{{Name: "o", Literal: "text"}})
	wantFolder := map[string]string{"o/": "", "o/sub/": "", "o/sub/empty/": "", "o/sub/x": "x\n", "o/link": "x\n"}
	steps := []struct {
		p    *plan.Plan
		want map[string]string
	}{
		{file, map[string]string{"o": "file\n"}},
		{folder, wantFolder},
		{literal, map[string]string{"o": "text\n"}},
		{folder, wantFolder},
		{file, map[string]string{"o": "file\n"}},
	}
	for i, s := range steps {
		if r, err := w.run(s.p); err != nil || r.Failed > 0 {
			t.Fatalf("%d: %+v, %v", i, r, err)
		}
		if d := cmp.Diff(s.want, list(t, w.Out)); d != "" {
			t.Errorf("%d: %s", i, d)
		}
	}
	if st, err := os.Stat(filepath.Join(w.Out, "o")); err != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}

func TestOutputsMendWhatWasChanged(t *testing.T) {
	p := planOf([]plan.Output{output("f", "f", ""), outputTree("d", "d"), outputTree("none", "none")},
		sh("f", "echo file > out"), shTree("d", "mkdir -p out/sub; echo x > out/sub/x"), shTree("none", "mkdir out"))
	w := newWorld(t)
	w.ok(p, 3)
	want := list(t, w.Out)
	for name, harm := range map[string]func(dir string) error{
		"file changed": func(d string) error {
			return os.WriteFile(filepath.Join(d, "f"), []byte("FILE\n"),
				0o644)
		},
		"mode changed": func(d string) error { return os.Chmod(filepath.Join(d, "f"), 0o600) },
		"file deep changed": func(d string) error {
			return os.WriteFile(filepath.Join(d, "d/sub/x"), []byte("y\n"),
				0o644)
		},
		"file removed": func(d string) error { return os.Remove(filepath.Join(d, "d/sub/x")) },
		"all removed":  os.RemoveAll,
		"a folder for a file": func(
			d string) error {
			os.Remove(filepath.Join(d, "f"))
			return os.Mkdir(filepath.Join(d, "f"), 0o755)
		},
		"a file for a folder": func(d string) error {
			os.Remove(filepath.Join(d, "none"))
			return os.WriteFile(filepath.Join(d, "none"), nil, 0o644)
		},
		"a symlink for a file": func(d string) error {
			os.Remove(filepath.Join(d, "f"))
			return os.Symlink("/etc/hostname", filepath.Join(d, "f"))
		},
		"state lost":         func(string) error { return os.RemoveAll(w.State) },
		"state file corrupt": func(string) error { return os.WriteFile(w.StateFile, []byte(`{"f": 1`), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := harm(w.Out); err != nil {
				t.Fatal(err)
			}
			w.ok(p, 0)
			if d := cmp.Diff(want, list(t, w.Out)); d != "" {
				t.Error(d)
			}
			if st, err := os.Stat(filepath.Join(w.Out, "f")); err != nil || st.Mode().Perm() != 0o644 {
				t.Errorf("mode %v, %v", st, err)
			}
		})
	}
}

// No symlink is followed on the way to the outputs' places, and one in an output's place is replaced, not written
// through. The folder that the user named may be one.
func TestOutputsAndSymlinks(t *testing.T) {
	p := planOf([]plan.Output{output("f", "f", ""), output("x", "d", "lib/x"), outputTree("t", "t")},
		sh("f", "echo file > out"),
		shTree("d", "mkdir -p out/lib64; echo x > out/lib64/x; ln -s lib64 out/lib"),
		shTree("t", "mkdir out; echo y > out/y"))
	for _, c := range []struct {
		name       string
		link       string // to a folder outside
		named, out string // the folder that the user named, and that for outputs
		refused    bool
	}{
		{"the place of a file", "out/p/f", "", "out/p", false},
		{"the place of a folder", "out/p/t", "", "out/p", false},
		{"the folder", "out/p", "", "out/p", true},
		{"a folder above", "out", "", "out/p", true},
		{"the named folder", "out", "out", "out/p", false},
		{"above the named folder", "out", "out/sub", "out/sub/p", false},
		{"below the named folder", "out/p", "out", "out/p", true},
	} {
		for _, to := range []string{"outside", "none"} {
			t.Run(c.name+" "+to, func(t *testing.T) {
				w := newWorld(t)
				base := t.TempDir()
				outside := filepath.Join(base, "outside")
				w.OutIn, w.Out = filepath.Join(base, c.named), filepath.Join(base, c.out)
				link, to := filepath.Join(base, c.link), filepath.Join(base, to)
				if err := errors.Join(os.Mkdir(outside, 0o755),
					os.WriteFile(filepath.Join(outside, "victim"), []byte("mine"), 0o644),
					os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(to, link)); err != nil {
					t.Fatal(err)
				}
				_, err := w.run(p)
				switch {
				case c.refused:
					if err == nil || !strings.Contains(err.Error(), link+" is a link to "+to) ||
						!strings.Contains(err.Error(), "--out") {
						t.Error(err)
					}
				case c.named != "" && filepath.Base(to) == "none":
					if err == nil {
						t.Error("outputs went to a folder that is not there")
					}
				case err != nil:
					t.Error(err)
				default:
					real, err := filepath.EvalSymlinks(w.Out)
					if d := cmp.Diff(map[string]string{"f": "file\n", "x": "x\n", "t/": "", "t/y": "y\n"},
						list(t, real)); d != "" || err != nil {
						t.Error(d, err)
					}
				}
				if _, err := os.Lstat(filepath.Join(base, "none")); err == nil {
					t.Error("a folder outside was made")
				}
				if d := cmp.Diff(map[string]string{"victim": "mine"}, list(t, outside)); d != "" && c.named == "" {
					t.Error("outside: " + d)
				}
			})
		}
	}
}

func TestPrune(t *testing.T) {
	w := newWorld(t)
	nodes := []*plan.Instance{sh("a", "echo a > out"), sh("b", "echo b > out"),
		shTree("d", "mkdir out; echo d > out/d")}
	all := []plan.Output{output("a", "a", ""), output("b", "b", ""), outputTree("d", "d")}
	w.ok(planOf(all, nodes...), 3)
	own := func(name, text string) {
		if err := os.WriteFile(filepath.Join(w.Out, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	own("mine", "mine")
	own("b", "changed by hand")
	file := w.StateFile
	w.Prune, w.StateFile = false, file+"-steps" // as with steps that were chosen, which is another request
	w.ok(planOf(all[:1], nodes...), 0)
	if got := list(t, w.Out); len(got) != 5 {
		t.Errorf("not to be pruned: %v", got)
	}
	w.StateFile = file
	w.Prune = true
	w.ok(planOf(all[:1], nodes...), 0)
	want := map[string]string{"a": "a\n", "b": "changed by hand", "mine": "mine"}
	if d := cmp.Diff(want, list(t, w.Out)); d != "" {
		t.Error(d)
	}
	// A state file is not trusted with anything outside of the folder.
	f, err := state.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(outside, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{outside, filepath.Dir(w.Out), w.Out} {
		seen, err := state.SeeTree(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Outputs = append(f.Outputs, state.Output{OutputReady: event.OutputReady{Name: "x", Path: path}, Files: seen})
	}
	if err := f.Write(file); err != nil {
		t.Fatal(err)
	}
	w.ok(planOf(all[:1], nodes...), 0)
	if d := cmp.Diff(want, list(t, w.Out)); d != "" {
		t.Error(d)
	}
	if _, err := os.Lstat(outside); err != nil {
		t.Error(err)
	}
}

// An output that stands as it is to be is not touched, whatever is known of the last run.
func TestOutputsStayUntouched(t *testing.T) {
	w := newWorld(t)
	p := planOf([]plan.Output{output("f", "f", ""), outputTree("d", "d")}, sh("f", "echo file > out"),
		shTree("d", "mkdir -p out/sub; echo x > out/sub/x"))
	w.ok(p, 2)
	stamps := func() []state.Seen {
		t.Helper()
		seen, err := state.SeeTree(w.Out)
		if err != nil {
			t.Fatal(err)
		}
		return seen[1:] // of the folder itself, in which a temporary name may have been
	}
	before := stamps()
	for name, change := range map[string]func() error{
		"nothing":         func() error { return nil },
		"no state file":   func() error { return os.Remove(w.StateFile) },
		"another request": func() error { w.StateFile += "-other"; return nil },
		"a reboot": func() error {
			f, err := state.Read(w.StateFile)
			if err != nil {
				return err
			}
			f.Boot = "another"
			return f.Write(w.StateFile)
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		w.ok(p, 0)
		if d := cmp.Diff(before, stamps()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestStateFileBeforeOutputs: after a run that fails while it puts outputs in place, the next run is not a no-op. It
// removes an output that the pipeline no longer has.
func TestStateFileBeforeOutputs(t *testing.T) {
	w := newWorld(t)
	w.ok(planOf([]plan.Output{output("f", "f", ""), output("old", "f", "")}, sh("f", "echo one > out")), 1)
	two := sh("f", "echo two > out")
	if _, err := w.run(planOf([]plan.Output{output("f", "f", ""), output("g", "f", "none")}, two)); err == nil {
		t.Fatal("an output that is not there was found")
	}
	if got := list(t, w.Out); got["f"] != "two\n" {
		t.Errorf("outputs %v", got)
	}
	if f, err := state.Read(w.StateFile); err != nil || !f.Always {
		t.Errorf("the state file: %+v, %v", f, err)
	}
	w.ok(planOf([]plan.Output{output("f", "f", "")}, two), 0)
	if got := list(t, w.Out); len(got) != 1 {
		t.Errorf("outputs %v", got)
	}
	if f, err := state.Read(w.StateFile); err != nil || f.Always {
		t.Errorf("the last state file: %+v, %v", f, err)
	}
}

func TestOutputNames(t *testing.T) {
	node := sh("a", "touch out")
	for _, c := range []struct {
		names []string
		want  string // in the error
	}{
		{[]string{"lib.so", "libs.a/b"}, ""},
		{[]string{".."}, "is not a valid file name"},
		{[]string{"."}, "is not a valid file name"},
		{[]string{""}, "is not a valid file name"},
		{[]string{".hexmage-x"}, "is not a valid file name"},
		{[]string{"a\x00b"}, "is not a valid file name"},
		{[]string{`a\b`}, "is not a valid file name"},
		{[]string{"a/b", "a-b"}, `output "a/b" has the same path`},
		{[]string{strings.Repeat("x", 300)}, "too long"},
	} {
		w := newWorld(t)
		var outs []plan.Output
		for _, n := range c.names {
			outs = append(outs, output(n, "a", ""))
		}
		_, err := w.run(planOf(outs, node))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.names, err, c.want)
		}
	}
}

// What a killed run left goes away, and what only looks like it stays.
func TestOutputsSweep(t *testing.T) {
	w := newWorld(t)
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	pid := dead.Process.Pid
	for _, name := range []string{fmt.Sprintf(".hexmage-%d-1/new", pid), fmt.Sprintf(".hexmage-%d-1", os.Getpid()),
		fmt.Sprintf("model-%d-b", pid)} {
		if err := os.MkdirAll(filepath.Join(w.Out, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := planOf([]plan.Output{output("a", "a", "")}, sh("a", "touch out"))
	for _, executed := range []int{1, 0} {
		if err := os.MkdirAll(filepath.Join(w.Out, fmt.Sprintf(".hexmage-%d-1/new", pid)), 0o755); err != nil {
			t.Fatal(err)
		}
		w.ok(p, executed)
		want := map[string]string{"a": "", fmt.Sprintf(".hexmage-%d-1/", os.Getpid()): "",
			fmt.Sprintf("model-%d-b/", pid): ""}
		if d := cmp.Diff(want, list(t, w.Out)); d != "" {
			t.Error(d)
		}
	}
}

// Builds that put different things in the same places at once, with one store and with one each: in the end one of
// them has won, in each place as a whole.
func TestOutputsAtOnce(t *testing.T) {
	workspace, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	shared := filepath.Join(t.TempDir(), "cache")
	caches := []string{shared, shared, filepath.Join(t.TempDir(), "cache")}
	var wg sync.WaitGroup
	for i, cache := range caches {
		letter := string(rune('a' + i))
		w := openWorld(t, cache, workspace, out)
		w.State = filepath.Join(cache, "state")
		p := planOf([]plan.Output{output("f", "f", ""), outputTree("d", "d")}, sh("f", "echo "+letter+" > out"),
			shTree("d", "mkdir out; for i in 1 2 3 4 5; do echo "+letter+" > out/$i; done"))
		wg.Go(func() {
			for range 20 {
				if r, err := engine.Run(context.Background(), p, w.Options); err != nil || r.Failed > 0 {
					t.Errorf("%s: %+v, %v", letter, r, err)
				}
			}
		})
	}
	wg.Wait()
	got := list(t, out)
	if len(got) != 7 {
		t.Errorf("left behind: %v", got)
	}
	for i := range 5 {
		if name := "d/" + string(rune('1'+i)); got[name] == "" || got[name] != got["d/1"] {
			t.Errorf("%s is %q, d/1 %q", name, got[name], got["d/1"])
		}
	}
}

// Two builds that share a store at the same time run no action twice.
func TestBuildsAtOnceRunNothingTwice(t *testing.T) {
	cache, workspace := filepath.Join(t.TempDir(), "cache"), t.TempDir()
	count := filepath.Join(t.TempDir(), "count")
	var nodes []*plan.Instance
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		nodes = append(nodes, sh(name, "echo "+name+" >> "+count+"; echo "+name+" > out"))
	}
	executed := make(chan int, 4)
	for range 4 {
		w := openWorld(t, cache, workspace, filepath.Join(t.TempDir(), "out"))
		go func() {
			r, err := engine.Run(context.Background(), planOf(nil, nodes...), w.Options)
			if err != nil || r.Failed > 0 {
				t.Errorf("%+v, %v", r, err)
			}
			executed <- r.Executed
		}()
	}
	all := 0
	for range 4 {
		all += <-executed
	}
	if all != len(nodes) {
		t.Errorf("%d are said to be executed, of %d", all, len(nodes))
	}
	if b, err := os.ReadFile(count); err != nil || len(b) != 2*len(nodes) {
		t.Errorf("%d runs of %d actions: %q, %v", len(b)/2, len(nodes), b, err)
	}
}
