package watch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/watch"
)

// soon is how long a change may take to be noticed, on a machine that does something else, too.
const soon = 5 * time.Second

// still is how long nothing has to come for a test to believe that nothing does.
const still = 150 * time.Millisecond

type fixture struct {
	t    *testing.T
	root string
	w    *watch.Watcher
}

func (f *fixture) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

func (f *fixture) paths(names ...string) []string {
	var all []string
	for _, n := range names {
		all = append(all, f.path(n))
	}
	return all
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	p := f.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) do(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// changed waits for a change and returns what settled, relative to the root.
func (f *fixture) changed() []string {
	f.t.Helper()
	select {
	case <-f.w.Changed():
	case <-time.After(soon):
		f.t.Fatal("the change was not noticed")
	}
	all, err := f.w.Settle(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for i, p := range all {
		if rel, err := filepath.Rel(f.root, p); err == nil {
			all[i] = filepath.ToSlash(rel)
		}
	}
	slices.Sort(all)
	return all
}

// quiet fails if something is told of.
func (f *fixture) quiet(after string) {
	f.t.Helper()
	select {
	case <-f.w.Changed():
		all, _ := f.w.Settle(f.t.Context())
		f.t.Errorf("after %s: told of %q", after, all)
	case <-time.After(still):
	}
}

// set watches, until nothing new is watched.
func (f *fixture) set(files, dirs []string) {
	for f.w.Set(watch.Set{Root: f.root, Files: f.paths(files...), Dirs: f.paths(dirs...)}) {
	}
}

func start(t *testing.T, o watch.Options) *fixture {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, root: root, w: watch.New(o)}
	t.Cleanup(f.w.Close)
	f.write("src/a.c", "a")
	f.write("src/b.c", "b")
	f.write("src/deep/er/c.c", "c")
	f.write("other/x", "x")
	f.set([]string{"src/a.c", "src/b.c", "src/deep/er/c.c"}, []string{"src"})
	return f
}

// both runs a test with events and without.
func both(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Run("events", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("not run: the events of this system are another's to test")
		}
		t.Parallel()
		f := start(t, watch.Options{Note: func(text string) { t.Errorf("note: %s", text) }})
		if f.w.Polling() {
			t.Fatal("it polls")
		}
		test(t, f)
	})
	t.Run("polling", func(t *testing.T) {
		t.Parallel()
		f := start(t, watch.Options{Poll: true, Every: 20 * time.Millisecond})
		if !f.w.Polling() {
			t.Fatal("it does not poll")
		}
		test(t, f)
	})
}

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(f *fixture) error
		want string
	}{
		{"saved", func(f *fixture) error { return os.WriteFile(f.path("src/a.c"), []byte("A!"), 0o644) }, "src/a.c"},
		{"another put in its place", func(f *fixture) error {
			f.write("other/new", "new")
			return os.Rename(f.path("other/new"), f.path("src/a.c"))
		}, "src/a.c"},
		{"removed", func(f *fixture) error { return os.Remove(f.path("src/b.c")) }, "src/b.c"},
		{"made executable", func(f *fixture) error { return os.Chmod(f.path("src/a.c"), 0o755) }, "src/a.c"},
		{"a new file in a folder that was listed", func(f *fixture) error { f.write("src/new.c", "new"); return nil },
			"src"},
		{"deep below", func(f *fixture) error { return os.WriteFile(f.path("src/deep/er/c.c"), []byte("C!"), 0o644) },
			"src/deep/er/c.c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, f *fixture) {
				f.do(c.do(f))
				if got := f.changed(); !slices.ContainsFunc(got,
					func(p string) bool { return strings.HasPrefix(p, c.want) }) {
					t.Errorf("told of %q", got)
				}
			})
		})
	}
}

// What is not in the set is not told of, nor what changes no content: a link to a file, a look into it.
func TestOthers(t *testing.T) {
	f := start(t, watch.Options{})
	f.write("other/x", "X")
	f.write("other/y", "y")
	f.quiet("writing elsewhere")
	f.write("src/deep/er/c.c~", "backup")
	f.quiet("writing beside a file in a folder that was not listed")
	f.do(os.Link(f.path("src/a.c"), f.path("other/link")))
	f.quiet("making a link to it")
	if _, err := os.ReadFile(f.path("src/a.c")); err != nil {
		t.Fatal(err)
	}
	f.quiet("reading it")
}

// A folder that is removed and made again, moved away and back, or replaced by another, is watched as it stands.
func TestFolders(t *testing.T) {
	for name, do := range map[string]func(f *fixture) error{
		"removed and made again": func(f *fixture) error {
			err := os.RemoveAll(f.path("src"))
			time.Sleep(30 * time.Millisecond)
			f.write("src/a.c", "again")
			return err
		},
		"moved away and back": func(f *fixture) error {
			err := os.Rename(f.path("src"), f.path("away"))
			time.Sleep(30 * time.Millisecond)
			return errors.Join(err, os.Rename(f.path("away"), f.path("src")))
		},
		"another in its place": func(f *fixture) error {
			f.write("next/a.c", "next")
			return errors.Join(os.Rename(f.path("src"), f.path("old")), os.Rename(f.path("next"), f.path("src")))
		},
		"removed for long": func(f *fixture) error {
			err := os.RemoveAll(f.path("src"))
			f.changed()
			f.set([]string{"src/a.c"}, []string{"src"})
			f.write("src/a.c", "later")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, f *fixture) {
				f.do(do(f))
				f.changed()
				f.set([]string{"src/a.c"}, []string{"src"})
				time.Sleep(50 * time.Millisecond) // what came of the first change
				select {
				case <-f.w.Changed():
					_, _ = f.w.Settle(t.Context())
				default:
				}
				f.write("src/a.c", "and once more")
				if got := f.changed(); !slices.Contains(got, "src/a.c") {
					t.Errorf("told of %q", got)
				}
			})
		})
	}
}

