package quantizer

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// V1Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const V1Tool tool.Name[V1Spec] = "quantize-v1/1"

// ThetaV1 is the base of the rotation in upstream's programs of branch v1, whatever a model's config says.
const ThetaV1 = 1_000_000

// V1Spec says what to quantise for mllm v1.
type V1Spec struct {
	Model string `json:"model"` // folder with config.json, tokenizer.json, model.safetensors (F32) of a Qwen2
	Out   string `json:"out"`   // folder to write
}

// RunV1 is the tool.
func RunV1(ctx context.Context, s V1Spec, env tool.Env) error {
	n, err := quantiseFolder(s.Model, s.Out, "qwen2", 0, func(m *floatModel, t *toymodel.Tokenizer) ([]safetensors.Source, error) {
		return quantiseV1(ctx, m, t)
	})
	if err == nil {
		fmt.Fprintf(env.Stdout, "wrote %s, %d tensors\n", filepath.Join(s.Out, "model.safetensors"), n)
	}
	return err
}

// quantiseV1 gives the tensors of mllm v1's int8 model, by upstream's names: of each linear layer the weights, int8 and symmetric with one scale, [in][out]; its bias in
// floats; the largest value that went in and that came out; and whether larger ones are cut off, which they all are here. Embedding, norms and head stay floats.
func quantiseV1(ctx context.Context, m *floatModel, t *toymodel.Tokenizer) ([]safetensors.Source, error) {
	m.angles = ropeAngles(ThetaV1, m.c.HeadDim, m.c.MaxCacheLength)
	spans, err := calibrate(ctx, m, t)
	if err != nil {
		return nil, err
	}
	b := &builder{}
	for _, l := range m.c.Linears() {
		if l.Name == toymodel.LMHead {
			continue
		}
		b.eight(l, m.weights[l.Name+".weight"])
		for i, act := range rangesV1(m.c, l.Name) {
			side := [...]string{"input", "output"}[i]
			b.floats(l.Name+"."+side+"_scale", []float32{float32(max(-spans[act].lo, spans[act].hi, 1e-5))})
			b.add(l.Name+".clip_"+side, safetensors.Bool, []byte{1})
		}
	}
	b.biases(m)
	for _, n := range m.c.Norms() {
		b.floats(n.Name+".weight", m.weights[n.Name+".weight"], n.Dim)
	}
	for _, name := range []string{toymodel.Embedding, toymodel.LMHead} {
		b.floats(name+".weight", m.weights[name+".weight"], m.c.VocabSize, m.c.HiddenSize)
	}
	return b.out, nil
}

// rangesV1 names the activations that go into a linear layer and come out of it.
func rangesV1(c toymodel.Config, name string) [2]string {
	var layer int
	_, _ = fmt.Sscanf(name, "model.layers.%d.", &layer) // the names are Config.Linears'
	acts := map[string][2]string{
		"q_proj": {toymodel.ActAttnInput, toymodel.ActQ}, "k_proj": {toymodel.ActAttnInput, toymodel.ActK}, "v_proj": {toymodel.ActAttnInput, toymodel.ActV},
		"o_proj":    {toymodel.ActAttn, toymodel.ActAttnOut},
		"gate_proj": {toymodel.ActMLPInput, toymodel.ActGate}, "up_proj": {toymodel.ActMLPInput, toymodel.ActUp}, "down_proj": {toymodel.ActMul, toymodel.ActMLPOut},
	}[name[strings.LastIndexByte(name, '.')+1:]]
	return [2]string{c.LayerAct(layer, acts[0]), c.LayerAct(layer, acts[1])}
}

// floats adds values as they are.
func (b *builder) floats(name string, values []float32, shape ...int) {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	b.add(name, safetensors.F32, raw, shape...)
}

// eight adds a layer's weights, transposed, as int8 with their scale.
func (b *builder) eight(l toymodel.LinearSpec, w []float32) {
	var top float32
	for _, v := range w {
		top = max(top, v, -v)
	}
	scale := float32(max(top, 1e-5) / 127)
	raw := make([]byte, len(w))
	for o := range l.Out {
		for i := range l.In {
			raw[i*l.Out+o] = byte(int8(math.RoundToEven(float64(float32(w[o*l.In+i] / scale)))))
		}
	}
	b.add(l.Name+".weight", safetensors.I8, raw, l.In, l.Out)
	b.floats(l.Name+".weight.scale", []float32{scale})
}

// RopeV1 gives the sines and cosines by which columns i < headDim/2 of a head turn at each position, as mllm v1's programs do.
func RopeV1(headDim, positions int) (sin, cos [][]float32) {
	for _, row := range ropeAngles(ThetaV1, headDim, positions) {
		s, c := make([]float32, len(row)), make([]float32, len(row))
		for i, angle := range row {
			a, b := sincos64(angle)
			s[i], c[i] = float32(a), float32(b)
		}
		sin, cos = append(sin, s), append(cos, c)
	}
	return sin, cos
}
