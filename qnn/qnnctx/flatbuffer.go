package qnnctx

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errTable is wrapped by what a malformed FlatBuffer causes.
var errTable = errors.New("malformed FlatBuffer")

// maxString bounds a string taken from a file.
const maxString = 4096

// table is a FlatBuffer table in buf. Every access checks its bounds; an absent field reads as zero.
type table struct {
	buf    []byte
	at     int // of the table
	vtable int
	fields int
}

func rootTable(buf []byte) (table, error) {
	return tableAt(buf, 0)
}

// tableAt follows the unsigned offset stored at ref.
func tableAt(buf []byte, ref int) (table, error) {
	at, err := follow(buf, ref)
	if err != nil {
		return table{}, err
	}
	if at+4 > len(buf) {
		return table{}, fmt.Errorf("%w: table at %d", errTable, at)
	}
	v := int64(at) - int64(int32(binary.LittleEndian.Uint32(buf[at:])))
	if v < 0 || v+4 > int64(len(buf)) {
		return table{}, fmt.Errorf("%w: vtable at %d", errTable, v)
	}
	size := int(binary.LittleEndian.Uint16(buf[v:]))
	if size < 4 || size%2 != 0 || int(v)+size > len(buf) {
		return table{}, fmt.Errorf("%w: vtable of %d bytes", errTable, size)
	}
	return table{buf: buf, at: at, vtable: int(v), fields: size/2 - 2}, nil
}

func follow(buf []byte, ref int) (int, error) {
	if ref < 0 || ref+4 > len(buf) {
		return 0, fmt.Errorf("%w: offset at %d", errTable, ref)
	}
	at := int64(ref) + int64(binary.LittleEndian.Uint32(buf[ref:]))
	if at > int64(len(buf)) {
		return 0, fmt.Errorf("%w: offset to %d", errTable, at)
	}
	return int(at), nil
}

// field is the place of field i, or 0 when it is absent; size bytes are there.
func (t table) field(i, size int) (int, error) {
	if i >= t.fields {
		return 0, nil
	}
	off := int(binary.LittleEndian.Uint16(t.buf[t.vtable+4+2*i:]))
	if off == 0 {
		return 0, nil
	}
	if t.at+off+size > len(t.buf) {
		return 0, fmt.Errorf("%w: field %d lies outside", errTable, i)
	}
	return t.at + off, nil
}

func (t table) u32(i int) (uint32, error) {
	at, err := t.field(i, 4)
	if err != nil || at == 0 {
		return 0, err
	}
	return binary.LittleEndian.Uint32(t.buf[at:]), nil
}

func (t table) u8(i int) (uint8, error) {
	at, err := t.field(i, 1)
	if err != nil || at == 0 {
		return 0, err
	}
	return t.buf[at], nil
}

func (t table) version(i int) (Version, error) {
	at, err := t.field(i, 12)
	if err != nil || at == 0 {
		return Version{}, err
	}
	le := binary.LittleEndian
	return Version{le.Uint32(t.buf[at:]), le.Uint32(t.buf[at+4:]), le.Uint32(t.buf[at+8:])}, nil
}

func (t table) str(i int) (string, error) {
	at, err := t.field(i, 4)
	if err != nil || at == 0 {
		return "", err
	}
	s, err := follow(t.buf, at)
	if err != nil {
		return "", err
	}
	if s+4 > len(t.buf) {
		return "", fmt.Errorf("%w: string at %d", errTable, s)
	}
	n := int64(binary.LittleEndian.Uint32(t.buf[s:]))
	if n > maxString || int64(s)+4+n > int64(len(t.buf)) {
		return "", fmt.Errorf("%w: string of %d bytes", errTable, n)
	}
	return string(t.buf[s+4 : int64(s)+4+n]), nil
}

func (t table) table(i int) (table, error) {
	at, err := t.field(i, 4)
	if err != nil {
		return table{}, err
	}
	if at == 0 {
		return table{}, fmt.Errorf("%w: table field %d is absent", errTable, i)
	}
	return tableAt(t.buf, at)
}

// encodeMeta writes the three tables of §7 of docs/design/0002, front to back: every vtable just before its table, strings last.
func encodeMeta(info Info, blobSize uint64) []byte {
	le := binary.LittleEndian
	var b []byte
	put32 := func(v uint32) { b = le.AppendUint32(b, v) }
	point := func(ref int) { le.PutUint32(b[ref:], uint32(len(b)-ref)) }
	// begin puts a vtable and starts its table at a multiple of 8, so that every field can be aligned.
	begin := func(size uint16, offsets ...uint16) int {
		v := len(b)
		b = le.AppendUint16(b, uint16(4+2*len(offsets)))
		b = le.AppendUint16(b, size)
		for _, o := range offsets {
			b = le.AppendUint16(b, o)
		}
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		at := len(b)
		put32(uint32(at - v))
		return at
	}

	put32(0) // root offset
	root := begin(8, 4)
	le.PutUint32(b, uint32(root))
	refWrapper := len(b)
	put32(0)

	wrapper := begin(16, 4, 8, 12)
	le.PutUint32(b[refWrapper:], uint32(wrapper-refWrapper))
	put32(3)
	b = append(b, 3, 0, 0, 0)
	refInfo := len(b)
	put32(0)

	// info: vtable offset 4 bytes, then the fields in this order.
	offsets := make([]uint16, 17)
	offsets[0], offsets[1], offsets[2], offsets[3], offsets[4], offsets[5] = 4, 8, 12, 24, 36, 40
	offsets[16], offsets[11] = 52, 56
	at := begin(64, offsets...)
	le.PutUint32(b[refInfo:], uint32(at-refInfo))
	put32(BackendHTP)
	refBuild := len(b)
	put32(0)
	for _, v := range []Version{info.CoreAPI, info.BackendAPI} {
		put32(v.Major)
		put32(v.Minor)
		put32(v.Patch)
	}
	refSoC := len(b)
	put32(0)
	put32(info.BlobVersion.Major)
	put32(info.BlobVersion.Minor)
	put32(info.BlobVersion.Patch)
	put32(info.SoCModel)
	b = le.AppendUint64(b, blobSize)

	for _, s := range []struct {
		ref  int
		text string
	}{{refBuild, info.BuildID}, {refSoC, info.SoCVersion}} {
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		point(s.ref)
		put32(uint32(len(s.text)))
		b = append(b, s.text...)
		b = append(b, 0)
	}
	for (headerSize+len(b))%align != 0 {
		b = append(b, 0)
	}
	return b
}
