package memory

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Results implements store.Results in memory. It stores encoded results, so tests detect fields that the encoding
// loses.
type Results struct {
	mu      sync.Mutex
	results map[digest.Digest]entry
}

type entry struct {
	result   []byte
	messages map[digest.Digest][]byte
}

// NewResults returns an empty store.
func NewResults() *Results { return &Results{results: map[digest.Digest]entry{}} }

func (s *Results) entry(key digest.Digest) (entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.results[key]
	if !ok {
		return e, fmt.Errorf("action %s: %w", key, store.ErrNotFound)
	}
	return e, nil
}

// Get implements store.Results.
func (s *Results) Get(ctx context.Context, key digest.Digest) (*action.Result, error) {
	e, err := s.entry(key)
	if err != nil {
		return nil, err
	}
	return action.DecodeResult(e.result, key.Function())
}

// Put implements store.Results.
func (s *Results) Put(ctx context.Context, key digest.Digest, r *action.Result,
	messages map[digest.Digest][]byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[key] = entry{r.Encode(), copied(messages)}
	return nil
}

func copied(messages map[digest.Digest][]byte) map[digest.Digest][]byte {
	all := make(map[digest.Digest][]byte, len(messages))
	for d, m := range messages {
		all[d] = bytes.Clone(m)
	}
	return all
}

// Messages implements store.Results.
func (s *Results) Messages(ctx context.Context, key digest.Digest) (map[digest.Digest][]byte, error) {
	e, err := s.entry(key)
	return copied(e.messages), err
}
