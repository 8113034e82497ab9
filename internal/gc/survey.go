package gc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// survey is what a cache folder holds, and which result needs what.
type survey struct {
	root    layout.Root
	mu      sync.Mutex              // of blobs, while results are read
	blobs   map[digest.Digest]*blob // by Unsized
	copies  []*item                 // executable copies of blobs that are gone
	results []*result
	trees   map[digest.Digest]*unpacked // by Unsized
	others  []*item
}

// blob is a blob's file, with the executable copy that is made of it.
type blob struct {
	*item
	digest digest.Digest // its name, with the size that the file has
	exec   *item         // or nil
	holds  int           // results and folders that need it
}

// result is a result's file and what it names.
type result struct {
	*item
	name  digest.Digest // of the action, without size
	key   digest.Digest // with size; zero when the Action is not in the store
	value *action.Result
	bad   error // it is no result, or names what is not there
	torn  bool  // bad: the file itself is damaged

	blobs   []*blob
	folders []*folder
}

// folder is a folder that results name, with all that is in it.
type folder struct {
	root  digest.Digest
	blobs []*blob
	top   []string // names at its top
	files int
	bytes int64
	bad   error
	holds int // results that name it
	tree  *unpacked
}

// unpacked is a tree that stands below trees/.
type unpacked struct {
	*item
	name     digest.Digest // without size
	complete bool          // it has its marker
	holds    int           // folders that results name
}

// readSurvey reads the cache folder. Files that come or go meanwhile may be in the survey or not.
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

// add notes what is in the cache folder.
func (s *survey) add(at layout.Item) error {
	it, err := newItem(at)
	if err != nil {
		return err
	}
	switch at.Kind {
	case layout.Results:
		s.results = append(s.results, &result{item: it, name: at.Digest})
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
		u := &unpacked{item: it, name: at.Digest}
		// Its newest folder, or its marker, tells when it was unpacked: its files have the time of blobs.
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

// each calls f for 0 … n-1, several at once.
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

// items calls f for everything that the survey found.
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
