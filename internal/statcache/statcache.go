// Package statcache remembers the digests of the host's files by what the file system says of them, so that a file that did not
// change costs no more than its Lstat.
//
// A Cache is opened on its state file, asked for digests (it is a merkle.Hasher), and saved. The package does not know what the files
// are for, nor which make a tree.
package statcache

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
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
func kind() statefile.Kind { return statefile.Kind{Name: "statcache", Version: 1, Max: 1 << 30} }

// Cache remembers digests by device, inode, size, modification and change time. A file that changed less than two seconds
// before it was hashed is not remembered, as its times could stay the same through another change.
//
// The file it is kept in is only a hint: one that is damaged counts as empty. Save replaces it as a whole, keeping what
// other processes have added.
type Cache struct {
	path string
	fn   digest.Function
	now  func() time.Time
	load sync.Once

	// Keep, if not nil, is given the content of a small file that was read to be hashed: who hashes a file wants it, as a rule.
	Keep func(d digest.Digest, content []byte)
	Room func(size int64) []byte // if not nil, gives memory for the next content of that size, or none

	mu      sync.Mutex
	entries map[file]entry
	dirty   bool
	hashed  int64 // files read
}

// file names a file on this machine until it is removed.
type file struct{ dev, inode uint64 }

// times are what changes when a file is written to.
type times struct{ size, mtime, ctime int64 }

type entry struct {
	times   times
	used    uint32 // day
	touched bool   // looked up or made by this process
	digest  digest.Digest
}

// Open returns the cache that is kept at path, where there may be none yet. It is read when somebody asks. The clock now is that of
// the file system.
func Open(path string, fn digest.Function, now func() time.Time) *Cache {
	return &Cache{path: path, fn: fn, now: now, entries: map[file]entry{}}
}

// today is the day, counted from 1970.
func (c *Cache) today() uint32 { return uint32(c.now().Unix() / (24 * 60 * 60)) }

// known reads what was remembered, once.
func (c *Cache) known() {
	c.load.Do(func() { c.read(func(f file, e entry) { c.entries[f] = e }) })
}

// of returns which file the stamp is of, and what changes of it. It returns false where files cannot be told apart.
func of(s stat.Stamp) (file, times, bool) {
	return file{s.Dev, s.Inode}, times{s.Size, s.MTime, s.CTime}, s.Inode != 0
}

// Direct is a Hasher for a run that asks for few files, and knows that they changed: it reads small ones without asking what
// the cache remembers, and leaves that as it is.
type Direct struct{ c *Cache }

// Direct returns it.
func (c *Cache) Direct() Direct { return Direct{c} }

// maxDirect is how large a small file is, in bytes: reading it takes less time than what is remembered of ten thousand files.
const maxDirect = 1 << 20

// Hash implements merkle.Hasher.
func (h Direct) Hash(path string, st stat.Stamp) (digest.Digest, error) {
	if st.Size > maxDirect {
		return h.c.Hash(path, st)
	}
	d, _, err := h.c.settled(path, st.Size)
	return d, err
}

// Hash implements merkle.Hasher.
func (c *Cache) Hash(path string, st stat.Stamp) (digest.Digest, error) {
	c.known()
	f, t, ok := of(st)
	if !ok {
		d, _, err := c.settled(path, st.Size)
		return d, err
	}
	c.mu.Lock()
	e, ok := c.entries[f]
	if ok && e.times == t {
		if !e.touched {
			today := c.today()
			c.dirty = c.dirty || e.used != today
			e.used, e.touched = today, true
			c.entries[f] = e
		}
		c.mu.Unlock()
		return e.digest, nil
	}
	c.mu.Unlock()
	d, s, err := c.settled(path, st.Size)
	if err == nil {
		c.remember(s, d)
	}
	return d, err
}

// maxWhole is how large a file may be, in bytes, that is read in one piece.
const maxWhole = 64 << 10

