package statefile

import (
	"encoding/binary"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// Encoder puts values into a block. The zero value is ready for use.
type Encoder struct {
	Block []byte // so far
}

// Uint appends a number, in as few bytes as it takes.
func (e *Encoder) Uint(v uint64) { e.Block = binary.AppendUvarint(e.Block, v) }

// Int is Uint of a number that is not negative.
func (e *Encoder) Int(v int) { e.Uint(uint64(v)) }

// Signed appends a number that may be negative.
func (e *Encoder) Signed(v int64) { e.Block = binary.AppendVarint(e.Block, v) }

// Uint64 appends a number in eight bytes.
func (e *Encoder) Uint64(v uint64) { e.Block = binary.LittleEndian.AppendUint64(e.Block, v) }

// Uint32 appends a number in four bytes.
func (e *Encoder) Uint32(v uint32) { e.Block = binary.LittleEndian.AppendUint32(e.Block, v) }

// Bool appends a truth value.
func (e *Encoder) Bool(v bool) {
	if v {
		e.Uint(1)
	} else {
		e.Uint(0)
	}
}

// Bytes appends bytes with their number.
func (e *Encoder) Bytes(v []byte) {
	e.Int(len(v))
	e.Block = append(e.Block, v...)
}

// Text appends a string with its length.
func (e *Encoder) Text(s string) {
	e.Int(len(s))
	e.Block = append(e.Block, s...)
}

// Digest appends a digest, which may be none.
func (e *Encoder) Digest(d digest.Digest) {
	e.Uint(uint64(d.Function()))
	if !d.IsZero() {
		e.Block = d.AppendHash(e.Block)
		e.Uint(uint64(d.Size()))
	}
}

// Stamp appends what the file system said of a file.
func (e *Encoder) Stamp(s stat.Stamp) {
	for _, v := range [...]uint64{s.Dev, s.Inode, uint64(s.Size), uint64(s.MTime), uint64(s.CTime)} {
		e.Uint64(v)
	}
	e.Uint32(s.Mode)
}

// Decoder takes values off a block, in the order in which an Encoder put them there. After the first that cannot be, all are zero
// and nothing is left: Done and Bad tell.
type Decoder struct {
	rest []byte
	all  []byte
	text string // all, once somebody asks for a string: one copy that all strings share
	bad  bool
}

// Decode returns a Decoder of the block.
func Decode(block []byte) Decoder { return Decoder{rest: block, all: block} }

// Bad tells whether something was not as it has to be.
func (d *Decoder) Bad() bool { return d.bad }

// Len is how many bytes are left.
func (d *Decoder) Len() int { return len(d.rest) }

// Done tells whether all was as it has to be, and nothing is left.
func (d *Decoder) Done() bool { return !d.bad && len(d.rest) == 0 }

// Fail says that what was read cannot be.
func (d *Decoder) Fail() { d.rest, d.bad = nil, true }

// Uint takes what Encoder.Uint appended.
func (d *Decoder) Uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.Fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// Below takes a number that is less than limit.
func (d *Decoder) Below(limit int) int {
	v := d.Uint()
	if v >= uint64(max(limit, 0)) {
		d.Fail()
		return 0
	}
	return int(v)
}

// Count takes the number of things that take at least one byte each.
func (d *Decoder) Count() int { return d.Below(len(d.rest) + 1) }

// Signed takes what Encoder.Signed appended.
func (d *Decoder) Signed() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.Fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// Take takes n bytes as they are; nil if there are fewer.
func (d *Decoder) Take(n int) []byte {
	if n < 0 || n > len(d.rest) {
		d.Fail()
		return nil
	}
	v := d.rest[:n:n]
	d.rest = d.rest[n:]
	return v
}

// Uint64 takes what Encoder.Uint64 appended.
func (d *Decoder) Uint64() uint64 {
	if b := d.Take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Uint32 takes what Encoder.Uint32 appended.
func (d *Decoder) Uint32() uint32 {
	if b := d.Take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Bool takes a truth value.
func (d *Decoder) Bool() bool { return d.Uint() == 1 }

// Bytes takes bytes, which are a part of the block.
func (d *Decoder) Bytes() []byte { return d.Take(d.Count()) }

// Text takes a string.
func (d *Decoder) Text() string {
	n := d.Count()
	if d.text == "" {
		d.text = string(d.all)
	}
	at := len(d.all) - len(d.rest)
	if d.Take(n) == nil {
		return ""
	}
	return d.text[at : at+n]
}

// Digest takes a digest, which may be none.
func (d *Decoder) Digest() digest.Digest {
	fn := digest.Function(d.Below(1 << 8))
	if fn == 0 {
		return digest.Digest{}
	}
	hash := d.Take(sumSize)
	v, err := digest.FromHash(fn, hash, int64(d.Uint()))
	if err != nil || d.bad {
		d.Fail()
		return digest.Digest{}
	}
	return v
}

// stampSize is how many bytes a stamp takes.
const stampSize = 5*8 + 4

// Stamp takes what the file system said of a file.
func (d *Decoder) Stamp() stat.Stamp {
	b := d.Take(stampSize)
	if b == nil {
		return stat.Stamp{}
	}
	le := binary.LittleEndian
	return stat.Stamp{Dev: le.Uint64(b), Inode: le.Uint64(b[8:]), Size: int64(le.Uint64(b[16:])),
		MTime: int64(le.Uint64(b[24:])), CTime: int64(le.Uint64(b[32:])), Mode: le.Uint32(b[40:])}
}
