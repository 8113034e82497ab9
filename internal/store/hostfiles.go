package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// HostFiles adds host files, such as files of the workspace, to the Blobs of another store. HostFiles reads the files
// in place and does not copy them into the store. If a file has changed since Add, the error is a *ChangedError.
//
// Open, Link and Missing first try the other store.
type HostFiles struct {
	next Blobs

	mu     sync.RWMutex
	files  map[digest.Digest]string
	refs   map[digest.Digest]Ref
	copied map[digest.Digest]bool // files that were copied once
}

// WithHostFiles returns HostFiles over the store next. At first it has no host files.
func WithHostFiles(next Blobs) *HostFiles {
	return &HostFiles{
		next: next, files: map[digest.Digest]string{}, refs: map[digest.Digest]Ref{}, copied: map[digest.Digest]bool{},
	}
}

// ChangedError means that a host file has changed since hexmage computed the digest. The error wraps ErrCorrupt.
type ChangedError struct {
	Path string
	Err  error // error of reading the file, or nil
}

// Error returns the message.
func (e *ChangedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s changed during the build (%v); run again", e.Path, e.Err)
	}
	return fmt.Sprintf("%s changed during the build; run again", e.Path)
}

// Unwrap returns ErrCorrupt and the cause.
func (e *ChangedError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrCorrupt}
	}
	return []error{ErrCorrupt, e.Err}
}

// Add adds the file at an absolute path. The argument d is the digest of the file's content. If several files have the
// same digest, the last file replaces the earlier files.
func (s *HostFiles) Add(d digest.Digest, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[d] = path
}

// AddRef is like Add, and allows Ref to return the file if it has at least MinRef bytes. The caller must take the stamp
// st before it computes the digest. If the path is a symlink, st must be the stamp of the target. The parameter now is
// the time of the stamp. If the file changed just before that time, Ref does not return the file, because the next
// change might not change the stamp.
func (s *HostFiles) AddRef(d digest.Digest, path string, st stat.Stamp, now time.Time) {
	s.Add(d, path)
	if d.Size() < MinRef {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.Size != d.Size() || !st.IsRegular() || st.Racy(now) {
		delete(s.refs, d) // of an earlier build
		return
	}
	s.refs[d] = Ref{Path: path, Digest: d, Stamp: st}
}

// Knows reports whether the caller has added a file with the digest d.
func (s *HostFiles) Knows(d digest.Digest) bool {
	_, ok := s.file(d)
	return ok
}

func (s *HostFiles) file(d digest.Digest) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	path, ok := s.files[d]
	return path, ok
}

// Open implements Blobs.
func (s *HostFiles) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	r, err := s.next.Open(ctx, d)
	if !errors.Is(err, ErrNotFound) {
		return r, err
	}
	if own, oerr := s.own(d); own != nil || oerr != nil {
		return own, oerr
	}
	return nil, err
}

// own opens the file with that content. It returns nil if no such file was added.
func (s *HostFiles) own(d digest.Digest) (io.ReadCloser, error) {
	path, ok := s.file(d)
	if !ok {
		return nil, nil
	}
	f, _, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil, &ChangedError{Path: path, Err: err}
	}
	return Verify(f, d, func() error { return &ChangedError{Path: path} }), nil
}

// Put implements Blobs.
func (s *HostFiles) Put(ctx context.Context, d digest.Digest, r io.Reader) error {
	return s.next.Put(ctx, d, r)
}

// Missing implements Blobs. It does not check whether host files still exist.
func (s *HostFiles) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
	missing, err := s.next.Missing(ctx, ds)
	return slices.DeleteFunc(missing, s.Knows), err
}

// Fetch implements Fetcher.
func (s *HostFiles) Fetch(ctx context.Context, ds iter.Seq[digest.Digest]) { Fetch(ctx, s.next, ds) }

// maxCopy is the largest size in bytes of a host file that Link copies the first time.
const maxCopy = 64 << 10

// Link implements Local if the other store does. It never links the host file itself, because an editor that writes to
// the file would then also change an exec root. The first Link of a small file makes a copy. The second Link puts the
// file into the store, because links are cheaper.
func (s *HostFiles) Link(ctx context.Context, d digest.Digest, path string, executable bool) error {
	l, ok := s.next.(Local)
	if !ok {
		return fmt.Errorf("link %s: %w", d, errors.ErrUnsupported)
	}
	err := l.Link(ctx, d, path, executable)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	r, oerr := s.own(d)
	if oerr != nil || r == nil {
		return errors.Join(oerr, err)
	}
	defer r.Close()
	if !executable && d.Size() <= maxCopy && s.first(d) {
		return newFile(path, func(f *os.File) error { return fill(ctx, f, r, d, 0o444) })
	}
	if err := s.next.Put(ctx, d, r); err != nil {
		return err
	}
	return l.Link(ctx, d, path, executable)
}

// first reports whether this is the first call for the file.
func (s *HostFiles) first(d digest.Digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.copied[d] {
		return false
	}
	s.copied[d] = true
	return true
}

// Adopt implements Local if the other store does.
func (s *HostFiles) Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	l, ok := s.next.(Local)
	if !ok {
		return digest.Digest{}, fmt.Errorf("adopt %s: %w", path, errors.ErrUnsupported)
	}
	return l.Adopt(ctx, fn, path)
}

// Ref implements Local. It returns a file from AddRef if possible, otherwise the Ref of the other store.
func (s *HostFiles) Ref(d digest.Digest) (Ref, bool) {
	s.mu.RLock()
	r, ok := s.refs[d]
	s.mu.RUnlock()
	if ok {
		return r.resolved(), true
	}
	if l, ok := s.next.(Local); ok {
		return l.Ref(d)
	}
	return Ref{}, false
}
