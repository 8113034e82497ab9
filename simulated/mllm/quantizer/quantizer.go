// Package quantizer is the simulated profile's quantiser: it turns the float weights of a small Qwen3, Qwen2 or Llama into W4A16 LPBQ.
//
// Linear weights become 4-bit integers with an 8-bit scale per block and a float scale per output; embedding and norm weights become 16-bit;
// activation ranges are observed by running the float model on sample prompts. Names and layouts are upstream's
// (docs/design/0002 §2.2), so the result converts and compiles like a model quantised with a GPU. Its bytes depend on its input alone.
//
// The package does not know the .mllm format or any device, and it does not train or search: scales come from ranges.
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

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// generated is the number of tokens each calibration prompt is continued by: decoding sees other values than prompts do.
const generated = 24

// affine is a scale and a zero point.
type affine struct {
	scale float32
	zp    int32
}

func (a affine) quantise(v float64, most int32) int32 {
	q := math.RoundToEven(float64(v/float64(a.scale))) + float64(a.zp)
	return int32(min(max(q, 0), float64(most)))
}

// span is the range of the values seen.
type span struct{ lo, hi float64 }

func (s *span) add(v float64) {
	s.lo, s.hi = min(s.lo, v), max(s.hi, v)
}

// asymmetric maps the span, which always includes 0, to 0..65535.
func (s span) asymmetric() affine {
	scale := max(float32(float64(s.hi-s.lo)/65535), 1e-8)
	zp := math.RoundToEven(float64(-s.lo / float64(scale)))
	return affine{scale, int32(min(max(zp, 0), 65535))}
}

// symmetric8 maps the span to 1..255 around 128.
func (s span) symmetric8() affine {
	return affine{max(float32(max(-s.lo, s.hi)/127), 1e-8), 128}
}

// quantise gives the tensors of the quantised model.
func quantise(ctx context.Context, m *floatModel, t *toymodel.Tokenizer) ([]safetensors.Source, error) {
	if err := m.c.CheckNorm(); err != nil {
		return nil, err
	}
	spans, err := calibrate(ctx, m, t)
	if err != nil {
		return nil, err
	}
	b := &builder{}
	b.sixteen(toymodel.Embedding, m.weights[toymodel.Embedding+".weight"], m.c.VocabSize, m.c.HiddenSize)
	for _, n := range m.c.Norms() {
		b.sixteen(n.Name, m.weights[n.Name+".weight"], n.Dim)
	}
	for _, l := range m.c.Linears() {
		b.lpbq(l, m.weights[l.Name+".weight"], m.c.LinearBlockSize)
	}
	b.biases(m)
	table := affine{math.Float32frombits(0x38000100), 32768} // 1/32767
	b.tables(m, table)
	eight, fixed := map[string]bool{}, map[string]affine{toymodel.ActSin: table, toymodel.ActCos: table}
	for l := range m.c.NumHiddenLayers {
		eight[m.c.LayerAct(l, toymodel.ActKCache)], eight[m.c.LayerAct(l, toymodel.ActVCache)] = true, true
		fixed[m.c.LayerAct(l, toymodel.ActSoftmax)] = affine{math.Float32frombits(0x37800080), 0} // 1/65535
		fixed[m.c.LayerAct(l, toymodel.ActSigmoid)] = affine{0x1p-16, 0}
		for half, whole := range map[string]string{toymodel.ActQNegHalf: toymodel.ActQNorm, toymodel.ActKNegHalf: toymodel.ActKNorm} {
			s, ok := spans[m.c.LayerAct(l, whole)]
			if !ok {
				return nil, fmt.Errorf("calibration never saw activation %q", m.c.LayerAct(l, whole))
			}
			fixed[m.c.LayerAct(l, half)] = s.asymmetric() // the two halves are one tensor again right after
		}
	}
	for _, name := range m.c.Activations() {
		a, ok := fixed[name]
		if !ok {
			s, seen := spans[name]
			if !seen {
				return nil, fmt.Errorf("calibration never saw activation %q", name)
			}
			a = s.asymmetric()
			if eight[name] {
				a = s.symmetric8()
			}
		}
		b.affine(name+".fake_quant.", a, 1)
	}
	return b.out, nil
}

