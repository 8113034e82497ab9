// Package dlc reads the outline of DLC files, Qualcomm's containers of models: which graphs are in one, and which
// contexts that were compiled from them, for which SoCs.
//
// A DLC is a zip file whose members are stored as they are; the layout within was found by looking at files that
// Qualcomm's tools write. Nothing in the file is trusted. The package does not read weights.
package dlc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/qnn/flatbuffer"
	"github.com/hexmage/hexmage/qnn/qnnctx"
)

// ErrUnknown is wrapped by the error for a zip file that is no DLC.
var ErrUnknown = errors.New("no DLC")

// File is what a DLC says of itself.
type File struct {
	Version   string   `json:"version,omitempty"`   // of the format: 2.3.0
	Converter string   `json:"converter,omitempty"` // the build that made it
	Tool      string   `json:"tool,omitempty"`      // likewise: its program
	Graphs    []Graph  `json:"graphs,omitempty"`
	Caches    []Cache  `json:"caches,omitempty"` // contexts, sorted by name
	Warnings  []string `json:"warnings,omitempty"`
}

// Graph is a graph before it is compiled.
type Graph struct {
	qnnctx.GraphInfo
	Ops map[string]int `json:"ops,omitempty"` // operations of a kind
}

// Cache is a context in a DLC.
type Cache struct {
	Name    string      `json:"name"`
	Context qnnctx.Info `json:"context"`
}

const (
	maxMembers  = 4096
	maxMetadata = 16 << 20
	maxModel    = 256 << 20
	maxGraphs   = 1024
	maxItems    = 1 << 20 // operations and tensors of all graphs
	maxRank     = 32

	metadata = "dlc.metadata"
	history  = "dlc.metadata.history"
	model    = "model"
	header   = 8 // bytes in front of a member's FlatBuffer
)

// Parse reads the outline of the file of the given size behind r.
func Parse(r io.ReaderAt, size int64) (*File, error) {
	members, err := archive.ListZip(r, size, maxMembers)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(members, func(m archive.Member) bool { return strings.HasPrefix(m.Name, metadata) }) {
		return nil, ErrUnknown
	}
	f := &File{}
	for _, m := range members {
		var err error
		switch {
		case strings.HasPrefix(m.Name, history):
			err = f.made(m)
		case strings.HasPrefix(m.Name, metadata):
			err = f.header(m)
		case m.Name == model:
			err = f.model(m)
		default:
			err = f.cache(m)
		}
		if err != nil {
			f.Warnings = append(f.Warnings, fmt.Sprintf("%s: %v", m.Name, err))
		}
	}
	slices.SortFunc(f.Caches, func(a, b Cache) int { return strings.Compare(a.Name, b.Name) })
	return f, nil
}

// header reads which version of the format it is.
func (f *File) header(m archive.Member) error {
	var j struct {
		Header struct {
			Version struct{ Major, Minor, Patch int }
		}
	}
	ok, err := decode(m, &j)
	if ok {
		v := j.Header.Version
		f.Version = fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	}
	return err
}

// made reads which program made it.
func (f *File) made(m archive.Member) error {
	var j struct {
		DLCGenerationInfo []struct {
			ConverterCommand struct{ Tool, ConverterVersion string }
		}
	}
	ok, err := decode(m, &j)
	if ok && len(j.DLCGenerationInfo) > 0 {
		c := j.DLCGenerationInfo[0].ConverterCommand
		f.Tool, f.Converter = c.Tool, c.ConverterVersion
	}
	return err
}

// decode decodes a member; ok is false if it is not JSON but lines, as in older files.
func decode(m archive.Member, to any) (ok bool, err error) {
	b, err := m.Read(maxMetadata)
	return err == nil && json.Unmarshal(bytes.TrimRight(b, "\x00"), to) == nil, err
}

// cache reads a member that is a context; of another one it says nothing.
func (f *File) cache(m archive.Member) error {
	r, err := m.Stored()
	if err != nil || r.Size() < header {
		return err
	}
	head := make([]byte, header)
	if _, err := r.ReadAt(head, 0); err != nil {
		return err
	}
	if !qnnctx.Is(head) {
		return nil
	}
	info, err := qnnctx.Parse(r, r.Size())
	if err != nil {
		return err
	}
	f.Caches = append(f.Caches, Cache{m.Name, info})
	return nil
}

// model reads the graphs.
func (f *File) model(m archive.Member) error {
	b, err := m.Read(maxModel)
	if err != nil {
		return err
	}
	if len(b) < header+8 || string(b[header+4:][:4]) != "NETD" {
		return errors.New("its graphs are in another form than is known")
	}
	root := flatbuffer.Root(b[header:])
	left := maxItems
	for _, t := range root.Tables(0, maxGraphs) {
		g := Graph{Ops: map[string]int{}}
		g.read(t, &left)
		f.Graphs = append(f.Graphs, g)
	}
	return root.Err()
}

// read reads a graph's name, operations, inputs and outputs; left is how many more there may be in the file.
func (g *Graph) read(t flatbuffer.Table, left *int) {
	g.Name = t.String(0)
	ops := t.Tables(1, *left)
	*left -= len(ops)
	for _, op := range ops {
		g.Ops[op.String(1)]++
	}
	tensors := t.Tables(2, *left)
	*left -= len(tensors)
	for _, t := range tensors {
		const input, output = 0, 1
		x := qnnctx.TensorInfo{Name: t.String(1), DType: qnnctx.DTypeName(t.Uint32(6)), Dims: t.Uint32s(3, maxRank)}
		switch t.Uint32(2) {
		case input:
			g.Inputs = append(g.Inputs, x)
		case output:
			g.Outputs = append(g.Outputs, x)
		}
	}
}
