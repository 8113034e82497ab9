package runner_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// randomWeights makes a model whose values are noise, scaled so that activations use their range without leaving it much: it says
// nothing, but every bit of the arithmetic decides a token.
func randomWeights(t testing.TB, c toymodel.Config, seed uint64) *toymodel.Weights {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var sources []mllm.Source
	for _, s := range c.Schema() {
		n := int64(1)
		for _, d := range s.Shape {
			n *= d
		}
		var data []byte
		for range n {
			data = append(data, randomValue(r, c, s.Name)...)
		}
		if s.Name == toymodel.SinTable || s.Name == toymodel.CosTable {
			data = rotation(c, s.Name == toymodel.CosTable)
		}
		sources = append(sources, mllm.Source{Name: s.Name, DType: s.DType, Shape: s.Shape, Size: int64(len(data)), Write: func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		}})
	}
	var file bytes.Buffer
	if err := mllm.Write(&file, mllm.V2, "", sources); err != nil {
		t.Fatal(err)
	}
	f, err := mllm.Parse(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	w, err := toymodel.LoadWeights(f, c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func randomValue(r *rand.Rand, c toymodel.Config, name string) []byte {
	le := binary.LittleEndian
	f32 := func(v float64) []byte { return le.AppendUint32(nil, math.Float32bits(float32(v))) }
	i32 := func(v int) []byte { return le.AppendUint32(nil, uint32(v)) }
	has := func(s string) bool { return strings.Contains(name, s) }
	spread := 1 + r.Float64()/8 // no two scales alike
	switch {
	case has("sin_embedding_input") || has("cos_embedding_input"):
		if has("scale") {
			return le.AppendUint32(nil, 0x38000100)
		}
		return i32(32768)
	case has("softmax_output"):
		if has("scale") {
			return le.AppendUint32(nil, 0x37800080)
		}
		return i32(0)
	case has("cast_to_int8"):
		if has("scale") {
			return f32(spread / 32)
		}
		return i32(128)
	case has("norm.weight"), has("layernorm.weight"):
		return le.AppendUint16(nil, uint16(30000+r.IntN(20000)))
	case has("norm.scale"), has("layernorm.scale"):
		return f32(spread / 30000)
	case has("norm.zero_point"), has("layernorm.zero_point"):
		return i32(r.IntN(2000))
	case has("zero_point"):
		return i32(30000 + r.IntN(5000))
	case has("embed_tokens.scale"):
		return f32(spread / 10000)
	case has("embed_tokens.weight"):
		return le.AppendUint16(nil, uint16(r.Uint32()))
	case has(".scale1"):
		return []byte{byte(1 + r.IntN(16))}
	case has(".scale2"):
		return f32(spread * 0.02 / math.Sqrt(float64(c.HiddenSize)))
	case has(".weight"):
		return []byte{byte(r.IntN(16))}
	}
	return f32(spread / 4000)
}

func rotation(c toymodel.Config, cosine bool) []byte {
	var out []byte
	for p := range c.MaxCacheLength {
		for i := range c.HeadDim {
			angle := float64(p) * math.Pow(c.RopeTheta, -float64(2*(i%(c.HeadDim/2)))/float64(c.HeadDim))
			v := math.Sin(angle)
			if cosine {
				v = math.Cos(angle)
			}
			out = binary.LittleEndian.AppendUint16(out, uint16(32768+math.RoundToEven(v*32767)))
		}
	}
	return out
}
