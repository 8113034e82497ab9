package inspect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/hexmage/hexmage/internal/flatbuffer"
	"github.com/hexmage/hexmage/qnn/qnnctx"
)

// Program describes a model that another runtime has compiled or is to run: ExecuTorch's .pte, LiteRT's .tflite.
type Program struct {
	Version     uint32         `json:"version"` // of the format
	Description string         `json:"description,omitempty"`
	Methods     []Method       `json:"methods,omitempty"`
	Contexts    []InnerContext `json:"contexts,omitempty"` // contexts within it
	Warnings    []string       `json:"warnings,omitempty"`
}

// Method is a graph that can be called.
type Method struct {
	Name      string         `json:"name"`
	Inputs    []string       `json:"inputs,omitempty"`
	Outputs   []string       `json:"outputs,omitempty"`
	Ops       map[string]int `json:"ops,omitempty"`       // operations of a kind; "builtin 0" is the format's own
	Delegates map[string]int `json:"delegates,omitempty"` // parts that another backend runs
}

// InnerContext is a context binary within another file.
type InnerContext struct {
	Name    string      `json:"name,omitempty"`
	Offset  int64       `json:"offset"`
	Context qnnctx.Info `json:"context"`
}

const (
	flatHeader  = 8        // an offset, and four letters that say which FlatBuffer it is
	maxProgram  = 64 << 20 // bytes of a FlatBuffer without the weights
	maxMethods  = 256
	maxItems    = 1 << 18 // of a list in it
	maxContexts = 256
	pteMagic    = "ET12"
	tfliteMagic = "TFL3"
)

// flatRoot reads the FlatBuffer of at most size bytes that begins the file.
func flatRoot(r io.ReaderAt, size int64) ([]byte, flatbuffer.Table, error) {
	b := make([]byte, min(size, maxProgram))
	if _, err := r.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, flatbuffer.Table{}, err
	}
	t, err := flatbuffer.Root(b)
	return b, t, err
}

// describePTE reads an ExecuTorch program: its methods, what they delegate, and the contexts in its segments.
func describePTE(r io.ReaderAt, size int64) (*Program, error) {
	const extended, extendedSize = "eh00", 32
	head := make([]byte, flatHeader+extendedSize)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	program, segments := size, int64(0)
	if bytes.HasPrefix(head[min(flatHeader, n):n], []byte(extended)) && n >= flatHeader+24 {
		le := binary.LittleEndian
		p, s := le.Uint64(head[flatHeader+8:]), le.Uint64(head[flatHeader+16:])
		if p > uint64(size) || s > uint64(size) {
			return nil, fmt.Errorf("a program of %d bytes and segments at %d in a file of %d: is it cut off?", p, s, size)
		}
		program, segments = int64(p), int64(s)
	}
	_, t, err := flatRoot(r, program)
	if err != nil {
		return nil, err
	}
	out := &Program{}
	if out.Version, err = t.Uint32(0); err != nil {
		return nil, err
	}
	plans, err := t.Tables(1, maxMethods)
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		if err := out.plan(p); err != nil {
			return nil, err
		}
	}
	if segments > 0 {
		if err := out.segments(r, t, segments, size); err != nil {
			out.Warnings = append(out.Warnings, err.Error())
		}
	}
	return out, nil
}

// plan reads a method: its name, and the names of its operators and of those who run parts of it.
func (p *Program) plan(t flatbuffer.Table) error {
	m := Method{Ops: map[string]int{}, Delegates: map[string]int{}}
	var err error
	if m.Name, err = t.String(0); err != nil {
		return err
	}
	for _, l := range []struct {
		field int
		to    map[string]int
	}{{6, m.Ops}, {7, m.Delegates}} {
		list, err := t.Tables(l.field, maxItems)
		if err != nil {
			return err
		}
		for _, x := range list {
			name, err := x.String(0)
			if err != nil {
				return err
			}
			l.to[name]++
		}
	}
	p.Methods = append(p.Methods, m)
	return nil
}

// segments looks into what lies behind the program: each segment whose place the program gives.
func (p *Program) segments(r io.ReaderAt, t flatbuffer.Table, begin, size int64) error {
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
		p.inner(r, begin+int64(at), int64(n))
	}
	return nil
}

// inner describes what may be a context binary of size bytes at a place, wrapped or not; what is none is passed over.
func (p *Program) inner(r io.ReaderAt, at, size int64) {
	if len(p.Contexts) == maxContexts {
		return
	}
	skip, ok := unwrap(io.NewSectionReader(r, at, size))
	if !ok {
		return
	}
	info, err := qnnctx.ParseFirst(io.NewSectionReader(r, at+skip, size-skip), size-skip)
	if err != nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("what begins as a context at %d: %v", at+skip, err))
		return
	}
	p.Contexts = append(p.Contexts, InnerContext{Offset: at + skip, Context: info})
}