// settled hashes a file, of about that size, that does not change meanwhile. It returns its stamp too.
func (c *Cache) settled(path string, size int64) (digest.Digest, stat.Stamp, error) {
	if size <= maxWhole {
		var room []byte
		if c.Room != nil {
			room = c.Room(size)
		}
		b, before, err := atomicfile.Read(path, maxWhole, room)
		if err == nil {
			if after, err := stat.Lstat(path); err == nil && after == before && int64(len(b)) == before.Size {
				d := c.fn.Bytes(b)
				if c.Keep != nil {
					c.Keep(d, b)
				}
				return d, before, nil
			}
		}
	}
	for range hashAttempts {
		d, s, changed, err := c.hash(path)
		if err != nil || !changed {
			return d, s, err
		}
	}
	return digest.Digest{}, stat.Stamp{}, fmt.Errorf("%s changes while it is read: stop what writes to it and run again", path)
}

func (c *Cache) hash(path string) (d digest.Digest, before stat.Stamp, changed bool, err error) {
	f, err := atomicfile.OpenFile(path, os.O_RDONLY, 0)
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
	_, was, _ := of(before)
	_, is, _ := of(stat.Of(info))
	return d, before, was != is || d.Size() != info.Size(), nil
}

func (c *Cache) remember(s stat.Stamp, d digest.Digest) {
	f, t, _ := of(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hashed++
	if s.Racy(c.now()) { // also when it changed in the future, by a clock that went back since
		if _, ok := c.entries[f]; ok {
			delete(c.entries, f)
			c.dirty = true
		}
		return
	}
	c.entries[f] = entry{times: t, used: c.today(), touched: true, digest: d}
	c.dirty = true
}

// Save writes the cache if it changed. Entries that other processes saved meanwhile are kept, ours win, and those
// unused for 30 days are dropped. After a crash of the machine an old or damaged file costs a few hashes.
func (c *Cache) Save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dirty {
		return nil
	}
	today := c.today()
	all := make(map[file]entry, len(c.entries))
	keep := func(f file, e entry) {
		if e.used+forgetAfter >= today {
			all[f] = e
		}
	}
	// Of what this process did not look at, others may know more than was read at the start.
	for f, e := range c.entries {
		if !e.touched {
			keep(f, e)
		}
	}
	c.read(keep)
	for f, e := range c.entries {
		if e.touched {
			keep(f, e)
		}
	}
	b := statefile.Encoder{Block: make([]byte, 0, 1+len(all)*entrySize)}
	b.Uint(uint64(c.fn))
	for f, e := range all {
		put(&b, f, e)
	}
	if err := statefile.Write(c.path, kind(), b.Block); err != nil {
		return err
	}
	c.entries, c.dirty = all, false
	return nil
}

// Hashed returns how many files were read because the cache did not know them.
func (c *Cache) Hashed() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hashed
}

// read calls add for each entry of the file, or not at all if anything is wrong with it.
func (c *Cache) read(add func(file, entry)) {
	f, err := statefile.Read(c.path, kind())
	if err != nil {
		return
	}
	d := statefile.Decode(f.Blocks[0])
	if digest.Function(d.Below(1<<8)) != c.fn || d.Len()%entrySize != 0 {
		return
	}
	for d.Len() > 0 {
		if f, e, err := take(&d, c.fn); err == nil {
			add(f, e)
		}
	}
}

// entrySize is how many bytes an entry takes.
const entrySize = 5*8 + 4 + 32

func put(b *statefile.Encoder, f file, e entry) {
	for _, v := range [...]uint64{f.dev, f.inode, uint64(e.times.size), uint64(e.times.mtime), uint64(e.times.ctime)} {
		b.Uint64(v)
	}
	b.Uint32(e.used)
	b.Block = e.digest.AppendHash(b.Block)
}

func take(d *statefile.Decoder, fn digest.Function) (f file, e entry, err error) {
	f = file{d.Uint64(), d.Uint64()}
	e.times = times{int64(d.Uint64()), int64(d.Uint64()), int64(d.Uint64())}
	e.used = d.Uint32()
	e.digest, err = digest.FromHash(fn, d.Take(32), e.times.size)
	return f, e, err
}
