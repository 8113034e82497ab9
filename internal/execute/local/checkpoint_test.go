package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/checkpoint"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/secret"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
)

// steady counts to six: for each unit a file by rename, and a line of standard error. It ends after as many units as
// more says: "fail", or "kill" of itself. An output has all units.
const steady = `
n=0
for i in 1 2 3 4 5 6; do
  if [ ! -f ck/deep/$i ]; then
    mkdir -p ck/deep
    cat in.txt >ck/half
    echo "unit $i" >>ck/half
    mv ck/half ck/deep/$i
    echo "did $i" >&2
    n=$((n + 1))
    if [ $n = "$AFTER" ]; then case $HOW in fail) exit 7 ;; kill) kill -9 $$ ;; esac; fi
  fi
done
cat ck/deep/* >out
`

type long struct {
	fixture
	kept string            // the folder of what is kept
	env  map[string]string // of the machine, in no key: how and after how many units the command ends
	said []string
}

func newLong(t *testing.T, base *sandbox.Base) *long {
	t.Helper()
	root := t.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	l := &long{fixture: fixture{blobs: blobs, dir: filepath.Join(root, "tmp", "run")},
		kept: filepath.Join(root, "checkpoints"), env: map[string]string{}}
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l.x = local.New(local.Options{Dir: l.dir, Store: blobs, Trees: merkle.NewTrees(root), Fn: digest.BLAKE3,
		Self: self(t), Base: base, Extra: l.env, Checkpoints: checkpoint.New(l.kept, digest.BLAKE3)})
	t.Cleanup(func() { l.x.Close() })
	return l
}

// action is the steady one over the input.
func (l *long) action(t *testing.T, input string) *execute.Request {
	t.Helper()
	a := &action.Action{
		Command: action.Command{Args: []string{"/bin/sh", "-euc", steady}, Outputs: []string{"out"},
			Platform: map[string]string{action.PropertyCheckpoint: "ck", action.PropertyNetwork: "true"}},
		InputRoot: l.root(t, map[string]string{"in.txt": input + "\n"}),
	}
	return &execute.Request{Action: a, Progress: func(_, _ int64, text string) { l.said = append(l.said, text) }}
}

