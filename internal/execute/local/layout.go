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
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/durable"
	"github.com/hexmage/hexmage/internal/tree"
)

// maxDepth is how many folders may be inside each other, as in package tree.
const maxDepth = 256

// layout puts the inputs of an action into a slot.
type layout struct {
	x      *Executor
	a      *action.Action
	s      *slot
	shared map[digest.Digest]string // toolchains that stand elsewhere
	linker cas.Linker               // nil: the store can only be copied from
	open   []string                 // slash paths of folders in which a restricted command may write; nil: nothing is restricted
}

// inputs lays the action's inputs out.
func (l *layout) inputs(ctx context.Context, root digest.Digest) error {
	return l.dir(ctx, tree.Ref(root), "", l.s.root(), 0)
}

func (l *layout) dir(ctx context.Context, d *tree.Dir, at, dest string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("folders are more than %d deep", maxDepth)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	d, err := d.Open(ctx, l.x.o.Store)
	if err != nil {
		return err
	}
	done, keep, err := l.kept(ctx, d, at, dest)
	if done || err != nil {
		return err
	}
	// Folders of the slot are the action's own and names are checked when a tree is read: nothing is written through a symlink.
	if err := l.folder(dest); err != nil {
		return err
	}
	writable := l.writable(at)
	for name, f := range d.Files {
		p := dest + string(filepath.Separator) + name
		if !keep {
			l.s.made = append(l.s.made, made{path: p})
		}
		if err := l.file(ctx, f, p, writable); err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, name), err)
		}
	}
	for name, target := range d.Symlinks {
		p := filepath.Join(dest, name)
		l.s.made = append(l.s.made, made{path: p})
		err := tree.CheckSymlink(at, target)
		if err == nil {
			err = os.Symlink(filepath.FromSlash(target), p)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, name), err)
		}
	}
	for name, sub := range d.Dirs {
		p := dest + string(filepath.Separator) + name
		if ref, ok := sub.Ref(); ok {
			if shared, ok := l.shared[ref]; ok {
				l.s.made = append(l.s.made, made{path: p})
				if err := os.Symlink(shared, p); err != nil {
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

// folder makes a folder, unless it is one that stays in the slot.
func (l *layout) folder(p string) error {
	if l.s.keeps(p) {
		return nil
	}
	l.s.made = append(l.s.made, made{path: p, dir: true})
	return os.Mkdir(p, 0o755)
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

// file puts an input at p. Where a restricted command may write to it after it changed the mode, which nothing keeps a
// file's owner from, it gets a copy of its own. A large file is linked even so: what is written to it the store notices.
func (l *layout) file(ctx context.Context, f tree.File, p string, writable bool) error {
	if !writable || !f.Executable || f.Digest.Size() > maxOwn {
		return l.put(ctx, f, p, writable)
	}
	if l.s.reuse(f.Digest, p) {
		return nil
	}
	if err := l.put(ctx, f, p, true); err != nil {
		return err
	}
	l.s.reusable(f.Digest, p)
	return nil
}

func (l *layout) put(ctx context.Context, f tree.File, p string, writable bool) error {
	if writable && f.Digest.Size() <= maxOwn {
		return l.copy(ctx, f, p)
	}
	if l.linker != nil {
		err := l.linker.Link(ctx, f.Digest, p, f.Executable)
		if err == nil || !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return l.copy(ctx, f, p)
}

// copyTime is the modification time of copies. That of blobs is fixed too: a command that looks at times of its inputs must
// not see when they were laid out.
func copyTime() time.Time { return time.Unix(1_000_000_000, 0) }

// copy makes p a copy.
func (l *layout) copy(ctx context.Context, f tree.File, p string) error {
	perm := fs.FileMode(0o444)
	write := func() error { return tree.CopyFile(ctx, l.x.o.Store, f.Digest, p, perm) }
	var err error
	if f.Executable {
		perm = 0o555
		err = durable.WriteProgram(write)
	} else {
		err = write()
	}
	if err != nil {
		return err
	}
	return os.Chtimes(p, time.Time{}, copyTime())
}

// output makes the folder that an output is written to. It goes through no symlink: behind the one of a toolchain is a
// folder that all actions share.
func (l *layout) output(o string) error {
	dir := path.Dir(path.Clean(o))
	l.s.made = append(l.s.made, made{path: filepath.Join(l.s.root(), filepath.FromSlash(o))})
	if dir == "." || l.s.keeps(filepath.Join(l.s.root(), filepath.FromSlash(dir))) {
		return nil
	}
	at := l.s.root()
	for _, name := range strings.Split(dir, "/") {
		at = filepath.Join(at, name)
		switch st, err := os.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			if err := l.folder(at); err != nil {
				return err
			}
		case err != nil:
			return err
		case !st.IsDir():
			return fmt.Errorf("%s is an input and no folder of this action's own: let the command write elsewhere", name)
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
func (x *Executor) toolchains(ctx context.Context, root digest.Digest) (map[digest.Digest]string, error) {
	if x.o.Trees == nil {
		return nil, nil
	}
	dir, err := tree.Ref(root).Sub(ctx, x.o.Store, "toolchains")
	if errors.Is(err, tree.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if dir, err = dir.Open(ctx, x.o.Store); err != nil {
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
