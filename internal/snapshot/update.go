package snapshot

import (
	"encoding/binary"
	"os"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/digest"
)

// Update is what changed since a memo was written, by index.
type Update struct {
	Exported digest.Digest // as Title.Exports; none: as it was
	Reads    map[int]Read
	Hosts    map[int]Host
	Results  map[int]Unit // of which only Key, Root and Outs count
	Exports  map[int]Export
}

// retitled is the title with what the update says of it, as a section of its own.
func (r *Reader) retitled(u Update) (map[int]Title, error) {
	if u.Exported.IsZero() {
		return nil, nil
	}
	t, err := r.Title()
	t.Exports = u.Exported
	return map[int]Title{0: t}, err
}

// from has the strings of r keep their numbers.
func (w *writer) from(r *Reader) {
	w.all = make([]string, 0, r.strings()+16)
	for i := range r.strings() {
		s, _ := r.str(uint64(i))
		w.all = append(w.all, s)
	}
	w.old = len(w.all)
}

// Updated returns the memo's file with some records replaced.
func (r *Reader) Updated(u Update) ([]byte, error) {
	w := &writer{encoder: encoder{known: map[string]uint64{}}, tables: r.tables}
	w.from(r)
	title, err := r.retitled(u)
	if err != nil {
		return nil, err
	}
	replace(w, r, secTitle, title, func(v *Title) { w.title(*v) })
	replace(w, r, secReads, u.Reads, func(v *Read) { w.read(*v) })
	replace(w, r, secHosts, u.Hosts, func(v *Host) { w.host(*v) })
	replace(w, r, secResults, u.Results, w.result)
	replace(w, r, secExports, u.Exports, w.export)
	return w.file(r.fn)
}

func replace[T any](w *writer, r *Reader, s section, with map[int]T, write func(*T)) {
	if len(with) == 0 && len(r.newer[s]) == 0 {
		return
	}
	old := r.tables[s]
	w.tables[s] = table{make([]byte, 0, len(old.ends)), make([]byte, 0, len(old.data)+4096)}
	for i := range old.len() {
		if v, ok := with[i]; ok {
			write(&v)
		} else {
			w.b = append(w.b, r.record(s, i)...)
		}
		w.end(s)
	}
}

// A delta: the number of bytes of its body as uint32, the body, and the BLAKE3 of the sum before it and the body. The body has
// the strings that are new, and the records that replace others: section, index, bytes. A memo whose last delta is cut off, or
// of another file, counts as damaged.
const (
	maxDeltas = 16 // as a part of the file: 1/maxDeltas of it
	maxDelta  = 256 << 10
)

// delta returns what has to be added to the file, or nil where it is better written anew.
func (r *Reader) delta(u Update) ([]byte, error) {
	w := &writer{encoder: encoder{known: map[string]uint64{}}}
	w.from(r)
	title, err := r.retitled(u)
	if err != nil {
		return nil, err
	}
	var records []byte
	n := 0
	n += changed(w, &records, secTitle, title, func(v *Title) { w.title(*v) })
	n += changed(w, &records, secReads, u.Reads, func(v *Read) { w.read(*v) })
	n += changed(w, &records, secHosts, u.Hosts, func(v *Host) { w.host(*v) })
	n += changed(w, &records, secResults, u.Results, w.result)
	n += changed(w, &records, secExports, u.Exports, w.export)
	b := make([]byte, 4, 256+len(records))
	added := w.all[r.strings():]
	b = binary.AppendUvarint(b, uint64(len(added)))
	for _, s := range added {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = append(binary.AppendUvarint(b, uint64(n)), records...)
	if body := len(b) - 4; body > maxDelta || r.size-r.whole+int64(body) > r.whole/maxDeltas {
		return nil, nil
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	sum := chained(r.sum, b[4:])
	return append(b, sum[:]...), nil
}

func changed[T any](w *writer, to *[]byte, s section, with map[int]T, write func(*T)) int {
	for i, v := range with {
		w.b = w.b[:0]
		write(&v)
		*to = binary.AppendUvarint(binary.AppendUvarint(*to, uint64(s)), uint64(i))
		*to = append(binary.AppendUvarint(*to, uint64(len(w.b))), w.b...)
	}
	return len(with)
}

// chained is the checksum of a delta that follows what has the sum before.
func chained(before [hashSize]byte, body []byte) [hashSize]byte {
	h := blake3.New()
	h.Write(before[:])
	h.Write(body)
	return [hashSize]byte(h.Sum(nil))
}

// deltas reads what was added to the file.
func (r *Reader) deltas(b []byte) error {
	for len(b) > 0 {
		if len(b) < 4+hashSize {
			return errDamaged
		}
		n := uint64(binary.LittleEndian.Uint32(b))
		if n > uint64(len(b)-4-hashSize) {
			return errDamaged
		}
		body := b[4 : 4+n]
		if r.sum = chained(r.sum, body); r.sum != [hashSize]byte(b[4+n:]) {
			return errDamaged
		}
		if err := r.apply(body); err != nil {
			return err
		}
		b = b[4+n+hashSize:]
	}
	return nil
}

func (r *Reader) apply(body []byte) error {
	d := &decoder{r: r, b: body}
	for range d.count() {
		r.more = append(r.more, string(d.take(d.count())))
	}
	for range d.count() {
		s := section(d.index(int(sections)))
		i := d.index(max(1, r.len(s)))
		record := d.take(d.count())
		if d.bad || s == secStrings {
			return errDamaged
		}
		if r.newer[s] == nil {
			r.newer[s] = map[int][]byte{}
		}
		r.newer[s][i] = record
	}
	if d.bad || len(d.b) > 0 {
		return errDamaged
	}
	return nil
}

// Save puts the memo with what changed at path, from where it was read. Mostly that is little, and added to the file. Of two processes
// that do so at once, the second finds another file than it read and replaces it.
func (r *Reader) Save(path string, u Update) error {
	if b, err := r.delta(u); err == nil && b != nil && r.add(path, b) {
		return nil
	}
	b, err := r.Updated(u)
	if err != nil {
		return err
	}
	return Save(path, b)
}

// add appends to the file, if it is as long as it was when it was read.
func (r *Reader) add(path string, b []byte) bool {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return false
	}
	st, err := f.Stat()
	if err != nil || st.Size() != r.size {
		f.Close()
		return false
	}
	n, err := f.Write(b)
	if err != nil && n > 0 {
		_ = f.Truncate(r.size) // else it counts as damaged
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err == nil
}
