package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
)

// made are the outputs of a unit, by their slash paths in the exec root.
type made map[string]merkle.Entry

// assembler turns inputs into Merkle trees. What it finds out about workspace files and artifacts it remembers for
// the length of one build.
type assembler struct {
	g         *graph
	fn        digest.Function
	blobs     store.Blobs
	hasher    merkle.Hasher
	files     *store.HostFiles // in blobs
	workspace string
	inputs    lookedAt

	mu        sync.Mutex
	hosts     map[string]*lazyEntry
	artifacts map[addrs.Output]*lazyEntry
	folders   map[digest.Digest]*merkle.Dir // opened
}

// InputError says that a pipeline names a file or folder that is not there or cannot be used: a mistake in the
// pipeline, not a failure of the engine.
type InputError struct {
	Path       string
	In         string // the artifact that does not have it; "" for the workspace
	NotProgram bool   // it is there, but cannot be started, as a step would have it
	// it is there, but cannot be an input: a link that leads out of the workspace, or a folder with such a thing in
	// it
	Unfit error
}

// Error returns the message, with the remedy.
func (e *InputError) Error() string {
	if inside := (*merkle.UnfitError)(nil); errors.As(e.Unfit, &inside) {
		return fmt.Sprintf("%s: %v", path.Join(e.Path, inside.Path), inside.Err)
	}
	if errors.Is(e.Unfit, fs.ErrPermission) {
		return fmt.Sprintf("%s of the workspace, or something in it, may not be read by you: chmod -R u+r %s, or "+
			"ask whose it is", e.Path, e.Path)
	}
	if e.Unfit != nil {
		return e.Unfit.Error()
	}
	if e.NotProgram {
		return fmt.Sprintf("argv[0] is %s of the workspace, which is no executable file: chmod +x %s, or name the "+
			"program that runs it first, such as argv = [\"sh\", %q]", e.Path, e.Path, e.Path)
	}
	if e.In != "" {
		return fmt.Sprintf("there is no %s in %s: correct the path, or the step that makes it", e.Path, e.In)
	}
	return fmt.Sprintf("the workspace has no file or folder %s: correct the path, or make it", e.Path)
}

// lazyEntry is something that is worked out once by whoever comes first, while the others wait.
type lazyEntry struct {
	sync.Once
	entry merkle.Entry
	err   error
}

func newAssembler(g *graph, fn digest.Function, hasher merkle.Hasher, files *store.HostFiles,
	workspace string) *assembler {
	return &assembler{g: g, fn: fn, blobs: files, hasher: hasher, files: files, workspace: workspace,
		hosts: map[string]*lazyEntry{}, artifacts: map[addrs.Output]*lazyEntry{},
		folders: map[digest.Digest]*merkle.Dir{}}
}

// root merges inputs into the tree of an exec root. It also returns each input, and the literal contents among them,
// which are not in the store yet.
func (a *assembler) root(ctx context.Context, n *instance,
	inputs []action.Input) (*merkle.Dir, []merkle.Entry, map[digest.Digest][]byte, error) {
	root, entries := &merkle.Dir{}, make([]merkle.Entry, len(inputs))
	literals := literalsOf(inputs)
	a.readHosts(ctx, inputs)
	for i, in := range inputs {
		e, err := a.entry(ctx, n, in, literals)
		if err == nil {
			err = root.InsertEntry(ctx, a.blobs, in.Path, e)
		}
		if err != nil {
			return nil, nil, nil, fmt.Errorf("input %s: %w", in.Path, err)
		}
		entries[i] = e
	}
	return root, entries, literals, nil
}

