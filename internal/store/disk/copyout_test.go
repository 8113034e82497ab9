package disk_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// A large blob is copied if it is right; one that something wrote to is quarantined.
func TestCopyOut(t *testing.T) {
	b := storetest.Bytes(7, store.MinRef+5)
	d := digest.BLAKE3.Bytes(b)
	for _, c := range []struct {
		name   string
		adopt  bool
		change func(t *testing.T, root, blob string)
		first  error // of the first copy
		later  error
	}{
		{"put", false, nil, nil, nil},
		{"adopted", true, nil, nil, nil},
		{"written to", false, func(t *testing.T, _, blob string) {
			f, err := os.OpenFile(blob, os.O_WRONLY, 0)
			if err != nil {
				if err = os.Chmod(blob, 0o600); err == nil {
					f, err = os.OpenFile(blob, os.O_WRONLY, 0)
				}
			}
			if err == nil {
				_, err = f.WriteAt([]byte{b[9] + 1}, 9)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}, store.ErrCorrupt, store.ErrNotFound},
		{"removed", false, func(t *testing.T, _, blob string) {
			if err := os.Remove(blob); err != nil {
				t.Fatal(err)
			}
		}, store.ErrNotFound, store.ErrNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			s, err := disk.NewBlobs(root)
			if err != nil {
				t.Fatal(err)
			}
			if c.adopt {
				p := filepath.Join(root, "made")
				if err = os.WriteFile(p, b, 0o644); err == nil {
					_, err = s.Adopt(t.Context(), digest.BLAKE3, p)
				}
			} else {
				err = s.Put(t.Context(), d, bytes.NewReader(b))
			}
			if err = errors.Join(err, s.Sync(t.Context())); err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				c.change(t, root, s.Path(d))
			}
			to := filepath.Join(root, "out")
			check := func(how string, copied func() error, want error) {
				t.Helper()
				err := copied()
				got, rerr := os.ReadFile(to)
				os.Remove(to)
				switch {
				case want == nil && (err != nil || !bytes.Equal(got, b)):
					t.Errorf("%s: %v, %d bytes that are right: %v", how, err, len(got), bytes.Equal(got, b))
				case want != nil && (!errors.Is(err, want) || rerr == nil):
					t.Errorf("%s: error %v, want %v; a file was left: %v", how, err, want, rerr == nil)
				}
			}
			out := func(s *disk.Blobs) func() error {
				return func() error { return store.CopyFile(t.Context(), s, d, to, 0o644) }
			}
			check("CopyFile", out(s), c.first)
			other, err := disk.NewBlobs(root)
			if err != nil {
				t.Fatal(err)
			}
			check("CopyFile in another process", out(other), c.later)
			check("CopyFile over a decorator", func() error {
				return store.CopyFile(t.Context(), store.WithHostFiles(s), d, to,
					0o644)
			}, c.later)
		})
	}
}

// TestCopyOutElsewhere: a writable copy has a time of its own, also on another file system.
func TestCopyOutElsewhere(t *testing.T) {
	b := storetest.Bytes(7, store.MinRef+5)
	d := digest.BLAKE3.Bytes(b)
	s, err := disk.NewBlobs(t.TempDir())
	if err == nil {
		err = s.Put(t.Context(), d, bytes.NewReader(b))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, parent := range []string{t.TempDir(), "/dev/shm"} {
		dir, err := os.MkdirTemp(parent, "hexmage")
		if err != nil {
			t.Log(err)
			continue
		}
		defer os.RemoveAll(dir)
		to := filepath.Join(dir, "f")
		if err := store.CopyFile(t.Context(), s, d, to, 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(to)
		st, serr := os.Stat(to)
		if err = errors.Join(err, serr); err != nil || !bytes.Equal(got, b) || st.Mode() != 0o755 ||
			time.Since(st.ModTime()) > time.Hour {
			t.Errorf("%s: %d bytes, %v, %v", to, len(got), st, err)
		}
		if _, err := os.Stat(s.Path(d)); err != nil {
			t.Error(err)
		}
	}
}
