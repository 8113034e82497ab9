package merkle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Trees is a folder of unpacked, read-only trees. Exec roots contain links to these trees. Each tree's folder is named
// after the digest of its root Directory message. hexmage writes a marker file after the last file of a tree, and
// ignores trees without a marker file. Many processes may use one folder at once.
type Trees struct{ root layout.Root }

// NewTrees returns the Trees of a store. The parameter root is the absolute path of the store's folder. NewTrees
// accesses no files.
func NewTrees(root string) *Trees { return &Trees{root: layout.Root(root)} }

// Dir returns the path for the tree with the given root digest, even if the tree is missing.
func (t *Trees) Dir(root digest.Digest) string { return t.root.Tree(root) }

// Find returns the tree's folder and true if the tree is complete.
func (t *Trees) Find(root digest.Digest) (string, bool) {
	if _, err := os.Lstat(t.root.TreeMarker(root)); err != nil {
		return "", false
	}
	dir := t.Dir(root)
	st, err := os.Lstat(dir)
	return dir, err == nil && st.IsDir()
}

// Has reports whether the tree is complete.
func (t *Trees) Has(root digest.Digest) bool {
	_, ok := t.Find(root)
	return ok
}

// Path returns the tree's folder. If the tree is missing, Path writes it, or waits for another process that is writing
// it.
func (t *Trees) Path(ctx context.Context, blobs store.Blobs, root digest.Digest) (string, error) {
	if dir, ok := t.Find(root); ok {
		return dir, nil
	}
	for _, dir := range []string{t.root.Trees(), t.root.Scratch()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", fmt.Errorf("tree %s: %w", root, err)
		}
	}
	unlock, err := atomicfile.Lock(ctx, t.root.TreeLock(root))
	if err != nil {
		return "", fmt.Errorf("wait for the lock of tree %s: %w", root, err)
	}
	defer unlock()
	if dir, ok := t.Find(root); ok {
		return dir, nil
	}
	if err := t.install(ctx, blobs, root); err != nil {
		return "", fmt.Errorf("tree %s: %w", root, err)
	}
	return t.Dir(root), nil
}

// install writes the tree while holding the lock. A crash before the last step leaves one of two folders. Opening the
// store removes a folder in tmp; the next install removes a folder without its marker.
func (t *Trees) install(ctx context.Context, blobs store.Blobs, root digest.Digest) error {
	tmp, err := os.MkdirTemp(t.root.Scratch(), atomicfile.TempName("tree")+"*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	next := filepath.Join(tmp, "tree")
	if err := Materialize(ctx, blobs, Ref(root), next, false); err != nil {
		return err
	}
	// The whole tree must be on the disk before the marker is.
	if err := atomicfile.SyncTree(next); err != nil {
		return err
	}
	dir := t.Dir(root)
	// The existing folder has no marker. Move it first, because removing it in place could stop half way.
	if err := os.Rename(dir, filepath.Join(tmp, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(next, dir); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(filepath.Dir(dir)); err != nil {
		return err
	}
	return atomicfile.WriteFile(tmp, t.root.TreeMarker(root), []byte(root.String()+"\n"), 0o444)
}

// Remove removes the tree if it exists. The caller must ensure that no exec root links to the tree.
func (t *Trees) Remove(ctx context.Context, root digest.Digest) error {
	unlock, err := atomicfile.Lock(ctx, t.root.TreeLock(root))
	if err != nil {
		return fmt.Errorf("wait for the lock of tree %s: %w", root, err)
	}
	defer unlock()
	// Remove the marker first, so that a partly removed folder does not count.
	if err := os.Remove(t.root.TreeMarker(root)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tree %s: %w", root, err)
	}
	if err := atomicfile.SyncDir(t.root.Trees()); err != nil {
		return fmt.Errorf("tree %s: %w", root, err)
	}
	if err := os.RemoveAll(t.Dir(root)); err != nil {
		return fmt.Errorf("tree %s: %w", root, err)
	}
	return nil
}
