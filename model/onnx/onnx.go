// Package onnx reads the outline of ONNX models: inputs, outputs, the number of nodes by type, and compiled contexts
// in the model or beside it.
//
// It skips weights, so a model of many GB takes no longer than a small one. It treats files as untrusted, and does
// not know what nodes compute.
package onnx

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrFormat means that an ONNX model is invalid. Errors from Parse wrap it.
var ErrFormat = errors.New("not a valid ONNX model")

// Model is the outline of an ONNX model.
type Model struct {
	IRVersion    int64          `json:"ir_version"`
	Producer     string         `json:"producer,omitempty"`
	Opsets       []string       `json:"opsets"` // "21" for ONNX's own domain; "com.microsoft 1" for others
	Graph        string         `json:"graph,omitempty"`
	Inputs       []Value        `json:"inputs,omitempty"`
	Outputs      []Value        `json:"outputs,omitempty"`
	Nodes        int            `json:"nodes"`
	Ops          map[string]int `json:"ops,omitempty"` // number of nodes by type
	Initializers int            `json:"initializers"`
	External     []string       `json:"external_data,omitempty"` // files with weights, sorted
	Contexts     []EPContext    `json:"contexts,omitempty"`
	Warnings     []string       `json:"warnings,omitempty"`
}

// Value is an input or output of a model.
type Value struct {
	Name  string   `json:"name"`
	DType string   `json:"dtype"`
	Dims  []string `json:"dims"` // a number, a name, or "?"
}

// EPContext describes an EPContext node, which contains a compiled context in place of a part of the graph.
type EPContext struct {
	Source    string `json:"source,omitempty"`    // execution provider that compiled it
	Partition string `json:"partition,omitempty"` // name of its graph in the context
	SDK       string `json:"sdk,omitempty"`       // build of the compiling SDK
	Main      bool   `json:"main"`                // the node has the context; other nodes refer to it
	File      string `json:"file,omitempty"`      // file of the context beside the model, or ""
	Offset    int64  `json:"offset,omitempty"`    // position in the model's file, if the context is embedded
	Size      int64  `json:"size,omitempty"`      // size in the model's file, if the context is embedded
}

// Limits of reads.
const (
	maxFields   = 8 << 20
	maxText     = 4096     // bytes of a name
	maxValues   = 4096     // inputs, outputs
	maxRank     = 64       // dims
	maxOps      = 1024     // types of nodes
	maxContexts = 1024     //
	maxWeights  = 64 << 10 // bytes of an initializer that is read; one with external content is shorter
	maxFiles    = 64
	window      = 64 << 10
)

// Is reports whether a file that starts with head may be an ONNX model.
func Is(head []byte) bool {
	if len(head) < 12 || head[0] != 0x08 || head[1] == 0 || head[1] > 0x7f {
		return false
	}
	switch head[2] {
	case 0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72:
		return head[4]|head[5]|head[6]|head[7] != 0 // otherwise this is the header length of a safetensors file
	}
	return false
}

// Parse reads the outline of a model of the given size. Errors that do not come from r wrap ErrFormat.
func Parse(r io.ReaderAt, size int64) (*Model, error) {
	p := &parser{r: r, size: size}
	m := &Model{Ops: map[string]int{}}
	graph := false
	version := ""
	err := p.walk(field{at: 0, size: size}, fields{
		1: func(v field) error { m.IRVersion = int64(v.n); return nil },
		2: p.text(&m.Producer),
		3: p.text(&version),
		7: func(v field) error { graph = true; return p.graph(v, m) },
		8: func(v field) error { return p.opset(v, m) },
	})
	if err != nil {
		return nil, err
	}
	if !graph || len(m.Opsets) == 0 {
		return nil, fmt.Errorf("%w: missing graph or operator set", ErrFormat)
	}
	if m.Producer != "" && version != "" {
		m.Producer += " " + version
	}
	slices.Sort(m.External)
	m.External = slices.Compact(m.External)
	return m, nil
}

func (p *parser) opset(f field, m *Model) error {
	domain, version := "", uint64(0)
	err := p.walk(f, fields{1: p.text(&domain), 2: number(&version)})
	text := strconv.FormatUint(version, 10)
	if domain != "" && domain != "ai.onnx" {
		text = domain + " " + text
	}
	if len(m.Opsets) < maxValues {
		m.Opsets = append(m.Opsets, text)
	}
	return err
}

func (p *parser) graph(f field, m *Model) error {
	return p.walk(f, fields{
		1: func(v field) error { return p.node(v, m) },
		2: p.text(&m.Graph),
		5: func(v field) error {
			m.Initializers++
			if v.size > maxWeights || len(m.External) == maxFiles {
				return nil
			}
			return p.walk(v, fields{13: func(v field) error { return p.external(v, m) }})
		},
		11: func(v field) error { return p.value(v, &m.Inputs) },
		12: func(v field) error { return p.value(v, &m.Outputs) },
	})
}

func (p *parser) node(f field, m *Model) error {
	op := ""
	var attributes []field
	err := p.walk(f, fields{4: p.text(&op), 5: func(v field) error {
		if len(attributes) < maxRank {
			attributes = append(attributes, v)
		}
		return nil
	}})
	if err != nil {
		return err
	}
	m.Nodes++
	if _, known := m.Ops[op]; known || len(m.Ops) < maxOps {
		m.Ops[op]++
	}
	if op != "EPContext" || len(m.Contexts) == maxContexts {
		return nil
	}
	main, embedded := uint64(1), uint64(1)
	var c EPContext
	var content field
	for _, a := range attributes {
		var name string
		var n uint64
		var text field
		if err := p.walk(a, fields{1: p.text(&name), 3: number(&n), 4: func(v field) error { text = v; return nil }}); err != nil {
			return err
		}
		var err error
		switch name {
		case "source":
			err = p.text(&c.Source)(text)
		case "partition_name":
			err = p.text(&c.Partition)(text)
		case "ep_sdk_version":
			err = p.text(&c.SDK)(text)
		case "main_context":
			main = n
		case "embed_mode":
			embedded = n
		case "ep_cache_context":
			content = text
		}
		if err != nil {
			return err
		}
	}
	c.Main = main != 0
	switch {
	case content.size == 0:
	case embedded != 0:
		c.Offset, c.Size = content.at, content.size
	default:
		err = p.text(&c.File)(content)
	}
	m.Contexts = append(m.Contexts, c)
	return err
}