// run runs it, and returns its exit code, the units that it did, and its output.
func (l *long) run(t *testing.T, a *execute.Request, how string, after int) (code int, did, out string) {
	t.Helper()
	l.env["HOW"], l.env["AFTER"], l.said = how, strconv.Itoa(after), nil
	res, err := l.x.Execute(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Files {
		b, err := store.ReadBlob(t.Context(), l.blobs, f.Digest, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		out = string(b)
	}
	return res.ExitCode, strings.Join(strings.Fields(strings.ReplaceAll(string(res.Stderr), "did", "")), " "), out
}

// want runs it and holds what it did to the units.
func (l *long) want(t *testing.T, a *execute.Request, how string, after, code int, units string) (out string) {
	t.Helper()
	is, did, out := l.run(t, a, how, after)
	if is != code || did != units {
		t.Errorf("exit code %d, want %d; it did %q, want %q; said %q", is, code, did, units, l.said)
	}
	return out
}

func (l *long) keeps(t *testing.T, want int) {
	t.Helper()
	if names, _ := os.ReadDir(l.kept); len(names) != want {
		t.Errorf("%d folders are kept, want %d", len(names), want)
	}
	_ = l.x.Close() // waits until they are removed
	if roots, _ := os.ReadDir(l.dir); len(roots) > 0 {
		t.Errorf("exec roots stay: %v", roots)
	}
}

const inOneGo = "1 2 3 4 5 6"

// What a command left that failed, or was killed, is there for the next one of the same key and for no other; what
// comes of it is what comes of one in one go.
func TestCheckpoint(t *testing.T) {
	for _, lv := range levels(t) {
		t.Run(lv.name, func(t *testing.T) {
			whole := newLong(t, lv.base)
			out := whole.want(t, whole.action(t, "a"), "", 0, 0, inOneGo)
			whole.keeps(t, 0)

			l := newLong(t, lv.base)
			a := l.action(t, "a")
			l.want(t, a, "kill", 2, 137, "1 2")
			l.keeps(t, 1)
			l.want(t, a, "fail", 1, 7, "3")
			l.keeps(t, 1)
			other := l.want(t, l.action(t, "b"), "", 0, 0, inOneGo)
			l.keeps(t, 1)
			if got := l.want(t, a, "", 0, 0, "4 5 6"); got != out || got == other {
				t.Errorf("it went on to %q; in one go it is %q, over another input %q", got, out, other)
			}
			l.keeps(t, 0)
			l.want(t, a, "", 0, 0, inOneGo) // a success leaves nothing
		})
	}
}

func TestCheckpointAnew(t *testing.T) {
	l := newLong(t, nil)
	a := l.action(t, "a")
	l.want(t, a, "fail", 2, 7, "1 2")
	a.DropCheckpoint = true
	l.want(t, a, "fail", 3, 7, "1 2 3")
	a.DropCheckpoint = false
	l.want(t, a, "", 0, 0, "4 5 6")
}

// What a command with secrets leaves may have them.
func TestCheckpointBesideSecrets(t *testing.T) {
	l := newLong(t, nil)
	a := l.action(t, "a")
	set, err := secret.NewSet(map[string]secret.Text{"TOKEN": {{Ref: "var.token"}}}, nil,
		secret.Values{"var.token": "hunter22"})
	if err != nil {
		t.Fatal(err)
	}
	a.Secrets = set
	l.want(t, a, "fail", 2, 7, "1 2")
	l.keeps(t, 0)
	l.want(t, a, "", 0, 0, inOneGo)
}

func TestCheckpointAmongInputs(t *testing.T) {
	l := newLong(t, nil)
	for _, file := range []string{"ck", "ck/x", "ck/deep/1"} {
		a := l.action(t, "a")
		a.InputRoot = l.root(t, map[string]string{"in.txt": "a\n", file: "mine\n"})
		var e *execute.Error
		if res, err := l.x.Execute(t.Context(), a); !errors.As(err, &e) || !e.Refused || e.Remedy == "" {
			t.Errorf("%s: %+v, %v", file, res, err)
		}
	}
	l.keeps(t, 0)
}

// Whatever happens to what is kept, it is dropped and said.
func TestCheckpointDamaged(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"flipped": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "files/deep/2"), []byte("a\nunit 3\n"), 0o600)
		},
		"missing": func(dir string) error { return os.Remove(filepath.Join(dir, "files/deep/1")) },
		"added": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "files/deep/6"), nil,
				0o600)
		},
		"no record":       func(dir string) error { return os.Remove(filepath.Join(dir, "record")) },
		"an empty record": func(dir string) error { return os.WriteFile(filepath.Join(dir, "record"), nil, 0o600) },
		"a link out":      func(dir string) error { return os.Symlink("/etc", filepath.Join(dir, "files/etc")) },
		"no files":        func(dir string) error { return os.RemoveAll(filepath.Join(dir, "files")) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLong(t, nil)
			a := l.action(t, "a")
			l.want(t, a, "kill", 2, 137, "1 2")
			kept, _ := filepath.Glob(filepath.Join(l.kept, "*"))
			if len(kept) != 1 {
				t.Fatalf("kept: %q", kept)
			}
			if err := damage(kept[0]); err != nil {
				t.Fatal(err)
			}
			l.want(t, a, "", 0, 0, inOneGo)
			if len(l.said) == 0 || !strings.Contains(l.said[0], "corrupt") {
				t.Errorf("said: %q", l.said)
			}
			l.keeps(t, 0)
		})
	}
}

