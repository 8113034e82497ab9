package gc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
)

// survey is what a cache folder holds, and which result needs what.
type survey struct {
	root    string
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
	s := &survey{root: root, blobs: map[digest.Digest]*blob{}, trees: map[digest.Digest]*unpacked{}}
	steps := []func(context.Context) error{s.readBlobs, s.readTrees, s.readOthers, s.readResults, s.readFolders}
	for _, f := range steps {
		if err := f(ctx); err != nil {
			return nil, fmt.Errorf("read the cache %s: %w", root, err)
		}
	}
	s.link()
	return s, nil
}

func (s *survey) readBlobs(ctx context.Context) error {
	for _, fn := range functions() {
		err := shards(ctx, s.root, fn, "cas", func(hex, path string, info fs.FileInfo) error {
			if d, err := digest.New(fn, hex, info.Size()); err == nil {
				s.blobs[d.Unsized()] = &blob{item: fileItem(Blobs, fn, path, info), digest: d}
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = shards(ctx, s.root, fn, "exec", func(hex, path string, info fs.FileInfo) error {
			it := fileItem(Executable, fn, path, info)
			d, err := digest.New(fn, hex, 0)
			if err != nil {
				return nil
			}
			if b := s.blobs[d]; b != nil {
				b.exec = it
				if it.used.After(b.used) {
					b.used = it.used
				}
			} else {
				s.copies = append(s.copies, it)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) readTrees(ctx context.Context) error {
	dir := filepath.Join(s.root, "trees")
	entries, err := readDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		name, hex, _ := strings.Cut(e.Name(), "-")
		fn, err := digest.ParseFunction(name)
		if err != nil || !e.IsDir() {
			continue
		}
		d, err := digest.New(fn, hex, 0)
		if err != nil {
			continue
		}
		path := filepath.Join(dir, e.Name())
		it, err := folderItem(Trees, fn, path)
		if err != nil {
			return err
		}
		u := &unpacked{item: it, name: d}
		// Its newest folder, or its marker, tells when it was unpacked: its files have the time of blobs.
		if st, err := os.Lstat(path + ".ok"); err == nil {
			u.complete = true
			it.used = st.ModTime()
		}
		s.trees[d] = u
	}
	return nil
}

// readOthers lists what no result names: downloads, logs, what was moved away, and what is never collected.
func (s *survey) readOthers(ctx context.Context) error {
	single := func(kind Kind, parts ...string) error {
		dir := filepath.Join(append([]string{s.root}, parts...)...)
		entries, err := readDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			it, err := folderItem(kind, 0, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			s.others = append(s.others, it)
		}
		return nil
	}
	if err := s.readDownloads(filepath.Join(s.root, "downloads")); err != nil {
		return err
	}
	if err := errors.Join(single(Logs, "state", "logs"), single(RunLogs, "state", "history"), single(Snapshots, "state", "memo"), single(DirPool, "laid"), single(Damaged, "damaged"), single(Scratch, atomicfile.NewFolders), single(Scratch, atomicfile.NewFiles)); err != nil {
		return err
	}
	if err := errors.Join(single(State, "state"), single(State, "shipped")); err != nil {
		return err
	}
	s.others = slices.DeleteFunc(s.others, func(it *item) bool { // these are listed by themselves
		return it.kind == State && slices.Contains([]string{"logs", "history", "memo"}, filepath.Base(it.path)) && filepath.Dir(it.path) == filepath.Join(s.root, "state")
	})
	return nil
}

// readDownloads lists files below downloads/ and what is in its folders, one for each way to fetch: an archive, a package, a
// clone is one. Lock files stay: removed while one is held, it would let a second process in.
func (s *survey) readDownloads(dir string) error {
	add := func(path string) error {
		kind := Downloads
		if name := filepath.Base(path); name == "lock" || strings.HasSuffix(name, ".lock") {
			kind = State
		}
		it, err := folderItem(kind, 0, path)
		s.others = append(s.others, it)
		return err
	}
	entries, err := readDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			if err := add(path); err != nil {
				return err
			}
			continue
		}
		inner, err := readDir(path)
		if err != nil {
			return err
		}
		for _, e := range inner {
			if err := add(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
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
