// Package quantizer writes the toy model in mllm's scheme: the tensor names, types and shapes of mllm's quantizer,
// for the simulated compiler. Weights are rounded; scales of activations are constants.
//
// It does not know model/python's quantizers, which quantize real models, and does not know how the tensors are used.
package quantizer

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// Tool is the tool's name and behavior version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "quantize/5"

// Spec is the input of Run.
type Spec struct {
	Model        string `json:"model"`                // folder with config.json, tokenizer.json, model.safetensors (F32)
	Architecture string `json:"architecture"`         // qwen3, qwen2 or llama
	BlockSize    int    `json:"block_size,omitempty"` // LPBQ block: 16, 32 or 64; 0: linear_block_size of config.json
	Out          string `json:"out"`                  // folder to write
}

// Run is the tool.
func Run(_ context.Context, s Spec, env tool.Env) error {
	raw, err := os.ReadFile(filepath.Join(s.Model, "config.json"))
	if err != nil {
		return err
	}
	c, raw, err := config(raw, s)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(s.Model, "config.json"), err)
	}
	sources, err := quantize(filepath.Join(s.Model, "model.safetensors"), c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Out, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"} {
		data, err := os.ReadFile(filepath.Join(s.Model, name))
		if errors.Is(err, fs.ErrNotExist) && name != "tokenizer.json" {
			continue
		}
		if name == "config.json" {
			data = raw
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(s.Out, name), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	at := filepath.Join(s.Out, "model.safetensors")
	f, err := os.Create(at)
	if err != nil {
		return err
	}
	err = safetensors.Write(f, map[string]string{"format": "pt", qnn.SimulatedKey: qnn.Simulated}, sources)
	if err = errors.Join(err, f.Close()); err == nil {
		fmt.Fprintf(env.Stdout, "wrote %s, %d tensors\n", at, len(sources))
	}
	return err
}

// config checks a config.json, and returns it with the block size that the weights have.
func config(raw []byte, s Spec) (toymodel.Config, []byte, error) {
	c, err := toymodel.ParseHub(raw, s.BlockSize)
	if err == nil {
		err = c.CheckNorm()
	}
	if err != nil {
		return c, nil, err
	}
	if is := c.Architecture(); is != s.Architecture {
		return c, nil, fmt.Errorf("the model is a %s, not a %s: write architecture = %q", is, s.Architecture, is)
	}
	var written struct {
		Block int `json:"linear_block_size"`
	}
	err = json.Unmarshal(raw, &written)
	if err == nil && written.Block != c.LinearBlockSize {
		raw, err = c.Encode()
	}
	return c, raw, err
}

// quantize returns the tensors of c's schema.
func quantize(path string, c toymodel.Config) ([]safetensors.Source, error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dtypes := map[mllm.DType]safetensors.DType{mllm.Float32: safetensors.F32, mllm.Int32: safetensors.I32,
		mllm.Int8:  safetensors.I8,
		mllm.Uint8: safetensors.U8, mllm.Uint16: safetensors.U16}
	made := map[string][]byte{}
	for _, l := range c.Linears() {
		w, err := floats(f, l.Name, l.In*l.Out)
		if err != nil {
			return nil, err
		}
		lpbq(made, l, w, c.LinearBlockSize)
	}
	for _, l := range c.Biases() {
		b, err := floats(f, l.Name+".bias", l.Out)
		if err != nil {
			return nil, err
		}
		for _, v := range b {
			made[l.Name+".bias"] = float(made[l.Name+".bias"], v)
		}
	}
	for _, n := range append(c.Norms(), toymodel.NormSpec{Name: toymodel.Embedding, Dim: c.VocabSize * c.HiddenSize}) {
		w, err := floats(f, n.Name, n.Dim)
		if err != nil {
			return nil, err
		}
		sixteen(made, n.Name, w)
	}
	var out []safetensors.Source
	for _, t := range c.Schema() {
		data, ok := made[t.Name]
		if !ok {
			data = constant(t)
		}
		out = append(out, safetensors.Bytes(t.Name, dtypes[t.DType], t.Shape, data))
	}
	return out, nil
}

// floats reads a tensor, "name.weight" or, if it has no such tensor, "name".
func floats(f *safetensors.Model, name string, n int) ([]float32, error) {
	if name == toymodel.LMHead {
		name = toymodel.Embedding
	}
	t, ok := f.Lookup(name + ".weight")
	if !ok {
		t, ok = f.Lookup(name)
	}
	if !ok || t.DType != safetensors.F32 || t.Size != int64(4*n) {
		return nil, fmt.Errorf("the model has no F32 tensor %q of %d elements", name, n)
	}
	out := make([]float32, n)
	return out, binary.Read(t.Data(), binary.LittleEndian, out)
}

func float(to []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(to, math.Float32bits(v))
}

// constant returns the scale or the zero point of an activation, or a table of rotary embeddings, which the runner
// does not read.
func constant(t toymodel.TensorSpec) []byte {
	name, scaled := strings.CutSuffix(t.Name, ".fake_quant.scale")
	name, zeroed := strings.CutSuffix(name, ".fake_quant.zero_point")
	scale, zero := float32(0x1p-13), uint32(32768)
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "k_cast_to_int8_qdq", "v_cast_to_int8_qdq":
		scale, zero = 0x1p-4, 128
	case "softmax_output_qdq":
		scale, zero = float32(1)/65535, 0
	case "sigmoid_output_qdq":
		scale, zero = 0x1p-16, 0
	case "q_proj_input_qdq", "k_proj_input_qdq": // Qwen2 and Llama have the rotation's range here
		scale = 0x1p-12
	}
	switch {
	case scaled:
		return float(nil, scale)
	case zeroed:
		return binary.LittleEndian.AppendUint32(nil, zero)
	}
	n := 2
	for _, d := range t.Shape {
		n *= int(d)
	}
	return make([]byte, n)
}

