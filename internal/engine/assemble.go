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
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
)

// made holds the outputs of a unit by their slash paths in the exec root.
type made map[string]merkle.Entry

// assembler turns inputs into Merkle trees. It caches its findings about workspace files and artifacts for one build.
type assembler struct {
	g         *graph
	fn        digest.Function
	blobs     store.Blobs
	hasher    merkle.Hasher
	files     *store.HostFiles // in blobs
	workspace string
	inputs    lookedAt

	mu        sync.Mutex
	hosts     map[string]lazyEntry
	artifacts map[addrs.Output]lazyEntry
	folders   map[digest.Digest]*merkle.Dir // loaded
}

// InputError reports an input of the pipeline that is missing or unusable. The author of the pipeline has to fix it; it
// is not an engine error.
type InputError struct {
	Path       string
	In         string // artifact in which the path is missing; "": the workspace
	NotProgram bool   // the file exists, but is not executable and the step runs it
	// reason why an existing path cannot be an input: it is a link to a place outside the workspace, or contains one
	Unfit error
}

// Error returns the message with the next step for the user.
func (e *InputError) Error() string {
	if inside := (*merkle.UnfitError)(nil); errors.As(e.Unfit, &inside) {
		return fmt.Sprintf("%s: %v", path.Join(e.Path, inside.Path), inside.Err)
	}
	if errors.Is(e.Unfit, fs.ErrPermission) {
		return fmt.Sprintf("you have no permission to read %s in the workspace; run chmod -R u+r %s", e.Path, e.Path)
	}
	if e.Unfit != nil {
		return e.Unfit.Error()
	}
	if e.NotProgram {
		return fmt.Sprintf("argv[0] is the workspace file %s, which is not executable; run chmod +x %s, or start it "+
			"with an interpreter, such as argv = [\"sh\", %q]", e.Path, e.Path, e.Path)
	}
	if e.In != "" {
		return fmt.Sprintf("%[2]s does not contain %[1]s; correct the path, or the step that writes %[2]s", e.Path,
			e.In)
	}
	return fmt.Sprintf("the workspace has no file or folder %s; correct the path, or create the file", e.Path)
}

// lazyEntry returns an entry that the first call computes.
type lazyEntry func() (merkle.Entry, error)

// lazily returns the entry of m for key. If the key is absent, it adds an entry that calls f.
func lazily[K comparable](mu *sync.Mutex, m map[K]lazyEntry, key K, f lazyEntry) lazyEntry {
	mu.Lock()
	defer mu.Unlock()
	if m[key] == nil {
		m[key] = sync.OnceValues(f)
	}
	return m[key]
}

