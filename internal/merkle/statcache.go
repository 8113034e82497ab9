package merkle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
)

const (
	// racyWindow is how old a file's last change must be, when it is hashed, for the digest to be remembered: a change
	// within the same tick of the file system's clock would leave the times as they are. Two seconds is FAT's tick.
	racyWindow = 2 * time.Second
	// forgetAfter is how many days an entry may go unused before Save drops it.
	forgetAfter = 30
	// staleTemp is how old a temporary file of a dead process is before it is removed, and tempPrefix begins its name.
	staleTemp  = time.Hour
	tempPrefix = "statcache"
	// hashAttempts is how often a file that changes while it is hashed is tried.
	hashAttempts = 3
)

const (
	statMagic  = "hexmage statcache 1\n"
	recordSize = 8 + 8 + 8 + 8 + 8 + 4 + 32
)

// StatCache is a Hasher that remembers digests by device, inode, size, modification and change time, so that an
// unchanged file costs no more than its Lstat. A file that changed less than two seconds before it was hashed is not
// remembered, as its times could stay the same through another change.
//
// The file it is kept in is only a hint: one that is damaged counts as empty. Save replaces it as a whole, keeping what
// other processes have added.
type StatCache struct {
	path string
	fn   digest.Function
	day  uint32 // today, in days since 1970
	load sync.Once

	mu      sync.Mutex
	entries map[fileID]fileEntry
	dirty   bool
	hashed  int64 // files read
}

// fileID names a file on this machine until it is removed.
type fileID struct{ dev, ino uint64 }

// stamp is what changes when a file is written to.
type stamp struct{ size, mtime, ctime int64 }

type fileEntry struct {
	stamp  stamp
	used   uint32 // day
	ours   bool   // looked up or made by this process
	digest digest.Digest
}

// OpenStatCache returns the cache at path, usually <root>/state/statcache; the file need not exist. It is read when somebody asks.
func OpenStatCache(path string, fn digest.Function) *StatCache {
	c := &StatCache{path: path, fn: fn, day: uint32(time.Now().Unix() / (24 * 60 * 60)), entries: map[fileID]fileEntry{}}
	return c
}

// known reads what was remembered, once.
func (c *StatCache) known() {
	c.load.Do(func() {
		_ = atomicfile.SweepNamed(filepath.Dir(c.path), tempPrefix, staleTemp) // what killed processes left; it does no harm
		c.read(func(id fileID, e fileEntry) { c.entries[id] = e })
	})
}

// Direct returns a Hasher for a run that asks for few files, and knows that they changed: it reads small ones without asking what
// c remembers, and leaves that as it is.
func (c *StatCache) Direct() Hasher { return direct{c} }

// maxDirect is how large a small file is, in bytes: reading it takes less time than what is remembered of ten thousand files.
const maxDirect = 1 << 20

type direct struct{ c *StatCache }

func (h direct) Hash(path string, info fs.FileInfo) (digest.Digest, error) {
	if info.Size() > maxDirect {
		return h.c.Hash(path, info)
	}
	return h.c.settled(path, func(fileID, stamp, digest.Digest) {})
}

// Hash implements Hasher.
func (c *StatCache) Hash(path string, info fs.FileInfo) (digest.Digest, error) {
	c.known()
	id, st, known := identify(info)
	if known {
		c.mu.Lock()
		e, ok := c.entries[id]
		if ok && e.stamp == st {
			if !e.ours {
				c.dirty = c.dirty || e.used != c.day
				e.used, e.ours = c.day, true
				c.entries[id] = e
			}
			c.mu.Unlock()
			return e.digest, nil
		}
		c.mu.Unlock()
	}
	return c.settled(path, func(id fileID, st stamp, d digest.Digest) {
		if known {
			c.remember(id, st, d)
		}
	})
}

// settled hashes a file that does not change meanwhile, and passes on what it found.
func (c *StatCache) settled(path string, found func(fileID, stamp, digest.Digest)) (digest.Digest, error) {
	for range hashAttempts {
		d, id, st, changed, err := c.hash(path)
		if err != nil {
			return digest.Digest{}, err
		}
		if changed {
			continue
		}
		found(id, st, d)
		return d, nil
	}
	return digest.Digest{}, fmt.Errorf("%s changes while it is read: stop what writes to it and run again", path)
}

