package qnnctx

import (
	"encoding/binary"
	"fmt"
)

// maxMetaGraphs and maxMetaTensors bound what is taken of a file's metadata.
const (
	maxMetaGraphs  = 1024
	maxMetaTensors = 65536
)

// graphs1 reads the graphs of the older metadata: field 13 is a list of {version, kind, graph}.
func graphs1(t table) ([]GraphInfo, error) {
	return graphList(t, 13, func(e table) (table, error) { return e.table(2) })
}

// graphs3 reads those of the newer: field 10, and the graph is two tables deeper.
func graphs3(t table) ([]GraphInfo, error) {
	return graphList(t, 10, func(e table) (table, error) {
		for _, field := range []int{2, 0, 0} {
			var err error
			if e, err = e.table(field); err != nil {
				return e, err
			}
		}
		return e, nil
	})
}

func graphList(t table, field int, graph func(table) (table, error)) ([]GraphInfo, error) {
	entries, err := t.tables(field, maxMetaGraphs)
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
		if info.Name, err = g.str(0); err != nil {
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

func tensorList(g table, field int, left *int) ([]TensorInfo, error) {
	entries, err := g.tables(field, *left)
	if err != nil {
		return nil, err
	}
	*left -= len(entries)
	var all []TensorInfo
	for _, e := range entries {
		var t TensorInfo
		dtype, err := e.u32(3)
		if err != nil {
			return nil, err
		}
		t.DType = dtypeName(dtype)
		if t.Name, err = e.str(9); err != nil {
			return nil, err
		}
		if t.Dims, err = e.numbers(7, maxRank); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

const maxRank = 32

// vector returns where the elements of a vector field are, and how many.
func (t table) vector(field, size, limit int) (at, n int, err error) {
	ref, err := t.field(field, 4)
	if err != nil || ref == 0 {
		return 0, 0, err
	}
	v, err := follow(t.buf, ref)
	if err != nil {
		return 0, 0, err
	}
	if v+4 > len(t.buf) {
		return 0, 0, fmt.Errorf("%w: vector at %d", errTable, v)
	}
	count := int64(binary.LittleEndian.Uint32(t.buf[v:]))
	if count > int64(limit) || int64(v)+4+count*int64(size) > int64(len(t.buf)) {
		return 0, 0, fmt.Errorf("%w: vector of %d elements", errTable, count)
	}
	return v + 4, int(count), nil
}

func (t table) tables(field, limit int) ([]table, error) {
	at, n, err := t.vector(field, 4, limit)
	if err != nil {
		return nil, err
	}
	all := make([]table, n)
	for i := range all {
		if all[i], err = tableAt(t.buf, at+4*i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (t table) numbers(field, limit int) ([]uint32, error) {
	at, n, err := t.vector(field, 4, limit)
	if err != nil {
		return nil, err
	}
	all := make([]uint32, n)
	for i := range all {
		all[i] = binary.LittleEndian.Uint32(t.buf[at+4*i:])
	}
	return all, nil
}

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
