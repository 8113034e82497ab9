package local_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
)

// mounts tells whether this process may show a command files elsewhere: else they are laid out as copies.
func mounts(t *testing.T) bool {
	done := make(chan error)
	go func() {
		// The thread is not unlocked: it ends.
		runtime.LockOSThread()
		done <- unix.Unshare(unix.CLONE_NEWNS)
	}()
	err := <-done
	if err != nil {
		t.Logf("large inputs are copied here: %v", err)
	}
	return err == nil
}

// hostRefRoom is a room with a large file in the workspace, big, and an executor that reads it in place as the input
// dir/big.
type hostRefRoom struct {
	room
	next    store.Blobs
	big     string
	content []byte
	digest  digest.Digest
}

func newHostRefRoom(t *testing.T, l level) hostRefRoom {
	t.Helper()
	r := newRoom(t, l)
	if err := r.x.Close(); err != nil {
		t.Fatal(err)
	}
	ws, err := filepath.EvalSymlinks(r.workspace)
	if err != nil {
		t.Fatal(err)
	}
	n := hostRefRoom{room: r, big: filepath.Join(ws, "big"),
		content: bytes.Repeat([]byte("0123456789abcde\n"), store.MinRef/16+3)}
	n.digest = digest.BLAKE3.Bytes(n.content)
	if err := os.WriteFile(n.big, n.content, 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(n.big, old, old); err != nil {
		t.Fatal(err)
	}
	st, err := stat.Lstat(n.big)
	if err != nil {
		t.Fatal(err)
	}
	blobs := store.WithHostFiles(n.blobs)
	blobs.AddRef(n.digest, n.big, st, time.Now().Add(time.Minute)) // the change time is now, and cannot be set
	n.next, n.blobs = n.blobs, blobs
	n.x = local.New(local.Options{Dir: n.dir, Store: blobs, Fn: digest.BLAKE3, Base: l.base, Workspace: ws,
		Self: self(t)})
	t.Cleanup(func() {
		if err := n.x.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// action runs a shell script that has dir/big and dir/small, and writes o.
func (n hostRefRoom) action(t *testing.T, script string, outputs ...string) *action.Action {
	t.Helper()
	d := &merkle.Dir{}
	small := digest.BLAKE3.Bytes([]byte("small"))
	err := errors.Join(n.blobs.Put(t.Context(), small, strings.NewReader("small")),
		d.Insert(t.Context(), n.blobs, "dir/small", merkle.File{Digest: small}),
		d.Insert(t.Context(), n.blobs, "dir/big", merkle.File{Digest: n.digest}))
	if err != nil {
		t.Fatal(err)
	}
	root, err := d.Put(t.Context(), n.blobs, digest.BLAKE3)
	if err != nil {
		t.Fatal(err)
	}
	return &action.Action{Command: action.Command{Args: []string{"sh", "-c", script}, Outputs: append(outputs, "o"),
		Platform: map[string]string{}}, InputRoot: root}
}

func (n hostRefRoom) output(t *testing.T, res *action.Result, path string) string {
	t.Helper()
	for _, f := range res.Files {
		if f.Path == path {
			return n.fixture.content(t, f.Digest)
		}
	}
	t.Fatalf("no output %s: exit code %d, %s", path, res.ExitCode, res.Stderr)
	return ""
}

func (n hostRefRoom) stored(t *testing.T) bool {
	t.Helper()
	missing, err := n.next.Missing(t.Context(), []digest.Digest{n.digest})
	if err != nil {
		t.Fatal(err)
	}
	return len(missing) == 0
}

func TestLargeInputsAreReadInPlace(t *testing.T) {
	mounted := mounts(t)
	for _, l := range levels(t) {
		t.Run(l.name, func(t *testing.T) {
			n := newHostRefRoom(t, l)
			before, err := stat.Lstat(n.big)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct{ name, script, want string }{
				{"read", "tail -c 16 dir/big > o", "0123456789abcde\n"},
				{"kind", "test -f dir/big && test ! -L dir/big && find dir -type f | sort > o", "dir/big\ndir/small\n"},
				{"packed", "tar c dir | tar xO dir/big | tail -c 16 > o", "0123456789abcde\n"},
				{"copied", "cp -a dir mine && chmod u+w mine/big && echo more >> mine/big && tail -c 5 mine/big > o",
					"more\n"},
				{"written", "echo x >> dir/big || echo refused > o", "refused\n"},
				{"truncated", "true > dir/big || echo refused > o", "refused\n"},
				{"touched", "touch dir/big || echo refused > o", "refused\n"},
				{"mode", "chmod 777 dir/big || echo refused > o", "refused\n"},
			} {
				if c.name == "touched" || c.name == "mode" {
					if !mounted {
						continue // a copy of its own, of which the store sees it
					}
				}
				res, err := n.x.Execute(t.Context(), &execute.Request{Action: n.action(t, c.script)})
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				if got := n.output(t, res, "o"); got != c.want {
					t.Errorf("%s: %q, want %q: %s", c.name, got, c.want, res.Stderr)
				}
			}
			if now, err := stat.Lstat(n.big); err != nil || now != before {
				t.Errorf("the workspace's file is %+v, %v; it was %+v", now, err, before)
			}
			if mounted && n.stored(t) {
				t.Error("the file was copied into the store")
			}
		})
	}
}

func TestHostFilesInOtherRoles(t *testing.T) {
	for _, l := range levels(t) {
		t.Run(l.name, func(t *testing.T) {
			n := newHostRefRoom(t, l)
			a := n.action(t, "tail -c 16 > o")
			a.Command.Platform[action.PropertyStdin] = "dir/big"
			res, err := n.x.Execute(t.Context(), &execute.Request{Action: a})
			if err != nil {
				t.Fatal(err)
			}
			if got := n.output(t, res, "o"); got != "0123456789abcde\n" {
				t.Errorf("standard input: %q", got)
			}
			// A symlink to an input is an output with its content.
			if res, err = n.x.Execute(t.Context(),
				&execute.Request{Action: n.action(t, "ln -s dir/big o")}); err != nil {
				t.Fatal(err)
			}
			if len(res.Files) != 1 || res.Files[0].Digest != n.digest {
				t.Errorf("a symlink to it: %v, exit code %d, %s", res.Files, res.ExitCode, res.Stderr)
			}
			a = n.action(t, "ln -s dir all; echo > o", "all")
			if res, err = n.x.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
				t.Fatal(err)
			}
			if d, err := merkle.Load(t.Context(), n.blobs, res.Dirs[0].Root); err != nil ||
				d.Files["big"].Digest != n.digest {
				t.Errorf("a symlink to its folder: %+v, %v", d, err)
			}
			// An output may be where an input was.
			if res, err = n.x.Execute(t.Context(),
				&execute.Request{Action: n.action(t, "mv dir/big o; echo new > dir/big", "dir/big")}); err != nil {
				t.Fatal(err)
			}
			if got := n.output(t, res, "dir/big"); got != "new\n" || len(n.output(t, res, "o")) != len(n.content) {
				t.Errorf("in its place: %q", got)
			}
		})
	}
}

func TestHostFilesThatChange(t *testing.T) {
	if !mounts(t) {
		return // there is nothing that could
	}
	for _, l := range levels(t) {
		for _, what := range []string{"before", "meanwhile"} {
			t.Run(l.name+"/"+what, func(t *testing.T) {
				n := newHostRefRoom(t, l)
				change := func() {
					f, err := os.OpenFile(n.big, os.O_WRONLY, 0)
					if err == nil {
						_, err = f.WriteAt([]byte("X"), 100)
						err = errors.Join(err, f.Close())
					}
					if err != nil {
						t.Error(err)
					}
				}
				script := "cp dir/big o; sleep 0.5"
				if what == "before" {
					change()
				} else {
					time.AfterFunc(200*time.Millisecond, change)
				}
				_, err := n.x.Execute(t.Context(), &execute.Request{Action: n.action(t, script)})
				var changed *store.ChangedError
				if !errors.As(err, &changed) || changed.Path != n.big ||
					!strings.Contains(err.Error(), n.big+" changed during the build") {
					t.Errorf("error %v, want one that names the file", err)
				}
			})
		}
	}
}

// A command that takes a folder away in which one is gets no wrong output.
func TestHostFilesThatAreMoved(t *testing.T) {
	for _, l := range levels(t) {
		n := newHostRefRoom(t, l)
		res, err := n.x.Execute(t.Context(), &execute.Request{Action: n.action(t, "mv dir all; echo > o", "all")})
		if err == nil {
			d, lerr := merkle.Load(t.Context(), n.blobs, res.Dirs[0].Root)
			if lerr != nil || d.Files["big"].Digest != n.digest {
				t.Errorf("%s: %+v, %v", l.name, d, lerr)
			}
		} else if !strings.Contains(err.Error(), "the command moved or removed its input dir/big") {
			t.Errorf("%s: %v", l.name, err)
		}
	}
}

// A command that is not restricted can reach the workspace by its own path: what it does there is seen.
func TestHostFilesThatTheCommandWritesTo(t *testing.T) {
	if !mounts(t) {
		return
	}
	n := newHostRefRoom(t, level{"staged", nil})
	_, err := n.x.Execute(t.Context(), &execute.Request{Action: n.action(t, "echo x >> '"+n.big+"'; echo done > o")})
	if changed := (*store.ChangedError)(nil); !errors.As(err, &changed) || changed.Path != n.big {
		t.Errorf("error %v, want one that names the file", err)
	}
}
