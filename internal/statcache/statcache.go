// Package statcache caches the digests of workspace files by their stamps, so that an unchanged file costs one Lstat.
// It does not know the purpose of files.
package statcache

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
)

const (
	// forgetAfter is how many days an entry may go unused before Save drops it.
	forgetAfter = 30
	// hashAttempts is how often a file that changes while it is hashed is tried.
	hashAttempts = 3
)

// kind is of the state file. Its one block has the digest function and the entries.
func kind() statefile.Kind { return statefile.Kind{Name: "statcache", Version: 3, Max: 1 << 30} }

// Cache maps the path and stamp of a file to the digest. It does not cache a file that changed less than two seconds
// before hashing, because the next change might not change the stamp.
//
// Cache ignores a corrupt state file. Save replaces the state file and keeps entries that other processes have added.
type Cache struct {
	path string
	fn   digest.Function
	now  func() time.Time
	load sync.Once

	mu      sync.Mutex
	entries map[string]entry // by path
	dirty   bool
	hashed  int64 // files read; for tests
}

type entry struct {
	stamp   stat.Stamp
	digest  digest.Digest
	used    uint32 // day
	touched bool   // looked up or made by this process
}

// Open returns the cache that is stored in the state file at path. The state file may be missing. The first lookup
// reads it. The parameter now is a function that returns the time of the file system's clock.
func Open(path string, fn digest.Function, now func() time.Time) *Cache {
	return &Cache{path: path, fn: fn, now: now, entries: map[string]entry{}}
}

// today is the day, counted from 1970.
func (c *Cache) today() uint32 { return uint32(c.now().Unix() / (24 * 60 * 60)) }

// Hash returns the digest of a file. The method is a merkle.Hasher.
func (c *Cache) Hash(path string, st stat.Stamp) (digest.Digest, error) {
	c.load.Do(func() { c.read(func(path string, e entry) { c.entries[path] = e }) })
	if d, ok := c.known(path, st); ok {
		return d, nil
	}
	for range hashAttempts {
		d, s, changed, err := c.hash(path)
		if err != nil {
			return d, err
		}
		if !changed {
			c.remember(path, s, d)
			return d, nil
		}
	}
	return digest.Digest{}, fmt.Errorf("%s changed while hexmage was reading it; stop the program that writes "+
		"to it, and run hexmage again", path)
}

// known returns the digest of a file that did not change since it was hashed.
func (c *Cache) known(path string, st stat.Stamp) (digest.Digest, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[path]
	if !ok || e.stamp != st {
		return digest.Digest{}, false
	}
	if !e.touched {
		today := c.today()
		c.dirty = c.dirty || e.used != today
		e.used, e.touched = today, true
		c.entries[path] = e
	}
	return e.digest, true
}

func (c *Cache) hash(path string) (d digest.Digest, before stat.Stamp, changed bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, before, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return d, before, false, err
	}
	before = stat.Of(info)
	if d, err = c.fn.Reader(f); err != nil {
		return d, before, false, err
	}
	if info, err = f.Stat(); err != nil {
		return d, before, false, err
	}
	return d, before, before != stat.Of(info) || d.Size() != info.Size(), nil
}

func (c *Cache) remember(path string, s stat.Stamp, d digest.Digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hashed++
	if s.Inode == 0 || s.Racy(c.now()) { // also if it changed in the future, by a clock that went back since
		if _, ok := c.entries[path]; ok {
			delete(c.entries, path)
			c.dirty = true
		}
		return
	}
	c.entries[path] = entry{stamp: s, digest: d, used: c.today(), touched: true}
	c.dirty = true
}

// Save writes the cache to the state file if the cache has changed. Save keeps entries that other processes have
// written since Open. If two entries differ, this process's entry wins. Save drops entries that were not used for 30
// days.
func (c *Cache) Save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dirty {
		return nil
	}
	today := c.today()
	all := make(map[string]entry, len(c.entries))
	keep := func(path string, e entry) {
		if e.used+forgetAfter >= today {
			all[path] = e
		}
	}
	// Other processes may have newer entries for files that this process did not look up.
	for path, e := range c.entries {
		if !e.touched {
			keep(path, e)
		}
	}
	c.read(keep)
	for path, e := range c.entries {
		if e.touched {
			keep(path, e)
		}
	}
	kept := make(map[string]saved, len(all))
	for path, e := range all {
		kept[path] = saved{e.stamp, e.digest.String(), e.used}
	}
	if err := statefile.Write(c.path, kind(), kept); err != nil {
		return err
	}
	c.entries, c.dirty = all, false
	return nil
}

// saved is an entry in the file.
type saved struct {
	Stamp  stat.Stamp
	Digest string
	Used   uint32 // day
}

// read calls add for each entry of the file whose digest fits its stamp, or not at all if the file is corrupt.
func (c *Cache) read(add func(path string, e entry)) {
	var all map[string]saved
	if statefile.Read(c.path, kind(), &all) != nil {
		return
	}
	for path, s := range all {
		if d, err := digest.Parse(s.Digest); err == nil && d.Function() == c.fn && d.Size() == s.Stamp.Size {
			add(path, entry{stamp: s.Stamp, digest: d, used: s.Used})
		}
	}
}
