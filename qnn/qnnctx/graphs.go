package qnnctx

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hexmage/hexmage/qnn/flatbuffer"
)

// maxMetaGraphs and maxMetaTensors bound what is taken of a file's metadata.
const (
	maxMetaGraphs  = 1024
	maxMetaTensors = 65536
)

// graphs1 reads the graphs of the older metadata: field 13 is a list of {version, kind, graph}.
func graphs1(t flatbuffer.Table) ([]GraphInfo, error) {
	return graphList(t, 13, func(e flatbuffer.Table, _ *GraphInfo) (flatbuffer.Table, error) { return e.Table(2) })
}

// graphs3 reads those of the newer: field 10, and the graph is two tables deeper, beside what the backend says of it.
func graphs3(t flatbuffer.Table) ([]GraphInfo, error) {
	return graphList(t, 10, func(e flatbuffer.Table, g *GraphInfo) (flatbuffer.Table, error) {
		var err error
		for _, field := range []int{2, 0, 0} {
			if e, err = e.Table(field); err != nil {
				return e, err
			}
			if field == 0 {
				continue
			}
			if err := g.needs(e); err != nil {
				return e, err
			}
		}
		return e, nil
	})
}

// needs reads the HTP's record of a graph: its version, which is 1, how much it spills, and how much VTCM it takes.
func (g *GraphInfo) needs(t flatbuffer.Table) error {
	b, err := t.Bytes(2, maxRecord)
	if err != nil || len(b) < 24 || binary.LittleEndian.Uint32(b) != 1 {
		return err
	}
	g.SpillFill, g.VTCM = binary.LittleEndian.Uint64(b[8:]), uint64(binary.LittleEndian.Uint32(b[16:]))
	return nil
}

// arch reads the HTP's record of the context: its version, which is 1, and the arch; 0 where there is none.
func arch(t flatbuffer.Table) (uint32, error) {
	b, err := t.Bytes(15, maxRecord)
	if err != nil || len(b) < 8 || binary.LittleEndian.Uint32(b) != 1 {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b[4:]), nil
}

const maxRecord = 4096 // bytes

func graphList(t flatbuffer.Table, field int, graph func(flatbuffer.Table, *GraphInfo) (flatbuffer.Table, error)) ([]GraphInfo, error) {
	entries, err := t.Tables(field, maxMetaGraphs)
	if err != nil {
		return nil, err
	}
	var all []GraphInfo
	tensors := maxMetaTensors
	for _, e := range entries {
		info := GraphInfo{}
		g, err := graph(e, &info)
		if err != nil {
			return nil, err
		}
		if info.Name, err = g.String(0); err != nil {
			return nil, err
		}
		for _, l := range []struct {
			field int
			to    *[]TensorInfo
		}{{2, &info.Inputs}, {4, &info.Outputs}} {
			if *l.to, err = tensorList(g, l.field, &tensors); err != nil {
				return nil, fmt.Errorf("graph %q: %w", info.Name, err)
			}
		}
		all = append(all, info)
	}
	return all, nil
}

func tensorList(g flatbuffer.Table, field int, left *int) ([]TensorInfo, error) {
	entries, err := g.Tables(field, *left)
	if err != nil {
		return nil, err
	}
	*left -= len(entries)
	var all []TensorInfo
	for _, e := range entries {
		var t TensorInfo
		dtype, err := e.Uint32(3)
		if err != nil {
			return nil, err
		}
		t.DType = DTypeName(dtype)
		if t.Name, err = e.String(9); err != nil {
			return nil, err
		}
		if t.Dims, err = e.Uint32s(7, maxRank); err != nil {
			return nil, err
		}
		if t.Quant, err = quant(e); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

const maxRank = 32

// quant reads how a tensor is quantised: whether at all, how, and for the way that is one scale and one offset which. nil is not at all.
func quant(e flatbuffer.Table) (*Quant, error) {
	const defined, scaleOffset = 1, 0
	is, err := e.Uint32(4)
	if err != nil || is != defined {
		return nil, err
	}
	encoding, err := e.Uint32(5)
	if err != nil {
		return nil, err
	}
	if encoding != scaleOffset {
		return &Quant{Encoding: fmt.Sprint(encoding)}, nil
	}
	t, err := e.Table(15)
	if err != nil {
		return nil, err
	}
	scale, err := t.Uint32(0)
	if err != nil {
		return nil, err
	}
	offset, err := t.Uint32(1)
	return &Quant{Encoding: "scale_offset", Scale: math.Float32frombits(scale), Offset: int32(offset)}, err
}

// DTypeName is a tensor's element type: the class in the higher byte, the width, written in decimal digits, in the lower.
func DTypeName(v uint32) string {
	class, ok := map[uint32]string{0: "int", 1: "uint", 2: "float", 3: "sfixed", 4: "ufixed", 5: "bool", 6: "string"}[v>>8]
	if !ok {
		return fmt.Sprintf("%#x", v)
	}
	if v>>8 >= 5 {
		return class
	}
	return fmt.Sprintf("%s%x", class, v&0xff)
}
