package disk

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store/layout"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// Whatever is found damaged is on record, where it was found and after it was made anew, until the record is settled.
func TestDamageIsOnRecord(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	s := opened(t, root)
	put := func(seed int64) (digest.Digest, []byte) {
		t.Helper()
		b := storetest.Bytes(seed, 5000)
		d := digest.BLAKE3.Bytes(b)
		if err := errors.Join(s.Put(t.Context(), d, bytes.NewReader(b)), s.Link(t.Context(), d, filepath.Join(out, d.Hex()), 0o555), s.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		return d, b
	}
	records := func() (found []string) {
		t.Helper()
		all, err := Damages(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			found = append(found, string(d.Place)+d.Of.Hex())
		}
		return found
	}
	flipped, content := put(1)
	written, _ := put(2)
	right, _ := put(3)
	noted, _ := put(4)
	if got := records(); got != nil {
		t.Fatalf("on record before anything happened: %q", got)
	}
	watch, err := WatchDamage(root)
	if err != nil {
		t.Fatal(err)
	}

	flipBit(t, s.Path(flipped))
	if rc, err := s.Open(t.Context(), flipped); err == nil {
		if _, err = io.ReadAll(rc); err == nil {
			t.Error("what is damaged can be read")
		}
		rc.Close()
	}
	if err := s.Put(t.Context(), flipped, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	want := []string{flipped.Hex()}
	// An executable copy that was written to is replaced, and what was read from it is wrong even so. One that has only lost its time is right.
	if copied := s.dir.Path(layout.Name(layout.Executables, written)); exists(copied) {
		flipBit(t, copied)
		if err := errors.Join(os.Chtimes(copied, time.Time{}, time.Now()), os.Chtimes(s.dir.Path(layout.Name(layout.Executables, right)), time.Time{}, time.Now())); err != nil {
			t.Fatal(err)
		}
		want = append(want, "exec-"+written.Hex())
	}
	after := opened(t, root)
	for _, d := range []digest.Digest{written, right} {
		if err := after.Link(t.Context(), d, filepath.Join(out, "again"+d.Hex()), 0o555); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := errors.Join(NoteDamage(root, Unpacked, noted), NoteDamage(root, InStore, flipped)); err != nil {
			t.Fatal(err)
		}
	}
	want = append(want, "tree-"+noted.Hex())
	if err := os.WriteFile(filepath.Join(root, "damaged", "ac-blake3-"+flipped.Hex()), nil, 0o644); err != nil { // a result, which nothing is made from
		t.Fatal(err)
	}
	got := records()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("on record: %q, want %q", got, want)
	}
	found, err := watch.Found()
	if err != nil || len(found) != len(want) || !slices.Contains(found, flipped.Unsized()) || len(watch.Known()) != 0 {
		t.Errorf("the watch has found %v, %v, and knew %v", found, err, watch.Known())
	}

	// The same blob once more is another damage: who knew of the first has not seen it, and to settle the first does not settle it.
	again, err := WatchDamage(root)
	if err != nil || len(again.Known()) != len(want) {
		t.Fatal(again.Known(), err)
	}
	first, err := Damages(root)
	if err != nil {
		t.Fatal(err)
	}
	flipBit(t, s.Path(flipped))
	if rc, err := opened(t, root).Open(t.Context(), flipped); err == nil {
		_, _ = io.ReadAll(rc)
		rc.Close()
	}
	if found, err := again.Found(); err != nil || len(again.found) != 1 || !slices.Equal(found, []digest.Digest{flipped.Unsized()}) {
		t.Errorf("damaged again: %v, %v", found, err)
	}
	for _, d := range first {
		if err := d.Settle(); err != nil {
			t.Error(err)
		}
	}
	if got := records(); !slices.Equal(got, []string{flipped.Hex()}) {
		t.Errorf("settled what was not known yet: %q are left", got)
	}
	last, err := Damages(root)
	if err != nil || len(last) != 1 {
		t.Fatal(last, err)
	}
	for range 2 {
		if err := last[0].Settle(); err != nil || records() != nil {
			t.Errorf("settled: %v, %q", err, records())
		}
	}
}

// While nothing comes, the watch does not read the folder again; whatever comes, it sees.
func TestWatchDamageReadsSeldom(t *testing.T) {
	root := t.TempDir()
	first, second := digest.BLAKE3.Bytes([]byte("first")), digest.BLAKE3.Bytes([]byte("second"))
	w, err := WatchDamage(root)
	if err != nil {
		t.Fatal(err)
	}
	finds := func(want ...digest.Digest) {
		t.Helper()
		if found, err := w.Found(); err != nil || !slices.Equal(found, want) {
			t.Errorf("found %v, want %v, %v", found, want, err)
		}
	}
	finds()
	if err := NoteDamage(root, InStore, first); err != nil {
		t.Fatal(err)
	}
	finds(first.Unsized())
	w.found, w.at = []digest.Digest{second}, time.Now().Add(time.Minute) // as if it had read the folder long after that, and found this
	finds(second)
	if err := NoteDamage(root, InStore, second); err != nil {
		t.Fatal(err)
	}
	found, err := w.Found()
	if err != nil || len(found) != 2 {
		t.Errorf("found %v, %v", found, err)
	}
	w.at = time.Now() // and now it has been read right after it changed: another change might not show
	if err := os.Remove(filepath.Join(root, "damaged", "blake3-"+first.Hex())); err != nil {
		t.Fatal(err)
	}
	if w.stamp, err = stat.Lstat(layout.Root(root).Damaged()); err != nil {
		t.Fatal(err)
	}
	finds(second.Unsized())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
