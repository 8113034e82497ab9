// Package memory keeps blobs in memory, for tests and for small short-lived stores. It forgets everything with the
// process, and knows no files.
package memory

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
)

// Store is a cas.Store in memory.
type Store struct {
	mu    sync.Mutex
	blobs map[digest.Digest][]byte
}

// New returns an empty store.
func New() *Store { return &Store{blobs: map[digest.Digest][]byte{}} }

// Open implements cas.Store.
func (s *Store) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[d]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", d, cas.ErrNotFound)
	}
	return cas.Verify(io.NopCloser(bytes.NewReader(b)), d, func() error {
		s.Delete(d)
		return nil
	}), nil
}

// Put implements cas.Store.
func (s *Store) Put(ctx context.Context, d digest.Digest, r io.Reader) error {
	var b bytes.Buffer
	if err := cas.Copy(ctx, &b, r, d); err != nil {
		return fmt.Errorf("store %s: %w", d, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[d] = b.Bytes()
	return nil
}

// Missing implements cas.Store.
func (s *Store) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []digest.Digest
	for _, d := range ds {
		if _, ok := s.blobs[d]; !ok {
			missing = append(missing, d)
		}
	}
	return missing, context.Cause(ctx)
}

// Delete forgets a blob, as garbage collection does in a store on disk.
func (s *Store) Delete(d digest.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.blobs, d)
}

// Damage replaces the bytes kept under d without looking at them, for tests.
func (s *Store) Damage(d digest.Digest, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[d] = b
}
