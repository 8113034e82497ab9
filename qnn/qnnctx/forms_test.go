package qnnctx_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/qnn/qnnctx"
)

// tbl is a FlatBuffer table by its fields; a field is a uint8, a uint32, a version, a string, a table, or a list of tables or of
// numbers.
type tbl map[int]any

type version [3]uint32

// put writes a table and, behind it, what it refers to; it returns where the table is.
func put(b *bytes.Buffer, t tbl) int {
	le := binary.LittleEndian
	last := 0
	for i := range t {
		last = max(last, i)
	}
	var body []byte
	offsets := make([]uint16, last+1)
	refs := map[int]int{} // place in the body → field
	for i := 0; i <= last; i++ {
		v, ok := t[i]
		if !ok {
			continue
		}
		offsets[i] = uint16(4 + len(body))
		switch v := v.(type) {
		case uint8:
			body = append(body, v, 0, 0, 0)
		case uint32:
			body = le.AppendUint32(body, v)
		case version:
			for _, x := range v {
				body = le.AppendUint32(body, x)
			}
		default:
			refs[len(body)] = i
			body = le.AppendUint32(body, 0)
		}
	}
	for b.Len()%4 != 0 {
		b.WriteByte(0)
	}
	vtable := b.Len()
	head := le.AppendUint16(le.AppendUint16(nil, uint16(4+2*len(offsets))), uint16(4+len(body)))
	for _, o := range offsets {
		head = le.AppendUint16(head, o)
	}
	for len(head)%4 != 0 {
		head = append(head, 0)
	}
	b.Write(head)
	at := b.Len()
	b.Write(le.AppendUint32(nil, uint32(at-vtable)))
	b.Write(body)
	for place := range len(body) {
		if i, ok := refs[place]; ok {
			target := putValue(b, t[i])
			le.PutUint32(b.Bytes()[at+4+place:], uint32(target-(at+4+place)))
		}
	}
	return at
}

func putValue(b *bytes.Buffer, v any) int {
	le := binary.LittleEndian
	for b.Len()%4 != 0 {
		b.WriteByte(0)
	}
	at := b.Len()
	switch v := v.(type) {
	case tbl:
		return put(b, v)
	case string:
		b.Write(le.AppendUint32(nil, uint32(len(v))))
		b.WriteString(v + "\x00")
	case []byte:
		b.Write(le.AppendUint32(nil, uint32(len(v))))
		b.Write(v)
	case []uint32:
		b.Write(le.AppendUint32(nil, uint32(len(v))))
		for _, x := range v {
			b.Write(le.AppendUint32(nil, x))
		}
	case []tbl:
		b.Write(le.AppendUint32(nil, uint32(len(v))))
		b.Write(make([]byte, 4*len(v)))
		for i, x := range v {
			place := at + 4 + 4*i
			target := put(b, x)
			le.PutUint32(b.Bytes()[place:], uint32(target-place))
		}
	}
	return at
}

// flat is a whole FlatBuffer.
func flat(root tbl) []byte {
	b := bytes.NewBuffer(make([]byte, 4))
	at := put(b, root)
	raw := b.Bytes()
	binary.LittleEndian.PutUint32(raw, uint32(at))
	return raw
}

const (
	buildID = "v2.22.0.240425235059_92863"
	options = "Vrv2.22.0.240425235059_92863.28c6d69e5a\x00OpO=2;min_arch=73;vtcm_mb=4;soc_type=UNKNOWN_SDM;"
)

func tensor(name string, dtype uint32, dims ...uint32) tbl {
	return tbl{0: uint32(1), 3: dtype, 6: uint32(len(dims)), 7: dims, 9: name}
}

func vendorGraph() tbl {
	return tbl{0: "partition", 1: uint32(1), 2: []tbl{tensor("in", 0x232, 3, 4)}, 3: uint32(2), 4: []tbl{tensor("a", 0x416, 2), tensor("b", 0x9999)}}
}

