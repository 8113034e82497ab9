package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
)

func hostIn(p string) action.Input { return action.Input{Path: p, Host: &action.HostPath{Path: p}} }

// compile is a step that compiles src/main.c with the system's compiler, keyed by what the depfile says.
func compile(args string) *plan.Instance {
	n := sh("cc", "gcc -MD -MP -MF o.d -Iinclude -Iinclude/more "+args+" -c src/main.c -o out", hostIn("include"),
		hostIn("src/main.c"))
	n.Specs[0].Depfile = "o.d"
	return n
}

func cProject(w *world) {
	w.write(map[string]string{
		"src/main.c":           "#include \"a.h\"\nint main(void) { return A + B; }\n",
		"include/a.h":          "#include \"b.h\"\n#define A 1\n",
		"include/more/b.h":     "#define B 2\n",
		"include/more/other.h": "#define OTHER 3\n",
	})
}

func TestDepfile(t *testing.T) {
	w := newWorld(t)
	cProject(w)
	p := planOf([]plan.Output{output("o", "cc", "")}, compile(""))
	w.ok(p, 1)
	w.ok(p, 0)
	if _, ok := list(t, w.Out)["o.d"]; ok {
		t.Error("the depfile is among the outputs")
	}
	step := func(why string, executed int, files map[string]string) {
		t.Helper()
		w.write(files)
		r, err := w.run(p)
		if err != nil || r.Failed > 0 || r.Executed != executed {
			t.Fatalf("%s: %+v, %v; want %d executed. %+v", why, r.BuildFinished, err, executed, w.failure())
		}
	}
	step("a header that was not read", 0, map[string]string{"include/more/other.h": "#define OTHER 4\n"})
	step("a header that was read", 1, map[string]string{"include/more/b.h": "#define B 22\n"})
	step("the header as it was", 0, map[string]string{"include/more/b.h": "#define B 2\n"})
	step("a file that counts in full", 1,
		map[string]string{"src/main.c": "#include \"a.h\"\nint main(void) { return A - B; }\n"})
	step("a new header that comes first", 1, map[string]string{"include/b.h": "#define B 7\n"})
	if err := os.Remove(filepath.Join(w.Workspace, "include/b.h")); err != nil {
		t.Fatal(err)
	}
	step("the header gone again", 0, nil)
	step("a new header that nobody reads", 1, map[string]string{"include/new.h": ""})
	step("another set of headers", 1,
		map[string]string{"include/a.h": "#include \"other.h\"\n#define A OTHER\n#define B 0\n"})
	step("one that is no longer read", 0, map[string]string{"include/more/b.h": "#define B 23\n"})
	step("one that is read now", 1, map[string]string{"include/more/other.h": "#define OTHER 5\n"})
	step("the first set again", 0,
		map[string]string{"include/a.h": "#include \"b.h\"\n#define A 1\n", "include/more/b.h": "#define B 2\n",
			"include/more/other.h": "x"})
}

// The list of what was read is worth as much time as the result that nobody finds without it: a collection must not
// drop it as something that took none.
func TestDepfileKeepsItsTime(t *testing.T) {
	w := newWorld(t)
	cProject(w)
	w.ok(planOf([]plan.Output{output("o", "cc", "")}, compile("")), 1)
	took := map[bool]time.Duration{} // by whether a command ran for it
	n := 0
	err := layout.Root(w.cache).Each(t.Context(), func(it layout.Item) error {
		if it.Kind != layout.Results {
			return nil
		}
		e, err := disk.ReadResult(it.Path, it.Digest)
		if err == nil {
			took[e.Result.Worker != ""] = e.Result.Duration
			n++
		}
		return err
	})
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if len(took) != 2 || took[true] <= 0 || took[false] != took[true] {
		t.Errorf("%v", took)
	}
}

// Paths that lead through symlinks, and those with the whole exec root in front, are found.
func TestDepfilePaths(t *testing.T) {
	for name, flags := range map[string]string{
		"symlinked folder": "-Iinclude/link", "absolute": "-I$HEXMAGE_ROOT/include/more",
		"resolved": "-I$(realpath include/more)", "up and down": "-Isrc/../include/more",
	} {
		w := newWorld(t)
		w.write(map[string]string{"src/main.c": "#include \"b.h\"\n#include <stdio.h>\n", "include/more/b.h": "",
			"include/more/other.h": ""})
		if err := os.Symlink("more", filepath.Join(w.Workspace, "include", "link")); err != nil {
			t.Fatal(err)
		}
		n := sh("cc", "gcc -MD -MF o.d "+flags+" -c src/main.c -o out", hostIn("include"), hostIn("src"))
		n.Specs[0].Depfile = "o.d"
		p := planOf(nil, n)
		w.ok(p, 1)
		w.write(map[string]string{"include/more/other.h": "x"})
		w.ok(p, 0)
		w.write(map[string]string{"include/more/b.h": "/* read */"})
		if r, err := w.run(p); err != nil || r.Executed != 1 {
			t.Errorf("%s: a header that was read changed: %+v, %v", name, r.BuildFinished, err)
		}
	}
}

