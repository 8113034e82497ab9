package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute/dirpool"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
)

// maxDepth is how many folders may be inside each other, as in package tree.
const maxDepth = 256

// layout puts the inputs of an action into an execRoot.
type layout struct {
	x      *Executor
	a      *action.Action
	s      *execRoot
	shared map[digest.Digest]string // toolchains that stand elsewhere
	in     store.Blobs              // where the messages of the inputs are
	open   []string                 // slash paths of folders in which a restricted command may write; nil: nothing is restricted
}

// inputs lays the action's inputs out.
func (l *layout) inputs(ctx context.Context, root *merkle.Dir) error {
	if err := l.dir(ctx, root, "", "root", 0); err != nil {
		return err
	}
	return l.s.drop()
}

// dir lays a folder out that is at a slash path of the exec root, and at rel below the execRoot's folder.
func (l *layout) dir(ctx context.Context, d *merkle.Dir, at, rel string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("folders are more than %d deep", maxDepth)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	d, err := d.Open(ctx, l.in)
	if err != nil {
		return err
	}
	if done, err := l.pooled(ctx, d, at, rel, depth); done || err != nil {
		return err
	}
	// Folders of the execRoot are the action's own and names are checked when a tree is read: nothing is written through a symlink.
	if err := l.s.folder(rel, false); err != nil {
		return err
	}
	store.Fetch(ctx, l.x.o.Store, d.Contents)
	writable := l.writable(at)
	for name, f := range d.Files {
		p := rel + "/" + name
		done, err := l.useHostFile(*f, p)
		if !done && err == nil {
			err = l.ensure(p, entry{file: *f, copy: l.copies(*f, writable)}, func(to string) (stat.Stamp, error) { return l.put(ctx, *f, p, to, writable) })
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, name), err)
		}
	}
	for name, target := range d.Symlinks {
		err := merkle.CheckSymlink(at, target)
		if err == nil {
			err = l.symlink(rel+"/"+name, filepath.FromSlash(target))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, name), err)
		}
	}
	for name, sub := range d.Dirs {
		p := rel + "/" + name
		if ref, ok := sub.Ref(); ok {
			if shared, ok := l.shared[ref]; ok {
				if err := l.symlink(p, shared); err != nil {
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

func (l *layout) symlink(rel, target string) error {
	return l.ensure(rel, entry{link: target}, func(to string) (stat.Stamp, error) { return stat.Stamp{}, os.Symlink(target, to) })
}

// ensure sees to it that what is wanted is at the slash path, and has it made if the last action did not leave it there. put returns its stamp, or
// none.
func (l *layout) ensure(rel string, want entry, put func(to string) (stat.Stamp, error)) error {
	there, err := l.s.has(rel, want)
	if there || err != nil {
		return err
	}
	if want.is, err = put(l.s.path(rel)); err != nil {
		return err
	}
	l.s.stays(rel, want)
	return nil
}

// writable tells whether a restricted command may write to the files of the folder at the slash path.
func (l *layout) writable(at string) bool {
	for _, o := range l.open {
		if o == "." || at == o || strings.HasPrefix(at, o+"/") {
			return true
		}
	}
	return false
}

// maxOwn is how large an input may be, in bytes, that is copied so that a command may do with it what it likes.
const maxOwn = 1 << 20

// maxWhole is how large an input may be, in bytes, that is copied in one piece.
const maxWhole = 64 << 10

// put is file for an input at the slash path rel, which is at p. It returns the file's stamp where it knows it.
func (l *layout) put(ctx context.Context, f merkle.File, rel, p string, writable bool) (stat.Stamp, error) {
	if f.Executable || f.Digest.Size() > maxWhole || !l.copies(f, writable) {
		return stat.Stamp{}, l.file(ctx, f, p, writable)
	}
	b, err := store.ReadBlob(ctx, l.x.o.Store, f.Digest, maxWhole)
	if err != nil {
		return stat.Stamp{}, err
	}
	return l.s.at.CreateStamped(rel, "", b, 0o444, store.LinkTime())
}

// file puts an input at p. Where a restricted command may replace it, it gets a copy of its own. A large file is linked even so: a
// command that changes the mode, to write to it, gets a copy then.
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

// unsupervised tells whether nothing keeps a restricted command from changing the mode and the times of what is linked.
func (l *layout) unsupervised() bool { return l.s.worker != nil && l.x.o.Base.Unsupervised() != nil }

// output makes the folder that an output is written to. It goes through no symlink: behind the one of a toolchain is a
// folder that all actions share.
func (l *layout) output(o string) error {
	o = path.Clean(o)
	dir := path.Dir(o)
	if dir == "." {
		return nil
	}
	at := "root"
	for _, name := range strings.Split(dir, "/") {
		at += "/" + name
		if k := l.s.entries[at]; k != nil && !k.is.IsDir() {
			return fmt.Errorf("%s is an input and no folder of this action's own: let the command write elsewhere", name)
		}
		if err := l.s.folder(at, false); err != nil {
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

// toolchains unpacks the folders below toolchains/ of the input root, each once for all actions, and returns where they
// are. In the exec root a link stands in their place.
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

// pooled lays a folder of inputs out from the pool, or for it, and tells whether it did. Its files are links, also where a restricted command may
// replace them.
func (l *layout) pooled(ctx context.Context, d *merkle.Dir, at, rel string, depth int) (bool, error) {
	pool := l.x.o.Pool
	if s := l.s.entries[rel]; at == "" || !pool.Keeps(d) || s != nil && s.own || l.unsupervised() {
		return false, nil
	}
	tree := dirpool.Tree{Files: map[string]*merkle.File{}}
	if ok, err := l.flatten(ctx, d, "", &tree, depth); !ok || err != nil {
		return false, err
	}
	if err := l.s.clear(rel); err != nil {
		return false, err
	}
	dest := l.s.path(rel)
	// The next run of the same command has the same key.
	key := fmt.Sprintf("%q %q %q", at, l.a.Command.Outputs, l.a.Command.Args[:min(len(l.a.Command.Args), 2)])
	f := pool.Folder(key, dest, tree)
	link := func(name string, f merkle.File) error {
		done, err := l.useHostFile(f, rel+"/"+name)
		if !done && err == nil {
			err = l.file(ctx, f, filepath.Join(dest, filepath.FromSlash(name)), false)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, name), err)
		}
		return nil
	}
	l.s.goes(rel)
	done, err := pool.Take(f, link)
	if !done && err == nil {
		err = f.Make(link)
	}
	if err != nil {
		return false, err
	}
	l.s.pooled = append(l.s.pooled, f)
	return true, nil
}

// flatten adds what is below the slash path. It is false where there is something that the pool does not keep.
func (l *layout) flatten(ctx context.Context, d *merkle.Dir, at string, to *dirpool.Tree, depth int) (bool, error) {
	if depth > maxDepth || len(d.Symlinks) > 0 {
		return false, nil
	}
	for name, f := range d.Files {
		to.Files[path.Join(at, name)] = f
	}
	for name, sub := range d.Dirs {
		if ref, ok := sub.Ref(); ok && l.shared[ref] != "" {
			return false, nil
		}
		sub, err := sub.Open(ctx, l.in)
		if err != nil {
			return false, err
		}
		to.Dirs = append(to.Dirs, path.Join(at, name))
		if ok, err := l.flatten(ctx, sub, path.Join(at, name), to, depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// putBack gives the pool what came from it, and what is worth keeping.
func (x *Executor) putBack(s *execRoot) {
	for _, f := range s.pooled {
		x.o.Pool.Give(f)
	}
	s.pooled = nil
}