// What changes while it is not known yet what to watch is not lost: Set says that it has to be looked at.
func TestSetSaysWhatIsNew(t *testing.T) {
	both(t, func(t *testing.T, f *fixture) {
		set := watch.Set{Root: f.root, Files: f.paths("src/a.c", "other/x")}
		if !f.w.Set(set) {
			t.Error("other/x is new, and nobody is told")
		}
		if f.w.Set(set) {
			t.Error("nothing is new")
		}
		f.write("other/x", "changed")
		if got := f.changed(); !slices.Equal(got, []string{"other/x"}) {
			t.Errorf("told of %q", got)
		}
	})
}

// Where the system says when things changed, what was not watched until now counts only if it changed since it was
// looked at.
func TestSetSince(t *testing.T) {
	f := start(t, watch.Options{})
	time.Sleep(100 * time.Millisecond)
	since := time.Now()
	if f.w.Set(watch.Set{Root: f.root, Files: f.paths("other/x", "other/gone"), Since: since}) {
		t.Error("other/x is as it was, and is to be looked at again")
	}
	f.write("third/y", "it came")
	if !f.w.Set(watch.Set{Root: f.root, Files: f.paths("third/y"), Since: since}) {
		t.Error("third/y came while nobody watched, and nobody is told")
	}
	if err := os.Rename(f.paths("third/y")[0], f.paths("third/z")[0]); err != nil {
		t.Fatal(err)
	}
	f.w.Set(watch.Set{Root: f.root})
	if !f.w.Set(watch.Set{Root: f.root, Files: f.paths("third/y"), Since: since}) {
		t.Error("third/y went while nobody watched, and nobody is told")
	}
	f.w.Set(watch.Set{Root: f.root, Files: f.paths("third/z")})
	since = time.Now()
	f.write("third/new", "its events did not count, although its folder has some")
	if !f.w.Set(watch.Set{Root: f.root, Files: f.paths("third/z", "third/new"), Since: since}) {
		t.Error("third/new was written before it came to the set, and nobody is told")
	}
}

// Many saves are one change, and how an editor that is careful with files saves is one.
func TestSettles(t *testing.T) {
	f := start(t, watch.Options{Quiet: 60 * time.Millisecond})
	for i := range 50 {
		f.write("src/a.c", fmt.Sprint(i))
		time.Sleep(time.Millisecond)
	}
	f.changed()
	f.quiet("50 saves that had settled")
	// vim: a probe, a backup by rename, the new file, the backup removed
	f.write("src/4913", "")
	f.do(os.Remove(f.path("src/4913")))
	f.do(os.Rename(f.path("src/a.c"), f.path("src/a.c~")))
	f.write("src/a.c", "saved")
	f.do(os.Chmod(f.path("src/a.c"), 0o644))
	f.do(os.Remove(f.path("src/a.c~")))
	if got := f.changed(); !slices.Contains(got, "src/a.c") {
		t.Errorf("told of %q", got)
	}
	f.quiet("a save that had settled")
}

// A file that is moved away and comes back a little later has not settled in between.
func TestSettleWaitsForFileThatIsGone(t *testing.T) {
	f := start(t, watch.Options{Quiet: 40 * time.Millisecond})
	f.do(os.Rename(f.path("src/a.c"), f.path("src/a.c~")))
	go func() {
		time.Sleep(120 * time.Millisecond)
		// in its place whole: between a new file and its content a busy machine may take long
		_ = os.WriteFile(f.path("src/a.c~"), []byte("back"), 0o644)
		_ = os.Rename(f.path("src/a.c~"), f.path("src/a.c"))
	}()
	f.changed()
	if b, err := os.ReadFile(f.path("src/a.c")); err != nil || string(b) != "back" {
		t.Errorf("it had settled before the file was back: %q, %v", b, err)
	}
}

func TestSettleEnds(t *testing.T) {
	f := start(t, watch.Options{Quiet: time.Hour, Most: time.Hour})
	f.write("src/a.c", "x")
	<-f.w.Changed()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := f.w.Settle(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// A file that is changed all the time is taken as it is after a while.
func TestSettlesInAnyCase(t *testing.T) {
	f := start(t, watch.Options{Quiet: 50 * time.Millisecond, Most: 200 * time.Millisecond})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				_ = os.WriteFile(f.path("src/a.c"), []byte(fmt.Sprint(i)), 0o644)
			}
		}
	}()
	defer func() { close(stop); <-done }()
	f.changed()
}

// Symlinks on the way, and a folder that two paths lead to.
func TestSymlinks(t *testing.T) {
	f := start(t, watch.Options{})
	f.do(os.Symlink("src", f.path("link")))
	f.set([]string{"link/a.c", "src/b.c"}, nil)
	f.write("src/a.c", "through the folder")
	if got := f.changed(); !slices.Equal(got, []string{"link/a.c"}) {
		t.Errorf("told of %q", got)
	}
	f.write("link/b.c", "through the link")
	if got := f.changed(); !slices.Equal(got, []string{"src/b.c"}) {
		t.Errorf("told of %q", got)
	}
}
