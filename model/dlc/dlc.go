// Package dlc reads the outline of DLC files, the vendor's containers of models: which graphs are in one, and which contexts that were compiled
// from them, for which SoCs. One enters it with Parse.
//
// A DLC is a zip file whose members are stored as they are; the layout within was found by looking at files that the vendor's tools write.
// Nothing in the file is trusted. The package does not read weights.
package dlc

import (
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

// header reads which version of the format it is. Older files say it in lines.
func (f *File) header(m archive.Member) error {
	b, err := m.Read(maxMetadata)
	if err != nil {
		return err
	}
	var j struct {
		Header struct {
			Version struct{ Major, Minor, Patch int }
		}
	}
	if json.Unmarshal(trimmed(b), &j) == nil {
		v := j.Header.Version
		f.Version = fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	}
	return nil
}

// made reads which program made it.
func (f *File) made(m archive.Member) error {
	b, err := m.Read(maxMetadata)
	if err != nil {
		return err
	}
	var j struct {
		DLCGenerationInfo []struct {
			ConverterCommand struct{ Tool, ConverterVersion string }
		}
	}
	if json.Unmarshal(trimmed(b), &j) == nil && len(j.DLCGenerationInfo) > 0 {
		c := j.DLCGenerationInfo[0].ConverterCommand
		f.Tool, f.Converter = c.Tool, c.ConverterVersion
	}
	return nil
}

func trimmed(b []byte) []byte { return []byte(strings.TrimRight(string(b), "\x00")) }

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
	root, err := flatbuffer.Root(b[header:])
	if err != nil {
		return err
	}
	graphs, err := root.Tables(0, maxGraphs)
	if err != nil {
		return err
	}
	left := maxItems
	for _, t := range graphs {
		g := Graph{Ops: map[string]int{}}
		if g.Name, err = t.String(0); err != nil {
			return err
		}
		if err := g.read(t, &left); err != nil {
			return fmt.Errorf("graph %q: %w", g.Name, err)
		}
		f.Graphs = append(f.Graphs, g)
	}
	return nil
}

// read reads a graph's operations, inputs and outputs; left is how many more there may be in the file.
func (g *Graph) read(t flatbuffer.Table, left *int) error {
	ops, err := t.Tables(1, *left)
	if err != nil {
		return err
	}
	for _, op := range ops {
		kind, err := op.String(1)
		if err != nil {
			return err
		}
		g.Ops[kind]++
	}
	tensors, err := t.Tables(2, *left-len(ops))
	if err != nil {
		return err
	}
	*left -= len(ops) + len(tensors)
	for _, t := range tensors {
		const input, output = 0, 1
		role, err := t.Uint32(2)
		if err != nil {
			return err
		}
		if role != input && role != output {
			continue
		}
		var x qnnctx.TensorInfo
		if x.Name, err = t.String(1); err != nil {
			return err
		}
		dtype, err := t.Uint32(6)
		if err != nil {
			return err
		}
		if x.Dims, err = t.Uint32s(3, maxRank); err != nil {
			return err
		}
		x.DType = qnnctx.DTypeName(dtype)
		if role == input {
			g.Inputs = append(g.Inputs, x)
		} else {
			g.Outputs = append(g.Outputs, x)
		}
	}
	return nil
}
