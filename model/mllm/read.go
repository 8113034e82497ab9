package mllm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// readAt fills a new slice; the caller has checked that at+n lies in the file.
func (f *File) readAt(at, n int64) ([]byte, error) {
	b := make([]byte, n)
	if k, err := f.r.ReadAt(b, at); int64(k) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read .mllm index: %w", err)
	}
	return b, nil
}

func (f *File) parseV2(size int64) error {
	if size < headerV2 {
		return fmt.Errorf("%w: %d bytes are too few for the version 2 header of %d", ErrFormat, size, headerV2)
	}
	h, err := f.readAt(0, headerV2)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	if v := le.Uint32(h[4:]); v != 2 {
		return fmt.Errorf("%w: version %d behind the version 2 magic", ErrFormat, v)
	}
	f.ModelName = cString(h[8 : 8+modelV2])
	n := int64(le.Uint32(h[520:]))
	at := le.Uint64(h[524:])
	if at < headerV2 || at > uint64(size) {
		return fmt.Errorf("%w: table at %d in a file of %d bytes", ErrFormat, at, size)
	}
	if at > headerV2 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d bytes between header and table", at-headerV2))
	}
	if n > maxParams || n*recordV2 > size-int64(at) {
		return fmt.Errorf("%w: a table of %d tensors does not fit %d bytes", ErrFormat, n, size)
	}
	table, err := f.readAt(int64(at), n*recordV2)
	if err != nil {
		return err
	}
	first := int64(at) + n*recordV2
	for i := range n {
		p, err := recordOf(table[i*recordV2 : (i+1)*recordV2])
		if err != nil {
			return fmt.Errorf("%w: tensor %d: %w", ErrFormat, i, err)
		}
		if err := f.add(p, first, size); err != nil {
			return err
		}
	}
	return nil
}

func recordOf(b []byte) (Param, error) {
	le := binary.LittleEndian
	p := Param{ID: le.Uint32(b), DType: DType(le.Uint32(b[4:])), Name: cString(b[96:])}
	size, off, rank := le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])
	if size > math.MaxInt64 || off > math.MaxInt64 {
		return p, fmt.Errorf("offset %d, size %d overflow", off, size)
	}
	p.Size, p.Offset = int64(size), int64(off)
	if rank > maxRank {
		return p, fmt.Errorf("%d dimensions (limit %d)", rank, maxRank)
	}
	p.Shape = make([]int64, rank)
	for i := range p.Shape {
		p.Shape[i] = int64(int32(le.Uint32(b[32+4*i:])))
	}
	want, err := shapeBytes(p.DType, p.Shape)
	if err != nil {
		return p, err
	}
	if p.Size < want {
		return p, fmt.Errorf("%q: %d bytes of data, %v %v takes %d", p.Name, p.Size, p.DType, p.Shape, want)
	}
	return p, nil
}

func (f *File) parseV1(size int64) error {
	h, err := f.readAt(4, 8)
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(h)
	if n > maxIndex || int64(n) > size-12 {
		return fmt.Errorf("%w: index of %d bytes in a file of %d", ErrFormat, n, size)
	}
	b, err := f.readAt(12, int64(n))
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	for len(b) > 0 {
		if len(f.params) >= maxParams {
			return fmt.Errorf("%w: more than %d tensors", ErrFormat, maxParams)
		}
		if len(b) < 4 {
			return fmt.Errorf("%w: the index ends inside a record", ErrFormat)
		}
		k := int64(le.Uint32(b))
		if k > int64(len(b))-4-20 {
			return fmt.Errorf("%w: the index ends inside a record", ErrFormat)
		}
		p := Param{Name: string(b[4 : 4+k])}
		b = b[4+k:]
		length, off := le.Uint64(b), le.Uint64(b[8:])
		p.DType = DType(le.Uint32(b[16:]))
		b = b[20:]
		if length > math.MaxInt64 || off > math.MaxInt64 {
			return fmt.Errorf("%w: tensor %q: offset %d, size %d overflow", ErrFormat, p.Name, off, length)
		}
		p.Size, p.Offset = int64(length), int64(off)
		if err := f.add(p, 12+int64(n), size); err != nil {
			return err
		}
	}
	return nil
}

// cString is b up to its first NUL; a name may fill its field without one.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
