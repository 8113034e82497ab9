package build

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/stat"
)

// The file in which it is remembered what was exported: exportsMagic and blocks, each with its length as uint32 and a BLAKE3
// checksum of the one before and of the block. A block has outputs in order of their names: name, id, the number of its files
// times four, plus two if there is no such output any more, plus one for a folder, and the files: path and stamp. Of an output
// that comes again the last counts. Texts stand after their length, all other numbers are unsigned varints. Of a damaged file
// nothing is known.
const (
	exportsMagic = "hexmage exports 2\n"
	sumSize      = 32
	maxAdded     = 16 // as a part of the file: what was added since it was written whole is at most 1/maxAdded of it
)

// exports is what is remembered, by file name, with what is needed to remember more.
type exports struct {
	known map[string]exported
	sum   [sumSize]byte   // of the last block
	whole int             // bytes of the first block
	size  int             // of the file; 0: there is none, or it has to be written anew
	touch map[string]bool // names that are something else than in the file
}

func newExports() *exports { return &exports{known: map[string]exported{}, touch: map[string]bool{}} }

func (x *exports) set(name string, e exported) { x.known[name], x.touch[name] = e, true }

func (x *exports) remove(name string) {
	delete(x.known, name)
	x.touch[name] = true
}

// encode returns the whole file.
func (x *exports) encode() []byte {
	b := append(make([]byte, 0, len(exportsMagic)+192*len(x.known)+64), exportsMagic...)
	return x.block(b, [sumSize]byte{}, slices.Sorted(maps.Keys(x.known)))
}

// added returns the block to add for what was touched, or nil where the file is better written anew.
func (x *exports) added() []byte {
	if x.size == 0 || len(x.touch) > len(x.known)/maxAdded {
		return nil
	}
	b := x.block(nil, x.sum, slices.Sorted(maps.Keys(x.touch)))
	if x.size-x.whole+len(b) > x.whole/maxAdded {
		return nil
	}
	return b
}

// block appends a block with the outputs of these names.
func (x *exports) block(b []byte, before [sumSize]byte, names []string) []byte {
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	for _, name := range names {
		e, ok := x.known[name]
		text(name)
		text(e.id)
		n := uint64(len(e.files)) << 2
		if !ok {
			n |= 2
		}
		if e.dir {
			n |= 1
		}
		b = binary.AppendUvarint(b, n)
		for _, f := range e.files {
			text(f.path)
			s := f.stamp
			for _, v := range [...]uint64{s.Dev, s.Inode, uint64(s.Size), uint64(s.MTime), uint64(s.CTime), uint64(s.Mode)} {
				b = binary.AppendUvarint(b, v)
			}
		}
	}
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	sum := chained(before, b[start:])
	return append(b, sum[:]...)
}

// chained is the checksum of a block that follows one.
func chained(before [sumSize]byte, block []byte) [sumSize]byte {
	h := blake3.New()
	h.Write(before[:])
	h.Write(block)
	return [sumSize]byte(h.Sum(nil))
}

// decodeExports returns nothing of a file that is damaged, and false: that nothing is known of what stands there is not that nothing
// has to stand there.
func decodeExports(b []byte) (*exports, bool) {
	rest, ok := bytes.CutPrefix(b, []byte(exportsMagic))
	if !ok || len(rest) == 0 {
		return newExports(), false
	}
	x := newExports()
	x.size = len(b)
	for len(rest) > 0 {
		if len(rest) < 4+sumSize {
			return newExports(), false
		}
		n := uint64(binary.LittleEndian.Uint32(rest))
		if n > uint64(len(rest)-4-sumSize) {
			return newExports(), false
		}
		block := rest[:4+n]
		if x.sum = chained(x.sum, block); x.sum != [sumSize]byte(rest[4+n:]) || !x.read(block[4:]) {
			return newExports(), false
		}
		if rest = rest[4+n+sumSize:]; x.whole == 0 {
			x.whole = len(b) - len(rest)
		}
	}
	return x, true
}

// read takes the outputs of a block.
func (x *exports) read(block []byte) bool {
	r := reader{b: block}
	for len(r.b) > 0 && !r.bad {
		name, e := r.text(), exported{id: r.text()}
		n := r.number()
		gone := n&2 != 0
		e.dir = n&1 != 0
		if n >>= 2; n > uint64(len(r.b)) { // a file takes more than a byte
			return false
		}
		e.files = make([]fileStamp, n)
		for i := range e.files {
			f := &e.files[i]
			f.path = r.text()
			f.stamp = stat.Stamp{Dev: r.number(), Inode: r.number(), Size: int64(r.number()), MTime: int64(r.number()), CTime: int64(r.number()), Mode: uint32(r.number())}
		}
		if gone {
			delete(x.known, name)
		} else {
			x.known[name] = e
		}
	}
	return !r.bad
}

// reader takes values off b until one does not fit.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) text() string {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// readExports returns what is remembered. What is damaged counts as nothing: everything is exported again.
func readExports(file string) *exports {
	b, err := os.ReadFile(file)
	if err != nil {
		return newExports()
	}
	x, _ := decodeExports(b)
	return x
}

// write remembers what was touched. After a crash of the machine the file may be damaged: then everything is exported again.
// The caller holds the lock of the file.
func (x *exports) write(state, file string) error {
	if b := x.added(); b != nil {
		return x.add(file, b)
	}
	tmp, err := atomicfile.Temp(state, "exports")
	if err != nil {
		return err
	}
	if _, err := tmp.Write(x.encode()); err != nil {
		tmp.Close()
		os.Remove(tmp.Name())
		return err
	}
	return atomicfile.Place(tmp, file, 0o644)
}

func (x *exports) add(file string, b []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b) // a part of it counts as damage
	return errors.Join(err, f.Close())
}
