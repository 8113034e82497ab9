// Package pack keeps small things by digest in one file, to which many processes append at the same time.
//
// One enters it by Open. A record is written at once, at the end of the file, and counts by its own checksum: what is torn or
// damaged is not there, and what follows it is. A second file tells where records are; what was appended since is read by each process
// and remembered. Before each lookup a process asks the file system for the pack's size: so it finds all that others have put.
//
// The package does not know what is in a record, whose actions they are, or who may remove one: who does must be alone.
package pack

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// Pack is a pack, which need not exist. All methods may be called from many goroutines at once.
type Pack struct {
	path string
	tmp  string // the folder for files that are being written

	mu   sync.Mutex
	now  *opened // nil: there is none, or its head is damaged
	room []byte  // for the next record that is put
}

// opened is a file, which may be no longer in its place. What was there to be read stays so.
type opened struct {
	head
	file     *os.File
	stamp    stat.Stamp
	appendTo *os.File // nil until something is put
	index    index
	tail     map[uint64]int64 // places of what comes after what the index covers
	end      int64            // up to where records are known
	seen     int64            // the size then; more where the last record is torn, or still being written
}

// Open returns the pack at path, beside which its other files are. What is being written is in the folder tmp, on the same file system. It
// looks at none of them.
func Open(path, tmp string) *Pack { return &Pack{path: path, tmp: tmp} }

// index is the file that tells where records are.
func (p *Pack) index() string { return p.path + ".index" }

// hashOf is what places are known by: two keys have the same about never, and then one of them is not found.
func hashOf(key digest.Digest) uint64 {
	var b [32]byte
	return binary.BigEndian.Uint64(key.AppendHash(b[:0]))
}

// refresh sees to it that all is known that was put, by whomever.
func (p *Pack) refresh() error {
	st, err := stat.Lstat(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		p.now = nil
		return nil
	}
	if err != nil {
		return err
	}
	o := p.now
	if o == nil || st.Dev != o.stamp.Dev || st.Inode != o.stamp.Inode || st.Size < o.seen {
		if o, err = p.open(st); err != nil {
			p.now = nil
			if errors.Is(err, errHead) {
				return nil
			}
			return err
		}
		p.now = o
	}
	if st.Size <= o.seen {
		return nil
	}
	o.end, _, err = o.each(o.end, st.Size, func(r Record) error {
		o.tail[hashOf(r.Key)] = r.At
		return nil
	})
	if err == nil {
		o.seen = st.Size
	}
	return err
}

