package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// HostFiles is Blobs over others that also knows files of the host by their digests, such as those of the workspace.
// So a source file need not be copied into the store for its digest to name something: it is read where it is when
// someone wants it. Whoever reads a file that has changed since Add gets a *ChangedError.
//
// Open, Link and Missing ask the next store before they look at files.
type HostFiles struct {
	next Blobs

	mu     sync.RWMutex
	files  map[digest.Digest]string
	refs   map[digest.Digest]Ref
	copied map[digest.Digest]bool // files of which somebody has a copy
}

// WithHostFiles returns Blobs over next that know no files yet.
func WithHostFiles(next Blobs) *HostFiles {
	return &HostFiles{
		next: next, files: map[digest.Digest]string{}, refs: map[digest.Digest]Ref{}, copied: map[digest.Digest]bool{},
	}
}

// ChangedError says that a host file is not what it was when its digest was taken. It is an ErrCorrupt.
type ChangedError struct {
	Path string
	Err  error // why it could not be read, or nil
}

// Error returns the message.
func (e *ChangedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s changed during the build (%v): run again", e.Path, e.Err)
	}
	return fmt.Sprintf("%s changed during the build: run again", e.Path)
}

// Unwrap returns ErrCorrupt and the cause.
func (e *ChangedError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrCorrupt}
	}
	return []error{ErrCorrupt, e.Err}
}

// Add says that the file at path, absolute, has the digest. Of several files with one digest, the last is used.
func (s *HostFiles) Add(d digest.Digest, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[d] = path
}

// AddRef is Add of a file for which there may also be a Ref, if it is large enough. The stamp was taken, following
// symlinks, at the moment now, before the digest was. A file that had changed shortly before has no Ref, as a further
// change might not show.
func (s *HostFiles) AddRef(d digest.Digest, path string, st stat.Stamp, now time.Time) {
	s.Add(d, path)
	if d.Size() < MinRef {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.Size != d.Size() || !st.IsRegular() || st.Racy(now) {
		delete(s.refs, d) // what an earlier build found out is over
		return
	}
	s.refs[d] = Ref{Path: path, Digest: d, Stamp: st}
}

// Knows tells whether a file with that content was added.
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

// own opens the file with that content; where none is known, it returns nil.
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

// Missing implements Blobs. Files count as they were when they were added.
func (s *HostFiles) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
	missing, err := s.next.Missing(ctx, ds)
	if err != nil {
		return nil, err
	}
	var still []digest.Digest
	for _, d := range missing {
		if _, ok := s.file(d); !ok {
			still = append(still, d)
		}
	}
	return still, nil
}

// Fetch implements Fetcher.
func (s *HostFiles) Fetch(ctx context.Context, ds iter.Seq[digest.Digest]) { Fetch(ctx, s.next, ds) }

// maxCopy is how large a file of the host may be, in bytes, that is copied for the first who wants it.
const maxCopy = 64 << 10

// Link implements Local, if the next store does. A file of the host is never linked itself: an editor that writes to
// it in place would change an exec root. The first who wants a small one gets a copy, as most are wanted by one
// action only; for the next it goes into the store and is linked from there, since making and removing a copy for
// each costs more than a link.
func (s *HostFiles) Link(ctx context.Context, d digest.Digest, path string, perm fs.FileMode) error {
	l, ok := s.next.(Local)
	if !ok {
		return fmt.Errorf("link %s: %w", d, errors.ErrUnsupported)
	}
	err := l.Link(ctx, d, path, perm)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	r, oerr := s.own(d)
	if oerr != nil || r == nil {
		return errors.Join(oerr, err)
	}
	defer r.Close()
	if perm&0o111 == 0 && d.Size() <= maxCopy && s.first(d) {
		return writeFile(ctx, r, d, path, perm)
	}
	if err := s.next.Put(ctx, d, r); err != nil {
		return err
	}
	return l.Link(ctx, d, path, perm)
}

// first tells whether nobody has asked for a copy of the file before.
func (s *HostFiles) first(d digest.Digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.copied[d] {
		return false
	}
	s.copied[d] = true
	return true
}

// Adopt implements Local, if the next store does.
func (s *HostFiles) Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	l, ok := s.next.(Local)
	if !ok {
		return digest.Digest{}, fmt.Errorf("adopt %s: %w", path, errors.ErrUnsupported)
	}
	return l.Adopt(ctx, fn, path)
}

// Ref implements Local: it is a file of AddRef, or what the next store knows.
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
