package watch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// envFew has this test's process watch with few watches, or no watcher at all: it is in a user namespace of its own,
// which has limits of its own.
const envFew = "HEXMAGE_WATCH_TEST_LIMIT"

// bound stands for two paths of one folder, of which events name one only.
const bound = "bind mount"

// Where the system allows no more watches or watchers, or cannot tell two paths apart, it says so, with the remedy,
// and looks at the files instead.
func TestLimits(t *testing.T) {
	if limit := os.Getenv(envFew); limit != "" {
		limited(t, limit)
		return
	}
	for limit, want := range map[string]string{"max_inotify_watches": "max_user_watches",
		"max_inotify_instances": "max_user_instances", bound: "are the same folder"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLimits$", "-test.v")
		cmd.Env = append(os.Environ(), envFew+"="+limit)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}}
		out, err := cmd.CombinedOutput()
		switch text := string(out); {
		case err != nil && strings.Contains(err.Error(), "fork/exec"):
			t.Skipf("not run: this system allows no user namespaces: %v", err)
		case err != nil || !strings.Contains(text, "the change was noticed") || !strings.Contains(text, want):
			t.Errorf("%s: %v\n%s", limit, err, text)
		}
	}
}

func limited(t *testing.T, limit string) {
	n := "2"
	if limit == "max_inotify_instances" {
		n = "0"
	}
	if limit != bound {
		if err := os.WriteFile("/proc/sys/user/"+limit, []byte(n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	s := Set{Root: root}
	for _, name := range []string{"a/a", "b/b", "c/c", "d/d"} {
		p := filepath.Join(root, name)
		if err := os.Mkdir(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		s.Files = append(s.Files, p)
	}
	if limit == bound {
		if err := syscall.Mount(filepath.Join(root, "a"), filepath.Join(root, "b"), "", syscall.MS_BIND,
			""); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Unmount(filepath.Join(root, "b"), 0) }()
	}
	notes := 0
	w := New(Options{Every: 20 * time.Millisecond, Note: func(text string) { notes++; t.Log(text) }})
	defer w.Close()
	if !w.Set(s) {
		t.Error("what changed before it looked would go unnoticed")
	}
	if !w.Polling() || notes != 1 {
		t.Fatalf("it does not poll, or said so %d times", notes)
	}
	if err := os.WriteFile(s.Files[3], []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.Changed():
		t.Log("the change was noticed")
	case <-time.After(10 * time.Second):
		t.Error("the change was not noticed")
	}
}

// When events were lost, something may have changed.
func TestOverflow(t *testing.T) {
	w := New(Options{})
	defer w.Close()
	w.Set(Set{Root: t.TempDir()})
	w.events.Errors <- fsnotify.ErrEventOverflow
	select {
	case <-w.Changed():
	case <-time.After(10 * time.Second):
		t.Fatal("nobody is told")
	}
	if changed, err := w.Settle(t.Context()); err != nil || len(changed) != 1 {
		t.Errorf("%q, %v", changed, err)
	}
}
