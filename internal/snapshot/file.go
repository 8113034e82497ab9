package snapshot

import (
	"encoding/binary"
	"errors"
	"slices"
	"unsafe"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/statefile"
)

// kind is of the file. Its first block has the digest function, for each section the number of its records and of their bytes, and
// then for each section the ends of its records and the records. The first section has the strings, the second the names of pipeline
// and profile. Later runs may have added blocks: see delta.
func kind() statefile.Kind { return statefile.Kind{Name: "snapshot", Version: 7, Max: maxFile} }

type section int

const (
	secStrings section = iota
	secTitle
	secReads
	secGlobs
	secLookups
	secHosts
	secInstances
	secUnits
	secResults // of the units
	secOutputs
	secChecks
	sections
)

// table is the records of a section.
type table struct {
	ends []byte // uint32 each: where in data a record ends
	data []byte
}

func (t table) len() int { return len(t.ends) / 4 }

func (t table) record(i int) []byte {
	if i < 0 || i >= t.len() {
		return nil
	}
	start := uint32(0)
	if i > 0 {
		start = binary.LittleEndian.Uint32(t.ends[4*i-4:])
	}
	end := binary.LittleEndian.Uint32(t.ends[4*i:])
	if start > end || uint64(end) > uint64(len(t.data)) {
		return nil
	}
	return t.data[start:end]
}

// Reader reads a snapshot's records one by one: most runs need few of them. It may be used by several goroutines at once.
type Reader struct {
	fn     digest.Function
	tables [sections]table
	text   string // data of the strings

	newer [sections]map[int][]byte // records that deltas replaced
	more  []string                 // strings that deltas added
	file  *statefile.File
}

// Open reads the snapshot at path. The error is fs.ErrNotExist when there is none; any error means to go on without.
func Open(path string) (*Reader, error) {
	f, err := statefile.Read(path, kind())
	if errors.Is(err, statefile.ErrDamaged) {
		return nil, errDamaged
	}
	if err != nil {
		return nil, err
	}
	return read(f)
}

