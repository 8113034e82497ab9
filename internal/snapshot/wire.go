package snapshot

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/statefile"
)

// encoder writes records. Every string is written once for the whole file, and named by a number.
type encoder struct {
	statefile.Encoder
	known map[string]uint64
	all   []string
	scans int // through the old ones
	old   int // how many of all are in known only once somebody asked for them, which few are

	at func(addrs.Instance) (int, bool) // numbers of instances; of one without, the address is written out
}

func (e *encoder) string(s string) {
	id, ok := e.known[s]
	if !ok {
		id = e.find(s)
		e.known[s] = id
	}
	e.Uint(id)
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
	e.Int(len(l))
	for _, s := range l {
		e.string(s)
	}
}

// ints writes numbers that mostly ascend.
func (e *encoder) ints(l []int) {
	e.Int(len(l))
	last := 0
	for _, v := range l {
		e.Signed(int64(v - last))
		last = v
	}
}

func encodeMap[V any](e *encoder, m map[string]V, value func(V)) {
	e.Int(len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e.string(k)
		value(m[k])
	}
}

// errDamaged is what any kind of damage looks like to a caller, who then does without the snapshot.
var errDamaged = fmt.Errorf("the snapshot is %w", statefile.ErrDamaged)

// decoder reads one record.
type decoder struct {
	statefile.Decoder
	r *Reader
}

// small reads a number that has to fit an int32.
func (d *decoder) small() int { return d.Below(1 << 31) }

func (d *decoder) string() string {
	n := d.Uint()
	s, ok := d.r.str(n)
	if !ok {
		d.Fail()
	}
	return s
}

func (d *decoder) strings() []string {
	n := d.Count()
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
	n := d.Count()
	if n == 0 {
		return l[:0]
	}
	if l = l[:0]; cap(l) < n {
		l = make([]int, 0, n)
	}
	last := int64(0)
	for range n {
		last += d.Signed()
		if d.Bad() || last < 0 || last >= int64(limit) {
			d.Fail()
			return nil
		}
		l = append(l, int(last))
	}
	return l
}

func decodeMap[V any](d *decoder, value func() V) map[string]V {
	n := d.Count()
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
