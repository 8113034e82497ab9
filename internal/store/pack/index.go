package pack

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"os"

	"github.com/zeebo/blake3"
)

// An index tells where the records in the first part of a pack are, so that nobody has to read all of it. It is a head and a table of slots,
// which have the beginning of a key's hash and a place; a slot stands within a short way from where its hash belongs. So a lookup
// reads one short piece of the file, whatever is in it, and a flipped bit loses one record. There is no checksum
// over the table, as checking it would be to read it: what a slot says counts only if the record at the place says so, too.
const (
	indexLine = "hexmage index 1\n"
	indexHead = len(indexLine) + 16 + 8 + 8 + 16
	slotSize  = 16
	window    = 64 // slots, in which one is looked for

	// indexAfter is how many bytes there must be after the part that has an index for the next one to be written.
	indexAfter = 4 << 20
)

// index is one that is open.
type index struct {
	file    *os.File
	covered int64  // bytes of the pack
	slots   uint64 // of those in which hashes belong
}

func indexSize(slots uint64) int64 { return int64(indexHead) + int64(slots+window)*slotSize }

func encodeIndexHead(id [16]byte, covered int64, slots uint64) []byte {
	b := append([]byte(indexLine), id[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(covered))
	b = binary.LittleEndian.AppendUint64(b, slots)
	sum := blake3.Sum256(b)
	return append(b, sum[:indexHead-len(b)]...)
}

// openIndex opens the index of a pack of that size. Without one it returns an index of nothing.
func openIndex(path string, id [16]byte, size int64) index {
	none := index{covered: int64(headSize)}
	f, err := os.Open(path)
	if err != nil {
		return none
	}
	var b [indexHead]byte
	_, err = f.ReadAt(b[:], 0)
	st, serr := f.Stat()
	covered, slots := int64(binary.LittleEndian.Uint64(b[len(b)-32:])), binary.LittleEndian.Uint64(b[len(b)-24:])
	if err != nil || serr != nil || slots > 1<<40 || st.Size() != indexSize(slots) || !bytes.Equal(b[:], encodeIndexHead(id, covered, slots)) {
		f.Close()
		return none
	}
	if covered < int64(headSize) || covered > size {
		f.Close()
		_ = os.Remove(path) // the pack was cut off: what is appended now would be taken as covered one day
		return none
	}
	return index{f, covered, slots}
}

// belongs is the slot of slots in which the hash belongs.
func belongs(hash, slots uint64) uint64 {
	hi, _ := bits.Mul64(hash, slots)
	return hi
}

// find returns the place of the record, 0 for none.
func (x *index) find(hash uint64) (int64, error) {
	if x.file == nil {
		return 0, nil
	}
	var b [window * slotSize]byte
	n, err := x.file.ReadAt(b[:], int64(indexHead)+int64(belongs(hash, x.slots))*slotSize)
	if err != nil && err != io.EOF {
		return 0, err
	}
	for s := b[:n]; len(s) >= slotSize; s = s[slotSize:] {
		if at := place(s); binary.LittleEndian.Uint64(s) == hash && at > 0 && at < x.covered {
			return at, nil
		}
	}
	return 0, nil
}

func place(slot []byte) int64 { return int64(binary.LittleEndian.Uint64(slot[8:])) }

// each calls f with all that is in the index.
func (x *index) each(f func(hash uint64, at int64)) error {
	if x.file == nil {
		return nil
	}
	b, err := io.ReadAll(io.NewSectionReader(x.file, int64(indexHead), 1<<40))
	for ; len(b) >= slotSize; b = b[slotSize:] {
		if at := place(b); at > 0 && at < x.covered {
			f(binary.LittleEndian.Uint64(b), at)
		}
	}
	return err
}

// encodeIndex returns an index of the places, which are few for a window.
func encodeIndex(id [16]byte, covered int64, places map[uint64]int64) []byte {
	for slots, full := max(window, 2*uint64(len(places))), 0; ; slots, full = 2*slots, full+1 {
		b := make([]byte, indexSize(slots))
		copy(b, encodeIndexHead(id, covered, slots))
		lost := false
		for hash, at := range places {
			s := b[indexHead+int(belongs(hash, slots))*slotSize:][:window*slotSize]
			for len(s) > 0 && place(s) > 0 {
				s = s[slotSize:]
			}
			if len(s) == 0 {
				lost = true
				continue
			}
			binary.LittleEndian.PutUint64(s, hash)
			binary.LittleEndian.PutUint64(s[8:], uint64(at))
		}
		if !lost || full == 2 { // that so many hashes begin alike is no accident: who made them finds some of them no more
			return b
		}
	}
}
