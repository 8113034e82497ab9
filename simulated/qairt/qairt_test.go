package qairt_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/dlc"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/simulated/qairt"
)

// TestReadBack: the readers of Qualcomm's files read what the simulated tools write, and both files have the mark.
func TestReadBack(t *testing.T) {
	dir := t.TempDir()
	graph := filepath.Join(dir, "net.onnx")
	if err := os.WriteFile(graph, []byte("a graph"), 0o644); err != nil {
		t.Fatal(err)
	}
	half := &qnnctx.Quant{Encoding: "scale_offset", Scale: 0.5, Offset: -128}
	outline := qnnctx.GraphInfo{Name: "net", Inputs: []qnnctx.TensorInfo{{Name: "x", DType: "ufixed16",
		Dims: []uint32{1, 3}, Quant: half}},
		Outputs: []qnnctx.TensorInfo{{Name: "y", DType: "float16", Dims: []uint32{2}}}}
	weight := []qnnctx.TensorInfo{{Name: "w", DType: "sfixed8", Dims: []uint32{3, 2}}}
	s := qairt.Spec{Out: filepath.Join(dir, "net.dlc"), Tool: "qairt-converter", BuildID: "v2.42.0.251225000000_0",
		Graphs: []qairt.Graph{{GraphInfo: outline, Tensors: weight, ONNX: graph}}}
	written := func() []byte {
		t.Helper()
		if err := qairt.Run(t.Context(), s, tool.Env{}); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(s.Out)
		if err != nil || !bytes.Contains(raw, []byte(qnn.Simulated)) || !bytes.Contains(raw, []byte("a graph")) {
			t.Errorf("%s: %v, or without mark or graph", s.Out, err)
		}
		return raw
	}
	raw := written()
	f, err := dlc.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || len(f.Graphs) != 1 || len(f.Warnings) > 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	noQuant := outline
	noQuant.Inputs = []qnnctx.TensorInfo{{Name: "x", DType: "ufixed16", Dims: []uint32{1, 3}}}
	if d := cmp.Diff(noQuant, f.Graphs[0].GraphInfo); d != "" || f.Tool != s.Tool || f.Converter != s.BuildID[1:] ||
		f.Graphs[0].Types["sfixed8"] != 1 {
		t.Errorf("%+v %s", f, d)
	}
	s.Out, s.SoC, s.SoCModel, s.Arch, s.VTCMMB, s.Level = filepath.Join(dir, "net.bin"), "SM8750", 69, 79, 8, 3
	raw = written()
	c, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || !c.Simulated || c.Arch != 79 || c.VTCM != 8<<20 || c.OptLevel != 3 ||
		c.SoCModel != 69 || c.BuildID != s.BuildID {
		t.Errorf("%+v, %v", c, err)
	}
	if d := cmp.Diff([]qnnctx.GraphInfo{outline}, c.Graphs); d != "" {
		t.Error(d)
	}
}
