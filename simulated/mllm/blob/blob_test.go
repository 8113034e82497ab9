package blob_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/simulated/mllm/blob"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

var le = binary.LittleEndian

func payload() *blob.Blob {
	return &blob.Blob{Vocab: 4, Hidden: 2, Layers: 1, Context: 8, OpPackage: "LLaMAPackage", Graphs: []blob.Graph{{Name: "model.0.s1", Tokens: 1}},
		Embedding: []uint16{1, 2, 3, 4, 5, 6, 7, 8}, Norms: []toymodel.Norm{{Name: "n", Weight: []uint16{9, 10}}}}
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
		Inputs: []qnnctx.TensorInfo{{Name: "input_ids", DType: "int32", Dims: []uint32{1, 1, 1, 1}},
			{Name: "past_length", DType: "int32", Dims: []uint32{1, 1, 1, 1}}},
		Outputs: []qnnctx.TensorInfo{{Name: "logits", DType: "ufixed16", Dims: []uint32{1, 1, 1, 4}}}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got.BlobOffset%128 != 0 {
		t.Errorf("blob at %d", got.BlobOffset)
	}
	// The runner's reader has its description of the layout in context.cc only.
	b := raw[got.BlobOffset:]
	const head = 8 + 14*4 + 64 + 64 + 128
	if string(b[:8]) != "HXMGCTX1" || le.Uint32(b[12:]) != 79 || le.Uint32(b[16:]) != 69 || le.Uint32(b[20:]) != 8 || le.Uint32(b[24:]) != 4 ||
		le.Uint32(b[44:]) != 1 || le.Uint32(b[48:]) != 1 || len(b) != head+2*8+64+4+2*2 {
		t.Errorf("%d bytes, blob header % x", len(b), b[:64])
	}
	if !bytes.Contains(b, []byte("min_arch=79;vtcm_size=8388608;soc_type=SM8750;memory_alloc_limit=3584")) {
		t.Error("no options text")
	}
}

// A context binary without the mark of the simulation counts as Qualcomm's. Its options are
// in clear text.
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
