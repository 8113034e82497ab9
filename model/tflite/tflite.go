// Package tflite reads LiteRT's models, .tflite: their graphs with tensors and operations.
//
// One enters it with Parse. Nothing in a file is trusted: each list is bounded, each index checked. Weights are not read. It does not know what operations
// compute, nor what a compiler has put in the place of some.
package tflite

import (
	"fmt"
	"io"
	"strconv"

	"github.com/hexmage/hexmage/qnn/flatbuffer"
)

// Magic is what a model has as the letters of its FlatBuffer.
const Magic = "TFL3"

// Bounds of what is read.
const (
	maxModel  = 64 << 20 // bytes of the FlatBuffer
	maxGraphs = 256
	maxItems  = 1 << 18 // of a list
	maxAll    = 1 << 22 // elements of all lists, and bytes of names: many may be one place of the file
	maxRank   = 64
)

// Model is what a file has.
type Model struct {
	Version     uint32
	Description string
	Graphs      []Graph
}

// Graph is one of a model's; indices are of Tensors.
type Graph struct {
	Name    string
	Tensors []Tensor
	Inputs  []int
	Outputs []int
	Ops     []Op // in the order in which they run
}

// Tensor is a tensor of a graph.
type Tensor struct {
	Name     string
	Type     string  // "float32"
	Shape    []int64 // -1 is a dimension that is not fixed; nil where nothing says how many there are
	Constant bool
}

// Op is an operation of a graph. An input that is left out is not among Inputs.
type Op struct {
	Name    string // "CONV_2D", or a custom operation's own
	Custom  bool
	Inputs  []int
	Outputs []int
}

// Parse reads the model of the given size behind r.
func Parse(r io.ReaderAt, size int64) (*Model, error) {
	out := &Model{}
	return out, flatbuffer.ReadRoot(r, size, maxModel, out.read)
}

func (m *Model) read(t flatbuffer.Table) (err error) {
	read := reader{Reader: flatbuffer.NewReader(maxAll)}
	if m.Version, err = t.Uint32(0); err != nil {
		return err
	}
	if m.Description, err = read.String(t, 3); err != nil {
		return err
	}
	if err := read.codes(t); err != nil {
		return err
	}
	if err := read.buffers(t); err != nil {
		return err
	}
	graphs, err := read.Tables(t, 2, maxGraphs)
	if err != nil {
		return err
	}
	for _, g := range graphs {
		graph, err := read.graph(g)
		if err != nil {
			return fmt.Errorf("graph %q: %w", graph.Name, err)
		}
		m.Graphs = append(m.Graphs, graph)
	}
	return nil
}

// reader has what graphs refer to.
type reader struct {
	*flatbuffer.Reader
	kinds  []Op   // of operations, with the name alone
	filled []bool // which buffers have content
}

// codes names the kinds of operations: those of others by their name, the format's own by its.
func (r *reader) codes(t flatbuffer.Table) error {
	list, err := r.Tables(t, 1, maxItems)
	if err != nil {
		return err
	}
	for _, c := range list {
		old, err := c.Uint8(0)
		if err != nil {
			return err
		}
		number, err := c.Uint32(3)
		if err != nil {
			return err
		}
		name, err := r.String(c, 1)
		if err != nil {
			return err
		}
		kind := Op{Name: name, Custom: name != ""}
		if !kind.Custom {
			kind.Name = Builtin(max(uint32(old), number))
		}
		r.kinds = append(r.kinds, kind)
	}
	return nil
}

// buffers notes which buffers have content, in the FlatBuffer or behind it.
func (r *reader) buffers(t flatbuffer.Table) error {
	list, err := r.Tables(t, 4, maxItems)
	if err != nil {
		return err
	}
	for _, b := range list {
		_, n, err := b.Vector(0)
		if err != nil {
			return err
		}
		behind, err := b.Uint64(2)
		if err != nil {
			return err
		}
		r.filled = append(r.filled, n > 0 || behind > 0)
	}
	return nil
}

func (r *reader) graph(t flatbuffer.Table) (g Graph, err error) {
	if g.Name, err = r.String(t, 4); err != nil {
		return g, err
	}
	tensors, err := r.Tables(t, 0, maxItems)
	if err != nil {
		return g, err
	}
	for _, x := range tensors {
		tensor, err := r.tensor(x)
		if err != nil {
			return g, err
		}
		g.Tensors = append(g.Tensors, tensor)
	}
	if g.Inputs, err = r.Indices(t, 1, maxItems, len(tensors)); err != nil {
		return g, err
	}
	if g.Outputs, err = r.Indices(t, 2, maxItems, len(tensors)); err != nil {
		return g, err
	}
	ops, err := r.Tables(t, 3, maxItems)
	if err != nil {
		return g, err
	}
	for _, o := range ops {
		kind, err := o.Uint32(0)
		if err != nil {
			return g, err
		}
		if int64(kind) >= int64(len(r.kinds)) {
			return g, fmt.Errorf("an operation of kind %d of %d", kind, len(r.kinds))
		}
		op := r.kinds[kind]
		if op.Inputs, err = r.Indices(o, 1, maxItems, len(tensors)); err != nil {
			return g, err
		}
		if op.Outputs, err = r.Indices(o, 2, maxItems, len(tensors)); err != nil {
			return g, err
		}
		g.Ops = append(g.Ops, op)
	}
	return g, nil
}

func (r *reader) tensor(t flatbuffer.Table) (x Tensor, err error) {
	kind, err := t.Uint8(1)
	if err != nil {
		return x, err
	}
	buffer, err := t.Uint32(2)
	if err != nil {
		return x, err
	}
	if x.Name, err = r.String(t, 3); err != nil {
		return x, err
	}
	x.Type, x.Constant = typeName(kind), int64(buffer) < int64(len(r.filled)) && r.filled[buffer]
	x.Shape, err = r.shape(t)
	return x, err
}

// shape reads a tensor's dimensions. One that is not fixed is 1 there, and only the signature beside them says so.
func (r *reader) shape(t flatbuffer.Table) ([]int64, error) {
	dims, err := r.Int32s(t, 0, maxRank)
	if err != nil {
		return nil, err
	}
	signature, err := r.Int32s(t, 7, maxRank)
	if err != nil {
		return nil, err
	}
	ranked, err := t.Uint8(8)
	if err != nil {
		return nil, err
	}
	at, _, err := t.Vector(0)
	if err != nil || at == 0 && ranked == 0 {
		return nil, err
	}
	shape := make([]int64, len(dims))
	for i, n := range dims {
		if shape[i] = int64(n); i < len(signature) && signature[i] < 0 {
			shape[i] = -1
		}
	}
	return shape, nil
}

// typeName names an element's type.
func typeName(n uint8) string {
	names := []string{"float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8", "float64", "complex128", "uint64", "resource",
		"variant", "uint32", "uint16", "int4", "bfloat16"}
	if int(n) < len(names) {
		return names[n]
	}
	return "type " + strconv.Itoa(int(n))
}
