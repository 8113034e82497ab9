package sandbox

import (
	"os"
	"testing"
)

// TestSharedMemory: commands that leave the folder for shared memory alone have the same mounts, one after the other.
// What a command left there, or changed of the folder, no other sees, and not two at the same time.
func TestSharedMemory(t *testing.T) {
	base, err := Open()
	if err == nil {
		err = base.Mounts()
	}
	if err == nil {
		err = base.Unsupervised()
	}
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	run := func(f func()) (thread *Thread, namespace string) {
		t.Helper()
		thread, err := Start(base, Access{Write: []string{dir}, Own: dir}, false, nil, func() {
			if left, err := os.ReadDir(sharedDir); err != nil || len(left) > 0 {
				t.Errorf("it begins with %v, %v", left, err)
			}
			if info, err := os.Stat(sharedDir); err != nil || info.Mode().Perm() != 0o777 {
				t.Errorf("it begins with %v, %v", info.Mode(), err)
			}
			var err error
			if namespace, err = os.Readlink("/proc/thread-self/ns/mnt"); err != nil {
				t.Error(err)
			}
			f()
		})
		if err != nil {
			t.Fatal(err)
		}
		return thread, namespace
	}
	alone := func(f func()) string {
		t.Helper()
		thread, namespace := run(f)
		thread.Close()
		return namespace
	}
	write := func(name string) {
		if err := os.WriteFile(sharedDir+"/"+name, nil, 0o644); err != nil {
			t.Error(err)
		}
	}
	nothing := func() {}
	first := alone(func() {
		if os.Chmod(sharedDir, 0o700) == nil {
			t.Error("the folder gets another mode")
		}
	})
	if again := alone(nothing); again != first {
		t.Errorf("mounts %s are made anew: %s", first, again)
	}
	for name, f := range map[string]func(){
		"file":   func() { write("left") },
		"folder": func() { _ = os.Mkdir(sharedDir+"/left", 0o755) },
	} {
		changed := alone(f)
		if again := alone(nothing); again == changed {
			t.Errorf("%s: the next command has mounts %s, too", name, again)
		}
	}
	one, a := run(func() { write("one") })
	other, b := run(nothing)
	if a == b {
		t.Errorf("two commands at the same time have mounts %s", a)
	}
	one.Close()
	other.Close()
	if own, err := os.Readlink("/proc/thread-self/ns/mnt"); err != nil || own == first {
		t.Errorf("this process is in %s, %v", own, err)
	}
}