// readHosts reads the files and folders of the workspace that nobody has read in this build on all processors: they
// may be gigabytes. entry returns what is wrong with one.
func (a *assembler) readHosts(ctx context.Context, inputs []action.Input) {
	a.mu.Lock()
	unread := slices.DeleteFunc(slices.Clone(inputs), func(in action.Input) bool {
		return in.Host == nil || a.hosts[hostKey(*in.Host)] != nil
	})
	a.mu.Unlock()
	if len(unread) < 2 {
		return
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, in := range unread {
		g.Go(func() error { _, _ = a.host(ctx, *in.Host); return nil })
	}
	_ = g.Wait() // it returns no error
}

// literalsOf returns what the literal contents among inputs are put into; nil where there are none.
func literalsOf(inputs []action.Input) map[digest.Digest][]byte {
	if slices.ContainsFunc(inputs, func(in action.Input) bool { return in.Content != nil }) {
		return map[digest.Digest][]byte{}
	}
	return nil
}

// entry returns what an input is.
func (a *assembler) entry(ctx context.Context, n *instance, in action.Input,
	literals map[digest.Digest][]byte) (e merkle.Entry, err error) {
	switch {
	case in.Content != nil:
		d := a.fn.Bytes(in.Content.Data)
		literals[d] = in.Content.Data
		e = merkle.Entry{File: &merkle.File{Digest: d, Executable: in.Content.Executable}}
	case in.Host != nil:
		e, err = a.host(ctx, *in.Host)
	case in.Spec != nil:
		ok := false
		if u := n.named(in.Spec.Spec); u != nil {
			e, ok = u.out[in.Spec.Path]
		}
		if !ok {
			err = fmt.Errorf("action %q has no output %q", in.Spec.Spec, in.Spec.Path)
		}
	case in.Artifact != nil:
		e, err = a.artifact(ctx, *in.Artifact)
	default:
		err = errors.New("the input names no source (a fault of the step's kind)")
	}
	if err != nil || in.Sub == "" {
		return e, err
	}
	if e.Dir == nil {
		return e, fmt.Errorf("cannot take %s from a file: it is no folder", in.Sub)
	}
	sub, err := a.sub(ctx, e.Dir, in.Sub)
	if errors.Is(err, merkle.ErrNotExist) {
		what := "the tree"
		switch {
		case in.Artifact != nil:
			what = in.Artifact.String()
		case in.Host != nil:
			what = in.Host.Path
		}
		return e, &InputError{Path: in.Sub, In: what}
	}
	return sub, err
}

// maxLinks is how many symlinks a path may lead through.
const maxLinks = 40

// sub returns what is at p in the tree, following symlinks: whoever takes one file out of a tree wants the file.
func (a *assembler) sub(ctx context.Context, d *merkle.Dir, p string) (merkle.Entry, error) {
	_, e, err := a.locate(ctx, d, p)
	return e, err
}

// locate is sub that also returns where the symlinks lead, as a path in d.
func (a *assembler) locate(ctx context.Context, d *merkle.Dir, p string) (string, merkle.Entry, error) {
	p = path.Clean(p)
follow:
	for range maxLinks {
		e := merkle.Entry{Dir: d}
		if p == "." {
			return p, e, nil
		}
		names := strings.Split(p, "/")
		for i, name := range names {
			if e.Dir == nil {
				return p, e, fmt.Errorf("%s is no folder: %w", path.Join(names[:i]...), merkle.ErrNotExist)
			}
			at, err := a.open(ctx, e.Dir)
			if err != nil {
				return p, e, err
			}
			if e, err = at.Lookup(ctx, a.blobs, name); err != nil {
				return p, e, err
			}
			if e.Symlink != "" {
				p = path.Join(path.Join(names[:i]...), e.Symlink, path.Join(names[i+1:]...))
				continue follow
			}
		}
		return p, e, nil
	}
	return p, merkle.Entry{}, fmt.Errorf("%s leads through more than %d symlinks", p, maxLinks)
}

// open returns the folder with what is in it, one level deep. What it read it remembers: many inputs come out of the
// same few toolchains. Nobody may change a folder that it returned.
func (a *assembler) open(ctx context.Context, d *merkle.Dir) (*merkle.Dir, error) {
	ref, ok := d.Ref()
	if !ok {
		return d, nil
	}
	a.mu.Lock()
	known := a.folders[ref]
	a.mu.Unlock()
	if known != nil {
		return known, nil
	}
	opened, err := d.Open(ctx, a.blobs)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.folders[ref] = opened
	return opened, nil
}

// artifact puts an output of an instance together from its parts. What is one output of an action, as most are, is
// known as soon as it is looked at: that is not remembered.
func (a *assembler) artifact(ctx context.Context, o addrs.Output) (merkle.Entry, error) {
	if n := a.g.instance(o.Instance); n != nil {
		if parts := n.outputs[o.Name].Parts; len(parts) == 1 && parts[0].Path == "" && parts[0].Spec != nil &&
			parts[0].Sub == "" {
			return a.compose(ctx, o)
		}
	}
	a.mu.Lock()
	c := a.artifacts[o]
	if c == nil {
		c = &lazyEntry{}
		a.artifacts[o] = c
	}
	a.mu.Unlock()
	c.Do(func() { c.entry, c.err = a.compose(ctx, o) })
	return c.entry, c.err
}

func (a *assembler) compose(ctx context.Context, o addrs.Output) (merkle.Entry, error) {
	n := a.g.instance(o.Instance)
	if n == nil {
		return merkle.Entry{}, fmt.Errorf("%s is not in the plan", o)
	}
	art, ok := n.outputs[o.Name]
	if !ok {
		return merkle.Entry{}, fmt.Errorf("%s is no output of its step", o)
	}
	literals := literalsOf(art.Parts)
	if len(art.Parts) == 1 && art.Parts[0].Path == "" {
		e, err := a.entry(ctx, n, art.Parts[0], literals)
		if err == nil && art.Class == action.Tree && e.Dir == nil {
			err = fmt.Errorf("%s should be a folder, but its action wrote a file", o)
		}
		return e, errors.Join(err, a.keep(ctx, literals))
	}
	dir := &merkle.Dir{}
	stored := o.Kind == addrs.Toolchain // all of it: then it is one tree that actions share, as those of one part are
	for _, p := range art.Parts {
		e, err := a.entry(ctx, n, p, literals)
		if err == nil {
			if stored = stored && e.Dir != nil; stored {
				_, stored = e.Dir.Ref()
			}
			err = dir.InsertEntry(ctx, a.blobs, p.Path, e)
		}
		if err != nil {
			return merkle.Entry{}, fmt.Errorf("%s: %w", o, err)
		}
	}
	if err := a.keep(ctx, literals); err != nil {
		return merkle.Entry{}, err
	}
	if stored {
		root, err := dir.Put(ctx, a.blobs, a.fn)
		return merkle.Entry{Dir: merkle.Ref(root)}, err
	}
	return merkle.Entry{Dir: dir}, nil
}

// keep puts literal contents into the store.
func (a *assembler) keep(ctx context.Context, literals map[digest.Digest][]byte) error {
	for d, b := range literals {
		if err := a.blobs.Put(ctx, d, strings.NewReader(string(b))); err != nil {
			return err
		}
	}
	return nil
}

// hostKey tells what is read of the machine's files for an input.
func hostKey(h action.HostPath) string {
	if len(h.Globs) == 0 {
		return h.Path // which has no zero
	}
	return h.Path + "\x00" + strings.Join(h.Globs, "\x00")
}

// host reads a file or folder of the workspace.
func (a *assembler) host(ctx context.Context, h action.HostPath) (merkle.Entry, error) {
	key := hostKey(h)
	a.mu.Lock()
	c := a.hosts[key]
	if c == nil {
		c = &lazyEntry{}
		a.hosts[key] = c
	}
	a.mu.Unlock()
	c.Do(func() {
		c.entry, c.err = a.scan(ctx, h)
		if errors.Is(c.err, fs.ErrPermission) && !errors.As(c.err, new(*InputError)) {
			c.err = &InputError{Path: h.Path, Unfit: c.err}
		}
	})
	return c.entry, c.err
}

func (a *assembler) scan(ctx context.Context, h action.HostPath) (merkle.Entry, error) {
	name, root := filepath.FromSlash(h.Path), a.workspace
	if filepath.IsAbs(name) {
		root = filepath.VolumeName(name) + string(filepath.Separator)
	}
	now := time.Now()
	place, err := rooted.Resolve(root, strings.TrimPrefix(name, root))
	at, st := place.Path, place.Stamp
	note := a.inputs.below(h, place)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return merkle.Entry{}, &InputError{Path: h.Path, Unfit: err}
	}
	if err == nil && !st.Exists() {
		st, err = stat.Lstat(at) // why not
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		note("", stat.Stamp{})
		return merkle.Entry{}, &InputError{Path: h.Path}
	case err != nil:
		return merkle.Entry{}, err
	case st.IsDir():
		large := largeFiles{}
		d, err := merkle.Scan(ctx, a.hasher, at, merkle.ScanOptions{Globs: h.Globs, Seen: large.note(note)})
		if errors.As(err, new(*merkle.UnfitError)) {
			err = &InputError{Path: h.Path, Unfit: err}
		}
		if err != nil {
			return merkle.Entry{}, err
		}
		err = d.Walk(func(p string, e merkle.Entry) error {
			if e.File != nil {
				file := filepath.Join(at, filepath.FromSlash(p))
				if st, ok := large.stamps[p]; ok {
					a.files.AddRef(e.File.Digest, file, st, now)
				} else {
					a.files.Add(e.File.Digest, file)
				}
			}
			return nil
		})
		return merkle.Entry{Dir: d}, err
	case !st.IsRegular():
		return merkle.Entry{}, fmt.Errorf("%s is neither a file nor a folder", h.Path)
	}
	note("", st)
	d, err := a.hasher(at, st)
	if err != nil {
		return merkle.Entry{}, err
	}
	a.files.AddRef(d, at, st, now)
	return merkle.Entry{File: &merkle.File{Digest: d, Executable: st.Executable()}}, nil
}

// largeFiles are those of a folder that can be read in place, with their stamps of before they were hashed.
type largeFiles struct {
	mu     sync.Mutex
	stamps map[string]stat.Stamp // by slash path in the folder
}

// note returns a callback of merkle.Scan that notes large files and calls next.
func (l *largeFiles) note(next func(string, stat.Stamp)) func(string, stat.Stamp) {
	return func(p string, st stat.Stamp) {
		if next != nil {
			next(p, st)
		}
		if st.Size < store.MinRef || !st.IsRegular() {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.stamps == nil {
			l.stamps = map[string]stat.Stamp{}
		}
		l.stamps[p] = st
	}
}
