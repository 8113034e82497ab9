package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
)

// Mtime is the modification time of every blob that is safely on the disk: 2001-09-09 01:46:40 UTC, late enough for
// archive formats, and in whole seconds for file systems that know no others.
func Mtime() time.Time { return time.Unix(1_000_000_000, 0) }

// unsynced is the modification time of blobs until they are synced.
func unsynced() time.Time { return Mtime().Add(10 * time.Second) }

// placed notes that the file at path is right, and has it synced later, which its time then tells.
func (s *Store) placed(path string) {
	s.mu.Lock()
	s.fresh[path] = true
	s.mu.Unlock()
	s.sync.Later(path, func() {
		// If something wrote to it meanwhile, its time tells that, and stays. Chtimes fails for a blob that is gone, or that
		// another user owns: such a one is hashed again by each process.
		if st, err := os.Lstat(path); err == nil && st.ModTime().Equal(unsynced()) {
			_ = os.Chtimes(path, time.Time{}, Mtime())
		}
		s.mu.Lock()
		delete(s.fresh, path)
		s.mu.Unlock()
	})
}

// trusted tells whether the file at path, of which st is the status, is as it was written.
func (s *Store) trusted(path string, st fs.FileInfo) bool {
	if st.ModTime().Equal(Mtime()) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh[path] && st.ModTime().Equal(unsynced())
}

// check tells whether the blob is there: nil, or ErrNotFound, wrapped, or what kept it from finding out.
func (s *Store) check(ctx context.Context, d digest.Digest) error {
	path := s.Path(d)
	st, err := os.Lstat(path)
	if err == nil && st.Mode().IsRegular() && st.Size() == d.Size() && s.trusted(path, st) {
		return nil
	}
	f, err := s.sound(ctx, d)
	if err != nil {
		return err
	}
	return f.Close()
}

// sound returns the blob's file at its start, after hashing it when its time says that it was not safely written, or that
// something wrote to it since, or that another program, such as Bazel, put it there.
func (s *Store) sound(ctx context.Context, d digest.Digest) (*os.File, error) {
	f, err := s.open(d)
	if err != nil {
		return nil, err
	}
	if err := s.verify(ctx, d, f); err != nil {
		f.Close()
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	return f, nil
}

func (s *Store) verify(ctx context.Context, d digest.Digest, f *os.File) error {
	path := s.Path(d)
	st, err := f.Stat()
	if err != nil || s.trusted(path, st) {
		return err
	}
	err = cas.Copy(ctx, io.Discard, f, d)
	if errors.Is(err, cas.ErrCorrupt) {
		if err = s.damaged(d, f); err == nil {
			err = fmt.Errorf("its file was damaged and is removed: %w", cas.ErrNotFound)
		}
	}
	if err != nil {
		return err
	}
	// It is right, but perhaps only in memory.
	if now, err := f.Stat(); err == nil && now.ModTime().Equal(st.ModTime()) && os.Chtimes(path, time.Time{}, unsynced()) == nil {
		s.placed(path)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}
