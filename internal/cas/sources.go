package cas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// Sources is a Store over another that also knows files of the host by their digests, such as those of the workspace. So
// a source file need not be copied into the store for its digest to name something: it is read where it is when someone
// wants it. Whoever reads a file that has changed since Add gets a *ChangedError.
//
// Open, Link and Missing ask the next store before they look at files. Messages that only an action in the works needs
// can be held in memory.
type Sources struct {
	next Store
	find func(context.Context, digest.Digest) (map[digest.Digest][]byte, error) // or nil

	mu     sync.RWMutex
	files  map[digest.Digest]string
	lent   map[digest.Digest]Loan
	copied map[digest.Digest]bool // files of which somebody has a copy
	held   map[digest.Digest]held
}

// held is a blob that is in memory for those who use it.
type held struct {
	content []byte
	users   int
}

// WithSources returns a Store over next that knows no files yet.
func WithSources(next Store) *Sources {
	return &Sources{next: next, files: map[digest.Digest]string{}, lent: map[digest.Digest]Loan{}, copied: map[digest.Digest]bool{}, held: map[digest.Digest]held{}}
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
	if b, ok := s.message(d); ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	r, err := s.next.Open(ctx, d)
	if !errors.Is(err, ErrNotFound) {
		return r, err
	}
	if own, oerr := s.own(d); own != nil || oerr != nil {
		return own, oerr
	}
	if s.find == nil {
		return nil, err
	}
	found, ferr := s.find(ctx, d)
	if ferr != nil || len(found) == 0 {
		return nil, err
	}
	s.Hold(found)
	if b, ok := s.message(d); ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return nil, err
}

// own opens what the Sources know themselves; of what they do not know, it returns nil.
func (s *Sources) own(d digest.Digest) (io.ReadCloser, error) {
	if b, ok := s.message(d); ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	path, ok := s.file(d)
	if !ok {
		return nil, nil
	}
	f, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil, &ChangedError{Path: path, Digest: d, Err: err}
	}
	return Verify(f, d, func() error { return &ChangedError{Path: path, Digest: d} }), nil
}

// Hold implements Holder.
func (s *Sources) Hold(messages map[digest.Digest][]byte) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for d, b := range messages {
		h := s.held[d]
		h.content, h.users = b, h.users+1
		s.held[d] = h
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for d := range messages {
			h := s.held[d]
			if h.users--; h.users > 0 {
				s.held[d] = h
			} else {
				delete(s.held, d)
			}
		}
	})
}

// FindWith has Open ask find, last, for messages that are kept elsewhere than in a store, such as those that lie beside
// the result of the action whose key it is asked for. What find returns stays in memory. It is called before the first Open.
func (s *Sources) FindWith(find func(context.Context, digest.Digest) (map[digest.Digest][]byte, error)) {
	s.find = find
}

func (s *Sources) message(d digest.Digest) ([]byte, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	h, ok := s.held[d]
	return h.content, ok
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

// maxCopy is how large a file of the host may be, in bytes, that is copied for the first who wants it.
const maxCopy = 64 << 10

// Link implements Linker, if the next store does. A file of the host is never linked itself: an editor that writes to it in place
// would change an exec root. The first who wants a small one gets a copy, as most are wanted by one action only; for the next it goes into
// the store and is linked from there, since making and removing a copy for each costs more than a link.
func (s *Sources) Link(ctx context.Context, d digest.Digest, path string, executable bool) error {
	l, ok := s.next.(Linker)
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
		return copyFile(ctx, r, d, path)
	}
	if err := s.next.Put(ctx, d, r); err != nil {
		return err
	}
	return l.Link(ctx, d, path, executable)
}

// first tells whether nobody has asked for a copy of the file before.
func (s *Sources) first(d digest.Digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.copied[d] {
		return false
	}
	s.copied[d] = true
	return true
}

// copyFile makes path a read-only copy of what r holds, with a time that does not tell when.
func copyFile(ctx context.Context, r io.Reader, d digest.Digest, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	if err = Copy(ctx, f, r, d); err == nil {
		err = atomicfile.SetFile(f, 0o444, time.Unix(1_000_000_000, 0))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// Untouched implements Prover, if the next store does.
func (s *Sources) Untouched(d digest.Digest, st stat.Stamp) bool {
	p, ok := s.next.(Prover)
	return ok && p.Untouched(d, st)
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
