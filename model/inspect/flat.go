package inspect

import (
	"fmt"
	"io"

	"github.com/hexmage/hexmage/model/pte"
	"github.com/hexmage/hexmage/qnn/qnnctx"
)

// Program describes a model that another runtime has compiled or is to run: ExecuTorch's .pte.
type Program struct {
	Version  uint32         `json:"version"` // of the format
	Methods  []Method       `json:"methods,omitempty"`
	Contexts []InnerContext `json:"contexts,omitempty"` // contexts within it
	Warnings []string       `json:"warnings,omitempty"`
}

// Method is a graph that can be called.
type Method struct {
	Name      string         `json:"name"`
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
	flatHeader  = 8 // an offset, and four letters that say which FlatBuffer it is
	maxContexts = 256
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