// calibrate runs the float model on the sample prompts and on what it answers.
func calibrate(ctx context.Context, m *floatModel, t *toymodel.Tokenizer) (map[string]*span, error) {
	spans := map[string]*span{}
	see := func(act string, values []float64) {
		s := spans[act]
		if s == nil {
			s = &span{}
			spans[act] = s
		}
		for _, v := range values {
			s.add(v)
		}
	}
	for _, prompt := range toymodel.SamplePrompts() {
		ids, err := t.Encode(prompt)
		if err != nil {
			return nil, err
		}
		p := m.newPass(see)
		var logits []float64
		steps := min(len(ids)+generated, m.c.MaxCacheLength)
		for i := range steps {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if i >= len(ids) {
				ids = append(ids, argmax(logits))
			}
			if ids[i] >= m.c.VocabSize {
				return nil, fmt.Errorf("the tokenizer gives token %d, the model's vocabulary has %d", ids[i], m.c.VocabSize)
			}
			logits = p.step(ids[i])
		}
	}
	return spans, nil
}

func argmax(v []float64) int {
	best := 0
	for i := range v {
		if v[i] > v[best] {
			best = i
		}
	}
	return best
}

// builder collects tensors in upstream's names and layouts.
type builder struct{ out []safetensors.Source }

func (b *builder) add(name string, d safetensors.DType, data []byte, shape ...int) {
	dims := make([]int64, len(shape))
	for i, v := range shape {
		dims[i] = int64(v)
	}
	b.out = append(b.out, safetensors.Bytes(name, d, dims, data))
}

func (b *builder) affine(prefix string, a affine, shape ...int) {
	b.add(prefix+"scale", safetensors.F32, binary.LittleEndian.AppendUint32(nil, math.Float32bits(a.scale)), shape...)
	b.add(prefix+"zero_point", safetensors.I32, binary.LittleEndian.AppendUint32(nil, uint32(a.zp)), shape...)
}

func (b *builder) sixteen(name string, w []float32, shape ...int) {
	var s span
	for _, v := range w {
		s.add(float64(v))
	}
	a := s.asymmetric()
	data := make([]byte, 0, 2*len(w))
	for _, v := range w {
		data = binary.LittleEndian.AppendUint16(data, uint16(a.quantise(float64(v), 65535)))
	}
	b.add(name+".weight", safetensors.U16, data, shape...)
	b.affine(name+".", a, 1)
}

// lpbq quantises a linear layer: 4 bits per weight, a scale of 1..16 per block, a float scale per output.
func (b *builder) lpbq(l toymodel.LinearSpec, w []float32, block int) {
	blocks := l.In / block
	weight, scale1 := make([]byte, l.In*l.Out), make([]byte, l.Out*blocks)
	var scale2 []byte
	for o := range l.Out {
		row := w[o*l.In : (o+1)*l.In]
		tops, top := make([]float64, blocks), 0.0
		for i, v := range row {
			tops[i/block] = max(tops[i/block], math.Abs(float64(v)))
		}
		for _, v := range tops {
			top = max(top, v)
		}
		s2 := float32(top / (7 * 16))
		if s2 < 0x1p-60 {
			s2 = 1 // a row of zeros
		}
		scale2 = binary.LittleEndian.AppendUint32(scale2, math.Float32bits(s2))
		for k, v := range tops {
			s1 := min(max(math.RoundToEven(float64(float64(v/7)/float64(s2))), 1), 16)
			scale1[o*blocks+k] = byte(s1)
			for i := k * block; i < (k+1)*block; i++ {
				q := math.RoundToEven(float64(float64(row[i]) / float64(s1*float64(s2))))
				weight[i*l.Out+o] = byte(int8(min(max(q, -8), 7))) & 0x0F
			}
		}
	}
	b.add(l.Name+".weight", safetensors.I8, weight, 1, 1, l.In, l.Out)
	b.add(l.Name+".scale1", safetensors.U8, scale1, len(scale1))
	b.add(l.Name+".scale2", safetensors.F32, scale2, l.Out)
}

