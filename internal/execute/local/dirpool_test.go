package local

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/dirpool"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
)

// wide is an action over a folder of many inputs, which it adds up to one output.
type wide struct {
	t     *testing.T
	x     *Executor
	blobs *disk.Blobs
	kept  string
	deep  bool // each file is in a folder of its own
	files map[string]*merkle.File
}

// both runs a test with all inputs in one folder, and with each in a folder of its own.
func both(t *testing.T, test func(t *testing.T, deep bool)) {
	t.Run("flat", func(t *testing.T) { test(t, false) })
	t.Run("deep", func(t *testing.T) { test(t, true) })
}

// in is where the file of that name is below in/.
func (w *wide) in(name string) string {
	if w.deep {
		return name + "/x"
	}
	return name
}

func newWide(t *testing.T, deep bool) *wide {
	root := t.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	w := &wide{t: t, blobs: blobs, kept: filepath.Join(root, "dirpool"), deep: deep, files: map[string]*merkle.File{}}
	if err := os.MkdirAll(filepath.Join(root, "tmp", "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.open(time.Time{})
	for i := range dirpool.MinFiles + 16 {
		w.set(fmt.Sprintf("f%04d", i), fmt.Sprintf("content %d\n", i))
	}
	return w
}

// open makes an executor that knows of damage at that moment.
func (w *wide) open(damaged time.Time) {
	dir := filepath.Join(filepath.Dir(w.kept), "tmp", "run")
	w.x = New(Options{Dir: dir, Store: w.blobs, Fn: digest.BLAKE3, Pool: dirpool.New(w.kept, digest.BLAKE3, store.Unmodified, damaged)})
	w.t.Cleanup(func() { _ = w.x.Close() })
}

func (w *wide) set(name, content string) {
	w.t.Helper()
	d := digest.BLAKE3.Bytes([]byte(content))
	if err := w.blobs.Put(w.t.Context(), d, strings.NewReader(content)); err != nil {
		w.t.Fatal(err)
	}
	w.files[name] = &merkle.File{Digest: d}
}

// run adds all files up with a command, which script may follow, and checks the sum.
func (w *wide) run(script string) {
	w.t.Helper()
	root := &merkle.Dir{}
	var want strings.Builder
	for name, f := range w.files {
		if err := root.Insert(w.t.Context(), w.blobs, "in/"+w.in(name), *f); err != nil {
			w.t.Fatal(err)
		}
	}
	at, err := root.Put(w.t.Context(), w.blobs, digest.BLAKE3)
	if err != nil {
		w.t.Fatal(err)
	}
	all := "in/" + w.in("*")
	a := &action.Action{Command: action.Command{Args: []string{"sh", "-c", "cat " + all + " > sum; test \"$(stat -c %a " + all + " | uniq)\" = 444 || exit 1; " + script}, Outputs: []string{"sum"},
		Env: map[string]string{"PATH": "/usr/bin:/bin", "LC_ALL": "C"}}, InputRoot: at}
	res, err := w.x.Execute(w.t.Context(), &execute.Request{Action: a})
	if err != nil || res.ExitCode != 0 || len(res.Files) != 1 {
		w.t.Fatalf("%+v, %v", res, err)
	}
	for _, n := range slices.Sorted(maps.Keys(w.files)) {
		r, err := w.blobs.Open(w.t.Context(), w.files[n].Digest)
		if err != nil {
			w.t.Fatal(err)
		}
		b := make([]byte, w.files[n].Digest.Size())
		if _, err := r.Read(b); err != nil {
			w.t.Fatal(err)
		}
		r.Close()
		want.Write(b)
	}
	if got := res.Files[0].Digest; got != digest.BLAKE3.Bytes([]byte(want.String())) {
		w.t.Fatalf("the command saw other files than its inputs: %v", got)
	}
	if err := w.blobs.Sync(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// folder is the one kept folder with its stamp.
func (w *wide) folder() (string, stat.Stamp) {
	w.t.Helper()
	lists, err := filepath.Glob(filepath.Join(w.kept, "*.list"))
	if err != nil || len(lists) != 1 {
		w.t.Fatalf("kept are %v, %v", lists, err)
	}
	at := strings.TrimSuffix(lists[0], ".list")
	s, err := stat.Lstat(at)
	if err != nil {
		w.t.Fatal(err)
	}
	return at, s
}

func TestPooledFolderIsUsedAgain(t *testing.T) { both(t, testPooledFolderIsUsedAgain) }

func testPooledFolderIsUsedAgain(t *testing.T, deep bool) {
	w := newWide(t, deep)
	w.run("")
	at, first := w.folder()
	w.set("f0003", "another\n")
	w.set("new", "a new one\n")
	delete(w.files, "f0004")
	w.run("")
	if now, s := w.folder(); now != at || s.Inode != first.Inode {
		t.Errorf("the folder was laid out anew: %v, %v", first, s)
	}
}

// A folder that was laid out before something was found damaged may have links to the damaged file, which is out of the store only.
func TestPooledFolderFromBeforeDamage(t *testing.T) {
	w := newWide(t, false)
	w.run("")
	at, _ := w.folder()
	st, err := os.Stat(filepath.Join(at, "f0007"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{filepath.Join(at, "f0007"), w.blobs.Path(w.files["f0007"].Digest)} { // one file, where files are not cloned
		if err := errors.Join(os.Chmod(p, 0o644), os.WriteFile(p, []byte("CONTENT 7\n"), 0o644), os.Chmod(p, 0o444), os.Chtimes(p, st.ModTime(), st.ModTime())); err != nil {
			t.Fatal(err)
		}
	}
	if rc, err := w.blobs.Open(t.Context(), w.files["f0007"].Digest); err == nil {
		_, _ = io.ReadAll(rc)
		rc.Close()
	}
	w.set("f0007", "content 7\n")
	w.open(time.Now())
	w.run("")
}

// Whatever happens to a kept folder, no command sees anything but its inputs.
func TestPooledFolderThatIsNotAsItWas(t *testing.T) { both(t, testPooledFolderThatIsNotAsItWas) }

func testPooledFolderThatIsNotAsItWas(t *testing.T, deep bool) {
	file := func(w *wide, name string) string {
		at, _ := w.folder()
		return filepath.Join(at, filepath.FromSlash(w.in(name)))
	}
	cases := map[string]func(t *testing.T, w *wide) error{
		"a file more":  func(_ *testing.T, w *wide) error { return os.WriteFile(file(w, "f0001")+"more", nil, 0o444) },
		"a file less":  func(_ *testing.T, w *wide) error { return os.Remove(file(w, "f0001")) },
		"two exchange": func(_ *testing.T, w *wide) error { return os.Rename(file(w, "f0001"), file(w, "f0002")) },
		"a copy with the times": func(_ *testing.T, w *wide) error {
			p := file(w, "f0001")
			if err := os.Remove(p); err != nil {
				return err
			}
			if err := os.WriteFile(p, []byte("content x\n"), 0o444); err != nil {
				return err
			}
			return os.Chtimes(p, store.LinkTime(), store.LinkTime())
		},
		"another mode": func(_ *testing.T, w *wide) error { return os.Chmod(file(w, "f0001"), 0o400) },
		"a link": func(_ *testing.T, w *wide) error {
			p := file(w, "f0001")
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.Symlink(file(w, "f0002"), p)
		},
		"a list that is cut": func(_ *testing.T, w *wide) error { at, _ := w.folder(); return os.Truncate(at+".list", 100) },
		"no list":            func(_ *testing.T, w *wide) error { at, _ := w.folder(); return os.Remove(at + ".list") },
		"no folder":          func(_ *testing.T, w *wide) error { at, _ := w.folder(); return os.RemoveAll(at) },
	}
	for name, harm := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWide(t, deep)
			w.run("")
			if err := harm(t, w); err != nil {
				t.Fatal(err)
			}
			w.run("")
			w.set("f0003", "another\n")
			w.run("")
		})
	}
}

// A command that changes its own inputs, as one can that is not restricted, leaves nothing for the next.
func TestPooledFolderAfterACommandThatWritesToIt(t *testing.T) {
	both(t, testPooledFolderAfterACommandThatWritesToIt)
}

func testPooledFolderAfterACommandThatWritesToIt(t *testing.T, deep bool) {
	for name, script := range map[string]string{
		"renames": "mv in/f0001 x && mv in/f0002 in/f0001 && mv x in/f0002",
		"removes": "rm -r in/f0005", "adds": "echo > in/more", "replaces": "rm -r in/f0005 && echo > in/f0005",
		"adds below": "mkdir -p in/f0005; echo > in/f0005/y; true", "links": "mv in/f0005 x && ln -s ../x in/f0005",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWide(t, deep)
			w.run(script)
			w.run("")
			w.run(script)
			w.run("")
		})
	}
}
