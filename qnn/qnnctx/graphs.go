package qnnctx

import (
	"fmt"

	"github.com/hexmage/hexmage/internal/flatbuffer"
)

// maxMetaGraphs and maxMetaTensors bound what is taken of a file's metadata.
const (
	maxMetaGraphs  = 1024
	maxMetaTensors = 65536
)

// graphs1 reads the graphs of the older metadata: field 13 is a list of {version, kind, graph}.
func graphs1(t flatbuffer.Table) ([]GraphInfo, error) {
	return graphList(t, 13, func(e flatbuffer.Table) (flatbuffer.Table, error) { return e.Table(2) })
}

// graphs3 reads those of the newer: field 10, and the graph is two tables deeper.
func graphs3(t flatbuffer.Table) ([]GraphInfo, error) {
	return graphList(t, 10, func(e flatbuffer.Table) (flatbuffer.Table, error) {
		for _, field := range []int{2, 0, 0} {
			var err error
			if e, err = e.Table(field); err != nil {
				return e, err
			}
		}
		return e, nil
	})
}

func graphList(t flatbuffer.Table, field int, graph func(flatbuffer.Table) (flatbuffer.Table, error)) ([]GraphInfo, error) {
	entries, err := t.Tables(field, maxMetaGraphs)
	if err != nil {
		return nil, err
	}
	var all []GraphInfo
	tensors := maxMetaTensors
	for _, e := range entries {
		g, err := graph(e)
		if err != nil {
			return nil, err
		}
		info := GraphInfo{}
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
		t.DType = dtypeName(dtype)
		if t.Name, err = e.String(9); err != nil {
			return nil, err
		}
		if t.Dims, err = e.Uint32s(7, maxRank); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

const maxRank = 32

// dtypeName is a tensor's element type: the class in the higher byte, the width, written in decimal digits, in the lower.
func dtypeName(v uint32) string {
	class, ok := map[uint32]string{0: "int", 1: "uint", 2: "float", 3: "sfixed", 4: "ufixed", 5: "bool", 6: "string"}[v>>8]
	if !ok {
		return fmt.Sprintf("%#x", v)
	}
	if v>>8 >= 5 {
		return class
	}
	return fmt.Sprintf("%s%x", class, v&0xff)
}
