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

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// MaterialiseOptions say how Materialise writes.
type MaterialiseOptions struct {
	// Shared, if not nil, is asked for each folder of the tree that is a Ref, but for the root: where it returns a
	// path and true, a symlink to that path stands in for the folder. Trees.Find is made for it. It is called from
	// several goroutines.
	Shared func(root digest.Digest) (string, bool)
	// Copy makes files that the caller may write to: copies, verified, with mode 0644 or 0755. Otherwise they are
	// read-only (0444 or 0555) and share what they can with the store.
	Copy bool
}

// Materialise writes the tree to the folder dest, which must not exist, in a folder that does. Refs are read from the
// store, so Materialise(ctx, store, Ref(root), …) writes a tree of the store. Folders have mode 0755. A symlink that
// could lead out of dest is an error, and so are trees beyond the limits of Load. What was written before an error
// stays: the caller removes dest.
func Materialise(ctx context.Context, blobs store.Blobs, d *Dir, dest string, opts MaterialiseOptions) error {
	m := &materialiser{blobs: blobs, opts: opts}
	m.left.Store(maxEntries)
	m.g, ctx = errgroup.WithContext(ctx)
	m.g.SetLimit(2 * runtime.NumCPU())
	m.g.Go(func() error { return m.dir(ctx, d, "", dest, 0) })
	if err := m.g.Wait(); err != nil {
		return fmt.Errorf("write a tree to %s: %w", dest, err)
	}
	return nil
}

type materialiser struct {
	blobs store.Blobs
	opts  MaterialiseOptions
	g     *errgroup.Group
	left  atomic.Int64 // how many more entries may come
}

func (m *materialiser) dir(ctx context.Context, d *Dir, at, dest string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("folders are more than %d deep", maxDepth)
	}
	d, err := d.opened(ctx, m.blobs)
	if err != nil {
		return err
	}
	if m.left.Add(-int64(len(d.Files)+len(d.Dirs)+len(d.Symlinks))) < 0 {
		return fmt.Errorf("more than %d entries", maxEntries)
	}
	// The folder is new and its names are checked, so nothing is ever written through a symlink.
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
		if ref, ok := sub.Ref(); ok && m.opts.Shared != nil {
			if shared, ok := m.opts.Shared(ref); ok {
				if err := os.Symlink(shared, to); err != nil {
					return err
				}
				continue
			}
		}
		run := func() error { return m.dir(ctx, sub, p, to, depth+1) }
		if !m.g.TryGo(run) { // all are busy: do it here
			if err := run(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *materialiser) file(ctx context.Context, f File, dest string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if !m.opts.Copy {
		return store.Link(ctx, m.blobs, f.Digest, dest, f.Executable)
	}
	perm := fs.FileMode(0o644)
	if f.Executable {
		perm = 0o755
	}
	return store.CopyFile(ctx, m.blobs, f.Digest, dest, perm)
}
