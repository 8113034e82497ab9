package snapshot

import (
	"encoding/binary"
	"errors"
	"slices"
	"sort"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// encoder writes records. Every string is written once for the whole file, and named by a number.
type encoder struct {
	b     []byte
	known map[string]uint64
	all   []string
	scans int // through the old ones
	old   int // how many of all are in known only once somebody asked for them, which few are
}

func (e *encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int)     { e.uint(uint64(v)) }
func (e *encoder) bytes(v []byte) {
	e.int(len(v))
	e.b = append(e.b, v...)
}

func (e *encoder) bool(v bool) {
	if v {
		e.uint(1)
	} else {
		e.uint(0)
	}
}

func (e *encoder) string(s string) {
	id, ok := e.known[s]
	if !ok {
		id = e.find(s)
		e.known[s] = id
	}
	e.uint(id)
}

// maxScans is how often all old strings are gone through before they are put into the map.
const maxScans = 32

// find returns the number of a string that is not in known, which may be a new one.
func (e *encoder) find(s string) uint64 {
	switch {
	case e.old == 0:
	case e.scans < maxScans:
		e.scans++
		if i := slices.Index(e.all[:e.old], s); i >= 0 {
			return uint64(i)
		}
	default:
		for i, o := range e.all[:e.old] {
			e.known[o] = uint64(i)
		}
		e.old = 0
		if id, ok := e.known[s]; ok {
			return id
		}
	}
	e.all = append(e.all, s)
	return uint64(len(e.all) - 1)
}

func (e *encoder) strings(l []string) {
	e.int(len(l))
	for _, s := range l {
		e.string(s)
	}
}

// ints writes numbers that mostly ascend.
func (e *encoder) ints(l []int) {
	e.int(len(l))
	last := 0
	for _, v := range l {
		e.b = binary.AppendVarint(e.b, int64(v-last))
		last = v
	}
}

// digest writes a digest of the file's function, or none.
func (e *encoder) digest(d digest.Digest) {
	if d.IsZero() {
		e.uint(0)
		return
	}
	e.uint(uint64(d.Size()) + 1)
	e.b = d.AppendHash(e.b)
}

func (e *encoder) stamp(s stat.Stamp) {
	le := binary.LittleEndian
	for _, v := range [...]uint64{s.Dev, s.Inode, uint64(s.Size), uint64(s.MTime), uint64(s.CTime)} {
		e.b = le.AppendUint64(e.b, v)
	}
	e.b = le.AppendUint32(e.b, s.Mode)
}

func encodeMap[V any](e *encoder, m map[string]V, value func(V)) {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	e.int(len(keys))
	for _, k := range keys {
		e.string(k)
		value(m[k])
	}
}

// errDamaged is what any kind of damage looks like to a caller, who then does without the memo.
var errDamaged = errors.New("the memo is damaged")

// decoder reads one record. After the first thing that cannot be, it gives zeros and bad is set.
type decoder struct {
	r   *Reader
	b   []byte
	bad bool
}

func (d *decoder) fail() {
	d.bad = true
	d.b = nil
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads a number of things that take at least one byte each.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

// index reads a number below limit.
func (d *decoder) index(limit int) int {
	n := d.uint()
	if n >= uint64(limit) {
		d.fail()
		return 0
	}
	return int(n)
}

// small reads a number that has to fit an int32.
func (d *decoder) small() int { return d.index(1 << 31) }

func (d *decoder) bool() bool { return d.uint() == 1 }

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail()
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes() []byte {
	v := d.take(d.count())
	return append([]byte(nil), v...)
}

func (d *decoder) string() string {
	n := d.uint()
	s, ok := d.r.str(n)
	if !ok {
		d.fail()
	}
	return s
}

func (d *decoder) strings() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	l := make([]string, n)
	for i := range l {
		l[i] = d.string()
	}
	return l
}

// ints reads indices below limit, into l if it has the room.
func (d *decoder) ints(limit int, l []int) []int {
	n := d.count()
	if n == 0 {
		return l[:0]
	}
	if l = l[:0]; cap(l) < n {
		l = make([]int, 0, n)
	}
	last := int64(0)
	for range n {
		v, w := binary.Varint(d.b)
		if w <= 0 {
			d.fail()
			return nil
		}
		d.b = d.b[w:]
		last += v
		if last < 0 || last >= int64(limit) {
			d.fail()
			return nil
		}
		l = append(l, int(last))
	}
	return l
}

func (d *decoder) digest() digest.Digest {
	n := d.uint()
	if n == 0 {
		return digest.Digest{}
	}
	h := d.take(hashSize)
	if h == nil {
		return digest.Digest{}
	}
	v, err := digest.FromHash(d.r.fn, h, int64(n-1))
	if err != nil {
		d.fail()
	}
	return v
}

func (d *decoder) stamp() stat.Stamp {
	b := d.take(44)
	if b == nil {
		return stat.Stamp{}
	}
	le := binary.LittleEndian
	return stat.Stamp{Dev: le.Uint64(b), Inode: le.Uint64(b[8:]), Size: int64(le.Uint64(b[16:])),
		MTime: int64(le.Uint64(b[24:])), CTime: int64(le.Uint64(b[32:])), Mode: le.Uint32(b[40:])}
}

func decodeMap[V any](d *decoder, value func() V) map[string]V {
	n := d.count()
	if n == 0 {
		return nil
	}
	m := make(map[string]V, n)
	for range n {
		k := d.string()
		m[k] = value()
	}
	return m
}