// external reads a key and value that name the file of an initializer's content.
func (p *parser) external(f field, m *Model) error {
	var key, value string
	err := p.walk(f, fields{1: p.text(&key), 2: p.text(&value)})
	if key == "location" {
		m.External = append(m.External, value)
	}
	return err
}

// value reads the name and tensor type of an input or output. A sequence or map has the type "?".
func (p *parser) value(f field, to *[]Value) error {
	x := Value{DType: "?", Dims: []string{}}
	dim := func(v field) error {
		if len(x.Dims) == maxRank {
			return nil
		}
		text := "?"
		err := p.walk(v, fields{1: func(v field) error { text = strconv.FormatInt(int64(v.n), 10); return nil }, 2: p.text(&text)})
		x.Dims = append(x.Dims, text)
		return err
	}
	tensor := fields{
		1: func(v field) error { x.DType = dtype(v.n); return nil },
		2: p.message(fields{1: dim}),
	}
	err := p.walk(f, fields{1: p.text(&x.Name), 2: p.message(fields{1: p.message(tensor)})})
	if len(*to) < maxValues {
		*to = append(*to, x)
	}
	return err
}

// dtype returns the name of an element type.
func dtype(n uint64) string {
	names := []string{"undefined", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "float64", "uint32", "uint64",
		"complex64", "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4", "float4e2m1"}
	if n < uint64(len(names)) {
		return names[n]
	}
	return strconv.FormatUint(n, 10)
}

// SortedOps returns the types of nodes, the most frequent type first.
func (m *Model) SortedOps() []string {
	ops := slices.Sorted(maps.Keys(m.Ops))
	slices.SortStableFunc(ops, func(a, b string) int { return m.Ops[b] - m.Ops[a] })
	return ops
}

// field is a field's value: a number, or the position of its bytes.
type field struct {
	n        uint64
	at, size int64
}

// parser reads a file through a window that moves forward.
type parser struct {
	r      io.ReaderAt
	size   int64
	buf    []byte
	begin  int64 // offset of buf
	fields int
}

// bytes returns n bytes at an offset, or fewer at the file's end.
func (p *parser) bytes(at, n int64) ([]byte, error) {
	n = min(n, p.size-at)
	if at >= p.begin && at+n <= p.begin+int64(len(p.buf)) {
		return p.buf[at-p.begin:][:n], nil
	}
	buf := make([]byte, min(max(n, window), p.size-at))
	if k, err := p.r.ReadAt(buf, at); err != nil && !(errors.Is(err, io.EOF) && k == len(buf)) {
		return nil, fmt.Errorf("read ONNX model: %w", err)
	}
	p.buf, p.begin = buf, at
	return buf[:n], nil
}

// fields maps field numbers of a message to their handlers.
type fields map[protowire.Number]func(v field) error

// text returns a handler that stores a string.
func (p *parser) text(to *string) func(field) error {
	return func(f field) error {
		if f.size > maxText {
			return fmt.Errorf("%w: name of %d bytes is too long", ErrFormat, f.size)
		}
		b, err := p.bytes(f.at, f.size)
		*to = string(b)
		return err
	}
}

// number returns a handler that stores a number.
func number(to *uint64) func(field) error {
	return func(f field) error { *to = f.n; return nil }
}

// message returns a handler for a nested message.
func (p *parser) message(each fields) func(field) error {
	return func(f field) error { return p.walk(f, each) }
}

// walk calls the handlers for the fields of a message.
func (p *parser) walk(f field, each fields) error {
	const most = 2 * 10 // bytes of a tag and a number
	for at, end := f.at, f.at+f.size; at < end; {
		if p.fields++; p.fields > maxFields {
			return fmt.Errorf("%w: more than %d fields", ErrFormat, maxFields)
		}
		b, err := p.bytes(at, min(most, end-at))
		if err != nil {
			return err
		}
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%w: at byte %d of %d: %w", ErrFormat, at, p.size, protowire.ParseError(n))
		}
		var v field
		k := 0
		switch b = b[n:]; kind {
		case protowire.VarintType, protowire.BytesType:
			v.n, k = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			_, k = protowire.ConsumeFixed32(b)
		case protowire.Fixed64Type:
			_, k = protowire.ConsumeFixed64(b)
		default:
			return fmt.Errorf("%w: unknown field type %d at byte %d", ErrFormat, kind, at)
		}
		if k < 0 {
			return fmt.Errorf("%w: at byte %d of %d: %w", ErrFormat, at, p.size, protowire.ParseError(k))
		}
		at += int64(n + k)
		if kind == protowire.BytesType {
			if v.n > uint64(end-at) {
				return fmt.Errorf("%w: a field of %d bytes at byte %d exceeds the file size of %d bytes: the file is truncated",
					ErrFormat, v.n, at, p.size)
			}
			v.at, v.size = at, int64(v.n)
			at += v.size
		}
		if take := each[num]; take != nil {
			if err := take(v); err != nil {
				return err
			}
		}
	}
	return nil
}
