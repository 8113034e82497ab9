package qwennpu

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/simulated/mllm/quantizer"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// files makes a small model, in int8 and in floats.
func files(t *testing.T) (int8s, floats string) {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	env := tool.Env{Stdout: new(bytes.Buffer)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(toymodel.RunMake(t.Context(), toymodel.MakeSpec{Seed: 3, Layers: 2, BlockSize: 32, Architecture: "qwen2", Out: in("model")}, env))
	must(quantizer.RunV1(t.Context(), quantizer.V1Spec{Model: in("model"), Out: in("int8")}, env))
	for _, name := range []string{"int8", "model"} {
		must(convert.Run(t.Context(), convert.Spec{Input: in(name), Output: in(name + ".mllm"), Name: name, Format: "v1"}, env))
	}
	return in("int8.mllm"), in("model.mllm")
}

func small() Shape { return Shape{Hidden: 128, Heads: 4, FFN: 256} }

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// TestInt8IsTheModel: layers in int8 say nearly what those in floats say, in every layer's keys and values of every token. Weights that are read the wrong way round say something else.
func TestInt8IsTheModel(t *testing.T) {
	t.Parallel()
	int8s, floats := files(t)
	npu, err := read(int8s, small(), file.eight)
	if err != nil {
		t.Fatal(err)
	}
	cpu, err := read(floats, small(), file.linear)
	if err != nil {
		t.Fatal(err)
	}
	npu.sin, npu.cos = quantizer.RopeV1(32, 16)
	cpu.sin, cpu.cos = npu.sin, npu.cos
	ids := []int{72, 101, 300, 17, 256, 90, 44, 410}
	npu.prefill(ids, 0)
	for i, id := range ids {
		cpu.step(id, i)
	}
	least := 1.0
	for l := range cpu.layers {
		for i := range ids {
			least = min(least, cosine(npu.layers[l].keys[i], cpu.layers[l].keys[i]), cosine(npu.layers[l].values[i], cpu.layers[l].values[i]))
		}
	}
	if least < 0.99 {
		t.Errorf("keys and values are as near as %.4f", least)
	}
	w := npu.layers[0].gate.int8s
	for i := range w[:len(w)/2] { // the weights the other way round
		w[i], w[len(w)-1-i] = w[len(w)-1-i], w[i]
	}
	npu.layers[1].keys, npu.layers[1].values, npu.layers[0].keys, npu.layers[0].values = nil, nil, nil, nil
	npu.prefill(ids, 0)
	if c := cosine(npu.layers[1].values[7], cpu.layers[1].values[7]); c > 0.99 {
		t.Errorf("other weights say the same: %.4f", c)
	}
}

// TestRope: heads turn by angles with the base of upstream's programs.
func TestRope(t *testing.T) {
	t.Parallel()
	sin, cos := quantizer.RopeV1(32, 1200)
	for _, p := range []int{0, 1, 77, 1199} {
		for i := range 16 {
			angle := float64(p) * math.Pow(quantizer.ThetaV1, -float64(i)/16)
			if math.Abs(float64(sin[p][i])-math.Sin(angle)) > 1e-6 || math.Abs(float64(cos[p][i])-math.Cos(angle)) > 1e-6 {
				t.Errorf("position %d, column %d: %v %v, want %v %v", p, i, sin[p][i], cos[p][i], math.Sin(angle), math.Cos(angle))
			}
		}
	}
}

// TestRefused: a file that is not the model which the flags tell of is refused, and says which tensor it is.
func TestRefused(t *testing.T) {
	t.Parallel()
	int8s, floats := files(t)
	whole, err := os.ReadFile(floats)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.mllm")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path  string
		shape Shape
		eight bool
		want  string
	}{
		"int8 for floats":    {int8s, small(), false, `tensor "model.layers.0.self_attn.q_proj.weight" is`},
		"floats for int8":    {floats, small(), true, `tensor "model.layers.0.self_attn.q_proj.weight" is`},
		"another size":       {floats, Shape{256, 4, 256}, false, "are the flags those of the model?"},
		"another ffn":        {floats, Shape{128, 4, 128}, false, "are the flags those of the model?"},
		"one head":           {floats, Shape{128, 1, 256}, false, "are the flags those of the model?"},
		"no heads":           {floats, Shape{128, 0, 256}, false, "is none"},
		"a file that is cut": {cut, small(), false, "cut.mllm: "},
		"none":               {"nowhere.mllm", small(), false, "nowhere.mllm"},
	} {
		as := file.linear
		if c.eight {
			as = file.eight
		}
		if _, err := read(c.path, c.shape, as); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
