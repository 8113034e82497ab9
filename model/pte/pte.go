// Package pte reads ExecuTorch's programs, .pte: their methods with values and calls, which backend runs what was delegated, and where segments lie.
//
// One enters it with Parse. Nothing in a file is trusted: each list is bounded, each index checked. It does not know what operations compute, nor what is
// in the data of a delegate.
package pte

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

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
	maxRank     = 64
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

// Method is a graph that can be called, its calls in order.
type Method struct {
	Name      string
	Values    []Value
	Inputs    []int // of Values
	Outputs   []int
	Operators []Operator
	Delegates []string // who runs each delegated part: QnnBackend
	Calls     []Call
}

// Operator is an operation by its name, aten::add, and overload, out.
type Operator struct{ Name, Overload string }

func (o Operator) String() string {
	if o.Overload == "" {
		return o.Name
	}
	return o.Name + "." + o.Overload
}

// Value is a tensor, with Type; a list of other values, with List; or something else, with neither.
type Value struct {
	Type     string  // "float32", "" of what is no tensor
	Shape    []int64 // -1 are dimensions of which nothing but a bound is known
	Constant bool
	List     []int
}

// Call is one of an operation, or of a delegated part.
type Call struct {
	Operator int // of Operators, -1 of a delegated part
	Delegate int // of Delegates, -1 of an operation
	Args     []int
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
	values, err := r.Tables(t, 2, maxItems)
	if err != nil {
		return m, err
	}
	for _, v := range values {
		x, err := value(r, v, len(values))
		if err != nil {
			return m, err
		}
		m.Values = append(m.Values, x)
	}
	if m.Inputs, err = r.Indices(t, 3, maxItems, len(values)); err != nil {
		return m, err
	}
	if m.Outputs, err = r.Indices(t, 4, maxItems, len(values)); err != nil {
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
	chains, err := r.Tables(t, 5, maxMethods)
	if err != nil {
		return m, err
	}
	for _, c := range chains {
		if err := m.chain(r, c); err != nil {
			return m, fmt.Errorf("method %q: %w", m.Name, err)
		}
	}
	return m, nil
}

// Kinds of an instruction, and of a value, as the format numbers them.
const (
	kernelCall   = 1
	delegateCall = 2
	tensorValue  = 5
	tensorList   = 10
	optionalList = 11
)

// chain reads the calls of a chain; what moves and frees values, and jumps, is left out.
func (m *Method) chain(r *flatbuffer.Reader, t flatbuffer.Table) error {
	list, err := r.Tables(t, 2, maxItems)
	if err != nil {
		return err
	}
	for _, i := range list {
		kind, err := i.Uint8(0)
		if err != nil {
			return err
		}
		if kind != kernelCall && kind != delegateCall {
			continue
		}
		args, err := i.Table(1)
		if err != nil {
			return err
		}
		of, err := args.Uint32(0)
		if err != nil {
			return err
		}
		c := Call{Operator: -1, Delegate: -1}
		place, all, what := &c.Operator, len(m.Operators), "operation"
		if kind == delegateCall {
			place, all, what = &c.Delegate, len(m.Delegates), "delegate"
		}
		if int64(of) >= int64(all) {
			return fmt.Errorf("it calls %s %d of %d", what, of, all)
		}
		*place = int(of)
		if c.Args, err = r.Indices(args, 1, maxItems, len(m.Values)); err != nil {
			return err
		}
		m.Calls = append(m.Calls, c)
	}
	return nil
}

func value(r *flatbuffer.Reader, t flatbuffer.Table, all int) (v Value, err error) {
	kind, err := t.Uint8(0)
	if err != nil || kind != tensorValue && kind != tensorList && kind != optionalList {
		return v, err
	}
	of, err := t.Table(1)
	if err != nil {
		return v, err
	}
	if kind != tensorValue {
		v.List, err = r.Indices(of, 0, maxItems, all)
		return v, err
	}
	scalar, err := of.Uint8(0)
	if err != nil {
		return v, err
	}
	sizes, err := r.Int32s(of, 2, maxRank)
	if err != nil {
		return v, err
	}
	buffer, err := of.Uint32(5)
	if err != nil {
		return v, err
	}
	dynamic, err := of.Uint8(8)
	if err != nil {
		return v, err
	}
	allocated, _, err := of.Vector(6) // a table, of which it is enough to know that it is there
	v.Type, v.Shape, v.Constant = scalarType(scalar), []int64{}, buffer > 0 && allocated == 0
	for _, n := range sizes {
		if dynamic > 0 { // then sizes are bounds, and which of them vary nothing says
			n = -1
		}
		v.Shape = append(v.Shape, int64(n))
	}
	return v, err
}

// scalarType names an element's type, as PyTorch numbers them.
func scalarType(n uint8) string {
	names := []string{"uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "", "", "", "bool", "qint8", "quint8", "qint32", "bfloat16"}
	switch {
	case int(n) < len(names) && names[n] != "":
		return names[n]
	case n == 27:
		return "uint16"
	case n == 28:
		return "uint32"
	case n == 29:
		return "uint64"
	}
	return "type " + strconv.Itoa(int(n))
}
