package disk_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

func open(t testing.TB, root string) *disk.Blobs {
	t.Helper()
	s, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// overwrite replaces a blob's file behind the store's back, with the time that a blob has if sly.
func overwrite(t testing.TB, path string, b []byte, sly bool) {
	t.Helper()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil { // in place: the same inode
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if sly {
		if err := os.Chtimes(path, time.Time{}, store.LinkTime()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBlobs(t *testing.T) {
	storetest.Blobs(t, "*disk.Blobs", func(t *testing.T) store.Blobs { return open(t, t.TempDir()) })
}

func TestBlobsDamage(t *testing.T) {
	storetest.BlobsDamage(t, func(t *testing.T) (store.Blobs, func(digest.Digest, []byte)) {
		s := open(t, t.TempDir())
		return s, func(d digest.Digest, b []byte) { overwrite(t, s.Path(d), b, true) }
	})
}

func TestBlobsLayout(t *testing.T) {
	root := t.TempDir()
	s := open(t, root)
	for _, c := range []struct {
		fn   digest.Function
		path string
	}{
		{digest.BLAKE3, "blake3/cas/d7/d74981efa70a0c880b8d8c1985d075dbcbf679b99a5f9914e5aaf96b831a9e24"},
		{digest.SHA256, "cas/b9/b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"},
	} {
		b := []byte("hello world")
		if err := s.Put(t.Context(), c.fn.Bytes(b), bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		if err := s.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, c.path)
		if got := s.Path(c.fn.Bytes(b)); got != path {
			t.Errorf("Path is %s, want %s", got, path)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode() != 0o444 || !st.ModTime().Equal(store.LinkTime()) {
			t.Errorf("%s has mode %v, time %v", path, st.Mode(), st.ModTime())
		}
	}
	if left, err := os.ReadDir(filepath.Join(root, "new")); err != nil || len(left) != 0 {
		t.Errorf("left in new: %v, %v", left, err)
	}
}

// A program that runs as root can write through a hard link. The store must not hand such a blob out again.
func TestWriteThroughLink(t *testing.T) {
	for _, executable := range []bool{false, true} {
		s := open(t, t.TempDir())
		ctx, dir := t.Context(), t.TempDir()
		b := storetest.Bytes(1, 10_000)
		d := digest.BLAKE3.Bytes(b)
		if err := s.Put(ctx, d, bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		first := filepath.Join(dir, "first")
		if err := s.Link(ctx, d, first, executable); err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(b)
		bad[0] ^= 1
		overwrite(t, first, bad, false)
		second := filepath.Join(dir, "second")
		err := s.Link(ctx, d, second, executable)
		if err == nil {
			got, rerr := os.ReadFile(second)
			if rerr != nil || !bytes.Equal(got, b) {
				t.Fatalf("executable %v: the damaged blob was linked again, %v", executable, rerr)
			}
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("executable %v: error %v, want ErrNotFound", executable, err)
		}
		if err := s.Put(ctx, d, bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		third := filepath.Join(dir, "third")
		if err := s.Link(ctx, d, third, executable); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(third); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("executable %v: not mended: %v", executable, err)
		}
	}
}

// A blob that another program put there has another time: it is hashed once and then trusted.
func TestForeignBlob(t *testing.T) {
	s := open(t, t.TempDir())
	b := storetest.Bytes(2, 10_000)
	d := digest.BLAKE3.Bytes(b)
	if err := os.MkdirAll(filepath.Dir(s.Path(d)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path(d), b, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Link(t.Context(), d, filepath.Join(t.TempDir(), "f"), false); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(s.Path(d)); err != nil || !st.ModTime().Equal(store.LinkTime()) {
		t.Fatalf("time %v, %v", st.ModTime(), err)
	}
}

func TestLinkDamagedIsNotFound(t *testing.T) {
	b := storetest.Bytes(3, 10_000)
	d := digest.BLAKE3.Bytes(b)
	flipped := bytes.Clone(b)
	flipped[5000] ^= 4
	for name, c := range map[string]struct {
		b          []byte
		executable bool
	}{
		"truncated":             {b[:9_999], false},
		"truncated, executable": {b[:9_999], true},
		"flipped, executable":   {flipped, true},
	} {
		s := open(t, t.TempDir())
		if err := s.Put(t.Context(), d, bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		overwrite(t, s.Path(d), c.b, true)
		path := filepath.Join(t.TempDir(), "f")
		if err := s.Link(t.Context(), d, path, c.executable); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: error %v, want ErrNotFound", name, err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s: a file was made", name)
		}
		if m, err := s.Missing(t.Context(), []digest.Digest{d}); err != nil || len(m) != 1 {
			t.Errorf("%s: not missing afterwards: %v", name, err)
		}
	}
}

// A file with a second name may be written to through that name: it must be copied, and keep its mode.
func TestAdoptFileWithTwoNames(t *testing.T) {
	s := open(t, t.TempDir())
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	if err := os.WriteFile(one, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(one, two); err != nil {
		t.Fatal(err)
	}
	d, err := s.Adopt(t.Context(), digest.BLAKE3, one)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(two, []byte("after!"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "before" {
		t.Fatalf("the store has %q, %v", got, err)
	}
}

func TestNewRefusesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.NewBlobs(path); err == nil {
		t.Fatal("a file was taken for a store's folder")
	}
}
