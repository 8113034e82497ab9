package cas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/durable"
)

// keepSize is the size in bytes from which a host file that is linked goes into the store first, where further links
// of it are cheap; below it, a copy costs less than making a blob durable.
const keepSize = 1 << 20

// Sources is a Store over another that also knows files of the host by their digests, such as those of the workspace. So
// a source file need not be copied into the store for its digest to name something: it is read where it is when someone
// wants it. Whoever reads a file that has changed since Add gets a *ChangedError.
//
// Open, Link and Missing ask the next store first.
type Sources struct {
	next Store

	mu    sync.RWMutex
	files map[digest.Digest]string
}

// WithSources returns a Store over next that knows no files yet.
func WithSources(next Store) *Sources {
	return &Sources{next: next, files: map[digest.Digest]string{}}
}

// ChangedError says that a host file is not what it was when its digest was taken. It is an ErrCorrupt.
type ChangedError struct {
	Path   string
	Digest digest.Digest // what it was
	Err    error         // why it could not be read, or nil
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
func (s *Sources) Add(d digest.Digest, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[d] = path
}

func (s *Sources) file(d digest.Digest) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	path, ok := s.files[d]
	return path, ok
}

// Open implements Store.
func (s *Sources) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	r, err := s.next.Open(ctx, d)
	if !errors.Is(err, ErrNotFound) {
		return r, err
	}
	path, ok := s.file(d)
	if !ok {
		return nil, err
	}
	return openFile(d, path)
}

func openFile(d digest.Digest, path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &ChangedError{Path: path, Digest: d, Err: err}
	}
	return Verify(f, d, func() error { return &ChangedError{Path: path, Digest: d} }), nil
}

// Put implements Store.
func (s *Sources) Put(ctx context.Context, d digest.Digest, r io.Reader) error {
	return s.next.Put(ctx, d, r)
}

// Missing implements Store. Files count as they were when they were added.
func (s *Sources) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
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

// Link implements Linker, if the next store does. A file of the host is copied, never linked: an editor that writes in
// place would change an exec root through the link.
func (s *Sources) Link(ctx context.Context, d digest.Digest, path string, executable bool) error {
	l, ok := s.next.(Linker)
	if !ok {
		return fmt.Errorf("link %s: %w", d, errors.ErrUnsupported)
	}
	err := l.Link(ctx, d, path, executable)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	from, ok := s.file(d)
	if !ok {
		return err
	}
	r, err := openFile(d, from)
	if err != nil {
		return err
	}
	defer r.Close()
	if d.Size() >= keepSize {
		if err := s.next.Put(ctx, d, r); err != nil {
			return err
		}
		return l.Link(ctx, d, path, executable)
	}
	perm := fs.FileMode(0o444)
	if executable {
		perm = 0o555
	}
	var b bytes.Buffer // small, and so nothing is made at path when the content is wrong
	if err := Copy(ctx, &b, r, d); err != nil {
		return err
	}
	write := func() error {
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err != nil {
			return err
		}
		_, err = w.Write(b.Bytes())
		if err = errors.Join(err, w.Close()); err != nil {
			os.Remove(path)
		}
		return err
	}
	if executable {
		return durable.WriteProgram(write)
	}
	return write()
}

// Adopt implements Adopter, if the next store does.
func (s *Sources) Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	a, ok := s.next.(Adopter)
	if !ok {
		return digest.Digest{}, fmt.Errorf("adopt %s: %w", path, errors.ErrUnsupported)
	}
	return a.Adopt(ctx, fn, path)
}

// Flush implements Flusher, if the next store does; else there is nothing to do.
func (s *Sources) Flush(ctx context.Context) error {
	if f, ok := s.next.(Flusher); ok {
		return f.Flush(ctx)
	}
	return nil
}
