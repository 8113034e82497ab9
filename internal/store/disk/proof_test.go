package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/statefile"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

func opened(t testing.TB, root string) *Blobs {
	t.Helper()
	s, err := NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// flipBit changes a bit of a file in place, as a disk does: size and time stay.
func flipBit(t testing.TB, path string) {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 4
	if err := errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, b, 0o644), os.Chmod(path, st.Mode()), os.Chtimes(path, time.Time{}, st.ModTime())); err != nil {
		t.Fatal(err)
	}
}

// A bit that flipped while no process ran is found before the first link, whatever the size of a blob that nobody vouches for.
func TestFlippedBitIsNotLinked(t *testing.T) {
	for _, size := range []int{1, 100, 4096, smallSize, smallSize + 1, proofSize, proofSize + 1} {
		for _, executable := range []bool{false, true} {
			t.Run(fmt.Sprint(size, executable), func(t *testing.T) {
				root, out := t.TempDir(), t.TempDir()
				b := storetest.Bytes(int64(size), size)
				d := digest.BLAKE3.Bytes(b)
				before := opened(t, root)
				err := errors.Join(before.Put(t.Context(), d, bytes.NewReader(b)), before.Link(t.Context(), d, filepath.Join(out, "0"), map[bool]fs.FileMode{false: 0o444, true: 0o555}[executable]), before.Flush(t.Context()))
				if err != nil {
					t.Fatal(err)
				}
				if size > proofSize { // as if it had not been read for long
					if err := os.Remove(before.proofs.path); err != nil {
						t.Fatal(err)
					}
				}
				flipBit(t, before.Path(d))
				exec := before.dir.Path(layout.Name(layout.Executables, d))
				if _, err := os.Stat(exec); err == nil {
					flipBit(t, exec)
				}
				after := opened(t, root)
				err = after.Link(t.Context(), d, filepath.Join(out, "1"), map[bool]fs.FileMode{false: 0o444, true: 0o555}[executable])
				if !errors.Is(err, store.ErrNotFound) || !errors.Is(err, store.ErrCorrupt) {
					t.Fatalf("linked, or %v", err)
				}
				if left, _ := os.ReadDir(layout.Root(root).Damaged()); len(left) != 1 {
					t.Errorf("damaged/ has %v", left)
				}
				if err := errors.Join(after.Put(t.Context(), d, bytes.NewReader(b)), after.Link(t.Context(), d, filepath.Join(out, "2"), map[bool]fs.FileMode{false: 0o444, true: 0o555}[executable])); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(filepath.Join(out, "2")); err != nil || !bytes.Equal(got, b) {
					t.Errorf("it is not mended: %v", err)
				}
			})
		}
	}
}

// A flipped bit in the executable copy alone costs nothing but the copy.
func TestFlippedBitInTheCopy(t *testing.T) {
	for _, size := range []int{4096, smallSize + 1} {
		root, out := t.TempDir(), t.TempDir()
		b := storetest.Bytes(int64(size), size)
		d := digest.BLAKE3.Bytes(b)
		before := opened(t, root)
		if err := errors.Join(before.Put(t.Context(), d, bytes.NewReader(b)), before.Link(t.Context(), d, filepath.Join(out, "0"), 0o555), before.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		exec := before.dir.Path(layout.Name(layout.Executables, d))
		if _, err := os.Stat(exec); err != nil {
			continue // files are cloned here
		}
		flipBit(t, exec)
		if err := opened(t, root).Link(t.Context(), d, filepath.Join(out, "1"), 0o555); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(out, "1")); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%d bytes: the damaged copy was linked: %v", size, err)
		}
	}
}

// Large files are read again after seven days, and by nobody before.
func TestLargeFilesAreReadInAWhile(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	b := storetest.Bytes(1, proofSize+100)
	d := digest.BLAKE3.Bytes(b)
	made := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(now time.Time) *Blobs {
		s := opened(t, root)
		s.proofs.now = func() time.Time { return now }
		return s
	}
	s := at(made)
	if err := errors.Join(s.Put(t.Context(), d, bytes.NewReader(b)), s.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	day := 24 * time.Hour
	for i, c := range []struct {
		now  time.Time
		read bool
	}{{made, false}, {made.Add(6 * day), false}, {made.Add(7 * day), true}, {made.Add(13 * day), false}, {made.Add(12 * day), false}, {made.Add(-day), true}, {made.Add(20 * day), true}} {
		s := at(c.now)
		if has := s.proofs.has(d, layout.Blobs); has == c.read {
			t.Errorf("step %d: known to be right: %v", i, has)
		}
		if err := errors.Join(s.Link(t.Context(), d, filepath.Join(out, fmt.Sprint(i)), 0o444), s.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		if !at(c.now).proofs.has(d, layout.Blobs) {
			t.Errorf("step %d: what was read is not remembered", i)
		}
	}
	flipBit(t, s.Path(d))
	if err := at(made.Add(40*day)).Link(t.Context(), d, filepath.Join(out, "late"), 0o444); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a flipped bit after a while: %v", err)
	}
}

// Whatever becomes of the state file, it says nothing that was not written.
func TestProofsFile(t *testing.T) {
	p := newProofs(t.TempDir())
	d := digest.BLAKE3.Bytes(make([]byte, proofSize+1))
	p.add(d, layout.Blobs)
	p.add(d, layout.Executables)
	p.save()
	good, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	if days := p.load(); len(days) != 2 {
		t.Fatalf("read %v", days)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		for _, b := range [][]byte{bad, good[:i]} {
			if err := os.WriteFile(p.path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			if days := p.load(); len(days) > 0 {
				t.Errorf("byte %d changed, and %v counts", i, days)
			}
		}
	}
}

func FuzzProofs(f *testing.F) {
	f.Add([]byte("twelve bytes"))
	p := newProofs(f.TempDir())
	f.Fuzz(func(t *testing.T, block []byte) {
		if err := statefile.Write(p.path, proofKind(), block); err != nil {
			return // it is too large
		}
		if days := p.load(); len(days) > len(block)/12 {
			t.Errorf("of %d bytes come %d files", len(block), len(days))
		}
	})
}

// BenchmarkLinkFirst has the first link in a process, and further ones.
func BenchmarkLinkFirst(b *testing.B) {
	for _, size := range []int{100, 4096, 64 << 10, 1 << 20} {
		for _, known := range []bool{true, false} {
			b.Run(fmt.Sprintf("%d,known=%v", size, known), func(b *testing.B) {
				root := b.TempDir()
				s := opened(b, root)
				c := storetest.Bytes(1, size)
				d := digest.BLAKE3.Bytes(c)
				if err := errors.Join(s.Put(b.Context(), d, bytes.NewReader(c)), s.Flush(b.Context())); err != nil {
					b.Fatal(err)
				}
				s.noClone.Store(true)
				to := filepath.Join(root, strings.Repeat("x", 10))
				for b.Loop() {
					if !known {
						s.proofs.drop(d)
					}
					if err := s.Link(b.Context(), d, to, 0o444); err != nil {
						b.Fatal(err)
					}
					_ = os.Remove(to)
				}
			})
		}
	}
}
