package flatbuffer

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Fields maps field numbers to the values of a table. A value is a uint8, uint32, uint64, Struct, string, []byte,
// []uint32, Fields or a list of Fields.
type Fields map[int]any

// Struct is a struct of four-byte numbers.
type Struct []uint32

// Write encodes a table as a FlatBuffer. Equal tables produce equal buffers.
func Write(root Fields) []byte {
	w := &writer{b: make([]byte, 4)}
	w.point(0, w.table(root))
	return w.b
}

type writer struct{ b []byte }

// point stores the offset of a value at ref.
func (w *writer) point(ref, at int) {
	binary.LittleEndian.PutUint32(w.b[ref:], uint32(at-ref))
}

func (w *writer) align(n int) {
	for len(w.b)%n != 0 {
		w.b = append(w.b, 0)
	}
}

func (w *writer) word(v int) { w.b = binary.LittleEndian.AppendUint32(w.b, uint32(v)) }

// table writes a vtable, its table and the referenced values. It returns the table's position.
func (w *writer) table(t Fields) int {
	le := binary.LittleEndian
	numbers := slices.Sorted(maps.Keys(t))
	body := make([]byte, 4) // reserved for the vtable's offset
	offsets := make([]uint16, 1+slices.Max(append(numbers, -1)))
	for _, i := range numbers {
		size := 4
		if _, wide := t[i].(uint64); wide {
			size = 8
		}
		for len(body)%size != 0 {
			body = append(body, 0)
		}
		offsets[i] = uint16(len(body))
		switch v := t[i].(type) {
		case uint8:
			body = append(body, v, 0, 0, 0)
		case uint32:
			body = le.AppendUint32(body, v)
		case uint64:
			body = le.AppendUint64(body, v)
		case Struct:
			for _, n := range v {
				body = le.AppendUint32(body, n)
			}
		default:
			body = append(body, 0, 0, 0, 0) // reserved for the value's offset
		}
	}
	w.align(4)
	vtable := len(w.b)
	w.b = le.AppendUint16(le.AppendUint16(w.b, uint16(4+2*len(offsets))), uint16(len(body)))
	for _, o := range offsets {
		w.b = le.AppendUint16(w.b, o)
	}
	w.align(8)
	at := len(w.b)
	w.b = append(w.b, body...)
	le.PutUint32(w.b[at:], uint32(at-vtable))
	for _, i := range numbers {
		if place, ok := w.value(t[i]); ok {
			w.point(at+int(offsets[i]), place)
		}
	}
	return at
}

// value writes a referenced value. ok is false for a value inside the table.
func (w *writer) value(v any) (at int, ok bool) {
	if t, ok := v.(Fields); ok {
		return w.table(t), true
	}
	switch v.(type) {
	case uint8, uint32, uint64, Struct:
		return 0, false
	}
	w.align(4)
	at = len(w.b)
	switch v := v.(type) {
	case string:
		w.word(len(v))
		w.b = append(append(w.b, v...), 0)
	case []byte:
		w.word(len(v))
		w.b = append(w.b, v...)
	case []uint32:
		w.word(len(v))
		for _, n := range v {
			w.word(int(n))
		}
	case []Fields:
		w.word(len(v))
		w.b = append(w.b, make([]byte, 4*len(v))...)
		for i, t := range v {
			w.point(at+4+4*i, w.table(t))
		}
	default:
		panic(fmt.Sprintf("flatbuffer: a field of type %T", v)) // a bug in the caller
	}
	return at, true
}
