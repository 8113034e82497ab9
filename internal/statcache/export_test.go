package statcache

import "github.com/hexmage/hexmage/internal/statefile"

// Hashed returns how many files were read because the cache did not know them.
func (c *Cache) Hashed() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hashed
}

// Kind is what the tests seal damaged blocks with.
func Kind() statefile.Kind { return kind() }
