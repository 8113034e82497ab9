// Package pte reads ExecuTorch's programs, .pte: methods, their operations, the backends of their delegates, and segments.
//
// Its entry is Parse. Each list of a file is bounded. It does not know what operations compute, nor the data of a delegate.
package pte

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hexmage/hexmage/qnn/flatbuffer"
)

// Magic is what a program has as the letters of its FlatBuffer.
const Magic = "ET12"

// Bounds of what is read.
const (
	header      = 8        // an offset, and Magic
	extended    = 32       // bytes of the header behind it, which says where segments begin
	maxProgram  = 64 << 20 // bytes of the FlatBuffer
	maxMethods  = 256
	maxItems    = 1 << 18 // of a list
	maxAll      = 1 << 22 // elements of all lists, and bytes of names: many may be one place of the file
	extendedTag = "eh00"
)

// Program is what a file has.
type Program struct {
	Version  uint32
	Methods  []Method
	Segments []Segment
	Warning  string // what of the segments cannot be
}

// Segment is a part of the file behind the program.
type Segment struct{ Offset, Size int64 }

// Method is a graph that can be called.
type Method struct {
	Name      string
	Operators []Operator
	Delegates []string // backend of each delegated part: QnnBackend
}

// Operator is an operation by its name, aten::add, and overload, out.
type Operator struct{ Name, Overload string }

func (o Operator) String() string {
	if o.Overload == "" {
		return o.Name
	}
	return o.Name + "." + o.Overload
}

// Parse reads the program of the given size behind r.
func Parse(r io.ReaderAt, size int64) (*Program, error) {
	head := make([]byte, header+extended)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	length, behind := size, int64(0)
	if bytes.HasPrefix(head[min(header, n):n], []byte(extendedTag)) && n >= header+24 {
		le := binary.LittleEndian
		p, s := le.Uint64(head[header+8:]), le.Uint64(head[header+16:])
		if p > uint64(size) || s > uint64(size) {
			return nil, fmt.Errorf("a program of %d bytes and segments at %d in a file of %d: is it cut off?", p, s, size)
		}
		length, behind = int64(p), int64(s)
	}
	out := &Program{}
	return out, flatbuffer.ReadRoot(r, length, maxProgram, func(t flatbuffer.Table) error { return out.read(t, behind, size) })
}

// read reads the program whose segments begin behind it in a file of the given size.
func (p *Program) read(t flatbuffer.Table, behind, size int64) (err error) {
	if p.Version, err = t.Uint32(0); err != nil {
		return err
	}
	plans, err := t.Tables(1, maxMethods)
	if err != nil {
		return err
	}
	read := flatbuffer.NewReader(maxAll)
	for _, plan := range plans {
		m, err := method(read, plan)
		if err != nil {
			return err
		}
		p.Methods = append(p.Methods, m)
	}
	if behind > 0 {
		if err := p.segments(t, behind, size); err != nil {
			p.Warning = err.Error()
		}
	}
	return nil
}

// segments notes where segments are, up to one that is not in the file.
func (p *Program) segments(t flatbuffer.Table, begin, size int64) error {
	list, err := t.Tables(4, maxItems)
	if err != nil {
		return err
	}
	for _, s := range list {
		at, err := s.Uint64(0)
		if err != nil {
			return err
		}
		n, err := s.Uint64(1)
		if err != nil {
			return err
		}
		if at > uint64(size-begin) || n > uint64(size-begin)-at {
			return fmt.Errorf("a segment of %d bytes at %d in a file of %d: is it cut off?", n, at, size)
		}
		p.Segments = append(p.Segments, Segment{begin + int64(at), int64(n)})
	}
	return nil
}

// method reads a method.
func method(r *flatbuffer.Reader, t flatbuffer.Table) (m Method, err error) {
	if m.Name, err = r.String(t, 0); err != nil {
		return m, err
	}
	operators, err := r.Tables(t, 6, maxItems)
	if err != nil {
		return m, err
	}
	for _, o := range operators {
		name, err := r.String(o, 0)
		if err != nil {
			return m, err
		}
		overload, err := r.String(o, 1)
		if err != nil {
			return m, err
		}
		m.Operators = append(m.Operators, Operator{name, overload})
	}
	delegates, err := r.Tables(t, 7, maxItems)
	if err != nil {
		return m, err
	}
	for _, d := range delegates {
		name, err := r.String(d, 0)
		if err != nil {
			return m, err
		}
		m.Delegates = append(m.Delegates, name)
	}
	return m, nil
}
