package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// maxDepth is how many folders may be inside each other, as in package merkle.
const maxDepth = 256

// layout puts the inputs of an action into an execRoot.
type layout struct {
	x      *Executor
	a      *action.Action
	s      *execRoot
	shared map[digest.Digest]string // toolchains that stand elsewhere
	in     store.Blobs              // where the messages of the inputs are
	open   []string                 // slash paths of folders in which a restricted command may write
}

// dir lays a folder out that is at a slash path of the exec root, and at rel below the execRoot's folder.
func (l *layout) dir(ctx context.Context, d *merkle.Dir, at, rel string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("folders are nested more than %d levels deep", maxDepth)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	d, err := d.Open(ctx, l.in)
	if err != nil {
		return err
	}
	// Names are checked when a tree is read and each folder is new: nothing is written through a symlink.
	if at != "" {
		if err := os.Mkdir(l.s.path(rel), 0o755); err != nil {
			return err
		}
	}
	store.Fetch(ctx, l.x.o.Store, d.Contents)
	writable := l.writable(at)
	var files errgroup.Group
	files.SetLimit(runtime.GOMAXPROCS(0))
	for name, f := range d.Files {
		p := rel + "/" + name
		put := func() error { return l.file(ctx, *f, l.s.path(p), writable) }
		done, err := l.useHostFile(*f, p)
		switch {
		case done || err != nil:
		case len(d.Files) < manyFiles:
			err = put()
		default:
			files.Go(put)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", path.Join(at, name), err), files.Wait())
		}
	}
	if err := files.Wait(); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	for name, target := range d.Symlinks {
		err := merkle.CheckSymlink(at, target)
		if err == nil {
			err = os.Symlink(filepath.FromSlash(target), l.s.path(rel+"/"+name))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, name), err)
		}
	}
	for name, sub := range d.Dirs {
		p := rel + "/" + name
		if ref, ok := sub.Ref(); ok {
			if shared, ok := l.shared[ref]; ok {
				if err := os.Symlink(shared, l.s.path(p)); err != nil {
					return err
				}
				continue
			}
		}
		if err := l.dir(ctx, sub, path.Join(at, name), p, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// manyFiles is how many files of one folder are worth more than one processor.
const manyFiles = 100

// writable tells whether a restricted command may write to the files of the folder at the slash path.
func (l *layout) writable(at string) bool {
	for _, o := range l.open {
		if o == "." || at == o || strings.HasPrefix(at, o+"/") {
			return true
		}
	}
	return false
}

// maxOwn is the size in bytes up to which inputs in writable folders are copied, so that a command may change them.
// Links would also make equal inputs one file, which tar records as a hard link.
const maxOwn = 1 << 20

// file puts an input at p: a copy where a restricted command may replace it, else a link. A large file is a link
// anyway: if the command tries to change its mode, the sandbox's supervisor copies it.
func (l *layout) file(ctx context.Context, f merkle.File, p string, writable bool) error {
	if !l.copies(f, writable) {
		return store.Link(ctx, l.x.o.Store, f.Digest, p, f.Executable)
	}
	perm := fs.FileMode(0o444)
	if f.Executable {
		perm = 0o555
	}
	return store.CopyFile(ctx, l.x.o.Store, f.Digest, p, perm)
}

// copies tells whether an input is copied.
func (l *layout) copies(f merkle.File, writable bool) bool {
	return writable && f.Digest.Size() <= maxOwn || l.unsupervised()
}

// unsupervised tells whether a restricted command could change mode and times of linked files.
func (l *layout) unsupervised() bool { return l.s.restricted && l.x.o.Base.Unsupervised() != nil }

// output makes the folder that an output is written to. It goes through no symlink: behind the one of a toolchain is
// a folder that all actions share.
func (l *layout) output(o string) error {
	dir := path.Dir(path.Clean(o))
	if strings.HasSuffix(o, "/.") { // the folder itself
		dir = path.Clean(o)
	}
	if dir == "." {
		return nil
	}
	at := "root"
	for name := range strings.SplitSeq(dir, "/") {
		at += "/" + name
		err := os.Mkdir(l.s.path(at), 0o755)
		if st, lerr := os.Lstat(l.s.path(at)); errors.Is(err, fs.ErrExist) && lerr == nil && !st.IsDir() {
			return fmt.Errorf("outputs cannot be written below the input %s; choose another output path",
				name)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// create makes a new file at path. An input that is there goes away first: its content may be shared with the store.
func create(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// toolchains unpacks the folders below toolchains/ of the input root, each once for all actions, and returns where
// they are. In the exec root a link stands in their place.
func (x *Executor) toolchains(ctx context.Context, in store.Blobs, root *merkle.Dir) (map[digest.Digest]string, error) {
	if x.o.Trees == nil {
		return nil, nil
	}
	root, err := root.Open(ctx, in)
	if err != nil {
		return nil, err
	}
	dir := root.Dirs["toolchains"]
	if dir == nil {
		return nil, nil
	}
	if dir, err = dir.Open(ctx, in); err != nil {
		return nil, err
	}
	at := map[digest.Digest]string{}
	for _, sub := range dir.Dirs {
		if ref, ok := sub.Ref(); ok {
			if at[ref], err = x.o.Trees.Path(ctx, x.o.Store, ref); err != nil {
				return nil, err
			}
		}
	}
	return at, nil
}
