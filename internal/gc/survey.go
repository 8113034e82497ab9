package gc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// survey is the content of a cache folder, with the items that each result needs.
type survey struct {
	root    layout.Root
	mu      sync.Mutex              // guards blobs while goroutines read results
	blobs   map[digest.Digest]*blob // by Unsized
	copies  []*item                 // executable copies of removed blobs
	results []*result
	trees   map[digest.Digest]*unpacked // by Unsized
	others  []*item
}

// blob is a blob's file, with its executable copy.
type blob struct {
	*item
	digest digest.Digest // its name, with the file's size
	exec   *item         // or nil
	holds  int           // results and folders that need it
}

// result is a result's file with the items that it names.
type result struct {
	*item
	key     digest.Digest // without its size if the file is corrupt
	value   *action.Result
	bad     error // why it is unusable: the file is corrupt, or names a missing blob
	corrupt bool  // the file itself is corrupt

	blobs   []*blob
	folders []*folder
}

// folder is an output folder of results, with its content.
type folder struct {
	root  digest.Digest
	blobs []*blob
	bad   error
	holds int // results that name it
	tree  *unpacked
}

// unpacked is a tree below trees/.
type unpacked struct {
	*item
	complete bool // its marker exists
	holds    int  // output folders with this tree
}

// readSurvey reads the cache folder. It may miss concurrent changes.
func readSurvey(ctx context.Context, root string) (*survey, error) {
	s := newSurvey(root)
	err := s.root.Each(ctx, s.add)
	for _, f := range []func(context.Context) error{s.readResults, s.readFolders} {
		if err == nil {
			err = f(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the cache %s: %w", root, err)
	}
	s.link()
	return s, nil
}

func newSurvey(root string) *survey {
	return &survey{root: layout.Root(root), blobs: map[digest.Digest]*blob{}, trees: map[digest.Digest]*unpacked{}}
}

// add adds an item of the cache folder.
func (s *survey) add(at layout.Item) error {
	it, err := newItem(at)
	if err != nil {
		return err
	}
	switch at.Kind {
	case layout.Results:
		s.results = append(s.results, &result{item: it, key: it.name})
	case layout.Blobs:
		s.blobs[at.Digest] = &blob{item: it, digest: at.Digest.Sized(at.Info.Size())}
	case layout.Executables:
		b := s.blobs[at.Digest]
		if b == nil {
			s.copies = append(s.copies, it)
			return nil
		}
		b.exec = it
		if it.used.After(b.used) {
			b.used = it.used
		}
	case layout.Trees:
		u := &unpacked{item: it}
		// The marker has the time of unpacking: the tree's files have the fixed time of blobs.
		if st, err := os.Lstat(s.root.TreeMarker(u.name)); err == nil {
			u.complete = true
			it.used = st.ModTime()
		}
		s.trees[u.name] = u
	default:
		s.others = append(s.others, it)
	}
	return nil
}

// each calls f for 0 … n-1 in parallel.
func (s *survey) each(ctx context.Context, n int, f func(i int) error) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(2 * runtime.NumCPU())
	for i := range n {
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error { return f(i) })
	}
	return errors.Join(g.Wait(), context.Cause(ctx))
}

// items calls f for each item.
func (s *survey) items(f func(*item)) {
	for _, r := range s.results {
		f(r.item)
	}
	for _, b := range s.blobs {
		f(b.item)
		if b.exec != nil {
			f(b.exec)
		}
	}
	for _, it := range s.copies {
		f(it)
	}
	for _, u := range s.trees {
		f(u.item)
	}
	for _, it := range s.others {
		f(it)
	}
}

// readResults reads every result.
func (s *survey) readResults(ctx context.Context) error {
	return s.each(ctx, len(s.results), func(i int) error {
		r := s.results[i]
		e, err := disk.ReadResult(r.path, r.key)
		if unreadable(err) {
			return err
		}
		if err != nil {
			r.bad, r.corrupt = err, true
			return nil
		}
		r.key, r.value = e.Key, e.Result
		return nil
	})
}

// readFolders reads each output folder of the results once.
func (s *survey) readFolders(ctx context.Context) error {
	index := map[action.OutputDir]*folder{}
	var wanted []action.OutputDir
	for _, r := range s.results {
		if r.bad != nil {
			continue
		}
		for _, d := range r.value.Dirs {
			d.Path = ""
			if index[d] == nil {
				index[d] = &folder{root: d.Root}
				wanted = append(wanted, d)
			}
			r.folders = append(r.folders, index[d])
		}
	}
	return s.each(ctx, len(wanted), func(i int) error {
		f := index[wanted[i]]
		var want []digest.Digest
		if want, f.bad = merkle.OutputBlobs(ctx, &reader{s}, wanted[i]); unreadable(f.bad) {
			return f.bad
		}
		for _, d := range want {
			b, err := s.blob(d)
			if err != nil {
				f.bad = fmt.Errorf("folder %s: %w", f.root, err)
				break
			}
			f.blobs = append(f.blobs, b)
		}
		return context.Cause(ctx)
	})
}