func (c *StatCache) hash(path string) (d digest.Digest, id fileID, before stamp, changed bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, id, before, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return d, id, before, false, err
	}
	id, before, _ = identify(info)
	if d, err = c.fn.Reader(f); err != nil {
		return d, id, before, false, err
	}
	if info, err = f.Stat(); err != nil {
		return d, id, before, false, err
	}
	_, after, _ := identify(info)
	return d, id, before, before != after || d.Size() != info.Size(), nil
}

func (c *StatCache) remember(id fileID, st stamp, d digest.Digest) {
	newest := time.Unix(0, max(st.mtime, st.ctime))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hashed++
	if time.Since(newest) < racyWindow { // also when it changed in the future, by a clock that went back since
		if _, ok := c.entries[id]; ok {
			delete(c.entries, id)
			c.dirty = true
		}
		return
	}
	c.entries[id] = fileEntry{stamp: st, used: c.day, ours: true, digest: d}
	c.dirty = true
}

// Save writes the cache if it changed. Entries that other processes saved meanwhile are kept, ours win, and those
// unused for 30 days are dropped.
func (c *StatCache) Save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dirty {
		return nil
	}
	all := make(map[fileID]fileEntry, len(c.entries))
	keep := func(id fileID, e fileEntry) {
		if e.used+forgetAfter >= c.day {
			all[id] = e
		}
	}
	// Of what this process did not look at, others may know more than was read at the start.
	for id, e := range c.entries {
		if !e.ours {
			keep(id, e)
		}
	}
	c.read(keep)
	for id, e := range c.entries {
		if e.ours {
			keep(id, e)
		}
	}
	b := make([]byte, 0, len(statMagic)+1+len(all)*recordSize+32)
	b = append(append(b, statMagic...), byte(c.fn))
	for id, e := range all {
		b = appendRecord(b, id, e)
	}
	sum := blake3.Sum256(b)
	b = append(b, sum[:]...)
	// Not durable: after a crash an old or damaged file costs a few hashes.
	dir := filepath.Dir(c.path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save the stat cache: %w", err)
	}
	f, err := atomicfile.Temp(dir, tempPrefix)
	if err != nil {
		return fmt.Errorf("save the stat cache: %w", err)
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("save the stat cache: %w", err)
	}
	c.entries, c.dirty = all, false
	return nil
}

// Hashed returns how many files were read because the cache did not know them.
func (c *StatCache) Hashed() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hashed
}

// read calls add for each entry of the file, or not at all if anything is wrong with it.
func (c *StatCache) read(add func(fileID, fileEntry)) {
	f, err := os.Open(c.path)
	if err != nil {
		return
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<30))
	if err != nil || len(b) < len(statMagic)+1+32 {
		return
	}
	body, sum := b[:len(b)-32], blake3.Sum256(b[:len(b)-32])
	records, ok := bytes.CutPrefix(body, append([]byte(statMagic), byte(c.fn)))
	if !ok || !bytes.Equal(sum[:], b[len(body):]) || len(records)%recordSize != 0 {
		return
	}
	for ; len(records) > 0; records = records[recordSize:] {
		if id, e, err := parseRecord(c.fn, records); err == nil {
			add(id, e)
		}
	}
}

func appendRecord(b []byte, id fileID, e fileEntry) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, id.dev)
	b = le.AppendUint64(b, id.ino)
	b = le.AppendUint64(b, uint64(e.stamp.size))
	b = le.AppendUint64(b, uint64(e.stamp.mtime))
	b = le.AppendUint64(b, uint64(e.stamp.ctime))
	b = le.AppendUint32(b, e.used)
	return e.digest.AppendHash(b)
}

func parseRecord(fn digest.Function, b []byte) (id fileID, e fileEntry, err error) {
	le := binary.LittleEndian
	id = fileID{le.Uint64(b), le.Uint64(b[8:])}
	e.stamp = stamp{int64(le.Uint64(b[16:])), int64(le.Uint64(b[24:])), int64(le.Uint64(b[32:]))}
	e.used = le.Uint32(b[40:])
	e.digest, err = digest.FromHash(fn, b[44:recordSize], e.stamp.size)
	return id, e, err
}
