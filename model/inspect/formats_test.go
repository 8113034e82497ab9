package inspect_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/inspect"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

func describe(t testing.TB, raw []byte) (inspect.Description, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	return inspect.Describe(path)
}

// TestOtherFormats: what is told of each kind of file, in the text for people.
func TestOtherFormats(t *testing.T) {
	context := qnnctxtest.Real(t, "2.51-SM8750.bin")
	wrapped := append(append([]byte{0xcd, 0xab, 0x78, 0x56}, make([]byte, 252)...), context...)
	inner := "for SM8750, Hexagon v79, 8.0 MiB of VTCM, by QNN v2.51.0.260929181845"
	for name, c := range map[string]struct {
		raw    []byte
		format string
		want   []string
	}{
		"context": {context, "qnn-context", []string{"QNN context binary for Hexagon v79, 48.0 KiB", "SM8750 (model 69)", "HVX threads   6", "optimized     level 2", "takes       8.0 MiB of VTCM", "float32   [4×16]         x"}},
		"no SoC": {qnnctxtest.Real(t, "2.51-none.bin"), "qnn-context", []string{"for Hexagon v68",
			"SoC           none: the compiler got no SoC that it knows"}},
		"shared": {qnnctxtest.Real(t, "2.51-shared.bin"), "qnn-context", []string{"ufixed16  [32×16]        x  scale 0.0001, offset -32768", "ufixed16  [1×8]          y  scale 0.0002, offset -30000"}},
		"DLC": {qnnctxtest.Real(t, "2.51-multi.dlc"), "dlc", []string{"DLC with compiled contexts for 2 SoCs", "htp.cache.sm8650.0 for SM8650, Hexagon v75, 2.0 MiB of VTCM",
			"htp.cache.sm8750.0 for SM8750, Hexagon v79"}},
		"DLC of a graph": {qnnctxtest.Real(t, "prefill.dlc"), "dlc", []string{"qnn-net-run 2.51.0.260929181845", "ufixed16  [32×8]         y", "FullyConnected 1"}},
		"ONNX":           {qnnctxtest.Real(t, "prefill.onnx"), "onnx", []string{"ONNX model of 4 nodes", "uint16    [32×16]        x", "DequantizeLinear 2, MatMul 1, QuantizeLinear 1"}},
		"EPContext":      {qnnctxtest.Real(t, "points.onnx"), "onnx", []string{"with compiled contexts (EPContext)", "in mm_ctx_qnn.bin", "QNNExecutionProvider, v2.51.0.260929181845"}},
		"EPContext with its context": {qnnctxtest.Real(t, "embedded.onnx"), "onnx", []string{"within, 48.0 KiB at 142", "QNNExecutionProvider_12722735674823233625_1_0 " + inner,
			"float32   [4×16]         x"}},
		"wrapped": {wrapped, "qnn-context", []string{"SM8750 (model 69)"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := describe(t, c.raw)
			if err != nil {
				t.Fatal(err)
			}
			text := d.String()
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if missing := name == "EPContext"; strings.Contains(text, "warning") != missing || d.Format != c.format {
				t.Errorf("format %s\n%s", d.Format, text)
			}
			if _, err := json.Marshal(d); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDamagedFormats(t *testing.T) {
	context := qnnctxtest.Real(t, "2.51-SM8750.bin")
	damaged := bytes.Clone(context)
	damaged[0x28] = 0xff // the root of its metadata is elsewhere
	cut := func(b []byte, n int) []byte { return b[:len(b)-n] }
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"a context cut off":      {cut(context, 1), "truncated"},
		"an ONNX model cut off":  {cut(qnnctxtest.Real(t, "points.onnx"), 1), "truncated"},
		"the context in a model": {bytes.Replace(qnnctxtest.Real(t, "embedded.onnx"), []byte{0, 0, 0, 2, 0, 0, 0, 3}, []byte{0, 0, 0, 9, 0, 0, 0, 3}, 1), "starts with"},
		"wrapping without context": {append([]byte{0xcd, 0xab, 0x78, 0x56}, make([]byte, 300)...),
			"ExecuTorch header without a context binary"},
	} {
		d, err := describe(t, c.raw)
		said := d.String()
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, c.want) {
			t.Errorf("%s: %s, want %q", name, said, c.want)
		}
	}
}

// TestOtherTools: files that inspect does not read are named, with the tool for them. Nothing calls them damaged.
func TestOtherTools(t *testing.T) {
	var checkpoint bytes.Buffer
	z := zip.NewWriter(&checkpoint)
	_, err := z.Create("model/data.pkl")
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ raw, want string }{
		"be.gguf":         {"GGUF\x00\x00\x00\x03" + strings.Repeat("\x00", 24), "big-endian"},
		"le.gguf":         {"GGUF\x03\x00\x00\x00" + strings.Repeat("\x00", 24), "gguf-dump"},
		"cut.gguf":        {"GGUF", "gguf-dump"},
		"model.pth":       {checkpoint.String(), "PyTorch checkpoint"},
		"m.encodings":     {`{"activation_encodings": {}, "version": "0.6.1"}`, "quantization encodings"},
		"model.onnx.data": {strings.Repeat("\x00", 4096), "inspect the .onnx file"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.raw), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := inspect.Describe(path); !errors.Is(err, inspect.ErrUnsupported) ||
			!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestMissingBesideONNX: a file that the model names and that is not there.
func TestMissingBesideONNX(t *testing.T) {
	d, err := describe(t, qnnctxtest.Real(t, "points.onnx"))
	if err != nil || len(d.ONNX.Contexts) == 0 || d.ONNX.Contexts[0].File == "" {
		t.Fatalf("%v: %+v", err, d.ONNX)
	}
	want := "missing file " + d.ONNX.Contexts[0].File
	if got := strings.Join(d.ONNX.Warnings, "\n"); !strings.Contains(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}