// open opens what is in the pack's place. The one that was open is left to the garbage collector, as somebody may be reading in it.
func (p *Pack) open(st stat.Stamp) (*opened, error) {
	if !st.IsRegular() {
		return nil, errHead
	}
	f, err := os.OpenFile(p.path, os.O_RDWR, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a cache that cannot be written to
		f, err = os.Open(p.path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	o := &opened{file: f, tail: map[uint64]int64{}}
	if err == nil {
		o.stamp = stat.Of(info)
		o.head, err = readHead(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	o.index = openIndex(p.index(), o.id, o.stamp.Size)
	o.end, o.seen = o.index.covered, o.index.covered
	return o, nil
}

// Get returns what was put last for the key, if anything was, and is not damaged. The bytes are the caller's.
func (p *Pack) Get(key digest.Digest) (body []byte, ok bool, err error) {
	r, body, err := p.get(key)
	if body == nil || err != nil || r.Key != key {
		return nil, false, err
	}
	if now := time.Now(); now.Sub(r.Used) > UsedEvery {
		_ = r.Use(now) // only a hint for garbage collection; it cannot be had in a cache that cannot be written to
	}
	return body, true, nil
}

// Has tells whether there is something for the key, whose size is not looked at.
func (p *Pack) Has(key digest.Digest) (bool, error) {
	r, body, err := p.get(key)
	return body != nil && r.Key.Unsized() == key.Unsized(), err
}

func (p *Pack) get(key digest.Digest) (Record, []byte, error) {
	o, at, err := p.find(hashOf(key))
	if at == 0 || err != nil {
		return Record{}, nil, err
	}
	r, body, err := o.read(at)
	if errors.Is(err, ErrDamaged) {
		return Record{}, nil, nil
	}
	return r, body, err
}

func (p *Pack) find(hash uint64) (o *opened, at int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refresh(); err != nil || p.now == nil {
		return nil, 0, err
	}
	if at, ok := p.now.tail[hash]; ok {
		return p.now, at, nil
	}
	at, err = p.now.index.find(hash)
	return p.now, at, err
}

// maxRoom is how many bytes of memory are kept for the next record at most.
const maxRoom = 64 << 10

// Put adds a record. When it returns nil, all processes find it.
func (p *Pack) Put(ctx context.Context, key digest.Digest, body []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.now == nil {
			if err := p.make(ctx); err != nil {
				return err
			}
		}
		o := p.now
		b, err := o.encodeRecord(key, body, p.room)
		if cap(b) <= maxRoom {
			p.room = b
		}
		if err == nil && o.appendTo == nil {
			o.appendTo, err = os.OpenFile(p.path, os.O_WRONLY|os.O_APPEND, 0)
			if errors.Is(err, fs.ErrNotExist) {
				p.now = nil
				continue
			}
		}
		if err == nil {
			_, err = o.appendTo.Write(b)
		}
		if err != nil {
			return err
		}
		// Nobody else wrote meanwhile: so there it is. Else it is found by looking.
		before := o.seen
		if st, err := stat.Lstat(p.path); err == nil && st.Inode == o.stamp.Inode && st.Dev == o.stamp.Dev && o.end == before && st.Size == before+int64(len(b)) {
			o.tail[hashOf(key)] = before
			o.end, o.seen = st.Size, st.Size
			return nil
		}
		// It was written anew meanwhile: what was put is in the new one only if it was put before. A second time does no harm.
		if err := p.refresh(); err != nil || p.now == o {
			return err
		}
	}
}

// make makes the pack where there is none, or one with a damaged head: one process at a time, where the file system has locks.
func (p *Pack) make(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(p.path), 0o755); err != nil {
		return err
	}
	if unlock, err := atomicfile.Lock(ctx, p.path+".lock"); err == nil {
		defer unlock()
	}
	if err := p.refresh(); err != nil || p.now != nil {
		return err
	}
	err := p.replace(p.path, false, func(w io.Writer) error {
		_, err := w.Write(newHead(head{}).encode())
		return err
	})
	if err != nil {
		return err
	}
	return p.refresh()
}

// replace writes a file anew; synced, if what it replaces was.
func (p *Pack) replace(path string, synced bool, write func(io.Writer) error) error {
	f, err := atomicfile.Temp(p.tmp, "pack")
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		os.Remove(f.Name())
		return err
	}
	if synced {
		return atomicfile.Commit(f, path, 0o644)
	}
	return atomicfile.Place(f, path, 0o644)
}

// WriteIndex writes the index anew if much was put that is not in it.
func (p *Pack) WriteIndex() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.now
	if o == nil || o.end-o.index.covered < indexAfter {
		return nil
	}
	places := make(map[uint64]int64, len(o.tail))
	if err := o.index.each(func(hash uint64, at int64) { places[hash] = at }); err != nil {
		return err
	}
	maps.Copy(places, o.tail)
	// First what it is of: a crash of the machine must not leave an index of more than there is.
	if err := o.file.Sync(); err != nil {
		return err
	}
	if err := p.writeIndex(o.id, o.end, places); err != nil {
		return err
	}
	o.index = openIndex(p.index(), o.id, o.end)
	if o.index.covered == o.end { // not when another process was here
		o.tail = map[uint64]int64{}
	}
	return nil
}