func wantGraph() []qnnctx.GraphInfo {
	return []qnnctx.GraphInfo{{Name: "partition", Inputs: []qnnctx.TensorInfo{{Name: "in", DType: "float32", Dims: []uint32{3, 4}}},
		Outputs: []qnnctx.TensorInfo{{Name: "a", DType: "ufixed16", Dims: []uint32{2}}, {Name: "b", DType: "0x9999", Dims: []uint32{}}}}}
}

// info1 and info3 are the two forms of metadata, as they are found in files of 2.22 and of 2.33.
func info1() tbl {
	return tbl{0: uint32(6), 1: buildID, 2: version{2, 15, 0}, 3: version{5, 22, 0}, 6: version{3, 1, 1},
		12: uint32(1), 13: []tbl{{0: uint32(1), 1: uint8(1), 2: vendorGraph()}}}
}

func info3() tbl {
	return tbl{0: uint32(6), 1: buildID, 2: version{2, 15, 0}, 3: version{5, 22, 0}, 5: version{3, 1, 1}, 9: uint32(1),
		10: []tbl{{0: uint32(3), 1: uint8(3), 2: tbl{0: tbl{0: vendorGraph()}}}}, 16: uint32(57)}
}

// file22 is a file of the older form, file23 of the newer.
func file22(info tbl, kind uint8) []byte {
	root := flat(tbl{0: tbl{0: uint32(kind), 1: kind, 2: info}, 2: []byte(options)})
	return append([]byte{0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}, root...)
}

func file23(info tbl, kind uint8) []byte {
	meta := flat(tbl{0: tbl{0: uint32(kind), 1: kind, 2: info}})
	b := []byte{0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1}
	for _, n := range []int{len(meta), 0x28 + len(meta), len(options)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return append(append(b, meta...), options...)
}

func TestForms(t *testing.T) {
	for name, c := range map[string]struct {
		raw    []byte
		format string
		model  uint32
	}{
		"2.2, old metadata": {file22(info1(), 1), "2.2", 0},
		"2.2, new metadata": {file22(info3(), 3), "2.2", 57},
		"2.3, old metadata": {file23(info1(), 1), "2.3", 0},
		"2.3, new metadata": {file23(info3(), 3), "2.3", 57},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := qnnctx.Parse(bytes.NewReader(c.raw), int64(len(c.raw)))
			if err != nil {
				t.Fatal(err)
			}
			want := qnnctx.Info{Format: c.format, Backend: qnnctx.BackendHTP, BuildID: buildID, CoreAPI: qnnctx.Version{Major: 2, Minor: 15},
				BackendAPI: qnnctx.Version{Major: 5, Minor: 22}, BlobVersion: qnnctx.Version{Major: 3, Minor: 1, Patch: 1}, SoCModel: c.model,
				Arch: 73, VTCM: 4 << 20, Graphs: wantGraph(), BlobOffset: got.BlobOffset, BlobSize: int64(len(options))}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			if blob := c.raw[got.BlobOffset : got.BlobOffset+got.BlobSize]; string(blob) != options {
				t.Errorf("the blob is %q", blob)
			}
			for n := range c.raw { // cut off anywhere it is an error
				if _, err := qnnctx.Parse(bytes.NewReader(c.raw[:n]), int64(n)); !errors.Is(err, qnnctx.ErrFormat) {
					t.Errorf("cut at %d of %d: %v", n, len(c.raw), err)
				}
			}
		})
	}
}

// Graphs in another form than is known are no reason to know nothing of the file.
func TestUnknownGraphs(t *testing.T) {
	i := info3()
	i[10] = []tbl{{0: uint32(4), 1: uint8(4), 2: tbl{0: "something else"}}}
	raw := file23(i, 3)
	got, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || got.BuildID != buildID || got.Graphs != nil || !strings.Contains(strings.Join(got.Warnings, ""), "graphs are not understood") {
		t.Errorf("%+v, %v", got, err)
	}
}
