package disk_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// reboot makes the store's folder look as after a reboot of the machine.
func reboot(t *testing.T, root string) {
	t.Helper()
	path := layout.Root(root).State().Synced()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	err = os.WriteFile(path, []byte("another boot\n"), 0o644)
	if err := errors.Join(err, os.Chtimes(path, time.Time{}, st.ModTime())); err != nil {
		t.Fatal(err)
	}
}

// zero clears the content of a file and keeps its size, mode and time: a power cut leaves such files.
func zero(t *testing.T, path string) {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, make([]byte, st.Size()), 0), os.Chmod(path, st.Mode()))
	if err := errors.Join(err, os.Chtimes(path, time.Time{}, st.ModTime())); err != nil {
		t.Fatal(err)
	}
}

// After a reboot, blobs that are younger than the last sync are hashed before use, and older ones are not.
func TestPowerCut(t *testing.T) {
	root := t.TempDir()
	put := func(s *disk.Blobs, seed int64) (digest.Digest, []byte) {
		t.Helper()
		b := storetest.Bytes(seed, 10_000)
		d := digest.BLAKE3.Bytes(b)
		if err := s.Put(t.Context(), d, bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		return d, b
	}
	before := open(t, root)
	old, _ := put(before, 0)
	zero(t, before.Path(old)) // no power cut does this to a synced blob: it shows which blobs are hashed
	time.Sleep(20 * time.Millisecond)
	if err := before.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	lost, content := put(before, 1)
	whole, _ := put(before, 2)
	program, _ := put(before, 3)
	executable := layout.Root(root).File(layout.Executables, program)
	if err := before.Link(t.Context(), program, filepath.Join(t.TempDir(), "p"), true); err != nil {
		t.Fatal(err)
	}
	zero(t, before.Path(lost))
	hasCopy := false // file systems with reflinks have none
	if _, err := os.Lstat(executable); err == nil {
		hasCopy = true
		zero(t, executable)
	}
	all := []digest.Digest{old, lost, whole, program}
	missing := func() []digest.Digest {
		t.Helper()
		m, err := open(t, root).Missing(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := missing(); len(m) > 0 {
		t.Fatalf("hashed although the machine did not restart: %v are missing", m)
	}
	reboot(t, root)
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the build is over"))
	if _, err := open(t, root).Missing(over, all); err == nil {
		t.Fatal("the check did not stop with the build")
	}
	for range 2 { // the check that did not end counts for nothing
		if m := missing(); len(m) != 1 || m[0] != lost {
			t.Fatalf("missing %v, want %v", m, lost)
		}
	}
	if _, err := os.Lstat(layout.Root(root).Quarantine("", lost)); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(executable); hasCopy && err == nil {
		t.Error("the corrupt executable copy is still there")
	}
	// The store has been checked in this boot. What is younger than that is checked after the next one.
	after := open(t, root)
	if err := after.Put(t.Context(), lost, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	zero(t, after.Path(lost))
	if m := missing(); len(m) > 0 {
		t.Errorf("hashed again in the same boot: %v", m)
	}
	reboot(t, root)
	if m := missing(); len(m) != 1 || m[0] != lost {
		t.Errorf("after the second restart: missing %v, want %v", m, lost)
	}
}

// Without the file that tells of the last sync, no blob is trusted.
func TestPowerCutWithoutARecord(t *testing.T) {
	root := t.TempDir()
	s := open(t, root)
	b := storetest.Bytes(1, 100)
	d := digest.BLAKE3.Bytes(b)
	if err := errors.Join(s.Put(t.Context(), d, bytes.NewReader(b)), s.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	zero(t, s.Path(d))
	if err := os.Remove(layout.Root(root).State().Synced()); err != nil {
		t.Fatal(err)
	}
	err := open(t, root).Link(t.Context(), d, filepath.Join(t.TempDir(), "f"), false)
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
}

// If the clock was set back, blobs that are stored from then on still count as young.
func TestSyncBeforeTheClockWasSetBack(t *testing.T) {
	root := t.TempDir()
	s := open(t, root)
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(layout.Root(root).State().Synced(), later, later); err != nil {
		t.Fatal(err)
	}
	b := storetest.Bytes(1, 100)
	d := digest.BLAKE3.Bytes(b)
	s = open(t, root)
	if err := s.Put(t.Context(), d, bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	zero(t, s.Path(d))
	reboot(t, root)
	if m, err := open(t, root).Missing(t.Context(), []digest.Digest{d}); err != nil || len(m) != 1 {
		t.Errorf("missing %v, %v", m, err)
	}
}

// Any number of processes may check the store after a reboot at once.
func TestPowerCutSeenByMany(t *testing.T) {
	root := t.TempDir()
	s := open(t, root)
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ds []digest.Digest
	for i := range 20 {
		b := storetest.Bytes(int64(i), 50_000)
		ds = append(ds, digest.BLAKE3.Bytes(b))
		if err := s.Put(t.Context(), ds[i], bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			zero(t, s.Path(ds[i]))
		}
	}
	reboot(t, root)
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() {
			s, err := disk.NewBlobs(root)
			if err == nil {
				var m []digest.Digest
				if m, err = s.Missing(t.Context(), ds); err == nil && len(m) != len(ds)/2 {
					err = errors.New("corrupt blobs count as there, or good ones as missing")
				}
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
