package merkle_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

func TestTrees(t *testing.T) {
	blobs := diskStore(t)
	_, root := build(t, blobs, "bin/cc*=cc", "lib->bin")
	trees := merkle.NewTrees(blobs.Root())
	if trees.Has(root) {
		t.Fatal("a tree that was never installed is there")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			dir, err := merkle.NewTrees(blobs.Root()).Path(t.Context(), blobs, root)
			if err != nil || dir != trees.Dir(root) {
				t.Errorf("Path: %s, %v", dir, err)
			}
		})
	}
	wg.Wait()
	want(t, listHost(t, trees.Dir(root)), "bin/cc*=cc", "lib->bin")
	if left, err := os.ReadDir(filepath.Join(blobs.Root(), "tmp")); err != nil || len(left) != 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}

	if err := trees.Remove(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if trees.Has(root) {
		t.Error("a removed tree is there")
	}
}

// What a crash can leave: a folder without its marker, and a marker without its folder.
func TestTreesAfterCrash(t *testing.T) {
	blobs := diskStore(t)
	_, root := build(t, blobs, "bin/cc*=cc", "lib/x=1")
	trees := merkle.NewTrees(blobs.Root())
	install := func() {
		t.Helper()
		if trees.Has(root) {
			t.Fatal("an incomplete tree counts")
		}
		if _, err := trees.Path(t.Context(), blobs, root); err != nil {
			t.Fatal(err)
		}
		want(t, listHost(t, trees.Dir(root)), "bin/cc*=cc", "lib/x=1")
	}
	if err := os.MkdirAll(filepath.Join(trees.Dir(root), "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	install()
	if err := os.RemoveAll(trees.Dir(root)); err != nil {
		t.Fatal(err)
	}
	install()
	if err := os.Remove(trees.Dir(root) + ".ok"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(trees.Dir(root), "lib", "x")); err != nil {
		t.Fatal(err)
	}
	install()
}

func TestTreesMissingBlob(t *testing.T) {
	blobs := diskStore(t)
	d := &merkle.Dir{}
	if err := d.Insert(t.Context(), nil, "f", merkle.File{Digest: fn.Bytes([]byte("not there"))}); err != nil {
		t.Fatal(err)
	}
	root, err := d.Put(t.Context(), blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	trees := merkle.NewTrees(blobs.Root())
	if _, err := trees.Path(t.Context(), blobs, root); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound", err)
	}
	if _, err := os.Lstat(trees.Dir(root)); err == nil || trees.Has(root) {
		t.Error("half a tree is there")
	}
}

func TestTreesLockCanBeLeft(t *testing.T) {
	blobs := diskStore(t)
	_, root := build(t, blobs, "f=1")
	trees := merkle.NewTrees(blobs.Root())
	if err := os.MkdirAll(filepath.Dir(trees.Dir(root)), 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockedfile.MutexAt(trees.Dir(root) + ".lock").Lock()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := trees.Path(ctx, blobs, root); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want DeadlineExceeded", err)
	}
	unlock()
	if _, err := trees.Path(t.Context(), blobs, root); err != nil {
		t.Error(err)
	}
}

func putText(t testing.TB, blobs store.Blobs, s string) digest.Digest {
	t.Helper()
	d, _ := build(t, blobs, "f="+s)
	return d.Files["f"].Digest
}
