// Package flatbuffer reads FlatBuffers without their schema, and writes small ones.
//
// Root returns a buffer's table. The fields of a table are numbered in the order of the schema. The package checks
// every access to an untrusted buffer. An absent or malformed field reads as zero. After a malformed field, Table.Err
// returns an error.
//
// The package does not interpret fields.
package flatbuffer

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed means that a buffer is malformed. Errors from Table.Err wrap it.
var ErrMalformed = errors.New("malformed FlatBuffer")

// Limits in bytes of a string, and of all strings together. Many tables can share a string, but each gets a copy.
const (
	maxString  = 4096
	maxStrings = 64 << 20
)

// buffer is the state that all tables of a buffer share.
type buffer struct {
	data    []byte
	strings int // bytes of all strings so far
	err     error
}

// Table is a table in a FlatBuffer.
type Table struct {
	*buffer
	at, vtable, fields int
}

// Root returns the buffer's root table.
func Root(data []byte) Table {
	b := &buffer{data: data}
	if !b.has(0, 4) {
		return Table{buffer: b}
	}
	return b.table(0)
}

// Err returns the first error of all reads from the buffer.
func (b *buffer) Err() error { return b.err }

func (b *buffer) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
	}
}

// has reports whether the buffer has n bytes at an offset. If not, it sets the buffer's error.
func (b *buffer) has(at, n int) bool {
	if at < 0 || n < 0 || n > len(b.data)-at {
		b.fail("read of %d bytes at offset %d exceeds the file size of %d", n, at, len(b.data))
		return false
	}
	return true
}

func (b *buffer) word(at int) uint32 { return binary.LittleEndian.Uint32(b.data[at:]) }

// table follows the unsigned offset at a position in the buffer. A malformed table has no fields.
func (b *buffer) table(ref int) Table {
	t := Table{buffer: b, at: ref + int(b.word(ref))}
	if !b.has(t.at, 4) {
		return t
	}
	t.vtable = t.at - int(int32(b.word(t.at)))
	if !b.has(t.vtable, 4) {
		return t
	}
	size := int(binary.LittleEndian.Uint16(b.data[t.vtable:]))
	if b.has(t.vtable+4, size-4) {
		t.fields = size/2 - 2
	}
	return t
}

// field returns the position of a field with at least size bytes, or 0 if the field is absent.
func (t Table) field(i, size int) int {
	if i >= t.fields {
		return 0
	}
	off := int(binary.LittleEndian.Uint16(t.data[t.vtable+4+2*i:]))
	if off == 0 || !t.has(t.at+off, size) {
		return 0
	}
	return t.at + off
}

// Uint8 returns the one-byte number in field i, or 0.
func (t Table) Uint8(i int) uint8 {
	if at := t.field(i, 1); at > 0 {
		return t.data[at]
	}
	return 0
}

// Uint32 returns the four-byte number in field i, or 0.
func (t Table) Uint32(i int) (n uint32) {
	t.Struct(i, &n)
	return n
}

// Struct reads field i, a struct of four-byte numbers, into numbers.
func (t Table) Struct(i int, numbers ...*uint32) {
	if at := t.field(i, 4*len(numbers)); at > 0 {
		for k, n := range numbers {
			*n = t.word(at + 4*k)
		}
	}
}

// Table returns the table in field i. An absent field is an error.
func (t Table) Table(i int) Table {
	at := t.field(i, 4)
	if at == 0 {
		t.fail("missing table field %d", i)
		return Table{buffer: t.buffer}
	}
	return t.table(at)
}

// Vector returns the position of a vector's elements (0 if absent) and their number. The elements may extend beyond the
// buffer.
func (t Table) Vector(i int) (at, n int) {
	ref := t.field(i, 4)
	if ref == 0 {
		return 0, 0
	}
	if at = ref + int(t.word(ref)); !t.has(at, 4) {
		return 0, 0
	}
	return at + 4, int(t.word(at))
}

// elements returns the position and number of a vector's elements of the given size. It returns none if there are
// more than the limit.
func (t Table) elements(i, size, limit int) (at, n int) {
	at, n = t.Vector(i)
	if n > limit {
		t.fail("invalid vector of %d elements", n)
		return 0, 0
	}
	if !t.has(at, n*size) {
		return 0, 0
	}
	return at, n
}

// Bytes returns the bytes in field i, without a copy. More than limit bytes are an error.
func (t Table) Bytes(i, limit int) []byte {
	at, n := t.elements(i, 1, limit)
	return t.data[at : at+n]
}

// String returns the string in field i.
func (t Table) String(i int) string {
	b := t.Bytes(i, maxString)
	if t.strings += len(b); t.strings > maxStrings {
		t.fail("the strings have more than %d bytes", maxStrings)
		return ""
	}
	return string(b)
}

// Tables returns the tables in field i. More than limit tables are an error.
func (t Table) Tables(i, limit int) []Table {
	at, n := t.elements(i, 4, limit)
	all := make([]Table, n)
	for k := range all {
		all[k] = t.table(at + 4*k)
	}
	return all
}

// Uint32s returns the numbers in field i. More than limit numbers are an error.
func (t Table) Uint32s(i, limit int) []uint32 {
	at, n := t.elements(i, 4, limit)
	all := make([]uint32, n)
	for k := range all {
		all[k] = t.word(at + 4*k)
	}
	return all
}
