package snapshot

import (
	"slices"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/statefile"
)

// Writer makes a snapshot out of its records, one by one: of a large build no more is in memory than will be in the file. The records of a sort come in
// the order of their numbers, the sorts in any order: instances in dependency order, so units, those of an instance together; outputs and checks as
// they are shown.
type Writer struct {
	w  writer
	fn digest.Function
}

// NewWriter returns a Writer. All digests are of the function; at knows the numbers of the instances that are going to come.
func NewWriter(fn digest.Function, at func(addrs.Instance) (int, bool)) *Writer {
	return &Writer{writer{encoder: encoder{known: map[string]uint64{}, at: at}}, fn}
}

// Title adds what there is to say of the whole build. There is one.
func (w *Writer) Title(t Title) {
	w.w.title(t)
	w.w.end(secTitle)
}

// Read adds what the plan was made from.
func (w *Writer) Read(r Read) {
	w.w.read(r)
	w.w.end(secReads)
}

// Glob adds a folder that planning listed.
func (w *Writer) Glob(g Glob) {
	w.w.glob(g)
	w.w.end(secGlobs)
}

// Lookup adds what else planning asked the machine.
func (w *Writer) Lookup(l Lookup) {
	w.w.lookup(l)
	w.w.end(secLookups)
}

// Host adds an input of units.
func (w *Writer) Host(h Host) {
	w.w.host(h)
	w.w.end(secHosts)
}

// Instance adds an instance.
func (w *Writer) Instance(n *Instance) {
	w.w.instance(n)
	w.w.end(secInstances)
}

// Unit adds a unit, and what came of it.
func (w *Writer) Unit(u *Unit) {
	w.w.unit(u)
	w.w.end(secUnits)
	w.w.result(u)
	w.w.end(secResults)
}

// Output adds an output of the pipeline.
func (w *Writer) Output(x *Output) {
	w.w.output(x)
	w.w.end(secOutputs)
}

// Check adds a check.
func (w *Writer) Check(c *Check) {
	w.w.check(c)
	w.w.end(secChecks)
}

// Save puts the snapshot at path; the Writer is done then. A crash of the machine may damage it, so that it counts as none.
func (w *Writer) Save(path string) error {
	return statefile.WriteParts(path, kind(), w.w.first(w.fn))
}

// Encode returns what the snapshot's file holds; the Writer is done then.
func (w *Writer) Encode() []byte {
	return statefile.Encode(kind(), slices.Concat(w.w.first(w.fn)...))
}
