package state_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/state"
)

// request is a workspace with a file of every sort that a state file notes, and the state file of a run in it.
func request(t *testing.T) (dir string, f *state.File, m state.Machine) {
	t.Helper()
	dir = t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"p.hcl", "src/a.c", "src/b.c", "out/lib.so", "out/tree/x"} {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(name), 0o644),
			os.Chtimes(p, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	later := time.Now().Add(time.Hour) // so that nothing is racy
	see := func(name string) state.Seen {
		stamps, err := stat.Lstats(dir, []string{name}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return state.See(name, stamps[0], later)
	}
	f = &state.File{
		Planning: state.Planning{
			Workspace: dir, Program: "p", CPULevel: "v3", Variables: map[string]string{"SDK": "1"},
			Reads: []state.Seen{see("p.hcl"), see("absent.hcl")},
			Globs: []state.Glob{{Dir: "src", Patterns: []string{"*.c"}, Found: []string{"src/a.c", "src/b.c"},
				Dirs: []state.Seen{see("src")}}},
		},
		Boot:   atomicfile.Boot(),
		Inputs: []state.Seen{see("src/a.c"), see("bin/cc")},
		Checks: []event.CheckFinished{{Check: "c", Result: event.CheckPassed}},
		Build:  event.BuildStarted{Pipeline: "p", Actions: 3},
	}
	for _, name := range []string{"lib.so", "tree"} {
		at := filepath.Join(dir, "out", name)
		seen, err := state.SeeTree(at)
		if err != nil {
			t.Fatal(err)
		}
		f.Outputs = append(f.Outputs,
			state.Output{OutputReady: event.OutputReady{Name: name, Path: at}, ID: name, Files: seen})
	}
	glob := func(string, []string) (found, dirs []string, err error) {
		found, err = filepath.Glob(filepath.Join(dir, "src", "*.c"))
		for i := range found {
			found[i] = "src/" + filepath.Base(found[i])
		}
		return found, []string{"src"}, err
	}
	return dir, f, state.Machine{Program: "p", CPULevel: "v3", Variable: func(string) string { return "1" }, Glob: glob}
}

func TestHolds(t *testing.T) {
	write := func(name string) func(string) error {
		return func(dir string) error {
			p := filepath.Join(dir, name)
			return errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte("new"), 0o644))
		}
	}
	for name, change := range map[string]func(dir string) error{
		"a pipeline file":        write("p.hcl"),
		"a file that was absent": write("absent.hcl"),
		"a file for a glob":      write("src/c.c"),
		"an input":               write("src/a.c"),
		"a program before it":    write("bin/cc"),
		"an output":              write("out/lib.so"),
		"a file of a tree":       write("out/tree/x"),
		"a new file in a tree":   write("out/tree/y"),
		"an output's mode":       func(dir string) error { return os.Chmod(filepath.Join(dir, "out/lib.so"), 0o755) },
		"no output":              func(dir string) error { return os.Remove(filepath.Join(dir, "out/lib.so")) },
		"an input's times": func(dir string) error {
			return os.Chtimes(filepath.Join(dir, "src/a.c"),
				time.Now(), time.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, f, m := request(t)
			if err := f.Holds(m); err != nil {
				t.Fatalf("nothing changed: %v", err)
			}
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			if err := f.Holds(m); !errors.Is(err, state.ErrChanged) {
				t.Errorf("it holds: %v", err)
			}
		})
	}
	dir, f, m := request(t)
	if err := write("src/README")(dir); err != nil { // no pattern matches it
		t.Fatal(err)
	}
	if err := f.Holds(m); err != nil {
		t.Errorf("a file that no pattern matches: %v", err)
	}
	m.Variable = func(string) string { return "2" }
	if err := f.Holds(m); !errors.Is(err, state.ErrChanged) {
		t.Errorf("a variable changed: %v", err)
	}
	_, f, m = request(t)
	f.Boot = "another"
	if err := f.Holds(m); !errors.Is(err, state.ErrChanged) {
		t.Errorf("the machine was started anew: %v", err)
	}
	_, f, m = request(t)
	f.Inputs[0].Racy = true
	if err := f.Holds(m); !errors.Is(err, state.ErrChanged) {
		t.Errorf("an input was saved just before it was read: %v", err)
	}
}

func TestReadWrite(t *testing.T) {
	_, f, m := request(t)
	path := filepath.Join(t.TempDir(), "requests", "x")
	if _, err := state.Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := state.Read(path)
	if err != nil || !cmp.Equal(got, f) || got.Holds(m) != nil {
		t.Errorf("%v: %s", err, cmp.Diff(f, got))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, corrupt := range [][]byte{b[:len(b)/2], append(b[:len(b)-1:len(b)-1], b[len(b)-1]^1), nil} {
		if err := os.WriteFile(path, corrupt, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := state.Read(path); err == nil {
			t.Error("a corrupt file was read")
		}
	}
}

// A file that was saved less than two seconds before it was read has a Stamp that may not show the next change.
func TestSee(t *testing.T) {
	now := time.Now()
	for ago, racy := range map[time.Duration]bool{time.Second: true, 3 * time.Second: false} {
		s := stat.Stamp{Mode: 0o100644, MTime: now.Add(-ago).UnixNano()}
		if got := state.See("x", s, now).Racy; got != racy {
			t.Errorf("saved %v before: racy %v", ago, got)
		}
	}
	if state.See("x", stat.Stamp{}, now).Racy {
		t.Error("an absent file is racy")
	}
}
