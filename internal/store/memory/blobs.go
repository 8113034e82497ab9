// Package memory keeps blobs and results in memory, for tests and for small stores that are needed only for a short
// time. When the process ends, everything is lost. The package does not use files.
package memory

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Blobs is a store.Blobs in memory.
type Blobs struct {
	mu    sync.Mutex
	blobs map[digest.Digest][]byte
}

// NewBlobs returns an empty store.
func NewBlobs() *Blobs { return &Blobs{blobs: map[digest.Digest][]byte{}} }

// Open implements store.Blobs.
func (s *Blobs) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[d]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", d, store.ErrNotFound)
	}
	return store.Verify(io.NopCloser(bytes.NewReader(b)), d, func() error {
		s.Delete(d)
		return nil
	}), nil
}

// Put implements store.Blobs.
func (s *Blobs) Put(ctx context.Context, d digest.Digest, r io.Reader) error {
	var b bytes.Buffer
	if err := store.Copy(ctx, &b, r, d); err != nil {
		return fmt.Errorf("store %s: %w", d, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[d] = b.Bytes()
	return nil
}

// Missing implements store.Blobs.
func (s *Blobs) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []digest.Digest
	for _, d := range ds {
		if _, ok := s.blobs[d]; !ok {
			missing = append(missing, d)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return missing, nil
}

// Delete removes a blob, as garbage collection does in a store on disk.
func (s *Blobs) Delete(d digest.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.blobs, d)
}

// Damage replaces the content of the blob d with b for tests. It does not check the digest.
func (s *Blobs) Damage(d digest.Digest, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[d] = b
}
