package build_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/store"
)

// madeEarly returns how many files without a name this process has open in the folder, and how many of them are whole.
func madeEarly(t *testing.T, dir string, size int64) (all, whole int) {
	t.Helper()
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && filepath.Dir(to) == dir && strings.HasSuffix(to, " (deleted)") {
			all++
			if st, err := os.Stat(fd); err == nil && st.Size() == size && st.Mode().Perm() == 0o644 {
				whole++
			}
		}
	}
	return all, whole
}

// A large output is copied beside the actions that still run, where nobody sees it, and only stands in its place when all of them ended well.
func TestLargeOutputsAreCopiedEarly(t *testing.T) {
	const size = store.MinRef + 3
	big := func(letter, then string) string {
		return fmt.Sprintf("head -c %d /dev/zero | tr '\\0' %s > out%s", size, letter, then)
	}
	want := func(letter string) string { return strings.Repeat(letter, size) }
	for _, c := range []struct {
		name    string
		before  string             // what stands there from an earlier build: a, or nothing
		letter  string             // what is made now
		end     string             // of the action that still runs
		meddle  func(string) error // with the folder, before the end
		copies  int                // of each output that are made early
		left    map[string]string  // what is there in the end
		program bool               // the action makes an executable
	}{
		{"cold", "", "b", "echo done > out", nil, 1, map[string]string{"big": want("b"), "again": want("b"), "last": "done\n"}, false},
		{"changed", "a", "b", "echo done > out", nil, 1, map[string]string{"big": want("b"), "again": want("b"), "last": "done\n"}, false},
		{"the same", "a", "a", "echo done > out", nil, 0, map[string]string{"big": want("a"), "again": want("a"), "last": "done\n"}, false},
		{"an executable", "", "b", "echo done > out", nil, 0, map[string]string{"big": want("b"), "again": want("b"), "last": "done\n"}, true},
		{"cold, fails", "", "b", "exit 1", nil, 1, nil, false},
		{"changed, fails", "a", "b", "exit 1", nil, 1, map[string]string{"big": want("a"), "again": want("a"), "last": "done\n"}, false},
		{"the folder goes", "a", "b", "echo done > out", os.RemoveAll, 1, map[string]string{"big": want("b"), "again": want("b"), "last": "done\n"}, false},
		{"the folder comes", "", "b", "echo done > out", func(dir string) error { return os.MkdirAll(filepath.Join(dir, "big", "sub"), 0o755) },
			1, map[string]string{"big": want("b"), "again": want("b"), "last": "done\n"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if f, err := atomicfile.Unnamed(w.cache); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("no files without names here")
			} else if err != nil {
				t.Fatal(err)
			} else {
				f.Close()
			}
			outs := []plan.Output{output("big", "big", ""), output("again", "again", ""), output("last", "last", "")}
			of := func(letter, then, last string) *plan.Plan {
				return planOf(outs, sh("big", big(letter, then)), sh("again", "cp in out", action.Input{Path: "in", Artifact: out("big")}), sh("last", last, action.Input{Path: "in", Artifact: out("again")}))
			}
			if c.before != "" {
				if r, err := w.run(of(c.before, "", "echo done > out")); err != nil || r.Failed > 0 {
					t.Fatal(r, err)
				}
			}
			there := filepath.Dir(w.Out)
			if c.before != "" {
				there = w.Out
			}
			before := map[string]string{}
			if c.before != "" {
				before = list(t, w.Out)
			}
			goOn, then := filepath.Join(t.TempDir(), "go on"), "; true" // it runs, even if it makes what it made before
			if c.program {
				then = "; chmod +x out"
			}
			type ended struct {
				r   build.Result
				err error
			}
			end := make(chan ended, 1)
			go func() {
				r, err := build.Run(context.Background(), of(c.letter, then, fmt.Sprintf("cat in > /dev/null; while ! test -e %q; do sleep 0.01; done; %s", goOn, c.end)), w.Options)
				end <- ended{r, err}
			}()
			all, whole := 0, 0
			// While one is written it may be open twice.
			for begin := time.Now(); time.Since(begin) < 20*time.Second && (all != 2*c.copies || whole != all); time.Sleep(5 * time.Millisecond) {
				all, whole = madeEarly(t, there, size)
			}
			if c.copies == 0 {
				time.Sleep(300 * time.Millisecond)
				all, whole = madeEarly(t, there, size)
			}
			if whole != 2*c.copies || all != whole {
				t.Errorf("%d copies, %d of them whole; want %d", all, whole, 2*c.copies)
			}
			if got, err := os.ReadDir(filepath.Dir(w.Out)); err != nil || len(got) != min(1, len(before)) {
				t.Errorf("beside the folder: %v, %v", got, err)
			}
			if c.before != "" {
				if d := cmp.Diff(before, list(t, w.Out)); d != "" {
					t.Errorf("before all has ended well: %.300s", d)
				}
			}
			if c.meddle != nil {
				if err := c.meddle(w.Out); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(goOn, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			e := <-end
			if e.err != nil || (e.r.Failed > 0) != (c.end == "exit 1") {
				t.Fatalf("%+v, %v", e.r, e.err)
			}
			if c.left == nil {
				if _, err := os.Lstat(w.Out); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a build that failed left outputs: %v", err)
				}
			} else if d := cmp.Diff(c.left, list(t, w.Out)); d != "" {
				t.Errorf("%.300s", d)
			}
			if got, err := os.ReadDir(filepath.Dir(w.Out)); err != nil || len(got) > 1 {
				t.Errorf("left beside the folder: %v, %v", got, err)
			}
			if all, _ := madeEarly(t, there, size); all > 0 {
				t.Errorf("%d copies are still open", all)
			}
			if st, err := os.Stat(filepath.Join(w.Out, "again")); c.left != nil && (err != nil || st.Mode().Perm() != 0o644 && !c.program) {
				t.Errorf("mode %v, %v", st.Mode(), err)
			}
		})
	}
}
