// Package tflitetest makes small models of LiteRT's for tests. It knows nothing of what reads them.
package tflitetest

import (
	"encoding/binary"

	"github.com/hexmage/hexmage/qnn/flatbuffer"
)

// Make returns a model of the fields of its table.
func Make(model flatbuffer.Fields) []byte {
	b := flatbuffer.Write(model)
	le := binary.LittleEndian
	out := le.AppendUint32(nil, le.Uint32(b)+4)
	return append(append(out, "TFL3"...), b[4:]...)
}

// Compiled is a model as a compiler's plug-in leaves it: two of its operations of what is on the NPU, and ATAN2 between them, which has a constant.
func Compiled() flatbuffer.Fields {
	tensor := func(name string, kind uint8, buffer uint32) flatbuffer.Fields {
		return flatbuffer.Fields{0: []uint32{1, 8, 64}, 1: kind, 2: buffer, 3: name}
	}
	op := func(kind uint32, out uint32, in ...uint32) flatbuffer.Fields {
		return flatbuffer.Fields{0: kind, 1: in, 2: []uint32{out}}
	}
	return flatbuffer.Fields{
		0: uint32(3), 3: "made here",
		1: []flatbuffer.Fields{{0: uint8(32), 1: "DISPATCH_OP", 3: uint32(32)}, {0: uint8(127), 3: uint32(156)}},
		2: []flatbuffer.Fields{{
			0: []flatbuffer.Fields{tensor("x", 0, 0), tensor("seen", 0, 0), tensor("one", 0, 1), tensor("bent", 0, 0), tensor("y", 9, 0)},
			1: []uint32{0}, 2: []uint32{4}, 4: "main",
			3: []flatbuffer.Fields{op(0, 1, 0), op(1, 3, 1, 2), op(0, 4, 3, 0xffffffff)},
		}},
		4: []flatbuffer.Fields{{}, {0: []byte{0, 0, 128, 63}}},
	}
}
