//go:build linux

package faults_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inside runs the test once more in a mount namespace of its own, where it may mount what it likes, and tells whether
// this is that run. A machine that allows no namespaces fails the test: it must not look as if it had been run.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(envBinary) != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Fatalf("make mounts private: %v", err)
		}
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", fmt.Sprintf("-long=%v", *options.long),
		fmt.Sprintf("-seed=%d", *options.seed))
	cmd.Env = append(os.Environ(), envBinary+"="+shared.hexmage, envBase+"="+shared.base)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid := os.Getuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatalf("this machine makes no mount namespaces (%v): allow unprivileged user namespaces, or run the tests "+
			"as root", err)
	}
	t.Logf("inside:\n%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Error("it failed in a namespace of its own")
	}
	return false
}

// small mounts a file system in memory on a new folder.
func small(t *testing.T, options string) string {
	t.Helper()
	dir, err := os.MkdirTemp(shared.base, "small-")
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Fatalf("mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		_ = unix.Unmount(dir, unix.MNT_DETACH)
		os.Remove(dir)
	})
	return dir
}

// fill leaves so many bytes free on the file system, and returns a function that gives the rest back.
func fill(t *testing.T, dir string, free int64) func() {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(dir, "ballast")
	f, err := os.Create(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n := int64(st.Bavail)*st.Bsize - free; n > 0 {
		if err := unix.Fallocate(int(f.Fd()), 0, 0, n); err != nil {
			t.Fatal(err)
		}
	}
	return func() { os.Remove(p) }
}

// full runs the pipeline on a disk that is too small, and once more when there is space.
func (w *world) full(t *testing.T, want map[string]string, what string, free func()) (failed bool) {
	t.Helper()
	o := w.run(t)
	switch o.code {
	case exitOK:
	case exitFailed, exitEngine: // the first when it was the command that found no space
		failed = true
		if said := strings.ToLower(o.failure()); !strings.Contains(said, "no space left") &&
			!strings.Contains(strings.ToLower(o.stdout), "no space left") {
			t.Errorf("%s: it does not say that the disk is full: %s", what, o)
		}
	default:
		t.Errorf("%s: %s", what, o)
	}
	w.tidy(t)
	free()
	w.builds(t, want)
	if t.Failed() {
		t.Fatal(what)
	}
	return failed
}

// TestDiskFull builds with a cache, and with a folder for outputs, on a disk that becomes full at many points of the
// build.
func TestDiskFull(t *testing.T) {
	if !inside(t) {
		return
	}
	const size = 2_000_000
	want := clean(t, size, 1)[0]
	failed, engine := 0, 0
	steps := rounds(12, 120)
	for i := range steps {
		w := newWorld(t, size)
		w.cache = filepath.Join(small(t, "size=32m"), "cache")
		free := int64(12<<20) * int64(i) / int64(steps) // it needs some 10 MB
		if i%4 == 0 {
			free = int64(i) << 12
		}
		if w.full(t, want, fmt.Sprintf("%d bytes free for the cache", free), fill(t, filepath.Dir(w.cache), free)) {
			failed++
		}
		w.sound(t)
	}
	if failed < steps/4 || failed == steps {
		t.Errorf("%d of %d builds failed: the disk was not full at the right times", failed, steps)
	}
	// So few files that it cannot make folders, whatever the space.
	for i := range rounds(4, 40) {
		w := newWorld(t, size)
		dir := small(t, fmt.Sprintf("size=32m,nr_inodes=%d", 4+i*20))
		w.cache = filepath.Join(dir, "cache")
		if w.full(t, want, fmt.Sprintf("%d inodes for the cache", 4+i*20), func() {
			if err := unix.Mount("", dir, "", unix.MS_REMOUNT, "nr_inodes=10000"); err != nil {
				t.Fatal(err)
			}
		}) {
			engine++
		}
		w.sound(t)
	}
	if engine == 0 {
		t.Error("no build failed for want of inodes")
	}
	for i := range rounds(4, 40) {
		w := newWorld(t, size)
		out := small(t, "size=4m")
		here := filepath.Join(w.dir, "out")
		if err := errors.Join(os.Mkdir(here, 0o755), unix.Mount(out, here, "", unix.MS_BIND, "")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Unmount(here, 0) })
		free := int64(i) * 700_000
		o := w.run(t)
		if o.code != exitOK {
			t.Fatal(o)
		}
		remove(filepath.Join(here, "p"))
		w.full(t, want, fmt.Sprintf("%d bytes free for outputs", free), fill(t, out, free))
	}
}

// TestOtherFileSystem has the cache on another file system than the workspace: nothing can be linked or renamed from
// one to the other.
func TestOtherFileSystem(t *testing.T) {
	if !inside(t) {
		return
	}
	const size = 2_000_000
	want := clean(t, size, 2)
	w := newWorld(t, size)
	w.cache = small(t, "size=100m")
	for i, v := range []int{0, 1, 0} {
		w.variant(t, v)
		o := w.builds(t, want[v])
		if i == 2 && o.executed != 0 {
			t.Errorf("what was done is not known: %s", o)
		}
		w.tidy(t)
		w.sound(t)
	}
	remove(filepath.Join(w.dir, "out"))
	w.builds(t, want[0])
}

// TestReadOnly has a cache that cannot be written to, by its modes or by its mount: what it knows is used, or it is
// said what to do.
func TestReadOnly(t *testing.T) {
	if !inside(t) {
		return
	}
	const size = 100_000
	want := clean(t, size, 2)
	remedy := func(o *outcome) {
		t.Helper()
		said := strings.ToLower(o.failure())
		if o.code != exitEngine || !strings.Contains(said, "read-only") &&
			!strings.Contains(said, "permission denied") || !strings.Contains(said, "hexmage_cache") {
			t.Errorf("it neither works nor says what is wrong and what to do: %s", o)
		}
	}
	for _, how := range []string{"mount", "modes"} {
		for _, known := range []bool{true, false} {
			for _, exported := range []bool{true, false} {
				w := newWorld(t, size)
				if err := os.Chmod(w.dir, 0o777); err != nil {
					t.Fatal(err)
				}
				w.builds(t, want[0])
				unchanged := known && exported
				if unchanged { // once more, so that all of it is remembered
					time.Sleep(settled)
					w.builds(t, want[0])
				}
				if !exported {
					remove(filepath.Join(w.dir, "out"))
				}
				v := 0
				if !known {
					v = 1
					w.variant(t, v)
				}
				switch how {
				case "mount":
					if err := unix.Mount(w.cache, w.cache, "", unix.MS_BIND, ""); err != nil {
						t.Fatal(err)
					}
					if err := unix.Mount("", w.cache, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
						t.Fatal(err)
					}
				default: // for somebody else: modes do not stop root
					w.user = 65534
					if err := exec.Command("chmod", "-R", "a-w,a+rX", w.cache).Run(); err != nil {
						t.Fatal(err)
					}
				}
				o := w.hexmage(t, "run", "p") // --json would plan, and so open the cache
				t.Logf("%s, known %v, exported %v: exit code %d: %s", how, known, exported, o.code, o.failure())
				if o.code == exitOK {
					if d := differ(want[v], w.outputs(t)); d != "" {
						t.Errorf("%s, known %v, exported %v:\n%s", how, known, exported, d)
					}
				} else {
					remedy(o)
				}
				if unchanged && o.code != exitOK {
					t.Errorf("%s: there was nothing to do, and it failed: %s", how, o)
				}
				if how == "mount" {
					if err := unix.Unmount(w.cache, unix.MNT_DETACH); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}
