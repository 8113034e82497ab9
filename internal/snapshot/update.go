package snapshot

import (
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/statefile"
)

// Update is what changed since a snapshot was written, by index.
type Update struct {
	Exported digest.Digest // as Title.Exported; none: as it was
	Reads    map[int]Read
	Hosts    map[int]Host
	Results  map[int]Unit // of which only Key, Root and Outs count
	Outputs  map[int]Output
	Checks   map[int]Check
}

// retitled is the title with what the update says of it, as a section of its own.
func (r *Reader) retitled(u Update) (map[int]Title, error) {
	if u.Exported.IsZero() {
		return nil, nil
	}
	t, err := r.Title()
	t.Exported = u.Exported
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

// noNumber is encoder.at where numbers of instances are not at hand.
func noNumber(addrs.Instance) (int, bool) { return 0, false }

// updated returns the first block with some records replaced, in parts.
func (r *Reader) updated(u Update) ([][]byte, error) {
	w := &writer{encoder: encoder{known: map[string]uint64{}, at: noNumber}}
	for s, t := range r.tables {
		w.collected[s] = records{ends: t.ends, parts: [][]byte{t.data}, size: len(t.data)}
	}
	w.from(r)
	title, err := r.retitled(u)
	if err != nil {
		return nil, err
	}
	replace(w, r, secTitle, title, func(v *Title) { w.title(*v) })
	replace(w, r, secReads, u.Reads, func(v *Read) { w.read(*v) })
	replace(w, r, secHosts, u.Hosts, func(v *Host) { w.host(*v) })
	replace(w, r, secResults, u.Results, w.result)
	replace(w, r, secOutputs, u.Outputs, w.output)
	replace(w, r, secChecks, u.Checks, w.check)
	return w.first(r.fn), nil
}

func replace[T any](w *writer, r *Reader, s section, with map[int]T, write func(*T)) {
	if len(with) == 0 && len(r.newer[s]) == 0 {
		return
	}
	old := r.tables[s]
	w.collected[s] = records{ends: make([]byte, 0, len(old.ends))}
	for i := range old.len() {
		if v, ok := with[i]; ok {
			write(&v)
		} else {
			w.Block = append(w.Block, r.record(s, i)...)
		}
		w.end(s)
	}
}

// delta returns a block to add to the file: the strings that are new, and the records that replace others, each with its section and
// its index.
func (r *Reader) delta(u Update) ([]byte, error) {
	w := &writer{encoder: encoder{known: map[string]uint64{}, at: noNumber}}
	w.from(r)
	title, err := r.retitled(u)
	if err != nil {
		return nil, err
	}
	var records statefile.Encoder
	n := changed(w, &records, secTitle, title, func(v *Title) { w.title(*v) })
	n += changed(w, &records, secReads, u.Reads, func(v *Read) { w.read(*v) })
	n += changed(w, &records, secHosts, u.Hosts, func(v *Host) { w.host(*v) })
	n += changed(w, &records, secResults, u.Results, w.result)
	n += changed(w, &records, secOutputs, u.Outputs, w.output)
	n += changed(w, &records, secChecks, u.Checks, w.check)
	var b statefile.Encoder
	added := w.all[r.strings():]
	b.Int(len(added))
	for _, s := range added {
		b.Text(s)
	}
	b.Int(n)
	return append(b.Block, records.Block...), nil
}

func changed[T any](w *writer, to *statefile.Encoder, s section, with map[int]T, write func(*T)) int {
	for i, v := range with {
		w.Block = w.Block[:0]
		write(&v)
		to.Int(int(s))
		to.Int(i)
		to.Bytes(w.Block)
	}
	return len(with)
}

// apply reads what was added to the file.
func (r *Reader) apply(block []byte) error {
	d := statefile.Decode(block)
	for range d.Count() {
		r.more = append(r.more, d.Text())
	}
	for range d.Count() {
		s := section(d.Below(int(sections)))
		i := d.Below(max(1, r.len(s)))
		record := d.Bytes()
		if d.Bad() || s == secStrings {
			return errDamaged
		}
		if r.newer[s] == nil {
			r.newer[s] = map[int][]byte{}
		}
		r.newer[s][i] = record
	}
	if !d.Done() {
		return errDamaged
	}
	return nil
}

// Save puts the snapshot with what changed at path, from where it was read. Mostly that is little, and added to the file. Of two
// processes that do so at once, the second finds another file than it read and replaces it.
func (r *Reader) Save(path string, u Update) error {
	if b, err := r.delta(u); err == nil && r.file.Append(path, b) == nil {
		return nil
	}
	b, err := r.updated(u)
	if err != nil {
		return err
	}
	return statefile.WriteParts(path, kind(), b)
}
