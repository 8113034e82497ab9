package qnnctx_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

const (
	matmul  = "QNNExecutionProvider_QNNExecutionProvider_12722735674823233625_1_0"
	prefill = "QNNExecutionProvider_QNNExecutionProvider_16664090799440765514_1_0"
	decode  = "QNNExecutionProvider_QNNExecutionProvider_1135731222725871345_1_0"
)

func real(t testing.TB, name string) qnnctx.Info {
	t.Helper()
	raw := qnnctxtest.Real(t, name)
	info, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return info
}

// What a row of the table says that a file is for: Qualcomm's libQnnSystem says the same of versions, model, graphs and how many inputs they have
// (TestSystemLibrary), its compiler was asked for the rest.
func TestReal(t *testing.T) {
	one := func(vtcm uint64) []qnnctx.GraphInfo {
		return []qnnctx.GraphInfo{{Name: matmul, VTCM: vtcm, Inputs: []qnnctx.TensorInfo{{Name: "x", DType: "float32", Dims: []uint32{4, 16}}},
			Outputs: []qnnctx.TensorInfo{{Name: "y", DType: "float32", Dims: []uint32{4, 8}}}}}
	}
	quantized := func(name string, rows uint32) qnnctx.GraphInfo {
		return qnnctx.GraphInfo{Name: name, VTCM: 8 << 20,
			Inputs:  []qnnctx.TensorInfo{{Name: "x", DType: "ufixed16", Dims: []uint32{rows, 16}, Quant: &qnnctx.Quant{Encoding: "scale_offset", Scale: 0.0001, Offset: -32768}}},
			Outputs: []qnnctx.TensorInfo{{Name: "y", DType: "ufixed16", Dims: []uint32{rows, 8}, Quant: &qnnctx.Quant{Encoding: "scale_offset", Scale: 0.0002, Offset: -30000}}}}
	}
	both := []qnnctx.GraphInfo{quantized(prefill, 32), quantized(decode, 1)}
	v := func(a, b, c uint32) qnnctx.Version { return qnnctx.Version{Major: a, Minor: b, Patch: c} }
	made := func(build string, minor, htp uint32, blob qnnctx.Version, i qnnctx.Info) qnnctx.Info {
		i.Format, i.Backend, i.BuildID, i.CoreAPI, i.BackendAPI, i.BlobVersion, i.OptLevel = "2.3", qnnctx.BackendHTP, build, v(2, minor, 0), v(5, htp, 0), blob, 2
		return i
	}
	sm8750 := func(graphs []qnnctx.GraphInfo) qnnctx.Info {
		return qnnctx.Info{SoC: "SM8750", SoCModel: 69, Arch: 79, VTCM: 8 << 20, HVXThreads: 6, Graphs: graphs}
	}
	by51 := func(i qnnctx.Info) qnnctx.Info { return made("v2.51.0.260929181845", 40, 51, v(4, 0, 6), i) }
	for name, want := range map[string]qnnctx.Info{
		"2.47-SM8750.bin": made("v2.47.0.260601114230", 36, 47, v(3, 3, 4), sm8750(one(8<<20))),
		"2.48-SM8750.bin": made("v2.48.40.260702151143", 37, 48, v(4, 0, 4), sm8750(one(8<<20))),
		"2.49-SM8750.bin": made("v2.49.40.260810104044", 38, 49, v(4, 0, 4), sm8750(one(8<<20))),
		"2.50-SM8750.bin": made("v2.50.40.260831140417", 39, 50, v(4, 0, 5), sm8750(one(8<<20))),
		"2.51-SM8750.bin": by51(sm8750(one(8 << 20))),
		"2.48-shared.bin": made("v2.48.40.260702151143", 37, 48, v(4, 0, 4), sm8750(both)),
		"2.51-shared.bin": by51(sm8750(both)),
		// Without vtcm_mb the compiler of 2.51 writes the SoC's VTCM into its options, and 4 MB into the graph's record.
		"2.51-SM8550.bin": by51(qnnctx.Info{SoC: "SM8550", SoCModel: 43, Arch: 73, VTCM: 8 << 20, HVXThreads: 4, Graphs: one(4 << 20)}),
		"2.51-SM8650.bin": by51(qnnctx.Info{SoC: "SM8650", SoCModel: 57, Arch: 75, VTCM: 8 << 20, HVXThreads: 4, Graphs: one(4 << 20)}),
		"2.51-SM8850.bin": by51(qnnctx.Info{SoC: "SM8850", SoCModel: 87, Arch: 81, VTCM: 8 << 20, HVXThreads: 8, Graphs: one(4 << 20)}),
		"2.51-SM8975.bin": by51(qnnctx.Info{SoC: "SM8975", SoCModel: 103, Arch: 85, VTCM: 12 << 20, HVXThreads: 6, Graphs: one(4 << 20)}),
		"2.51-none.bin":   by51(qnnctx.Info{NoSoC: true, Arch: 68, VTCM: 4 << 20, HVXThreads: 4, Graphs: one(4 << 20)}),
	} {
		t.Run(name, func(t *testing.T) {
			got := real(t, name)
			if d := cmp.Diff(want, got, cmpopts.IgnoreFields(qnnctx.Info{}, "BlobOffset", "BlobSize")); d != "" {
				t.Error(d)
			}
			if got.BlobOffset != 4096 {
				t.Errorf("the blob is at %d", got.BlobOffset)
			}
		})
	}
}

// A real context that was cut off anywhere, or has something behind it, is refused.
func TestRealCut(t *testing.T) {
	raw := qnnctxtest.Real(t, "2.51-shared.bin")
	for n := 0; n < len(raw); n += 509 {
		if _, err := qnnctx.Parse(bytes.NewReader(raw), int64(n)); !errors.Is(err, qnnctx.ErrFormat) {
			t.Errorf("cut at %d of %d: %v", n, len(raw), err)
		}
	}
	more := append(bytes.Clone(raw), "more"...)
	if _, err := qnnctx.Parse(bytes.NewReader(more), int64(len(more))); !errors.Is(err, qnnctx.ErrFormat) {
		t.Errorf("with more behind it: %v", err)
	}
	le := binary.LittleEndian
	for name, edit := range map[string]func(b []byte){
		"the blob in the metadata": func(b []byte) { le.PutUint64(b[0x18:], 0x30); le.PutUint64(b[0x20:], uint64(len(b)-0x30)) },
		"a blob that goes round":   func(b []byte) { le.PutUint64(b[0x18:], 1<<63); le.PutUint64(b[0x20:], 1<<63) },
		"a blob behind the file":   func(b []byte) { le.PutUint64(b[0x18:], uint64(len(b)+1)); le.PutUint64(b[0x20:], 0) },
	} {
		b := bytes.Clone(raw)
		edit(b)
		_, err := qnnctx.Parse(bytes.NewReader(b), int64(len(b)))
		if !errors.Is(err, qnnctx.ErrFormat) || !strings.Contains(err.Error(), "do not match the file size") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
