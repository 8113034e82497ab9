// Package ptetest makes small programs of ExecuTorch's for tests, as ExecuTorch 1.x lays them out. It knows nothing of what reads them.
package ptetest

import (
	"encoding/binary"

	"github.com/hexmage/hexmage/qnn/flatbuffer"
)

// Make returns a program with one method, of the fields of an ExecutionPlan, and one segment behind it, unless that is nil.
func Make(plan flatbuffer.Fields, segment []byte) []byte {
	const header = 36 // after the offset of the root: four letters and the extended header
	fields := flatbuffer.Fields{0: uint32(0), 1: []flatbuffer.Fields{plan}}
	if segment != nil {
		fields[4] = []flatbuffer.Fields{{0: uint64(0), 1: uint64(len(segment))}}
	}
	program := flatbuffer.Write(fields)
	le := binary.LittleEndian
	b := le.AppendUint32(nil, le.Uint32(program)+header)
	b = append(append(b, "ET12eh00"...), 32, 0, 0, 0)
	b = le.AppendUint64(b, uint64(len(program)+header))
	b = le.AppendUint64(b, uint64(len(program)+header))
	b = append(b, make([]byte, 4+header-len(b))...)
	return append(append(b, program[4:]...), segment...)
}

// Fallback is a method with two parts for the NPU, and an operation between them that it does not have.
func Fallback() flatbuffer.Fields {
	return flatbuffer.Fields{
		0: "forward",
		6: []flatbuffer.Fields{{0: "aten::erfinv", 1: "out"}},
		7: []flatbuffer.Fields{{0: "QnnBackend"}, {0: "QnnBackend"}},
	}
}