// A build that is stopped keeps what its actions did.
func TestCheckpointOfAStoppedBuild(t *testing.T) {
	for _, lv := range levels(t) {
		t.Run(lv.name, func(t *testing.T) {
			l := newLong(t, lv.base)
			ctx, cancel := context.WithCancel(t.Context())
			a := l.action(t, "a")
			a.Command.Args[2] = strings.Replace(steady, "done\n",
				"echo progress 1 2 $i >&2; if [ -n \"$HOW\" ]; then sleep 60; fi; done\n", 1)
			l.env["HOW"], l.env["AFTER"] = "stop", "0"
			a.Progress = func(_, _ int64, text string) {
				if text == "1" {
					cancel()
				}
			}
			if res, err := l.x.Execute(ctx, a); err == nil {
				t.Fatalf("it was not stopped: %+v", res)
			}
			l.keeps(t, 1)
			l.want(t, a, "", 0, 0, "2 3 4 5 6")
		})
	}
}

// What a process was doing that was killed with its whole machinery is found in its scratch folder, at whatever
// moment it was.
func TestCheckpointRescue(t *testing.T) {
	for name, moment := range map[string]func(t *testing.T, own string, record []byte){
		"while it ran": func(*testing.T, string, []byte) {},
		"while it was kept, before its record": func(t *testing.T, own string, _ []byte) {
			if err := os.Mkdir(filepath.Join(own, "kept"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"while it was kept, its record half written": func(t *testing.T, own string, record []byte) {
			if err := os.Mkdir(filepath.Join(own, "kept"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(own, "kept/record"), record[:9], 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"while it was kept, on its way": func(t *testing.T, own string, record []byte) {
			move(t, filepath.Join(own, "root/ck"), filepath.Join(own, "kept/files"))
			if err := os.WriteFile(filepath.Join(own, "kept/record"), record, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLong(t, nil)
			a := l.action(t, "a")
			l.want(t, a, "fail", 3, 7, "1 2 3")
			_ = l.x.Close() // waits until its exec root is removed
			kept, _ := filepath.Glob(filepath.Join(l.kept, "*"))
			own := filepath.Join(l.dir, "exec-dead-1")
			if len(kept) != 1 {
				t.Fatalf("kept: %q", kept)
			}
			record, err := os.ReadFile(filepath.Join(kept[0], "record"))
			if err != nil {
				t.Fatal(err)
			}
			move(t, filepath.Join(kept[0], "files"), filepath.Join(own, "root/ck"))
			if err := os.RemoveAll(kept[0]); err != nil {
				t.Fatal(err)
			}
			boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
			note := fmt.Sprintf(`{"entry": %q, "folder": "root/ck", "boot": %q}`, filepath.Base(kept[0]),
				strings.TrimSpace(string(boot)))
			if err := os.WriteFile(filepath.Join(own, "checkpoint"), []byte(note), 0o600); err != nil {
				t.Fatal(err)
			}
			moment(t, own, record)
			if err := checkpoint.New(l.kept, digest.BLAKE3).Rescue(t.Context(), l.dir); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(own); err != nil {
				t.Fatal(err)
			}
			l.want(t, a, "", 0, 0, "4 5 6")
		})
	}
	t.Run("before the machine was started again", func(t *testing.T) {
		l := newLong(t, nil)
		own := filepath.Join(l.dir, "exec-dead-1")
		if err := os.MkdirAll(filepath.Join(own, "root/ck/deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(own, "checkpoint"),
			[]byte(`{"entry": "blake3-00", "folder": "root/ck", "boot": "another"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkpoint.New(l.kept, digest.BLAKE3).Rescue(t.Context(), l.dir); err != nil {
			t.Fatal(err)
		}
		if names, _ := os.ReadDir(l.kept); len(names) > 0 {
			t.Errorf("what need not be on the disk is kept: %v", names)
		}
	})
	t.Run("with a note that leads elsewhere", func(t *testing.T) {
		l := newLong(t, nil)
		own := filepath.Join(l.dir, "exec-dead-1")
		if err := os.MkdirAll(own, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, note := range []string{`{"entry": "../x", "folder": "root/ck"}`,
			`{"entry": "x", "folder": "../../../x"}`, `{`} {
			if err := os.WriteFile(filepath.Join(own, "checkpoint"), []byte(note), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := checkpoint.New(l.kept, digest.BLAKE3).Rescue(t.Context(), l.dir); err == nil {
				t.Errorf("%s: taken", note)
			}
		}
	})
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
