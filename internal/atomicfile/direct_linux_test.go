package atomicfile_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/atomicfile"
)

// What is copied directly and what is left for an ordinary copy are together the file, whatever its size, and whatever becomes of it.
func TestCopyDirect(t *testing.T) {
	all := make([]byte, 20<<20+4097)
	for i := range all {
		all[i] = byte(rand.Uint32())
	}
	for _, c := range []struct{ has, size int }{
		{0, 0}, {1, 1}, {4095, 4095}, {4096, 4096}, {8 << 20, 8 << 20}, {8<<20 + 4097, 8<<20 + 4097}, {len(all), len(all)},
		{len(all) - 9000, len(all)}, {4000, 8 << 20}, {0, 4096}, // it has become shorter
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "src"), all[:c.has], 0o444); err != nil {
			t.Fatal(err)
		}
		src, err := os.Open(filepath.Join(dir, "src"))
		if err != nil {
			t.Fatal(err)
		}
		dst, err := os.Create(filepath.Join(dir, "dst"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := atomicfile.CopyDirect(t.Context(), dst, src, int64(c.size))
		if err != nil || n > int64(c.size) {
			t.Errorf("%v: %d, %v", c, n, err)
		}
		if _, err := io.Copy(dst, src); err != nil {
			t.Errorf("%v: the rest: %v", c, err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "dst"))
		if err != nil || len(got) < c.has || !bytes.Equal(got[:c.has], all[:c.has]) || len(got) > c.has+4096 {
			t.Errorf("%v: %d bytes, %v, those that are right: %v", c, len(got), err, bytes.HasPrefix(all, got))
		}
		t.Logf("%v: %d directly", c, n)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(fs.ErrClosed)
		if _, err := src.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if m, err := atomicfile.CopyDirect(ctx, dst, src, int64(c.size)); m > 8<<20 || n > 8<<20 && m > 0 && !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%v: of one that is not wanted any more %d bytes, %v", c, m, err)
		}
		if err := errors.Join(src.Close(), dst.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestUnnamed(t *testing.T) {
	dir := t.TempDir()
	f, err := atomicfile.Unnamed(dir)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadDir(dir); err != nil || len(got) > 0 {
		t.Errorf("it has a name: %v, %v", got, err)
	}
	at := filepath.Join(dir, "name")
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.GiveName(f, at); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.GiveName(f, at); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a name that another file has: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(at); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := atomicfile.Unnamed(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}
