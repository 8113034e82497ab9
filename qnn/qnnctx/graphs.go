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
func graphs1(t flatbuffer.Table) (all []GraphInfo) {
	tensors := maxMetaTensors
	for _, e := range t.Tables(13, maxMetaGraphs) {
		all = append(all, graph(e.Table(2), &tensors))
	}
	return all
}

// graphs3 reads those of the newer: field 10, and the graph is two tables deeper, below the HTP's record of it.
func graphs3(t flatbuffer.Table) (all []GraphInfo) {
	tensors := maxMetaTensors
	for _, e := range t.Tables(10, maxMetaGraphs) {
		e = e.Table(2)
		g := graph(e.Table(0).Table(0), &tensors)
		if b := record(e, 2, 24); b != nil {
			g.SpillFill = binary.LittleEndian.Uint64(b[8:])
			g.VTCM = uint64(binary.LittleEndian.Uint32(b[16:]))
		}
		all = append(all, g)
	}
	return all
}

const maxRecord = 4096 // bytes

// record returns a record of the HTP, of which only version 1 is known, or nil.
func record(t flatbuffer.Table, field, size int) []byte {
	b := t.Bytes(field, maxRecord)
	if len(b) < size || binary.LittleEndian.Uint32(b) != 1 {
		return nil
	}
	return b
}

// arch reads the arch that the context is for; 0 where there is none.
func arch(t flatbuffer.Table) uint32 {
	if b := record(t, 15, 8); b != nil {
		return binary.LittleEndian.Uint32(b[4:])
	}
	return 0
}

func graph(t flatbuffer.Table, tensors *int) GraphInfo {
	return GraphInfo{Name: t.String(0), Inputs: tensorList(t, 2, tensors), Outputs: tensorList(t, 4, tensors)}
}

func tensorList(g flatbuffer.Table, field int, left *int) (all []TensorInfo) {
	for _, e := range g.Tables(field, *left) {
		all = append(all, TensorInfo{Name: e.String(9), DType: DTypeName(e.Uint32(3)), Dims: e.Uint32s(7, maxRank),
			Quant: quant(e)})
	}
	*left -= len(all)
	return all
}

const maxRank = 32

// quant reads how a tensor is quantized: whether at all, how, and the scale and offset of the way that has one of each.
// nil is not at all.
func quant(e flatbuffer.Table) *Quant {
	const defined, scaleOffset = 1, 0
	if e.Uint32(4) != defined {
		return nil
	}
	if encoding := e.Uint32(5); encoding != scaleOffset {
		return &Quant{Encoding: fmt.Sprint(encoding)}
	}
	t := e.Table(15)
	return &Quant{Encoding: "scale_offset", Scale: math.Float32frombits(t.Uint32(0)), Offset: int32(t.Uint32(1))}
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