// describeTFLite reads a LiteRT model: its graphs with inputs and outputs, and contexts behind the FlatBuffer.
func describeTFLite(r io.ReaderAt, size int64) (*Program, error) {
	_, t, err := flatRoot(r, size)
	if err != nil {
		return nil, err
	}
	out := &Program{}
	if out.Version, err = t.Uint32(0); err != nil {
		return nil, err
	}
	if out.Description, err = t.String(3); err != nil {
		return nil, err
	}
	codes, err := opCodes(t)
	if err != nil {
		return nil, err
	}
	graphs, err := t.Tables(2, maxMethods)
	if err != nil {
		return nil, err
	}
	for _, g := range graphs {
		if err := out.subgraph(g, codes); err != nil {
			return nil, err
		}
	}
	return out, out.behind(r, size)
}

// opCodes names the operations that a model uses: those of others by their name, its own by the format's number.
func opCodes(t flatbuffer.Table) ([]string, error) {
	list, err := t.Tables(1, maxItems)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, c := range list {
		old, err := c.Uint8(0)
		if err != nil {
			return nil, err
		}
		number, err := c.Uint32(3)
		if err != nil {
			return nil, err
		}
		if names[i], err = c.String(1); err != nil {
			return nil, err
		}
		if names[i] == "" {
			names[i] = "builtin " + strconv.Itoa(int(max(uint32(old), number)))
		}
	}
	return names, nil
}

func (p *Program) subgraph(t flatbuffer.Table, codes []string) error {
	m := Method{Ops: map[string]int{}}
	var err error
	if m.Name, err = t.String(4); err != nil {
		return err
	}
	all, err := t.Tables(0, maxItems)
	if err != nil {
		return err
	}
	for _, l := range []struct {
		field int
		to    *[]string
	}{{1, &m.Inputs}, {2, &m.Outputs}} {
		list, err := t.Uint32s(l.field, maxItems)
		if err != nil {
			return err
		}
		for _, i := range list {
			if int64(i) >= int64(len(all)) {
				return fmt.Errorf("graph %q has no tensor %d", m.Name, i)
			}
			text, err := tensorText(all[i])
			if err != nil {
				return err
			}
			*l.to = append(*l.to, text)
		}
	}
	ops, err := t.Tables(3, maxItems)
	if err != nil {
		return err
	}
	for _, op := range ops {
		i, err := op.Uint32(0)
		if err != nil {
			return err
		}
		if int64(i) >= int64(len(codes)) {
			return fmt.Errorf("graph %q has an operation of kind %d of %d", m.Name, i, len(codes))
		}
		m.Ops[codes[i]]++
	}
	p.Methods = append(p.Methods, m)
	return nil
}

// tensorText is "float32 [1×128] name".
func tensorText(t flatbuffer.Table) (string, error) {
	dims, err := t.Uint32s(0, 64)
	if err != nil {
		return "", err
	}
	kind, err := t.Uint8(1)
	if err != nil {
		return "", err
	}
	name, err := t.String(3)
	types := []string{"float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8", "float64", "complex128", "uint64", "resource",
		"variant", "uint32", "uint16", "int4", "bfloat16"}
	text := strconv.Itoa(int(kind))
	if int(kind) < len(types) {
		text = types[kind]
	}
	return fmt.Sprintf("%-9s %-14s %s", text, dimsText(dims), name), err
}

// behind looks for contexts in what follows the model, or in its buffers: where they are only the runtime's own records say, in a form that is not
// known. They begin at an address that 16 divides.
func (p *Program) behind(r io.ReaderAt, size int64) error {
	const step = 16
	buf := make([]byte, 1<<20+flatHeader)
	for at := int64(0); at < min(size, maxProgram) && len(p.Contexts) < maxContexts; at += int64(len(buf) - flatHeader) {
		n, err := r.ReadAt(buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for i := 0; i+flatHeader <= n && i < len(buf)-flatHeader; i += step {
			if qnnctx.Is(buf[i:n]) {
				if info, err := qnnctx.ParseFirst(io.NewSectionReader(r, at+int64(i), size-at-int64(i)), size-at-int64(i)); err == nil {
					p.Contexts = append(p.Contexts, InnerContext{Offset: at + int64(i), Context: info})
				}
			}
		}
	}
	return nil
}