// root merges inputs into the tree of an exec root. It also returns each input, and the literal contents among them,
// which are not in the store yet.
func (a *assembler) root(ctx context.Context, n *instance,
	inputs []action.Input) (*merkle.Dir, []merkle.Entry, map[digest.Digest][]byte, error) {
	root, entries := &merkle.Dir{}, make([]merkle.Entry, len(inputs))
	literals := map[digest.Digest][]byte{}
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

// readHosts reads the workspace files and folders that this build has not read yet. It uses all processors, because the
// files may be gigabytes. entry returns their errors.
func (a *assembler) readHosts(ctx context.Context, inputs []action.Input) {
	a.mu.Lock()
	unread := slices.DeleteFunc(slices.Clone(inputs), func(in action.Input) bool {
		return in.Host == nil || a.hosts[in.Host.Path] != nil
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
	_ = g.Wait() // the functions return no error
}

// entry returns the Merkle entry of an input.
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
		if u := n.byName[in.Spec.Spec]; u != nil {
			e, ok = u.out[in.Spec.Path]
		}
		if !ok {
			err = fmt.Errorf("action %q has no output %q", in.Spec.Spec, in.Spec.Path)
		}
	case in.Artifact != nil:
		e, err = a.artifact(ctx, *in.Artifact)
	default:
		err = errors.New("the input lacks a source; report this bug in the step kind")
	}
	if err != nil || in.Sub == "" {
		return e, err
	}
	if e.Dir == nil {
		return e, fmt.Errorf("cannot take %s from an output that is a file; use an output that is a folder", in.Sub)
	}
	_, sub, err := a.locate(ctx, e.Dir, in.Sub)
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

// maxLinks is the largest number of symlinks in a path.
const maxLinks = 40

// locate returns the entry at p in the tree. It follows symlinks, because an input that names one file of a tree needs
// the file. It also returns the path in d after following symlinks.
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
				return p, e, fmt.Errorf("%s: not a folder: %w", path.Join(names[:i]...), merkle.ErrNotExist)
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
	return p, merkle.Entry{}, fmt.Errorf("path %s resolves through more than %d symlinks", p, maxLinks)
}

// open returns the folder with its entries, one level deep. It caches folders, because many inputs come from the same
// few toolchains. Callers must not change a returned folder.
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

// artifact assembles an output of an instance from its parts.
func (a *assembler) artifact(ctx context.Context, o addrs.Output) (merkle.Entry, error) {
	return lazily(&a.mu, a.artifacts, o, func() (merkle.Entry, error) { return a.compose(ctx, o) })()
}

func (a *assembler) compose(ctx context.Context, o addrs.Output) (merkle.Entry, error) {
	n := a.g.instance(o.Instance)
	if n == nil {
		return merkle.Entry{}, fmt.Errorf("the step of output %s is not in the plan", o)
	}
	art, ok := n.outputs[o.Name]
	if !ok {
		return merkle.Entry{}, fmt.Errorf("output %s does not exist", o)
	}
	literals := map[digest.Digest][]byte{}
	if len(art.Parts) == 1 && art.Parts[0].Path == "" {
		e, err := a.entry(ctx, n, art.Parts[0], literals)
		if err == nil && art.Class == action.Tree && e.Dir == nil {
			err = fmt.Errorf("output %s must be a folder, but the action wrote a file", o)
		}
		return e, errors.Join(err, a.keep(ctx, literals))
	}
	dir := &merkle.Dir{}
	stored := o.Kind == addrs.Toolchain // the whole artifact: actions share it as one tree, like one of a single part
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

// keep stores literal contents.
func (a *assembler) keep(ctx context.Context, literals map[digest.Digest][]byte) error {
	for d, b := range literals {
		if err := a.blobs.Put(ctx, d, strings.NewReader(string(b))); err != nil {
			return err
		}
	}
	return nil
}

// host reads a file or folder of the workspace.
func (a *assembler) host(ctx context.Context, h action.HostPath) (merkle.Entry, error) {
	return lazily(&a.mu, a.hosts, h.Path, func() (merkle.Entry, error) {
		e, err := a.scan(ctx, h)
		if errors.Is(err, fs.ErrPermission) && !errors.As(err, new(*InputError)) {
			err = &InputError{Path: h.Path, Unfit: err}
		}
		return e, err
	})()
}

func (a *assembler) scan(ctx context.Context, h action.HostPath) (merkle.Entry, error) {
	name, root := filepath.FromSlash(h.Path), a.workspace
	if filepath.IsAbs(name) {
		root = filepath.VolumeName(name) + string(filepath.Separator)
	}
	now := time.Now()
	place, err := safepath.Resolve(root, strings.TrimPrefix(name, root))
	at, st := place.Path, place.Stamp
	note := a.inputs.below(h, place)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return merkle.Entry{}, &InputError{Path: h.Path, Unfit: err}
	}
	if err == nil && !st.Exists() {
		st, err = stat.Lstat(at) // find the reason
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		note("", stat.Stamp{})
		return merkle.Entry{}, &InputError{Path: h.Path}
	case err != nil:
		return merkle.Entry{}, err
	case st.IsDir():
		large := largeFiles{}
		d, err := merkle.Scan(ctx, a.hasher, at, merkle.ScanOptions{Seen: large.note(note)})
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

// largeFiles are the files of a folder that can be read in place, with their stamps from before hashing.
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
