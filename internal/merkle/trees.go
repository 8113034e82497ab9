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

// Trees keeps whole trees unpacked and read-only, for exec roots to link to, each in a folder that is named by the
// digest of its root Directory message. Beside a tree that is complete lies its marker, written last; a folder
// without it does not count. Many processes may use one root.
type Trees struct{ root layout.Root }

// NewTrees returns the trees in the store's folder root, given as an absolute path. It touches nothing yet.
func NewTrees(root string) *Trees { return &Trees{root: layout.Root(root)} }

// Dir returns where the tree is, or would be.
func (t *Trees) Dir(root digest.Digest) string { return t.root.Tree(root) }

// Find returns the tree's folder if the tree is there, complete. It fits MaterialiseOptions.Shared.
func (t *Trees) Find(root digest.Digest) (string, bool) {
	if _, err := os.Lstat(t.root.TreeMarker(root)); err != nil {
		return "", false
	}
	dir := t.Dir(root)
	st, err := os.Lstat(dir)
	return dir, err == nil && st.IsDir()
}

// Has tells whether the tree is there, complete.
func (t *Trees) Has(root digest.Digest) bool {
	_, ok := t.Find(root)
	return ok
}

// Path returns the tree's folder, after writing the tree there if it is not there yet. One process writes, others
// wait.
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
		return "", fmt.Errorf("tree %s: wait for its lock: %w", root, err)
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

// install writes the tree under the lock. A crash before the last step leaves a folder in tmp, which opening the
// store removes later, or a folder without its marker, which the next install removes.
func (t *Trees) install(ctx context.Context, blobs store.Blobs, root digest.Digest) error {
	tmp, err := os.MkdirTemp(t.root.Scratch(), atomicfile.TempName("tree")+"*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	next := filepath.Join(tmp, "tree")
	if err := Materialise(ctx, blobs, Ref(root), next, MaterialiseOptions{}); err != nil {
		return err
	}
	// All of it must be on the disk before the marker is.
	if err := atomicfile.SyncTree(next); err != nil {
		return err
	}
	dir := t.Dir(root)
	// What is there has no marker. It is moved first: removing it in place could stop half way.
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

// Remove removes the tree, if it is there. Exec roots that link to it break: the caller knows that there are none.
func (t *Trees) Remove(ctx context.Context, root digest.Digest) error {
	unlock, err := atomicfile.Lock(ctx, t.root.TreeLock(root))
	if err != nil {
		return fmt.Errorf("tree %s: wait for its lock: %w", root, err)
	}
	defer unlock()
	// The marker first, and surely: a folder that is half removed must not count.
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
