package dlc_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/dlc"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

// vendors is what Qualcomm's compiler writes, as JSON, into a file with several contexts: the words of its own names for what is in each.
type vendors struct {
	CacheList []struct {
		CacheName, BuildID, CoreAPIVersion, BackendAPIVersion, ContextBlobVersion string
		BackendID, SoCModel, ContextBlobSize                                      uint32
		ContextMetadata                                                           struct{ DSPArch uint32 }
		Graphs                                                                    []struct {
			GraphName                 string
			GraphInputs, GraphOutputs []vendorsTensor
			GraphBlobInfo             struct{ SpillFillBufferSize, VTCMSize uint64 }
		}
	}
}

type vendorsTensor struct {
	Name, DataType string
	Dimensions     []uint32
	QuantizeParams struct {
		Definition, QuantizationEncoding string
		ScaleOffset                      *struct {
			Scale  float64
			Offset int32
		}
	}
}

// TestAgainstVendor holds what we read of each context in a file to what the compiler that wrote it says of the same contexts.
func TestAgainstVendor(t *testing.T) {
	raw := qnnctxtest.Real(t, "2.51-multi.dlc")
	f, err := dlc.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || len(f.Warnings) > 0 || f.Version != "2.3.0" || len(f.Caches) != 2 {
		t.Fatalf("%+v, %v", f, err)
	}
	var says vendors
	begin := bytes.Index(raw, []byte("{\n    \"header\""))
	if err := json.NewDecoder(bytes.NewReader(raw[begin:])).Decode(&says); err != nil {
		t.Fatal(err)
	}
	if len(says.CacheList) != len(f.Caches) {
		t.Fatalf("the vendor says %d contexts", len(says.CacheList))
	}
	for _, v := range says.CacheList {
		want := []string{v.CacheName, v.BuildID, v.CoreAPIVersion, v.BackendAPIVersion, v.ContextBlobVersion,
			fmt.Sprint(v.BackendID, v.SoCModel, v.ContextBlobSize, v.ContextMetadata.DSPArch)}
		for _, g := range v.Graphs {
			want = append(want, g.GraphName, fmt.Sprint(g.GraphBlobInfo.SpillFillBufferSize, g.GraphBlobInfo.VTCMSize<<20))
			for _, x := range append(g.GraphInputs, g.GraphOutputs...) {
				q := x.QuantizeParams.ScaleOffset
				if q == nil {
					t.Fatalf("the vendor says no scale of %q: %+v", x.Name, x)
				}
				want = append(want, fmt.Sprintf("%s %s %v %.4g %d", x.Name, strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(x.DataType, "QNN_DATATYPE_"), "_POINT_", "")),
					x.Dimensions, q.Scale, q.Offset))
			}
		}
		var got []string
		for _, c := range f.Caches {
			if c.Name != v.CacheName {
				continue
			}
			i := c.Context
			got = append(got, c.Name, i.BuildID, i.CoreAPI.String(), i.BackendAPI.String(), i.BlobVersion.String(), fmt.Sprint(i.Backend, i.SoCModel, i.BlobSize, i.Arch))
			for _, g := range i.Graphs {
				got = append(got, g.Name, fmt.Sprint(g.SpillFill, g.VTCM))
				for _, x := range append(g.Inputs, g.Outputs...) {
					if x.Quant == nil {
						t.Fatalf("%+v", x)
					}
					got = append(got, fmt.Sprintf("%s %s %v %.4g %d", x.Name, x.DType, x.Dims, x.Quant.Scale, x.Quant.Offset))
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-vendor +ours):\n%s", v.CacheName, d)
		}
	}
}

// TestGraph reads the graph that Qualcomm's Ir backend wrote before compiling.
func TestGraph(t *testing.T) {
	raw := qnnctxtest.Real(t, "prefill.dlc")
	f, err := dlc.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	want := &dlc.File{Version: "2.3.0", Converter: "2.51.0.260929181845", Tool: "qnn-net-run", Graphs: []dlc.Graph{{Ops: map[string]int{"FullyConnected": 1},
		Types: map[string]int{"sfixed8": 1, "ufixed16": 2},
		GraphInfo: qnnctx.GraphInfo{Name: "QNNExecutionProvider_QNNExecutionProvider_16664090799440765514_1_0",
			Inputs:  []qnnctx.TensorInfo{{Name: "x", DType: "ufixed16", Dims: []uint32{32, 16}}},
			Outputs: []qnnctx.TensorInfo{{Name: "y", DType: "ufixed16", Dims: []uint32{32, 8}}}}}}}
	if d := cmp.Diff(want, f); d != "" {
		t.Error(d)
	}
}

// TestDamaged: a cut file is an error, a damaged member a warning, and another zip file is no DLC.
func TestDamaged(t *testing.T) {
	raw := qnnctxtest.Real(t, "2.51-multi.dlc")
	for _, n := range []int{len(raw) / 2, len(raw) - 1, 100} {
		if _, err := dlc.Parse(bytes.NewReader(raw), int64(n)); err == nil || errors.Is(err, dlc.ErrUnknown) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	begin := bytes.Index(raw, []byte{0, 0, 0, 2, 0, 0, 0, 3})
	binary.LittleEndian.PutUint64(raw[begin+0x20:], math.MaxUint64)
	if f, err := dlc.Parse(bytes.NewReader(raw), int64(len(raw))); err != nil || len(f.Caches) != 1 || !strings.Contains(strings.Join(f.Warnings, ""), "do not match the file size") {
		t.Errorf("a damaged context: %+v, %v", f, err)
	}
	pack := func(members ...string) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, m := range members {
			name, text, _ := strings.Cut(m, "=")
			f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	raw = pack("model")
	if _, err := dlc.Parse(bytes.NewReader(raw), int64(len(raw))); !errors.Is(err, dlc.ErrUnknown) {
		t.Errorf("another zip file: %v", err)
	}
	for text, want := range map[string]string{
		"model=abc":                  "model: the graphs have an unknown format",
		"model=12345678....NONE....": "model: the graphs have an unknown format",
		"more=abc":                   "",
		"more=no context":            "",
	} {
		raw := pack("dlc.metadata={}", text)
		f, err := dlc.Parse(bytes.NewReader(raw), int64(len(raw)))
		if err != nil || strings.Join(f.Warnings, "") != want || len(f.Graphs)+len(f.Caches) > 0 {
			t.Errorf("%s: %+v, %v", text, f, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(qnnctxtest.Real(f, "prefill.dlc"))
	f.Add(qnnctxtest.Real(f, "2.51-multi.dlc"))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_, _ = dlc.Parse(bytes.NewReader(raw), int64(len(raw)))
	})
}