func read(f *statefile.File) (*Reader, error) {
	const head = 1 + int(sections)*8
	b := f.Blocks[0]
	if len(b) < head {
		return nil, errDamaged
	}
	r := &Reader{fn: digest.Function(b[0]), file: f}
	if r.fn != digest.BLAKE3 && r.fn != digest.SHA256 {
		return nil, errDamaged
	}
	rest := b[head:]
	for i := range r.tables {
		at := 1 + 8*i
		n, size := uint64(binary.LittleEndian.Uint32(b[at:])), uint64(binary.LittleEndian.Uint32(b[at+4:]))
		if 4*n+size > uint64(len(rest)) {
			return nil, errDamaged
		}
		r.tables[i] = table{rest[:4*n], rest[4*n : 4*n+size]}
		rest = rest[4*n+size:]
	}
	if len(rest) > 0 {
		return nil, errDamaged
	}
	r.text = unsafe.String(unsafe.SliceData(r.tables[secStrings].data), len(r.tables[secStrings].data)) // nobody writes to what was read
	for _, block := range f.Blocks[1:] {
		if err := r.apply(block); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// record returns a record as the last delta has it.
func (r *Reader) record(s section, i int) []byte {
	if b, ok := r.newer[s][i]; ok {
		return b
	}
	return r.tables[s].record(i)
}

// strings returns how many there are.
func (r *Reader) strings() int { return r.len(secStrings) + len(r.more) }

func (r *Reader) len(s section) int { return r.tables[s].len() }

func (r *Reader) str(n uint64) (string, bool) {
	t := r.tables[secStrings]
	if known := uint64(t.len()); n >= known {
		if n-known < uint64(len(r.more)) {
			return r.more[n-known], true
		}
		return "", false
	}
	start, i := uint32(0), int(n)
	if i > 0 {
		start = binary.LittleEndian.Uint32(t.ends[4*i-4:])
	}
	end := binary.LittleEndian.Uint32(t.ends[4*i:])
	if start > end || uint64(end) > uint64(len(r.text)) {
		return "", false
	}
	return r.text[start:end], true
}

func (r *Reader) decoder(s section, i int) *decoder {
	return &decoder{statefile.Decode(r.record(s, i)), r}
}

// record reads a whole record.
func record[T any](r *Reader, s section, i int, read func(*decoder) T) (T, error) {
	d := r.decoder(s, i)
	v := read(d)
	if !d.Done() {
		var none T
		return none, errDamaged
	}
	return v, nil
}

func all[T any](r *Reader, s section, read func(*decoder) T) ([]T, error) {
	l := make([]T, 0, r.len(s))
	for i := range r.len(s) {
		v, err := record(r, s, i, read)
		if err != nil {
			return nil, err
		}
		l = append(l, v)
	}
	return l, nil
}

// Fn is the function of all digests.
func (r *Reader) Fn() digest.Function { return r.fn }

// Title returns what there is to say of the whole build.
func (r *Reader) Title() (Title, error) { return record(r, secTitle, 0, (*decoder).title) }

// Reads returns what the plan was made from.
func (r *Reader) Reads() ([]Read, error) { return all(r, secReads, (*decoder).read) }

// Globs returns the folders that planning listed.
func (r *Reader) Globs() ([]Glob, error) { return all(r, secGlobs, (*decoder).glob) }

// Lookups returns what else planning asked the machine.
func (r *Reader) Lookups() ([]Lookup, error) { return all(r, secLookups, (*decoder).lookup) }

// Hosts returns how many of the machine's files and folders the actions read.
func (r *Reader) Hosts() int { return r.len(secHosts) }

// Host returns what was looked at for an input.
func (r *Reader) Host(i int) (Host, error) { return record(r, secHosts, i, (*decoder).host) }

// EachFile calls f with all Files of all Hosts, in order, and the number of the Host.
func (r *Reader) EachFile(f func(host int, file File)) error {
	d := decoder{r: r}
	for i := range r.len(secHosts) {
		d.Decoder = statefile.Decode(r.record(secHosts, i))
		d.skipHost()
		for range d.Count() {
			f(i, d.file())
		}
		if !d.Done() {
			return errDamaged
		}
	}
	return nil
}

// Outputs returns how many outputs the pipeline has.
func (r *Reader) Outputs() int { return r.len(secOutputs) }

// Output returns an output of the pipeline.
func (r *Reader) Output(i int) (Output, error) { return record(r, secOutputs, i, (*decoder).output) }

// OutputLinks returns how an output is called and shown, what it is and what it was made from, and nothing else of it.
func (r *Reader) OutputLinks(i int) (Output, error) {
	d := r.decoder(secOutputs, i)
	if x := d.outputLinks(); !d.Bad() {
		return x, nil
	}
	return Output{}, errDamaged
}

// Checks returns what came of the checks.
func (r *Reader) Checks() ([]Check, error) { return all(r, secChecks, (*decoder).check) }

// Instances returns how many there are.
func (r *Reader) Instances() int { return r.len(secInstances) }

// Instance returns one of them.
func (r *Reader) Instance(i int) (Instance, error) {
	return record(r, secInstances, i, (*decoder).instance)
}

// At returns an instance's address and what it comes after, and nothing else of it.
func (r *Reader) At(i int) (Instance, error) {
	d := r.decoder(secInstances, i)
	n := Instance{Plan: plan.Instance{At: d.address()}, After: d.ints(r.len(secInstances), nil)}
	if d.Bad() {
		return Instance{}, errDamaged
	}
	return n, nil
}

// Units returns how many units there are.
func (r *Reader) Units() int { return r.len(secUnits) }

// Unit returns a unit.
func (r *Reader) Unit(i int) (Unit, error) {
	return record(r, secUnits, i, func(d *decoder) (u Unit) {
		d.links(&u)
		u.Spec = d.spec()
		res := d.r.decoder(secResults, i)
		if res.result(&u); !res.Done() {
			d.Fail()
		}
		return u
	})
}

// EachLinks calls f with the instance, needs, hosts and Always of every unit, in order, and nothing else of it. What it gets is
// another the next time.
func (r *Reader) EachLinks(f func(i int, u *Unit)) error {
	var u Unit
	d := decoder{r: r}
	for i := range r.len(secUnits) {
		d.Decoder = statefile.Decode(r.record(secUnits, i))
		if d.links(&u); d.Bad() {
			return errDamaged
		}
		f(i, &u)
	}
	return nil
}

// Result returns of a unit what EachLinks does, its key and outputs, and the name of its Spec.
func (r *Reader) Result(i int) (Unit, error) {
	var u Unit
	d, res := r.decoder(secUnits, i), r.decoder(secResults, i)
	d.links(&u)
	u.Spec.Name = d.string()
	if res.result(&u); d.Bad() || !res.Done() {
		return Unit{}, errDamaged
	}
	return u, nil
}

// writer collects records.
type writer struct {
	encoder
	collected [sections]records
}

// records are those of a section. They are kept in parts, as one piece of memory that grows is copied again and again.
type records struct {
	ends  []byte // as those of a table
	parts [][]byte
	size  int // of the parts together
}

const (
	minPart = 512      // bytes of a section's first part; further ones have as many as there are already
	maxPart = 64 << 10 // but no more than this, where a record is not larger
)

func (r *records) add(b []byte) {
	if i := len(r.parts) - 1; i < 0 || len(r.parts[i])+len(b) > cap(r.parts[i]) {
		r.parts = append(r.parts, make([]byte, 0, max(len(b), minPart, min(r.size, maxPart))))
	}
	last := &r.parts[len(r.parts)-1]
	*last = append(*last, b...)
	r.size += len(b)
	r.ends = binary.LittleEndian.AppendUint32(r.ends, uint32(r.size))
}

func (w *writer) end(s section) {
	w.collected[s].add(w.Block)
	w.Block = w.Block[:0]
}

// first returns the first block, in parts.
func (w *writer) first(fn digest.Function) [][]byte {
	w.collected[secStrings] = records{}
	for _, s := range w.all {
		w.Block = append(w.Block[:0], s...)
		w.end(secStrings)
	}
	head := statefile.Encoder{Block: []byte{byte(fn)}}
	var parts [][]byte
	for _, s := range w.collected {
		head.Uint32(uint32(len(s.ends) / 4))
		head.Uint32(uint32(s.size))
		parts = append(append(parts, s.ends), s.parts...)
	}
	return slices.Insert(parts, 0, head.Block)
}
