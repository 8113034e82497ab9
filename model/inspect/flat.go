package inspect

import (
	"errors"
	"fmt"
	"io"

	"github.com/hexmage/hexmage/model/pte"
	"github.com/hexmage/hexmage/model/tflite"
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
	Ops       map[string]int `json:"ops,omitempty"`       // operations of a kind
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
	maxProgram  = 64 << 20 // bytes in which contexts are looked for
	maxContexts = 256
	maxLines    = 4096 // inputs and outputs of all methods: a file may name one of a long name any number of times
)

// describePTE reads an ExecuTorch program: its methods, what they delegate, and the contexts in its segments.
func describePTE(r io.ReaderAt, size int64) (*Program, error) {
	read, err := pte.Parse(r, size)
	if err != nil {
		return nil, err
	}
	out := &Program{Version: read.Version}
	for _, m := range read.Methods {
		method := Method{Name: m.Name, Ops: map[string]int{}, Delegates: map[string]int{}}
		for _, o := range m.Operators {
			method.Ops[o.Name]++
		}
		for _, d := range m.Delegates {
			method.Delegates[d]++
		}
		out.Methods = append(out.Methods, method)
	}
	for _, s := range read.Segments {
		out.inner(r, s.Offset, s.Size)
	}
	if read.Warning != "" {
		out.Warnings = append(out.Warnings, read.Warning)
	}
	return out, nil
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
	read, err := tflite.Parse(r, size)
	if err != nil {
		return nil, err
	}
	out := &Program{Version: read.Version, Description: read.Description}
	left := maxLines
	for _, g := range read.Graphs {
		m := Method{Name: g.Name, Ops: map[string]int{}}
		for _, l := range []struct {
			of []int
			to *[]string
		}{{g.Inputs, &m.Inputs}, {g.Outputs, &m.Outputs}} {
			for _, i := range l.of[:min(left, len(l.of))] {
				left--
				t := g.Tensors[i]
				*l.to = append(*l.to, fmt.Sprintf("%-9s %-14s %s", t.Type, dimsText(t.Shape), t.Name))
			}
		}
		for _, op := range g.Ops {
			m.Ops[op.Name]++
		}
		out.Methods = append(out.Methods, m)
	}
	if left == 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("of the methods' inputs and outputs no more than %d are read", maxLines))
	}
	return out, out.behind(r, size)
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
