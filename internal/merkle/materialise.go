package merkle

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/store"
)

// Materialize writes the tree d to the folder dest. The folder dest must not exist, but the parent folder must.
// Materialize reads the content of Refs from the store, so Materialize(ctx, store, Ref(root), …) writes a tree of the
// store. Folders have mode 0755. Materialize rejects symlinks that could lead out of dest, and trees that exceed the
// limits of Load. After an error, the caller must remove dest.
//
// If writable is true, files are verified copies with mode 0644 or 0755. Otherwise files are read-only (0444 or 0555),
// and share their content with the store if possible.
func Materialize(ctx context.Context, blobs store.Blobs, d *Dir, dest string, writable bool) error {
	m := &materializer{blobs: blobs, writable: writable}
	m.left.Store(maxEntries)
	m.g, ctx = errgroup.WithContext(ctx)
	m.g.SetLimit(2 * runtime.NumCPU())
	m.g.Go(func() error { return m.dir(ctx, d, "", dest, 0) })
	if err := m.g.Wait(); err != nil {
		return fmt.Errorf("write a tree to %s: %w", dest, err)
	}
	return nil
}

type materializer struct {
	blobs    store.Blobs
	writable bool
	g        *errgroup.Group
	left     atomic.Int64 // how many more entries may come
}

func (m *materializer) dir(ctx context.Context, d *Dir, at, dest string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("folders are nested more than %d levels deep", maxDepth)
	}
	d, err := d.Open(ctx, m.blobs)
	if err != nil {
		return err
	}
	if m.left.Add(-int64(len(d.Files)+len(d.Dirs)+len(d.Symlinks))) < 0 {
		return fmt.Errorf("more than %d entries", maxEntries)
	}
	// The folder is new and its names are checked, so Materialize never writes through a symlink.
	if err := os.Mkdir(dest, 0o755); err != nil {
		return err
	}
	store.Fetch(ctx, m.blobs, d.Contents)
	for name, f := range d.Files {
		if err := checkName(name); err != nil {
			return err
		}
		if err := m.file(ctx, *f, filepath.Join(dest, name)); err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, name), err)
		}
	}
	for name, target := range d.Symlinks {
		err := checkName(name)
		if err == nil {
			err = CheckSymlink(at, target)
		}
		if err == nil {
			err = os.Symlink(filepath.FromSlash(target), filepath.Join(dest, name))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, name), err)
		}
	}
	for name, sub := range d.Dirs {
		if err := checkName(name); err != nil {
			return err
		}
		to, p := filepath.Join(dest, name), path.Join(at, name)
		run := func() error { return m.dir(ctx, sub, p, to, depth+1) }
		if !m.g.TryGo(run) { // all goroutines are busy: run it on this one
			if err := run(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *materializer) file(ctx context.Context, f File, dest string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if !m.writable {
		return store.Link(ctx, m.blobs, f.Digest, dest, f.Executable)
	}
	perm := fs.FileMode(0o644)
	if f.Executable {
		perm = 0o755
	}
	return store.CopyFile(ctx, m.blobs, f.Digest, dest, perm)
}
