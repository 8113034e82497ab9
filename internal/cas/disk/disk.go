// Package disk keeps blobs as files, in the layout of Bazel's disk cache: <root>/blake3/cas/ab/<hash>, and
// <root>/cas/ab/<hash> for SHA-256.
//
// Blobs are read-only files. They are written to <root>/tmp, synced and renamed, so any number of processes may share a
// root, and a blob is there either whole or not at all. Where a file system has reflinks, Link gives clones; elsewhere
// hard links, which share the blob's inode. Root ignores modes, so an ill-behaved program may write into a blob through
// such a link. That is noticed: every blob carries the modification time Mtime, which any write replaces, and a blob
// with another time is hashed again before it is linked. (A fixed time also keeps tools that look at times of inputs
// from making outputs that depend on when something was cached.) The inode's change time is then the time of the last
// link: what collecting garbage by age can go by.
//
// A hard link shares the blob's mode too. So a blob that is wanted executable has, from then on, a second file at
// <root>/blake3/exec/ab/<hash> (<root>/exec/… for SHA-256) with mode 0555, which is derived: it may be deleted at any
// time, and nothing but Link reads it.
//
// The package does not know what blobs mean, and deletes none but damaged ones.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/durable"
)

// Mtime is the modification time of every blob: 2001-09-09 01:46:40 UTC, late enough for archive formats.
func Mtime() time.Time { return time.Unix(1_000_000_000, 0) }

// staleAge is how old a temporary file of a dead process must be before New removes it.
const staleAge = time.Hour

// Store is a cas.Store, cas.Linker and cas.Adopter on a folder.
type Store struct {
	root    string
	noClone atomic.Bool // the file system has no reflinks: do not ask again
}

// New returns the store in the folder root, which it creates if needed, and removes temporary files that dead processes
// left there.
func New(root string) (*Store, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("blob store: %w", err)
	}
	s := &Store{root: root}
	if err := durable.MkdirAll(s.tmp()); err != nil {
		return nil, fmt.Errorf("blob store: create %s: %w", s.tmp(), err)
	}
	if err := durable.Sweep(s.tmp(), staleAge); err != nil {
		return nil, fmt.Errorf("blob store: clean %s: %w", s.tmp(), err)
	}
	return s, nil
}

// Root returns the store's folder, as an absolute path.
func (s *Store) Root() string { return s.root }

func (s *Store) tmp() string { return filepath.Join(s.root, "tmp") }

// Path returns where the blob is, or would be. Nobody may write there.
func (s *Store) Path(d digest.Digest) string { return s.path(d, "cas") }

func (s *Store) path(d digest.Digest, kind string) string {
	h := d.Hex()
	if d.Function() == digest.SHA256 {
		return filepath.Join(s.root, kind, h[:2], h)
	}
	return filepath.Join(s.root, d.Function().String(), kind, h[:2], h)
}

// Missing implements cas.Store. A blob whose file has another size than its digest is missing too.
func (s *Store) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
	var missing []digest.Digest
	for _, d := range ds {
		ok, err := s.has(d)
		if err != nil {
			return nil, fmt.Errorf("blob %s: %w", d, err)
		}
		if !ok {
			missing = append(missing, d)
		}
	}
	return missing, context.Cause(ctx)
}

func (s *Store) has(d digest.Digest) (bool, error) {
	st, err := os.Lstat(s.Path(d))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return st.Mode().IsRegular() && st.Size() == d.Size(), nil
}

// Open implements cas.Store. A blob that turns out to be damaged is moved away, so that it is missing from then on.
func (s *Store) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	f, err := s.open(d)
	if err != nil {
		return nil, err
	}
	return cas.Verify(f, d, func() error { return s.damaged(d, f) }), nil
}

// open returns the blob's file, whose size is right.
func (s *Store) open(d digest.Digest) (*os.File, error) {
	f, err := os.Open(s.Path(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", d, cas.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	if !st.Mode().IsRegular() || st.Size() != d.Size() {
		defer f.Close()
		if err := s.damaged(d, f); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("blob %s: its file was damaged and is removed: %w", d, cas.ErrNotFound)
	}
	return f, nil
}

// damaged moves the blob's file, open as f, to <root>/damaged, where a person can look at it, and drops the executable
// copy. Another process may have put a good file in its place since f was opened: that one stays.
func (s *Store) damaged(d digest.Digest, f *os.File) error {
	path := s.Path(d)
	mine, err := f.Stat()
	if err != nil {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(mine, now) {
		return nil
	}
	os.Remove(s.path(d, "exec"))
	if err := durable.Rename(path, filepath.Join(s.root, "damaged", d.Function().String()+"-"+d.Hex())); err != nil {
		return fmt.Errorf("blob %s: %w, and it cannot be moved away: %w", d, cas.ErrCorrupt, err)
	}
	return nil
}

// Put implements cas.Store.
func (s *Store) Put(ctx context.Context, d digest.Digest, r io.Reader) error {
	switch ok, err := s.has(d); {
	case err != nil:
		return fmt.Errorf("store %s: %w", d, err)
	case ok:
		// Another process may have renamed it just now; a sync with nothing to do costs next to nothing.
		return durable.SyncDir(filepath.Dir(s.Path(d)))
	}
	return s.write(ctx, d, r, s.Path(d), 0o444)
}

// write makes path a file with the content of r, which must be d.
func (s *Store) write(ctx context.Context, d digest.Digest, r io.Reader, path string, perm fs.FileMode) error {
	f, err := durable.Temp(s.tmp(), "put")
	if err != nil {
		return fmt.Errorf("store %s: %w", d, err)
	}
	err = cas.Copy(ctx, f, r, d)
	if err == nil {
		err = os.Chtimes(f.Name(), time.Time{}, Mtime())
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return fmt.Errorf("store %s: %w", d, err)
	}
	return durable.Commit(f, path, perm)
}