// biases are added as they are.
func (b *builder) biases(m *floatModel) {
	for _, l := range m.c.Biases() {
		var data []byte
		for _, v := range m.weights[l.Name+".bias"] {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		b.add(l.Name+".bias", safetensors.F32, data, l.Out)
	}
}

func (b *builder) tables(m *floatModel, a affine) {
	c := m.c
	var sins, coss []byte
	for _, row := range m.angles {
		for range 2 { // both halves of a head turn by the same angles
			for _, x := range row {
				s, k := sincos64(x)
				sins = binary.LittleEndian.AppendUint16(sins, uint16(a.quantise(s, 65535)))
				coss = binary.LittleEndian.AppendUint16(coss, uint16(a.quantise(k, 65535)))
			}
		}
	}
	b.add(toymodel.SinTable, safetensors.U16, sins, 1, c.MaxCacheLength, c.HeadDim)
	b.add(toymodel.CosTable, safetensors.U16, coss, 1, c.MaxCacheLength, c.HeadDim)
}

// Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "quantize/4"

// Spec says what to quantise.
type Spec struct {
	Model        string `json:"model"`                // folder with config.json, tokenizer.json, model.safetensors (F32)
	Architecture string `json:"architecture"`         // qwen3, qwen2 or llama, which the model has to be of
	BlockSize    int    `json:"block_size,omitempty"` // of LPBQ: 16, 32 or 64; 0: linear_block_size of config.json
	Out          string `json:"out"`                  // folder to write
}

// Run is the tool.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	n, err := Quantise(ctx, s)
	if err == nil {
		fmt.Fprintf(env.Stdout, "wrote %s, %d tensors\n", filepath.Join(s.Out, "model.safetensors"), n)
	}
	return err
}

// Quantise quantises a model folder and returns the number of tensors. A block size that is not the config's own is written into the new config, since
// compiler and runner must agree with the weights.
func Quantise(ctx context.Context, s Spec) (int, error) {
	return quantiseFolder(s.Model, s.Out, s.Architecture, s.BlockSize, func(m *floatModel, t *toymodel.Tokenizer) ([]safetensors.Source, error) {
		return quantise(ctx, m, t)
	})
}

// quantiseFolder reads a model folder, has it quantized, writes the new folder with the simulation's mark, and returns the number of tensors.
func quantiseFolder(
	in, out, architecture string, block int, quantise func(*floatModel, *toymodel.Tokenizer) ([]safetensors.Source, error),
) (int, error) {
	raw, err := os.ReadFile(filepath.Join(in, "config.json"))
	if err != nil {
		return 0, err
	}
	c, err := toymodel.ParseHub(raw, block)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Join(in, "config.json"), err)
	}
	if is := c.Architecture(); is != architecture {
		return 0, fmt.Errorf("the model is a %s, not a %s: write architecture = %q", is, architecture, is)
	}
	var said struct {
		Block int `json:"linear_block_size"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return 0, err
	}
	if said.Block != c.LinearBlockSize {
		if raw, err = c.Encode(); err != nil {
			return 0, err
		}
	}
	tok, err := os.ReadFile(filepath.Join(in, "tokenizer.json"))
	if err != nil {
		return 0, err
	}
	t, err := toymodel.ParseTokenizer(tok)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Join(in, "tokenizer.json"), err)
	}
	m, err := loadFloat(filepath.Join(in, "model.safetensors"), c)
	if err != nil {
		return 0, err
	}
	sources, err := quantise(m, t)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return 0, err
	}
	written := map[string][]byte{"config.json": raw, "tokenizer.json": tok}
	for _, name := range []string{"tokenizer_config.json", "chat_template.jinja"} { // how the model is asked
		b, err := os.ReadFile(filepath.Join(in, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		written[name] = b
	}
	for name, b := range written {
		if err := os.WriteFile(filepath.Join(out, name), b, 0o644); err != nil {
			return 0, err
		}
	}
	f, err := os.Create(filepath.Join(out, "model.safetensors"))
	if err != nil {
		return 0, err
	}
	err = safetensors.Write(f, map[string]string{"format": "pt", qnn.SimulatedKey: qnn.Simulated}, sources)
	return len(sources), errors.Join(err, f.Close())
}
