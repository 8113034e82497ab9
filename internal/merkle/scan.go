package merkle

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
	"sync"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// Hasher returns the digest of the regular file at path, of which Lstat said st. It is called from several goroutines at
// once.
type Hasher func(path string, st stat.Stamp) (digest.Digest, error)

// HashFiles returns a Hasher that reads every file. That of a statcache.Cache does not.
func HashFiles(fn digest.Function) Hasher {
	return func(path string, _ stat.Stamp) (digest.Digest, error) {
		f, err := os.Open(path)
		if err != nil {
			return digest.Digest{}, err
		}
		defer f.Close()
		return fn.Reader(f)
	}
}

// ScanOptions say what Scan takes.
type ScanOptions struct {
	// Globs are doublestar patterns over slash paths relative to the folder, "**" standing for any number of folders.
	// Files and symlinks that match one are taken; with none, everything is, empty folders too.
	Globs    []string
	Parallel int // how many files are hashed at once; 0 is one for each processor

	// Seen, if not nil, is called with every folder, file and symlink that the tree was made from, before it is read,
	// with its slash path in the folder ("" for the folder itself) and what Lstat says. It is called from several
	// goroutines at once.
	Seen func(path string, st stat.Stamp)
}

// UnfitError says of something in a folder that it cannot be in a tree.
type UnfitError struct {
	Path string // slash path in the folder; "" for what the folder would be
	Err  error
}

// Error returns the message, with the remedy.
func (e *UnfitError) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

// Unwrap returns what is wrong with it.
func (e *UnfitError) Unwrap() error { return e.Err }

// Scan reads the folder dir into a tree without Refs. Symlinks are kept, not followed; one that is absolute or leads
// out of dir is an *UnfitError, and so is what is neither file, folder nor symlink.
func Scan(ctx context.Context, h Hasher, dir string, opts ScanOptions) (*Dir, error) {
	s := &scanner{hash: h, seen: opts.Seen}
	if s.seen == nil {
		s.seen = func(string, stat.Stamp) {}
	}
	for _, g := range opts.Globs {
		if !doublestar.ValidatePattern(g) {
			return nil, fmt.Errorf("%q is no valid pattern", g)
		}
		base, _ := doublestar.SplitPattern(g)
		s.globs = append(s.globs, glob{g, base})
	}
	if opts.Parallel <= 0 {
		opts.Parallel = runtime.NumCPU()
	}
	s.g, ctx = errgroup.WithContext(ctx)
	s.g.SetLimit(opts.Parallel)
	d := &Dir{}
	s.g.Go(func() error { return s.dir(ctx, d, "", dir, 0) })
	if err := s.g.Wait(); err != nil {
		if unfit := (*UnfitError)(nil); errors.As(err, &unfit) {
			return nil, unfit
		}
		return nil, fmt.Errorf("read the folder %s: %w", dir, err)
	}
	if len(s.globs) > 0 {
		d.prune()
	}
	return d, nil
}

// prune removes folders without anything in them, and tells whether d is one.
func (d *Dir) prune() bool {
	for name, sub := range d.Dirs {
		if sub.prune() {
			delete(d.Dirs, name)
		}
	}
	return len(d.Files)+len(d.Dirs)+len(d.Symlinks) == 0
}

type glob struct{ pattern, base string }

type scanner struct {
	hash  Hasher
	globs []glob
	seen  func(string, stat.Stamp)
	g     *errgroup.Group
	mu    sync.Mutex // held while a Dir is changed
}

// takes tells whether the file or symlink p is wanted.
func (s *scanner) takes(p string) bool {
	for _, g := range s.globs {
		if doublestar.MatchUnvalidated(g.pattern, p) {
			return true
		}
	}
	return len(s.globs) == 0
}

// enters tells whether something wanted can be in the folder p: whether p is on the way to a pattern's fixed part, or
// beyond it.
func (s *scanner) enters(p string) bool {
	for _, g := range s.globs {
		if g.base == "." || p == g.base || strings.HasPrefix(p, g.base+"/") || strings.HasPrefix(g.base, p+"/") {
			return true
		}
	}
	return len(s.globs) == 0
}

func (s *scanner) dir(ctx context.Context, d *Dir, at, dir string, depth int) error {
	if depth > maxDepth {
		return &UnfitError{at, fmt.Errorf("folders are more than %d deep", maxDepth)}
	}
	info, err := os.Stat(dir) // the folder itself may be reached by a symlink
	if err != nil {
		return err
	}
	s.seen(at, stat.Of(info))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		p, full := path.Join(at, e.Name()), filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if !s.enters(p) {
				continue
			}
			sub := &Dir{}
			s.set(d, e.Name(), Entry{Dir: sub})
			err = s.run(func() error { return s.dir(ctx, sub, p, full, depth+1) })
		case !s.takes(p):
		case e.Type() == fs.ModeSymlink:
			var target string
			if info, err := e.Info(); err == nil {
				s.seen(p, stat.Of(info))
			}
			if target, err = os.Readlink(full); err == nil {
				target = filepath.ToSlash(target)
				if unfit := CheckSymlink(at, target); unfit != nil {
					err = &UnfitError{p, unfit}
				}
			}
			s.set(d, e.Name(), Entry{Symlink: target})
		case e.Type().IsRegular():
			err = s.run(func() error { return s.file(d, e, p, full) })
		default:
			err = &UnfitError{p, fmt.Errorf("it is neither file, folder nor symlink but %s: remove it or leave it "+
				"out by a pattern", e.Type())}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

func (s *scanner) file(d *Dir, e fs.DirEntry, p, full string) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	st := stat.Of(info)
	s.seen(p, st)
	dg, err := s.hash(full, st)
	if err != nil {
		return err
	}
	s.set(d, e.Name(), Entry{File: &File{Digest: dg, Executable: st.Executable()}})
	return nil
}

// run runs f on another goroutine, or here when all of them are busy.
func (s *scanner) run(f func() error) error {
	if s.g.TryGo(f) {
		return nil
	}
	return f()
}

func (s *scanner) set(d *Dir, name string, e Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.set(name, e)
}