func (p *Pack) writeIndex(id [16]byte, covered int64, places map[uint64]int64) error {
	b := encodeIndex(id, covered, places)
	return p.replace(p.index(), true, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Listing is all that is in a pack, as it was at one moment.
type Listing struct {
	Records []Record // the newest of each key, in the order in which they were put
	Waste   int64    // bytes of the pack that are none of these
	Damage  string   // what is wrong with the pack, but for what is wrong with records: "" for nothing
}

// List reads the pack.
func (p *Pack) List(ctx context.Context) (Listing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list(ctx)
}

func (p *Pack) list(ctx context.Context) (l Listing, err error) {
	if err := p.refresh(); err != nil {
		return l, err
	}
	o := p.now
	if o == nil {
		if st, err := stat.Lstat(p.path); err == nil {
			l.Waste, l.Damage = st.Size, errHead.Error()
		}
		return l, nil
	}
	newest := map[digest.Digest]int{}
	_, stray, err := o.each(int64(headSize), o.seen, func(r Record) error {
		newest[r.Key] = len(l.Records)
		l.Records = append(l.Records, r)
		return context.Cause(ctx)
	})
	if err != nil {
		return Listing{}, err
	}
	if stray > 0 {
		l.Damage = fmt.Sprintf("%d bytes in it are no record", stray)
	}
	i := -1
	l.Records = slices.DeleteFunc(l.Records, func(r Record) bool { i++; return newest[r.Key] != i })
	l.Waste = o.seen
	for _, r := range l.Records {
		l.Waste -= r.Size
	}
	return l, nil
}

// Read returns what the record holds. It fails with ErrDamaged where that is not what was put.
func (r Record) Read() ([]byte, error) {
	is, body, err := r.pack.read(r.At)
	if err == nil && is.Key != r.Key {
		err = ErrDamaged
	}
	return body, err
}

// Compact writes the pack anew, with those of its records that are to be kept; a crash at any moment leaves the pack of before
// or the new one. Nobody else may do so at the same time. Processes that have it open go on with the new one, and what they put
// meanwhile is in it.
func (p *Pack) Compact(ctx context.Context, keep func(Record) bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, err := p.list(ctx)
	if err != nil || p.now == nil && l.Damage == "" {
		return err
	}
	o, h, size, places := p.now, newHead(head{}), int64(headSize), map[uint64]int64{}
	if o != nil {
		h = newHead(o.head)
	}
	err = p.replace(p.path, true, func(w io.Writer) error {
		_, err := w.Write(h.encode())
		for run := range runs(slices.DeleteFunc(l.Records, func(r Record) bool { return !keep(r) })) {
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				break
			}
			for _, r := range run {
				places[hashOf(r.Key)] = size
				size += r.Size
			}
			first, last := run[0], run[len(run)-1]
			_, err = io.Copy(w, io.NewSectionReader(o.file, first.At, last.At+last.Size-first.At))
		}
		return err
	})
	if err != nil {
		return err
	}
	p.now = nil
	if size-int64(headSize) >= indexAfter {
		err = p.writeIndex(h.id, size, places)
	} else if err = os.Remove(p.index()); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil || o == nil {
		return err
	}
	return p.moveLate(o)
}

// runs yields records that stand one after the other, together.
func runs(all []Record) func(func([]Record) bool) {
	return func(yield func([]Record) bool) {
		for len(all) > 0 {
			n := 1
			for n < len(all) && all[n].At == all[n-1].At+all[n-1].Size {
				n++
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// moveLate adds to the pack what was put into the one that was in its place, by processes that had not noticed. Those that put something
// later find that it was too late, and put it again.
func (p *Pack) moveLate(o *opened) error {
	info, err := o.file.Stat()
	if err != nil || info.Size() <= o.seen {
		return err
	}
	to, err := os.OpenFile(p.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer to.Close()
	_, _, err = o.each(o.end, info.Size(), func(r Record) error {
		var b bytes.Buffer
		_, err := b.ReadFrom(io.NewSectionReader(o.file, r.At, r.Size))
		if err == nil {
			_, err = to.Write(b.Bytes())
		}
		return err
	})
	return err
}
