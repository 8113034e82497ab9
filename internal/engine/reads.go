package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/depfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// reads computes the action.Reads of a unit with a depfile. A folder among its inputs counts by its names and by the
// contents of the files that were read. All other inputs count in full.
//
// The names matter because a compiler searches folders in order: a new header may shadow one that was read and has not
// changed.
type reads struct {
	w       *worker
	u       *unit
	a       action.Action // without the folders
	root    *merkle.Dir   // the whole exec root
	fixed   *merkle.Dir   // inputs that count in full
	folders []readFolder
	names   string // digest of all names in folders
}

// readFolder is an input folder that counts by the files that were read.
type readFolder struct {
	at  string // slash path in the exec root; "" is the root itself
	dir *merkle.Dir
}

// listing is a folder with all of its files, and the digest of the names.
type listing struct {
	sync.Once
	dir   *merkle.Dir
	names digest.Digest
	err   error
}

func (w *worker) reads(ctx context.Context, u *unit, a *action.Action, root *merkle.Dir,
	entries []merkle.Entry) (*reads, error) {
	r := &reads{w: w, u: u, a: *a, root: root, fixed: &merkle.Dir{}}
	var names strings.Builder
	for i, in := range u.spec.Inputs {
		e := entries[i]
		if e.Dir == nil || in.Shared || in.Whole {
			if err := r.fixed.InsertEntry(ctx, w.blobs, in.Path, e); err != nil {
				return nil, err
			}
			continue
		}
		l := w.listing(ctx, e.Dir)
		if l.err != nil {
			return nil, l.err
		}
		r.folders = append(r.folders, readFolder{path.Clean("/" + in.Path)[1:], l.dir})
		fmt.Fprintf(&names, "%q %s\n", in.Path, l.names)
	}
	r.names = w.fn.Bytes([]byte(names.String())).String()
	return r, nil
}

// listing loads and lists the folder, once a build.
func (w *worker) listing(ctx context.Context, d *merkle.Dir) *listing {
	known, _ := w.listings.LoadOrStore(d, &listing{})
	l := known.(*listing)
	l.Do(func() {
		if l.dir, l.err = w.load(ctx, d); l.err != nil {
			return
		}
		var names strings.Builder
		l.err = l.dir.Walk(func(p string, e merkle.Entry) error {
			switch {
			case e.Dir != nil:
				p += "/"
			case e.File == nil:
				p += "\x00" + e.Symlink
			case e.File.Executable:
				p += "*"
			}
			fmt.Fprintf(&names, "%q\n", p)
			return nil
		})
		l.names = w.fn.Bytes([]byte(names.String()))
	})
	return l
}

// load returns the folder with all levels below it.
func (w *worker) load(ctx context.Context, d *merkle.Dir) (*merkle.Dir, error) {
	at, whole := d.Ref()
	whole = !whole
	_ = d.Walk(func(_ string, e merkle.Entry) error {
		if e.Dir != nil {
			_, ref := e.Dir.Ref()
			whole = whole && !ref
		}
		return nil
	})
	if whole {
		return d, nil
	}
	if at.IsZero() {
		root, blobs := d.Encode(w.fn)
		if err := w.keep(ctx, blobs); err != nil {
			return nil, err
		}
		at = root
	}
	return merkle.Load(ctx, w.blobs, at)
}

func (r *reads) Broad() *action.Action { return r.with(r.fixed, "names "+r.names) }

func (r *reads) Narrow(ctx context.Context, paths []string) (*action.Action, error) {
	root := r.fixed.Clone()
	for _, p := range paths {
		f, rel, ok := r.folder(p)
		if !ok {
			return nil, fmt.Errorf("%s is outside the folders whose reads hexmage tracks", p)
		}
		e, err := f.dir.Lookup(ctx, nil, rel)
		if err != nil {
			return nil, err
		}
		if e.File == nil {
			return nil, fmt.Errorf("%s: not a file", p)
		}
		if err := root.InsertEntry(ctx, r.w.blobs, p, e); err != nil {
			return nil, err
		}
	}
	return r.with(root, "contents "+r.names), nil
}

func (r *reads) with(root *merkle.Dir, what string) *action.Action {
	a := r.a
	a.InputRoot, a.Directories = root.Encode(r.w.fn)
	a.Command.Platform = maps.Clone(a.Command.Platform)
	a.Command.Platform[action.PropertyReads] = what
	return &a
}

