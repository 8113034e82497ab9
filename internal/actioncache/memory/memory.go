// Package memory keeps results in memory, for tests. It keeps them encoded, so that a result which does not survive
// encoding shows. It forgets everything with the process.
package memory

import (
	"context"
	"fmt"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/actioncache"
	"github.com/hexmage/hexmage/internal/digest"
)

// Cache is an actioncache.Cache in memory.
type Cache struct {
	mu      sync.Mutex
	results map[digest.Digest][]byte
}

// New returns an empty cache.
func New() *Cache { return &Cache{results: map[digest.Digest][]byte{}} }

// Get implements actioncache.Cache.
func (c *Cache) Get(ctx context.Context, key digest.Digest) (*action.Result, error) {
	c.mu.Lock()
	b, ok := c.results[key]
	c.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("action %s: %w", key, actioncache.ErrNotFound)
	}
	return action.DecodeResult(b, key.Function())
}

// Put implements actioncache.Cache.
func (c *Cache) Put(ctx context.Context, key digest.Digest, r *action.Result) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[key] = r.Encode()
	return nil
}
