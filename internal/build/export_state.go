package build

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"slices"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/durable"
	"github.com/hexmage/hexmage/internal/stat"
)

// The file in which it is remembered what was exported: exportsMagic; for each output, in order of names, its name, its
// id, the number of its files times two, plus one for a folder, and the files: path and stamp; and last a BLAKE3 checksum of all
// that. Texts stand after their length, all numbers are unsigned varints. A damaged file counts as an empty one.
const exportsMagic = "hexmage exports 1\n"

func encodeExports(known map[string]exported) []byte {
	b := append(make([]byte, 0, len(exportsMagic)+192*len(known)+32), exportsMagic...)
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	for _, name := range slices.Sorted(maps.Keys(known)) {
		e := known[name]
		text(name)
		text(e.id)
		n := uint64(len(e.files)) << 1
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
	sum := blake3.Sum256(b)
	return append(b, sum[:]...)
}

// decodeExports returns nothing of a file that is damaged, and false: that nothing is known of what stands there is not that nothing
// has to stand there.
func decodeExports(b []byte) (map[string]exported, bool) {
	body := len(b) - 32
	if body < len(exportsMagic) || !bytes.HasPrefix(b, []byte(exportsMagic)) {
		return map[string]exported{}, false
	}
	if sum := blake3.Sum256(b[:body]); !bytes.Equal(sum[:], b[body:]) {
		return map[string]exported{}, false
	}
	r := reader{b: b[len(exportsMagic):body]}
	known := map[string]exported{}
	for len(r.b) > 0 && !r.bad {
		name, e := r.text(), exported{id: r.text()}
		n := r.number()
		e.dir = n&1 != 0
		if n >>= 1; n > uint64(len(r.b)) { // a file takes more than a byte
			r.bad = true
			break
		}
		e.files = make([]fileStamp, n)
		for i := range e.files {
			f := &e.files[i]
			f.path = r.text()
			f.stamp = stat.Stamp{Dev: r.number(), Inode: r.number(), Size: int64(r.number()), MTime: int64(r.number()), CTime: int64(r.number()), Mode: uint32(r.number())}
		}
		known[name] = e
	}
	if r.bad {
		return map[string]exported{}, false
	}
	return known, true
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

// readExports returns what is remembered, by file name. What is damaged counts as nothing: everything is exported again.
func readExports(file string) map[string]exported {
	b, err := os.ReadFile(file)
	if err != nil {
		return map[string]exported{}
	}
	known, _ := decodeExports(b)
	return known
}

// writeExports replaces the file. After a crash of the machine it may be damaged: then everything is exported again.
func writeExports(state, file string, known map[string]exported) error {
	tmp, err := durable.Temp(state, "exports")
	if err != nil {
		return err
	}
	if _, err := tmp.Write(encodeExports(known)); err != nil {
		tmp.Close()
		os.Remove(tmp.Name())
		return err
	}
	return durable.Place(tmp, file, 0o644)
}