// folder returns the innermost folder that contains the path, and the path in it. Inputs can be nested: the whole
// workspace, and in it a folder that another step makes.
func (r *reads) folder(p string) (in readFolder, rel string, ok bool) {
	for _, f := range r.folders {
		rest, below := strings.CutPrefix(p, f.at+"/")
		if f.at == "" {
			rest, below = p, true
		}
		if below && (!ok || len(f.at) > len(in.at)) {
			in, rel, ok = f, rest, true
		}
	}
	return in, rel, ok
}

func (r *reads) Read(ctx context.Context, text []byte, root string) ([]string, error) {
	names, err := depfile.Parse(text)
	if err != nil {
		return nil, &execute.Error{Op: "read the depfile " + r.a.Depfile, Refused: true, Err: err}
	}
	roots := []string{root}
	if base := filepath.Dir(filepath.Dir(root)); root != "" { // tools may resolve symlinks in the path
		if real, err := filepath.EvalSymlinks(base); err == nil && real != base {
			roots = append(roots, real+strings.TrimPrefix(root, base))
		}
	}
	var all []string
	for _, name := range names {
		p, ok := r.inside(name, roots)
		if !ok {
			if rel, ok := r.workspace(p); ok {
				return nil, r.undeclared(name, rel)
			}
			continue // part of the host's base system, of a toolchain, or the action's own temporary file
		}
		if r.own(p) {
			continue
		}
		final, e, err := r.w.locate(ctx, r.root, p)
		switch {
		case errors.Is(err, merkle.ErrNotExist):
			return nil, r.undeclared(name, p)
		case err != nil:
			return nil, &execute.Error{Op: "find the paths in the depfile " + r.a.Depfile, Err: err}
		case e.Dir != nil:
			all = append(all, r.below(final)...)
		default:
			_, _, ok := r.folder(final)
			if _, err := r.fixed.Lookup(ctx, r.w.blobs, final); ok && errors.Is(err, merkle.ErrNotExist) {
				all = append(all, final)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// inside returns the exec root path of a name in the depfile, or false and its host path.
func (r *reads) inside(name string, roots []string) (string, bool) {
	if !path.IsAbs(name) {
		p := path.Clean(name)
		if p != ".." && !strings.HasPrefix(p, "../") {
			return p, true
		}
		name = path.Join(filepath.ToSlash(roots[0]), p)
	}
	name = path.Clean(name)
	for _, root := range roots {
		if rel, ok := strings.CutPrefix(name, filepath.ToSlash(root)+"/"); ok && root != "" {
			return rel, true
		}
	}
	return name, false
}

// workspace returns the workspace path of a host path, if it has one. Paths in the cache do not count: the cache may be
// in the workspace, and hexmage wrote its files.
func (r *reads) workspace(p string) (string, bool) {
	if r.w.o.State != "" && strings.HasPrefix(p, filepath.ToSlash(string(layout.StateDir(r.w.o.State).Root()))+"/") {
		return "", false
	}
	return strings.CutPrefix(p, filepath.ToSlash(filepath.Clean(r.w.workspace))+"/")
}

// own reports whether the action wrote the file itself, or the file belongs to a toolchain, which counts in full.
func (r *reads) own(p string) bool {
	for _, o := range r.a.Command.Outputs {
		if p == o || strings.HasPrefix(p, o+"/") {
			return true
		}
	}
	for _, in := range r.u.spec.Inputs {
		if in.Shared && strings.HasPrefix(p, in.Path+"/") {
			return true
		}
	}
	return false
}

// below returns the files below the path in the folders that count by the files that were read.
func (r *reads) below(p string) []string {
	var all []string
	for _, f := range r.folders {
		_ = f.dir.Walk(func(rel string, e merkle.Entry) error {
			if at := path.Join(f.at, rel); e.File != nil && (p == "." || strings.HasPrefix(at, p+"/")) {
				all = append(all, at)
			}
			return nil
		})
	}
	return all
}

func (r *reads) undeclared(name, p string) error {
	return &execute.Error{Op: "read the depfile " + r.a.Depfile, Refused: true,
		Err: fmt.Errorf("the command read %s, which is not an input of the step", name),
		Remedy: fmt.Sprintf("declare the file or its folder: inputs = [%q]. Write files of the command itself to "+
			"$TMPDIR. Names in a depfile are relative to the folder in which the command starts.", p)}
}
