package store_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/memory"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

const fn = digest.BLAKE3

func stores(t *testing.T) map[string]store.Blobs {
	t.Helper()
	d, err := disk.NewBlobs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return map[string]store.Blobs{"memory": memory.NewBlobs(), "disk": d}
}

func readAll(ctx context.Context, s store.Blobs, d digest.Digest) ([]byte, error) {
	r, err := s.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestSources(t *testing.T) {
	for _, size := range []int{0, 1000, 3 << 20} {
		for name, next := range stores(t) {
			dir := t.TempDir()
			path, b := filepath.Join(dir, "model.bin"), storetest.Bytes(int64(size), size)
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			s, d := store.WithHostFiles(next), fn.Bytes(b)
			s.Add(d, path)
			if m, err := next.Missing(t.Context(), []digest.Digest{d}); err != nil || len(m) != 1 {
				t.Errorf("%s: the file was copied into the store without need: %v", name, err)
			}
			for i, executable := range []bool{false, true} {
				to := filepath.Join(dir, "link"+string(rune('0'+i)))
				err := s.Link(t.Context(), d, to, executable)
				if name == "memory" && errors.Is(err, errors.ErrUnsupported) {
					continue
				}
				st, serr := os.Stat(to)
				orig, oerr := os.Stat(path)
				if err := errors.Join(err, serr, oerr); err != nil || os.SameFile(orig, st) {
					t.Errorf("%s: the workspace's file itself is in the exec root, %v", name, err)
				}
			}
		}
	}
}

func TestSourceChanged(t *testing.T) {
	for name, next := range stores(t) {
		for _, size := range []int{1000, 3 << 20} {
			for what, change := range map[string]func(string) error{
				"content": func(p string) error { return os.WriteFile(p, storetest.Bytes(99, size), 0o644) },
				"shorter": func(p string) error { return os.Truncate(p, int64(size-1)) },
				"removed": os.Remove,
			} {
				dir := t.TempDir()
				path, b := filepath.Join(dir, "ops.cpp"), storetest.Bytes(int64(size), size)
				if err := os.WriteFile(path, b, 0o644); err != nil {
					t.Fatal(err)
				}
				s, d := store.WithHostFiles(next), fn.Bytes(b)
				s.Add(d, path)
				if err := change(path); err != nil {
					t.Fatal(err)
				}
				check := func(op string, err error) {
					t.Helper()
					var changed *store.ChangedError
					if !errors.As(err, &changed) || changed.Path != path || !errors.Is(err, store.ErrCorrupt) ||
						!strings.Contains(err.Error(), "ops.cpp changed during the build") {
						t.Errorf("%s, %s, %s: error %v, want a ChangedError that names the file", name, what, op, err)
					}
				}
				_, err := readAll(t.Context(), s, d)
				check("Open", err)
				to := filepath.Join(dir, "link")
				if err := s.Link(t.Context(), d, to, false); !errors.Is(err, errors.ErrUnsupported) {
					check("Link", err)
				}
				if _, err := os.Lstat(to); err == nil {
					t.Errorf("%s, %s: a file was made", name, what)
				}
			}
		}
	}
}
