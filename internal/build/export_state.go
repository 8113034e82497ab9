package build

import (
	"maps"
	"slices"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/statefile"
)

// exportsKind is of the file in which it is remembered what was exported. Each of its blocks has outputs in order of their names:
// name, id, the number of its files times four, plus two if there is no such output any more, plus one for a folder, and the
// files: path and stamp. Of an output that comes again the last counts. Of a damaged file nothing is known.
func exportsKind() statefile.Kind {
	return statefile.Kind{Name: "exports", Version: 1, Max: 1 << 30, Shared: true}
}

// exports is what is remembered of outputs that were exported, by file name, with what is needed to remember more.
type exports struct {
	known map[string]exported
	file  *statefile.File // nil: there is none, or it has to be written anew
	touch map[string]bool // names that are something else than in the file
}

func newExports() *exports { return &exports{known: map[string]exported{}, touch: map[string]bool{}} }

// id names what the file had; none without one.
func (x *exports) id() digest.Digest {
	if x.file == nil {
		return digest.Digest{}
	}
	return x.file.ID()
}

func (x *exports) set(name string, e exported) { x.known[name], x.touch[name] = e, true }

func (x *exports) remove(name string) {
	delete(x.known, name)
	x.touch[name] = true
}

// block returns a block with the outputs of these names.
func (x *exports) block(names []string) []byte {
	e := statefile.Encoder{Block: make([]byte, 0, 192*len(names)+64)}
	for _, name := range names {
		out, ok := x.known[name]
		e.Text(name)
		e.Text(out.id)
		n := len(out.files) << 2
		if !ok {
			n |= 2
		}
		if out.dir {
			n |= 1
		}
		e.Int(n)
		for _, f := range out.files {
			e.Text(f.path)
			e.Stamp(f.stamp)
		}
	}
	return e.Block
}

// read takes the outputs of a block, and tells whether all of it was right.
func (x *exports) read(block []byte) bool {
	d := statefile.Decode(block)
	for d.Len() > 0 {
		name, out := d.Text(), exported{id: d.Text()}
		n := d.Uint()
		gone := n&2 != 0
		out.dir = n&1 != 0
		if n >>= 2; n > uint64(d.Len()) { // a file takes more than a byte
			return false
		}
		out.files = make([]fileStamp, n)
		for i := range out.files {
			out.files[i] = fileStamp{d.Text(), d.Stamp()}
		}
		if gone {
			delete(x.known, name)
		} else {
			x.known[name] = out
		}
	}
	return !d.Bad()
}

// exportsOf returns what a file says. Where that cannot be, it fails: that nothing is known of what stands there is not that nothing has
// to stand there.
func exportsOf(f *statefile.File) (*exports, error) {
	x := newExports()
	for _, b := range f.Blocks {
		if !x.read(b) {
			return nil, statefile.ErrDamaged
		}
	}
	x.file = f
	return x, nil
}

func readExports(path string) (*exports, error) {
	f, err := statefile.Read(path, exportsKind())
	if err != nil {
		return nil, err
	}
	return exportsOf(f)
}

// knownExports is readExports of a file that counts as empty when it cannot be read: everything is exported again.
func knownExports(path string) *exports {
	x, err := readExports(path)
	if err != nil {
		return newExports()
	}
	return x
}

// write remembers what was touched. After a crash of the machine the file may be damaged: then everything is exported again.
// The caller holds the lock of the file.
func (x *exports) write(path string) error {
	if x.file != nil && x.file.Append(path, x.block(slices.Sorted(maps.Keys(x.touch)))) == nil {
		return nil
	}
	return statefile.Write(path, exportsKind(), x.block(slices.Sorted(maps.Keys(x.known))))
}
