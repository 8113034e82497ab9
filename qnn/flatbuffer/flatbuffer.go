// Package flatbuffer reads FlatBuffers without their schema, and writes small ones.
//
// One enters it with Root or ReadRoot, and then by the numbers of fields, which a schema gives in order. A buffer may be of anybody: every access is
// checked, and an absent field reads as zero. It does not know what the fields mean.
package flatbuffer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrMalformed is wrapped by what a buffer causes that is no well-formed FlatBuffer.
var ErrMalformed = errors.New("malformed FlatBuffer")

// MaxString bounds a string that is taken from a buffer.
const MaxString = 4096

// Table is a table in a buffer.
type Table struct {
	buf    []byte
	at     int // of the table
	vtable int
	fields int
}

// Root returns the table that the buffer is of.
func Root(buf []byte) (Table, error) { return tableAt(buf, 0) }

// ReadRoot gives read the table that a file of the given size is of, and reads no more than so many bytes of the file for it.
func ReadRoot(r io.ReaderAt, size, most int64, read func(Table) error) error {
	b := make([]byte, min(size, most))
	if _, err := r.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	t, err := Root(b)
	if err == nil {
		err = read(t)
	}
	if errors.Is(err, ErrMalformed) && size > most {
		return fmt.Errorf("its tables lie beyond the first %d MB, which is all that is read, or it is damaged: %w", most>>20, err)
	}
	return err
}

// tableAt follows the unsigned offset stored at ref.
func tableAt(buf []byte, ref int) (Table, error) {
	at, err := follow(buf, ref)
	if err != nil {
		return Table{}, err
	}
	if at+4 > len(buf) {
		return Table{}, fmt.Errorf("%w: table at %d", ErrMalformed, at)
	}
	v := int64(at) - int64(int32(binary.LittleEndian.Uint32(buf[at:])))
	if v < 0 || v+4 > int64(len(buf)) {
		return Table{}, fmt.Errorf("%w: vtable at %d", ErrMalformed, v)
	}
	size := int(binary.LittleEndian.Uint16(buf[v:]))
	if size < 4 || size%2 != 0 || int(v)+size > len(buf) {
		return Table{}, fmt.Errorf("%w: vtable of %d bytes", ErrMalformed, size)
	}
	return Table{buf: buf, at: at, vtable: int(v), fields: size/2 - 2}, nil
}

func follow(buf []byte, ref int) (int, error) {
	if ref < 0 || ref+4 > len(buf) {
		return 0, fmt.Errorf("%w: offset at %d", ErrMalformed, ref)
	}
	at := int64(ref) + int64(binary.LittleEndian.Uint32(buf[ref:]))
	if at > int64(len(buf)) {
		return 0, fmt.Errorf("%w: offset to %d", ErrMalformed, at)
	}
	return int(at), nil
}

// field is the place of field i, or 0 when it is absent; size bytes are there.
func (t Table) field(i, size int) (int, error) {
	if i >= t.fields {
		return 0, nil
	}
	off := int(binary.LittleEndian.Uint16(t.buf[t.vtable+4+2*i:]))
	if off == 0 {
		return 0, nil
	}
	if t.at+off+size > len(t.buf) {
		return 0, fmt.Errorf("%w: field %d lies outside", ErrMalformed, i)
	}
	return t.at + off, nil
}

// Uint8 returns a number of one byte.
func (t Table) Uint8(i int) (uint8, error) {
	at, err := t.field(i, 1)
	if err != nil || at == 0 {
		return 0, err
	}
	return t.buf[at], nil
}

// Uint32 returns a number of four bytes.
func (t Table) Uint32(i int) (uint32, error) {
	at, err := t.field(i, 4)
	if err != nil || at == 0 {
		return 0, err
	}
	return binary.LittleEndian.Uint32(t.buf[at:]), nil
}

// Uint64 returns a number of eight bytes.
func (t Table) Uint64(i int) (uint64, error) {
	at, err := t.field(i, 8)
	if err != nil || at == 0 {
		return 0, err
	}
	return binary.LittleEndian.Uint64(t.buf[at:]), nil
}

// Struct fills the numbers of a struct that has nothing but numbers of four bytes.
func (t Table) Struct(i int, numbers ...*uint32) error {
	at, err := t.field(i, 4*len(numbers))
	if err != nil || at == 0 {
		return err
	}
	for k, n := range numbers {
		*n = binary.LittleEndian.Uint32(t.buf[at+4*k:])
	}
	return nil
}

// String returns a text.
func (t Table) String(i int) (string, error) {
	at, n, err := t.Vector(i)
	if err != nil {
		return "", err
	}
	if n > MaxString || int64(at)+n > int64(len(t.buf)) {
		return "", fmt.Errorf("%w: string of %d bytes", ErrMalformed, n)
	}
	return string(t.buf[at : int64(at)+n]), nil
}

// Table returns a table, which must be there.
func (t Table) Table(i int) (Table, error) {
	at, err := t.field(i, 4)
	if err != nil {
		return Table{}, err
	}
	if at == 0 {
		return Table{}, fmt.Errorf("%w: table field %d is absent", ErrMalformed, i)
	}
	return tableAt(t.buf, at)
}

// Vector returns where in the buffer the elements of a vector begin, and how many it says there are: they may lie outside. An absent
// one begins at 0.
func (t Table) Vector(i int) (at int, n int64, err error) {
	ref, err := t.field(i, 4)
	if err != nil || ref == 0 {
		return 0, 0, err
	}
	v, err := follow(t.buf, ref)
	if err != nil {
		return 0, 0, err
	}
	if v+4 > len(t.buf) {
		return 0, 0, fmt.Errorf("%w: vector at %d", ErrMalformed, v)
	}
	return v + 4, int64(binary.LittleEndian.Uint32(t.buf[v:])), nil
}

// Bytes returns a list of at most so many bytes, which are the buffer's own.
func (t Table) Bytes(i, limit int) ([]byte, error) {
	at, n, err := t.Vector(i)
	if err == nil && (n > int64(limit) || int64(at)+n > int64(len(t.buf))) {
		err = fmt.Errorf("%w: vector of %d bytes", ErrMalformed, n)
	}
	if err != nil {
		return nil, err
	}
	return t.buf[at : int64(at)+n], nil
}

// words returns where the elements of a vector are, each of four bytes, of which there are to be at most the limit.
func (t Table) words(i, limit int) (at, n int, err error) {
	at, count, err := t.Vector(i)
	if err == nil && (count > int64(limit) || int64(at)+4*count > int64(len(t.buf))) {
		err = fmt.Errorf("%w: vector of %d elements", ErrMalformed, count)
	}
	return at, int(count), err
}

// Tables returns a list of at most so many tables.
func (t Table) Tables(i, limit int) ([]Table, error) {
	at, n, err := t.words(i, limit)
	if err != nil {
		return nil, err
	}
	all := make([]Table, n)
	for k := range all {
		if all[k], err = tableAt(t.buf, at+4*k); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Uint32s returns a list of at most so many numbers.
func (t Table) Uint32s(i, limit int) ([]uint32, error) {
	at, n, err := t.words(i, limit)
	if err != nil {
		return nil, err
	}
	all := make([]uint32, n)
	for k := range all {
		all[k] = binary.LittleEndian.Uint32(t.buf[at+4*k:])
	}
	return all, nil
}
