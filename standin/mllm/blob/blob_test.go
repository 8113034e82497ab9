package blob_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/standin/mllm/blob"
)

func sample(t testing.TB) []byte {
	t.Helper()
	payload := &blob.Blob{
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
	var b bytes.Buffer
	if err := blob.Write(&b, info(), payload); err != nil {
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
	got, payload, err := blob.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	want := info()
	want.Backend, want.Open, want.Format = qnnctx.BackendHTP, true, "2.3"
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
	if payload.OpPackage != "LLaMAPackage" || payload.Shape.Context != 8 || len(payload.Statics) != 2 {
		t.Errorf("blob %+v", payload)
	}
	data, err := io.ReadAll(payload.Data(payload.Statics[1]))
	if err != nil || !bytes.Equal(data, []byte{0x21, 0x43}) {
		t.Errorf("static: %v %v", data, err)
	}
	op := payload.Graphs[0].Ops[0]
	if !op.Package || op.Type != "RMSNorm" || op.In[1] != blob.StaticOperand(0) {
		t.Errorf("op %+v", op)
	}
	// The places that a reader without a FlatBuffer library relies on.
	b := raw[got.BlobOffset:]
	le := binary.LittleEndian
	if string(b[:8]) != "HXMGCTX1" || le.Uint32(b[16:]) != 79 || le.Uint32(b[20:]) != 69 || le.Uint32(b[24:]) != 8 || le.Uint32(b[28:]) != 16 ||
		le.Uint32(b[60:]) != 8 || le.Uint32(b[64:]) != 2 || le.Uint32(b[68:]) != 1 {
		t.Errorf("blob header % x", b[:160])
	}
	if !bytes.Contains(b, []byte("min_arch=79;vtcm_size=8388608;soc_type=SM8750;memory_alloc_limit=3584")) {
		t.Error("no options text")
	}
}

// What has no mark of the stand-in is a vendor's, and is not read: its options are in clear text for all.
func TestForeignBlob(t *testing.T) {
	raw := sample(t)
	got, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	copy(raw[got.BlobOffset:], "????????")
	f, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || f.Open || f.Arch != 79 || f.SoC != "SM8750" || f.VTCM != 8<<20 || f.BuildID != info().BuildID || f.SoCModel != 69 {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, _, err := blob.Parse(bytes.NewReader(raw), int64(len(raw))); !errors.Is(err, qnnctx.ErrFormat) {
		t.Fatalf("a vendor's: %v", err)
	}
}

func TestParseRejects(t *testing.T) {
	le := binary.LittleEndian
	base := sample(t)
	i, err := qnnctx.Parse(bytes.NewReader(base), int64(len(base)))
	if err != nil {
		t.Fatal(err)
	}
	at := int(i.BlobOffset)
	cases := map[string]struct {
		edit func(b []byte) []byte
		want string
	}{
		"version":     {func(b []byte) []byte { b[at+8] = 2; return b }, "arithmetic version 2"},
		"soc":         {func(b []byte) []byte { b[at+20] = 57; return b }, "disagree"},
		"statics":     {func(b []byte) []byte { le.PutUint32(b[at+64:], 60000); return b }, "outside the index"},
		"graphs at":   {func(b []byte) []byte { le.PutUint64(b[at+80:], 1<<60); return b }, "outside the index"},
		"weights":     {func(b []byte) []byte { le.PutUint64(b[at+112:], 1); return b }, "do not end"},
		"static data": {func(b []byte) []byte { le.PutUint64(b[at+160+40:], 1<<20); return b }, "static 0"},
		"dims":        {func(b []byte) []byte { le.PutUint32(b[at+160+16:], 0); return b }, "dims"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			raw := c.edit(bytes.Clone(base))
			_, _, err := blob.Parse(bytes.NewReader(raw), int64(len(raw)))
			if !errors.Is(err, qnnctx.ErrFormat) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want ErrFormat with %q", err, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample(f))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, payload, err := blob.Parse(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		for _, s := range payload.Statics {
			if n, err := io.Copy(io.Discard, payload.Data(s)); err != nil || n != s.Size {
				t.Fatalf("static %q: %d of %d bytes, %v", s.Name, n, s.Size, err)
			}
		}
	})
}
