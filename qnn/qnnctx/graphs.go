package qnnctx

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hexmage/hexmage/qnn/flatbuffer"
)

// maxMetaGraphs and maxMetaTensors limit the graphs and tensors read from a file's metadata.
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

// graphs3 reads the graphs of the newer metadata: field 10. A graph is two tables deeper, below its HTP record.
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

// record returns an HTP record of version 1, the only known one, or nil.
func record(t flatbuffer.Table, field, size int) []byte {
	b := t.Bytes(field, maxRecord)
	if len(b) < size || binary.LittleEndian.Uint32(b) != 1 {
		return nil
	}
	return b
}

// arch returns the context's arch, or 0 if it has none.
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

// quant returns the scale and offset of a tensor's quantization, or only the encoding if it has another one. It
// returns nil for a tensor without quantization.
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

// DTypeName returns the name of an element type. The number's high byte is the type's class. The low byte is the width
// in decimal digits.
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