// A depfile that a step cannot be remembered by is the step's failure, every time.
func TestDepfileMistakes(t *testing.T) {
	w := newWorld(t)
	cProject(w)
	outside := filepath.Join(w.Workspace, "outside.h")
	w.write(map[string]string{"outside.h": ""})
	for script, want := range map[string][]string{
		"touch out":                   {"read the depfile o.d", "did not write the depfile", "-MD -MF o.d"},
		"touch out; mkdir o.d":        {"did not write the depfile"},
		"touch out; echo hello > o.d": {"line 1: missing colon in the rule"},
		"touch out; echo out: include/a.h gen/x.h > o.d": {"the command read gen/x.h, which is not an input",
			`inputs = ["gen/x.h"]`},
		"touch out; echo out: " + outside +
			" > o.d": {"the command read " + outside, `inputs = ["outside.h"]`},
		"touch out; echo out: ../../../../../../../nowhere/x.h > o.d":   nil,
		"touch out; echo out: out o.d $TMPDIR/x.h /usr/include/x.h>o.d": nil,
		"touch out; echo out: include > o.d":                            nil,
	} {
		n := sh("cc", script, hostIn("include"))
		n.Specs[0].Depfile = "o.d"
		for i := range 3 {
			if i == 2 { // also if the action never counts as cached
				w.Force, n.Specs[0].NoCache = func(string) bool { return true }, true
			}
			r, err := w.run(planOf(nil, n))
			f := w.failure()
			if err != nil || (r.Failed == 0) != (want == nil) || f.InfrastructureError {
				t.Fatalf("%s: %+v, %v, %+v", script, r.BuildFinished, err, f)
			}
			for _, part := range want {
				if !strings.Contains(f.Summary+"\n"+strings.Join(f.Hints, "\n"), part) {
					t.Errorf("%s: %q, hints %q; want %q", script, f.Summary, f.Hints, part)
				}
			}
		}
		w.Force = nil
	}
	// A whole folder was read: every file of it counts.
	n := sh("cc", "touch out; echo out: include > o.d", hostIn("include"))
	n.Specs[0].Depfile = "o.d"
	w.ok(planOf(nil, n), 0)
	w.write(map[string]string{"include/more/other.h": "new"})
	w.ok(planOf(nil, n), 1)
}

// What is remembered about reading is only a hint: without it, or with a wrong one, the action runs again.
func TestDepfileDamage(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"flipped": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"empty":   func([]byte) []byte { return nil },
	} {
		w := newWorld(t)
		cProject(w)
		p := planOf(nil, compile(""))
		w.ok(p, 1)
		damaged := 0
		err := filepath.WalkDir(filepath.Join(w.cache, "blake3", "cas"),
			func(at string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(at)
				if err != nil || !strings.Contains(string(b), "include/more/b.h") ||
					strings.Contains(string(b), "out:") {
					return err
				}
				damaged++
				st, err := os.Stat(at)
				if err != nil {
					return err
				}
				if err := os.Chmod(at, 0o644); err != nil {
					return err
				}
				if err := os.WriteFile(at, damage(b), 0o644); err != nil {
					return err
				}
				return os.Chtimes(at, time.Time{}, st.ModTime())
			})
		if err != nil || damaged != 1 {
			t.Fatalf("%s: damaged %d blobs, %v", name, damaged, err)
		}
		w.ok(p, 1)
		w.ok(p, 0)
	}
}

// A folder that another step makes counts by what was read of it, too; one that must count in full does.
func TestDepfileOfOutputs(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{"v": "1"})
	gen := shTree("gen", "mkdir out; cp v out/unread.h; echo > out/read.h", hostIn("v"))
	in := action.Input{Path: "gen", Artifact: out("gen")}
	use := func(in action.Input) *plan.Plan {
		n := sh("cc", "cat gen/read.h > out; echo out: gen/read.h > o.d", in)
		n.Specs[0].Depfile = "o.d"
		return planOf(nil, gen, n)
	}
	w.ok(use(in), 2)
	w.write(map[string]string{"v": "2"})
	w.ok(use(in), 1)
	in.Whole = true
	w.ok(use(in), 1)
	w.write(map[string]string{"v": "3"})
	w.ok(use(in), 2)
}

// The whole workspace may be an input beside a file and a folder that other steps make.
func TestDepfileOfWorkspace(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{"v": "1", "src/read.h": "1", "src/unread.h": "1"})
	header := sh("header", "cp v out", hostIn("v"))
	folder := shTree("folder", "mkdir out; cp v out/made.h; echo > out/unread.h", hostIn("v"))
	n := sh("cc", "cat src/read.h gen.h made/made.h > out; echo out: src/read.h gen.h made/made.h > o.d", hostIn("."),
		action.Input{Path: "gen.h", Artifact: out("header")}, action.Input{Path: "made", Artifact: out("folder")})
	n.Specs[0].Depfile = "o.d"
	p := planOf(nil, header, folder, n)
	w.ok(p, 3)
	w.write(map[string]string{"src/unread.h": "2"})
	w.ok(p, 0)
	w.write(map[string]string{"src/read.h": "2"})
	w.ok(p, 1)
	w.write(map[string]string{"v": "2"})
	w.ok(p, 3)
}
