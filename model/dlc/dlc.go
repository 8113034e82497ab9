// Package dlc reads the outline of DLC files, Qualcomm's model containers. The outline lists the graphs and, for each
// SoC, the contexts that were compiled from them.
//
// A DLC is a zip file with uncompressed members. The layout of the members was derived from files of Qualcomm's
// tools. The package treats files as untrusted, and does not read weights.
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

// ErrUnknown means that a zip file is not a DLC. Errors from Parse wrap it.
var ErrUnknown = errors.New("not a DLC")

// File is the outline of a DLC file.
type File struct {
	Version   string   `json:"version,omitempty"`   // format version, for example 2.3.0
	Converter string   `json:"converter,omitempty"` // build of the converter
	Tool      string   `json:"tool,omitempty"`      // converter's program
	Graphs    []Graph  `json:"graphs,omitempty"`
	Caches    []Cache  `json:"caches,omitempty"` // compiled contexts, sorted by name
	Warnings  []string `json:"warnings,omitempty"`
}

// Graph is a graph in a DLC before compilation.
type Graph struct {
	qnnctx.GraphInfo
	Ops   map[string]int `json:"ops,omitempty"`   // number of operations by type
	Types map[string]int `json:"types,omitempty"` // number of tensors, including weights, by element type
}

// Cache is a compiled context in a DLC.
type Cache struct {
	Name    string      `json:"name"`
	Context qnnctx.Info `json:"context"`
}

const (
	maxMembers  = 4096
	maxMetadata = 16 << 20
	maxModel    = 256 << 20
	maxGraphs   = 1024
	maxItems    = 1 << 20 // largest number of operations and tensors in all graphs
	maxRank     = 32

	metadata = "dlc.metadata"
	history  = "dlc.metadata.history"
	model    = "model"
	header   = 8 // bytes before a member's FlatBuffer
)

// Parse reads the outline of a DLC file of the given size in bytes.
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

// header reads the format version.
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

// made reads the program and build of the converter.
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

// decode decodes a JSON member. ok is false for the plain lines of older files.
func decode(m archive.Member, to any) (ok bool, err error) {
	b, err := m.Read(maxMetadata)
	return err == nil && json.Unmarshal(bytes.TrimRight(b, "\x00"), to) == nil, err
}

// cache reads a member that holds a context. It ignores other members.
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
		return errors.New("the graphs have an unknown format")
	}
	root := flatbuffer.Root(b[header:])
	left := maxItems
	for _, t := range root.Tables(0, maxGraphs) {
		g := Graph{Ops: map[string]int{}, Types: map[string]int{}}
		g.read(t, &left)
		f.Graphs = append(f.Graphs, g)
	}
	return root.Err()
}

// read reads a graph's name, operations, inputs and outputs. left is the number of items that the file may still
// have.
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
		g.Types[x.DType]++
		switch t.Uint32(2) {
		case input:
			g.Inputs = append(g.Inputs, x)
		case output:
			g.Outputs = append(g.Outputs, x)
		}
	}
}
