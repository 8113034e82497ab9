// Package qairt writes DLCs and context binaries for the simulated tools of QAIRT. These files have Qualcomm's layouts,
// which hexmage inspect reads, and the mark of the simulation. The tools are scripts in the simulated SDK
// (simulated/sdk/files/qairt/bin), which determine a file's content.
//
// A file contains its ONNX graphs, which the simulated qnn-net-run computes. The package does not know how a graph is
// compiled or run.
package qairt

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/flatbuffer"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/simulated/mllm/blob"
)

// Tool is this tool's name and version.
const Tool tool.Name[Spec] = "simulated-qairt/1"

// Spec describes a file to write: a context binary if SoC is set, or else a DLC.
type Spec struct {
	Out     string  `json:"out"`
	Tool    string  `json:"tool"`     // the program that writes a DLC
	BuildID string  `json:"build_id"` // v2.42.0.251225000000_0
	Graphs  []Graph `json:"graphs"`

	SoC      string `json:"soc,omitempty"`
	SoCModel uint32 `json:"soc_model,omitempty"`
	Arch     uint32 `json:"arch,omitempty"`
	VTCMMB   uint64 `json:"vtcm_mb,omitempty"`
	Level    int    `json:"optimization_level,omitempty"`
}

// Graph is a graph in the file.
type Graph struct {
	qnnctx.GraphInfo
	Tensors []qnnctx.TensorInfo `json:"tensors,omitempty"` // tensors that are neither inputs nor outputs
	ONNX    string              `json:"onnx"`              // path of the graph's ONNX file
}

const maxGraph = 256 << 20 // bytes of an ONNX graph

// Run writes the file.
func Run(_ context.Context, s Spec, _ tool.Env) error {
	models := make([][]byte, len(s.Graphs))
	for i, g := range s.Graphs {
		var err error
		if models[i], err = boundedfile.Read(g.ONNX, maxGraph); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	write := s.writeDLC
	if s.SoC != "" {
		write = s.writeContext
	}
	if err := write(&b, models); err != nil {
		return err
	}
	return os.WriteFile(s.Out, b.Bytes(), 0o644)
}

// writeContext writes a context binary. After its options the blob has three parts for each graph: its name, a text with
// a line for each input and output, and its model. The lengths of the parts come first.
func (s Spec) writeContext(w io.Writer, models [][]byte) error {
	raw := []byte(qnn.SimulatedContext)
	raw = fmt.Appendf(raw, "%s OpO=%d;min_arch=%d;vtcm_size=%d;soc_type=%s;\x00", qnn.Simulated, s.Level, s.Arch,
		s.VTCMMB<<20, s.SoC)
	info := qnnctx.Info{BuildID: s.BuildID, SoCModel: s.SoCModel}
	for i, g := range s.Graphs {
		info.Graphs = append(info.Graphs, g.GraphInfo)
		tensors := "\n"
		for _, x := range slices.Concat(g.Inputs, g.Outputs) {
			q := cmp.Or(x.Quant, &qnnctx.Quant{})
			tensors += fmt.Sprintf("%s %s %g %d\n", x.Name, x.DType, q.Scale, q.Offset)
		}
		for _, n := range []int{len(g.Name), len(tensors), len(models[i])} {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(n))
		}
		raw = append(append(append(raw, g.Name...), tensors...), models[i]...)
	}
	return blob.WriteContext(w, info, raw)
}

// writeDLC writes a DLC: a zip file whose members are stored.
func (s Spec) writeDLC(w io.Writer, models [][]byte) error {
	type object map[string]any
	z := zip.NewWriter(w)
	add := func(name string, data []byte) error {
		h := &zip.FileHeader{Name: name, CRC32: crc32.ChecksumIEEE(data), CompressedSize64: uint64(len(data)),
			UncompressedSize64: uint64(len(data))}
		f, err := z.CreateRaw(h)
		if err == nil {
			_, err = f.Write(data)
		}
		return err
	}
	var graphs []flatbuffer.Fields
	for i, g := range s.Graphs {
		if err := add(g.Name+".onnx", models[i]); err != nil {
			return err
		}
		graphs = append(graphs, g.fields())
	}
	raw := flatbuffer.Write(flatbuffer.Fields{0: graphs})
	const root = 4 // the reference to the root grows by the identifier behind it
	model := binary.LittleEndian.AppendUint32(make([]byte, 8), binary.LittleEndian.Uint32(raw)+root)
	model = append(append(model, "NETD"...), raw[root:]...)
	if err := add("model", model); err != nil {
		return err
	}
	version := object{"header": object{"version": object{"major": 2, "minor": 3, "patch": 0}},
		"stand_in": qnn.Simulated}
	history := object{"DLCGenerationInfo": []object{{"ConverterCommand": object{"Tool": s.Tool,
		"ConverterVersion": s.BuildID[1:]}}}}
	members := map[string]any{"dlc.metadata": version, "dlc.metadata.history": history, "hexmage.json": s}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		data, err := json.Marshal(members[name])
		if err == nil {
			err = add(name, data)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// fields returns a graph of a DLC: its name and tensors.
func (g Graph) fields() flatbuffer.Fields {
	var tensors []flatbuffer.Fields
	for role, list := range [][]qnnctx.TensorInfo{g.Inputs, g.Outputs, nil, g.Tensors} {
		for _, x := range list {
			tensors = append(tensors, flatbuffer.Fields{1: x.Name, 2: uint32(role), 3: x.Dims,
				6: blob.DType(x.DType)})
		}
	}
	return flatbuffer.Fields{0: g.Name, 1: []flatbuffer.Fields{{0: "op", 1: qnn.Simulated}}, 2: tensors}
}
