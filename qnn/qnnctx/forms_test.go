package qnnctx_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/qnn/flatbuffer"
	"github.com/hexmage/hexmage/qnn/qnnctx"
)

const (
	buildID = "v2.22.0.240425235059_92863"
	options = "Vrv2.22.0.240425235059_92863.28c6d69e5a\x00OpO=2;min_arch=73;vtcm_mb=4;soc_type=UNKNOWN_SDM;"
)

func tensor(name string, dtype uint32, dims ...uint32) flatbuffer.Fields {
	return flatbuffer.Fields{0: uint32(1), 3: dtype, 6: uint32(len(dims)), 7: dims, 9: name}
}

func vendorGraph() flatbuffer.Fields {
	return flatbuffer.Fields{0: "partition", 1: uint32(1), 2: []flatbuffer.Fields{tensor("in", 0x232, 3, 4)}, 3: uint32(2), 4: []flatbuffer.Fields{tensor("a", 0x416, 2), tensor("b", 0x9999)}}
}

func wantGraph() []qnnctx.GraphInfo {
	return []qnnctx.GraphInfo{{Name: "partition", Inputs: []qnnctx.TensorInfo{{Name: "in", DType: "float32", Dims: []uint32{3, 4}}},
		Outputs: []qnnctx.TensorInfo{{Name: "a", DType: "ufixed16", Dims: []uint32{2}}, {Name: "b", DType: "0x9999", Dims: []uint32{}}}}}
}

// info1 and info3 are the two forms of metadata, as they are found in files of 2.22 and of 2.33.
func info1() flatbuffer.Fields {
	return flatbuffer.Fields{0: uint32(6), 1: buildID, 2: flatbuffer.Struct{2, 15, 0}, 3: flatbuffer.Struct{5, 22, 0}, 6: flatbuffer.Struct{3, 1, 1},
		12: uint32(1), 13: []flatbuffer.Fields{{0: uint32(1), 1: uint8(1), 2: vendorGraph()}}}
}

func info3() flatbuffer.Fields {
	return flatbuffer.Fields{0: uint32(6), 1: buildID, 2: flatbuffer.Struct{2, 15, 0}, 3: flatbuffer.Struct{5, 22, 0}, 5: flatbuffer.Struct{3, 1, 1}, 9: uint32(1),
		10: []flatbuffer.Fields{{0: uint32(3), 1: uint8(3), 2: flatbuffer.Fields{0: flatbuffer.Fields{0: vendorGraph()}}}}, 16: uint32(57)}
}

// file22 is a file of the older form, file23 of the newer.
func file22(info flatbuffer.Fields, kind uint8) []byte {
	root := flatbuffer.Write(flatbuffer.Fields{0: flatbuffer.Fields{0: uint32(kind), 1: kind, 2: info}, 2: []byte(options)})
	return append([]byte{0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}, root...)
}

func file23(info flatbuffer.Fields, kind uint8) []byte {
	meta := flatbuffer.Write(flatbuffer.Fields{0: flatbuffer.Fields{0: uint32(kind), 1: kind, 2: info}})
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
				NoSoC: true, OptLevel: 2, Arch: 73, VTCM: 4 << 20, Graphs: wantGraph(), BlobOffset: got.BlobOffset, BlobSize: int64(len(options))}
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
	i[10] = []flatbuffer.Fields{{0: uint32(4), 1: uint8(4), 2: flatbuffer.Fields{0: "something else"}}}
	raw := file23(i, 3)
	got, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || got.BuildID != buildID || got.Graphs != nil || !strings.Contains(strings.Join(got.Warnings, ""), "unreadable graphs") {
		t.Errorf("%+v, %v", got, err)
	}
}