// blob returns the blob if its file has the right size. It also finds blobs that a build stored after the survey.
func (s *survey) blob(d digest.Digest) (*blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.blobs[d.Unsized()]; b != nil && b.digest == d {
		return b, nil
	}
	path := s.root.File(layout.Blobs, d)
	if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() && st.Size() == d.Size() {
		it, err := newItem(layout.Item{Kind: layout.Blobs, Path: path, Digest: d.Unsized(), Info: st})
		if err != nil {
			return nil, err
		}
		b := &blob{item: it, digest: d}
		s.blobs[it.name] = b
		return b, nil
	}
	return nil, fmt.Errorf("blob %s: %w", d, store.ErrNotFound)
}

// link finds the items that each result needs. A result that lacks one is bad: a lookup would be a cache miss.
func (s *survey) link() {
	for _, r := range s.results {
		if r.bad != nil {
			continue
		}
		for _, f := range r.value.Files {
			b, err := s.blob(f.Digest)
			if err != nil && r.bad == nil {
				r.bad = fmt.Errorf("%s: %w", f.Path, err)
			}
			r.blobs = append(r.blobs, b)
		}
		for _, f := range r.folders {
			if f.bad != nil && r.bad == nil {
				r.bad = f.bad
			}
		}
		if r.bad != nil {
			r.blobs, r.folders = nil, nil
			continue
		}
		// Action and Command stay, so that `explain` can compare the key.
		if a := s.blobs[r.name]; a != nil {
			r.blobs = append(r.blobs, a)
			if c := s.command(a); c != nil {
				r.blobs = append(r.blobs, c)
			}
		}
		for _, f := range r.folders {
			f.tree = s.trees[f.root.Unsized()]
		}
		r.hold()
		for _, f := range r.folders {
			if f.tree != nil && r.used.After(f.tree.used) {
				f.tree.used = r.used
			}
		}
	}
}

// hold increments the counters of the items that the result needs.
func (r *result) hold() {
	for _, b := range r.blobs {
		b.holds++
	}
	for _, f := range r.folders {
		if f.holds++; f.holds > 1 {
			continue
		}
		for _, b := range f.blobs {
			b.holds++
		}
		if f.tree != nil {
			f.tree.holds++
		}
	}
}

// release undoes hold. It calls file and tree with items that no result needs any longer.
func (r *result) release(file func(*blob), tree func(*unpacked)) {
	release := func(b *blob) {
		if b.holds--; b.holds == 0 {
			file(b)
		}
	}
	for _, b := range r.blobs {
		release(b)
	}
	for _, f := range r.folders {
		if f.holds--; f.holds > 0 {
			continue
		}
		for _, b := range f.blobs {
			release(b)
		}
		if f.tree != nil {
			if f.tree.holds--; f.tree.holds == 0 {
				tree(f.tree)
			}
		}
	}
}

// command returns the Command of the Action, or nil.
func (s *survey) command(a *blob) *blob {
	b, err := store.ReadBlob(context.Background(), &reader{s}, a.digest, maxMessage)
	if err != nil {
		return nil
	}
	_, command, err := action.DecodeAction(b, a.digest.Function())
	if err != nil {
		return nil
	}
	found, _ := s.blob(command)
	return found
}

// maxMessage is the largest size of an Action or a Command in bytes.
const maxMessage = 1 << 20

// unreadable reports whether the disk failed, and not the content.
func unreadable(err error) bool {
	return errors.As(err, new(*fs.PathError)) && !errors.Is(err, fs.ErrNotExist)
}

// reader is a read-only store.Blobs. It does not quarantine corrupt blobs, so they do not count as missing.
type reader struct{ s *survey }

func (r *reader) Open(_ context.Context, d digest.Digest) (io.ReadCloser, error) {
	b, err := r.s.blob(d)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", d, store.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	return store.Verify(f, d, nil), nil
}

func (*reader) Put(context.Context, digest.Digest, io.Reader) error { return errors.ErrUnsupported }

func (r *reader) Missing(_ context.Context, ds []digest.Digest) (missing []digest.Digest, err error) {
	for _, d := range ds {
		if _, err := r.s.blob(d); err != nil {
			missing = append(missing, d)
		}
	}
	return missing, nil
}
