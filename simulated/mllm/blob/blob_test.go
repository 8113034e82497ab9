package blob_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/simulated/mllm/blob"
)

var le = binary.LittleEndian

func payload() *blob.Blob {
	return &blob.Blob{
		Shape: blob.Shape{BlockSize: 16, Vocab: 4, Hidden: 2, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 2, Intermediate: 2, Context: 8}, OpPackage: "LLaMAPackage",
		Statics: []blob.Tensor{
			{Name: "w", DType: blob.QUint16, Dims: [4]uint32{1, 1, 1, 2}, Scale: 0.5, ZeroPoint: 3, Data: []byte{1, 2, 3, 4}},
			{Name: "l", DType: blob.Int4Packed, Dims: [4]uint32{1, 1, 2, 2}, Scale: 1, Data: []byte{0x21, 0x43}},
		},
		Graphs: []blob.Graph{{
			Name: "model.0.s1", Tokens: 1,
			Tensors: []blob.Tensor{{Name: "x", DType: blob.QUint16, Kind: blob.Input, Dims: [4]uint32{1, 1, 1, 2}, Scale: 1, Size: 4},
				{Name: "y", DType: blob.QUint16, Kind: blob.Output, Dims: [4]uint32{1, 1, 1, 2}, Scale: 1, Size: 4}},
			Ops:    []blob.Op{{Code: blob.OpRMSNorm, Package: true, Name: "n", Type: "RMSNorm", In: []blob.Operand{0, blob.StaticOperand(0)}, Out: []blob.Operand{1}}},
			Inputs: []uint32{0}, Outputs: []uint32{1},
		}},
	}
}

func sample(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := blob.Write(&b, info(), payload()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func info() qnnctx.Info {
	return qnnctx.Info{BuildID: "v2.41.0.251128145156_191518", CoreAPI: qnnctx.Version{Major: 2, Minor: 31}, BackendAPI: qnnctx.Version{Major: 5, Minor: 41},
		BlobVersion: qnnctx.Version{Major: 3, Minor: 1, Patch: 2}, SoCVersion: "none", SoCModel: 69, SoC: "SM8750", Arch: 79, VTCM: 8 << 20}
}

func TestRoundTrip(t *testing.T) {
	raw := sample(t)
	got, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	want := info()
	want.Backend, want.Simulated, want.Format = qnnctx.BackendHTP, true, "2.3"
	want.BlobOffset, want.BlobSize = got.BlobOffset, int64(len(raw))-got.BlobOffset
	want.Graphs = []qnnctx.GraphInfo{{Name: "model.0.s1",
		Inputs:  []qnnctx.TensorInfo{{Name: "x", DType: "ufixed16", Dims: []uint32{1, 1, 1, 2}}},
		Outputs: []qnnctx.TensorInfo{{Name: "y", DType: "ufixed16", Dims: []uint32{1, 1, 1, 2}}}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got.BlobOffset%128 != 0 {
		t.Errorf("blob at %d", got.BlobOffset)
	}
	// The places that a reader without a FlatBuffer library relies on.
	b := raw[got.BlobOffset:]
	if d := cmp.Diff(payload(), parse(b), cmpopts.IgnoreUnexported(blob.Tensor{})); d != "" {
		t.Error(d)
	}
	if string(b[:8]) != "HXMGCTX1" || le.Uint32(b[16:]) != 79 || le.Uint32(b[20:]) != 69 || le.Uint32(b[24:]) != 8 || le.Uint32(b[28:]) != 16 ||
		le.Uint32(b[60:]) != 8 || le.Uint32(b[64:]) != 2 || le.Uint32(b[68:]) != 1 {
		t.Errorf("blob header % x", b[:160])
	}
	if !bytes.Contains(b, []byte("min_arch=79;vtcm_size=8388608;soc_type=SM8750;memory_alloc_limit=3584")) {
		t.Error("no options text")
	}
}

// parse reads a blob as docs/design/0002 lays it out.
func parse(b []byte) *blob.Blob {
	word := func(at uint64) uint32 { return le.Uint32(b[at:]) }
	names := le.Uint64(b[88:])
	text := func(at uint64) string {
		from := names + uint64(word(at))
		return string(b[from : from+uint64(word(at+4))])
	}
	tensors := func(at uint64, n uint32, static bool) (all []blob.Tensor) {
		for ; n > 0; n, at = n-1, at+64 {
			t := blob.Tensor{Name: text(at), DType: word(at + 8), Kind: word(at + 12), Scale: math.Float32frombits(word(at + 32)), ZeroPoint: int32(word(at + 36))}
			for k := range t.Dims {
				t.Dims[k] = word(at + 16 + 4*uint64(k))
			}
			if size := le.Uint64(b[at+48:]); static {
				from := le.Uint64(b[104:]) + le.Uint64(b[at+40:])
				t.Data = b[from : from+size]
			} else {
				t.Size = int64(size)
			}
			all = append(all, t)
		}
		return all
	}
	words := func(at uint64, n uint32) (all []uint32) {
		for ; n > 0; n, at = n-1, at+4 {
			all = append(all, word(at))
		}
		return all
	}
	operands := func(at uint64, n uint32) (all []blob.Operand) {
		for _, v := range words(at, n) {
			all = append(all, blob.Operand(v))
		}
		return all
	}
	v := words(28, 9)
	out := &blob.Blob{Shape: blob.Shape{BlockSize: v[0], Vocab: v[1], Hidden: v[2], Layers: v[3], Heads: v[4], KVHeads: v[5], HeadDim: v[6], Intermediate: v[7], Context: v[8]},
		OpPackage: text(136), Statics: tensors(le.Uint64(b[72:]), word(64), true)}
	for i := range uint64(word(68)) {
		at := le.Uint64(b[80:]) + 64*i
		g := blob.Graph{Name: text(at), Tokens: word(at + 8), Tensors: tensors(le.Uint64(b[at+16:]), word(at+12), false)}
		for k := range uint64(word(at + 24)) {
			op := le.Uint64(b[at+32:]) + k*uint64(word(at+28))
			g.Ops = append(g.Ops, blob.Op{Code: word(op), Package: word(op+4)&1 != 0, Name: text(op + 8), Type: text(op + 16),
				In: operands(op+32, word(op+24)), Out: operands(op+80, word(op+28))})
		}
		ends := le.Uint64(b[at+48:])
		g.Inputs, g.Outputs = words(ends, word(at+40)), words(ends+4*uint64(word(at+40)), word(at+44))
		out.Graphs = append(out.Graphs, g)
	}
	return out
}

// What has no mark of the simulation is a vendor's, and is told from it: its options are in clear text for all.
func TestForeignBlob(t *testing.T) {
	raw := sample(t)
	got, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	copy(raw[got.BlobOffset:], "????????")
	f, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || f.Simulated || f.Arch != 79 || f.SoC != "SM8750" || f.VTCM != 8<<20 || f.BuildID != info().BuildID || f.SoCModel != 69 {
		t.Fatalf("%+v, %v", f, err)
	}
}
