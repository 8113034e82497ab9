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
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// Hasher returns the digest of the regular file at path. The argument st is the result of Lstat for the file. Several
// goroutines may call a Hasher at once.
type Hasher func(path string, st stat.Stamp) (digest.Digest, error)

// HashFiles returns a Hasher that reads every file. To skip unchanged files, use the Hasher of a statcache.Cache.
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

// ScanOptions are the options of Scan.
type ScanOptions struct {
	Parallel int // number of files hashed at once; 0 means one per processor

	// Scan calls Seen, if not nil, for every folder, file and symlink before reading it. The arguments are the slash
	// path relative to the scanned folder ("" for that folder itself) and the Lstat. Several goroutines may call Seen
	// at once.
	Seen func(path string, st stat.Stamp)
}

// UnfitError reports a file, symlink or folder that a tree cannot contain.
type UnfitError struct {
	Path string // slash path in the folder; "" for the folder itself
	Err  error
}

// Error returns the message with the remedy.
func (e *UnfitError) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

// Unwrap returns the reason.
func (e *UnfitError) Unwrap() error { return e.Err }

// Scan reads the folder dir and returns a tree without Refs. It adds symlinks to the tree without following them. It
// fails with an *UnfitError for special files, and for symlinks that are absolute or lead out of dir.
func Scan(ctx context.Context, h Hasher, dir string, opts ScanOptions) (*Dir, error) {
	s := &scanner{hash: h, seen: opts.Seen}
	if s.seen == nil {
		s.seen = func(string, stat.Stamp) {}
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
	return d, nil
}

type scanner struct {
	hash Hasher
	seen func(string, stat.Stamp)
	g    *errgroup.Group
	mu   sync.Mutex // held while changing a Dir
}

func (s *scanner) dir(ctx context.Context, d *Dir, at, dir string, depth int) error {
	if depth > maxDepth {
		return &UnfitError{at, fmt.Errorf("folders are nested more than %d levels deep", maxDepth)}
	}
	info, err := os.Stat(dir) // the folder itself may be a symlink
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
			sub := &Dir{}
			s.set(d, e.Name(), Entry{Dir: sub})
			err = s.run(func() error { return s.dir(ctx, sub, p, full, depth+1) })
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
			err = &UnfitError{p, fmt.Errorf("special file (%s); remove the file, or list the other files with "+
				"fileset()", e.Type())}
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

// run runs f on another goroutine, or on this one if all others are busy.
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