// sixteen rounds a tensor to 16 bits with one scale and zero point.
func sixteen(made map[string][]byte, name string, w []float32) {
	low, high := float32(0), float32(0)
	for _, v := range w {
		low, high = min(low, v), max(high, v)
	}
	scale := max(float32(float32(high-low)/65535), 1e-8)
	zero := math.RoundToEven(float64(float32(-low / scale)))
	var data []byte
	for _, v := range w {
		q := math.RoundToEven(float64(float32(v/scale))) + zero
		data = binary.LittleEndian.AppendUint16(data, uint16(min(max(q, 0), 65535)))
	}
	made[name+".weight"], made[name+".scale"] = data, float(nil, scale)
	made[name+".zero_point"] = binary.LittleEndian.AppendUint32(nil, uint32(zero))
}

// lpbq rounds a linear layer: 4 bits a weight, a scale of 1..16 a block, a float scale an output.
func lpbq(made map[string][]byte, l toymodel.LinearSpec, w []float32, block int) {
	blocks := l.In / block
	weight, scale1 := make([]byte, l.In*l.Out), make([]byte, l.Out*blocks)
	var scale2 []byte
	for o := range l.Out {
		row := w[o*l.In : (o+1)*l.In]
		tops, top := make([]float64, blocks), 0.0
		for i, v := range row {
			tops[i/block] = max(tops[i/block], math.Abs(float64(v)))
			top = max(top, tops[i/block])
		}
		s2 := float32(top / (7 * 16))
		if s2 < 0x1p-60 {
			s2 = 1 // a row of zeros
		}
		scale2 = float(scale2, s2)
		for k, v := range tops {
			s1 := min(max(math.RoundToEven(float64(float64(v/7)/float64(s2))), 1), 16)
			scale1[o*blocks+k] = byte(s1)
			for i := k * block; i < (k+1)*block; i++ {
				q := math.RoundToEven(float64(float64(row[i]) / float64(s1*float64(s2))))
				weight[i*l.Out+o] = byte(int8(min(max(q, -8), 7))) & 0x0F
			}
		}
	}
	made[l.Name+".weight"], made[l.Name+".scale1"], made[l.Name+".scale2"] = weight, scale1, scale2
}
