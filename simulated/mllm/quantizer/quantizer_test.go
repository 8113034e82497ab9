package quantizer

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

func TestMaths(t *testing.T) {
	for x := -50.0; x < 50; x += 0.173 {
		if got, want := exp64(x), math.Exp(x); math.Abs(got-want) > 1e-13*want {
			t.Errorf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	for x := 0.0; x < 4000; x += 7.31 {
		s, c := sincos64(x)
		if ws, wc := math.Sincos(x); math.Abs(s-ws) > 1e-11 || math.Abs(c-wc) > 1e-11 {
			t.Errorf("sincos(%v) = %v %v, want %v %v", x, s, c, ws, wc)
		}
	}
	for _, row := range [][3]float64{{10000, 16, math.Pow(10000, 1.0/16)}, {1e6, 64, math.Pow(1e6, 1.0/64)}} {
		if got := root(row[0], int(row[1])); math.Abs(got-row[2]) > 1e-12*row[2] {
			t.Errorf("root(%v, %v) = %v, want %v", row[0], row[1], got, row[2])
		}
	}
	angles := ropeAngles(10000, 32, 3)
	if want := 2 * math.Pow(10000, -2.0*5/32); math.Abs(angles[2][5]-want) > 1e-12 {
		t.Errorf("angle %v, want %v", angles[2][5], want)
	}
}

func TestSpans(t *testing.T) {
	a := span{-1, 3}.asymmetric()
	if a.scale != float32(4.0/65535) || a.zp != 16384 {
		t.Errorf("asymmetric: %+v", a)
	}
	if q := a.quantise(-1, 65535); q != 0 {
		t.Errorf("the least value becomes %d", q)
	}
	if q := a.quantise(100, 65535); q != 65535 {
		t.Errorf("a value beyond the range becomes %d", q)
	}
	if a := (span{}).asymmetric(); !(a.scale > 0) || a.zp != 0 {
		t.Errorf("an empty span: %+v", a)
	}
	if a := (span{-2, 1}).symmetric8(); a.scale != float32(2.0/127) || a.zp != 128 {
		t.Errorf("symmetric: %+v", a)
	}
}

// A linear layer's dequantised weights must be near the float ones: within half a step of their block's scale.
func TestLPBQ(t *testing.T) {
	const in, out, block = 64, 6, 16
	w := make([]float32, in*out)
	for i := range w {
		w[i] = float32(math.Sin(float64(i)*1.7)) * float32(1+i%in/block) // blocks of different size
	}
	for i := range in {
		w[3*in+i] = 0 // an output without weights
	}
	b := &builder{}
	b.lpbq(toymodel.LinearSpec{Name: "l", In: in, Out: out}, w, block)
	data := map[string][]byte{}
	for _, s := range b.out {
		var buf bytes.Buffer
		if err := s.Write(&buf); err != nil {
			t.Fatal(err)
		}
		data[s.Name] = buf.Bytes()
	}
	if len(data["l.weight"]) != in*out || len(data["l.scale1"]) != out*in/block || len(data["l.scale2"]) != 4*out {
		t.Fatalf("sizes %d %d %d", len(data["l.weight"]), len(data["l.scale1"]), len(data["l.scale2"]))
	}
	for o := range out {
		s2 := float64(math.Float32frombits(binary.LittleEndian.Uint32(data["l.scale2"][4*o:])))
		for i := range in {
			q := data["l.weight"][i*out+o]
			s1 := data["l.scale1"][o*(in/block)+i/block]
			if q > 15 || s1 < 1 || s1 > 16 {
				t.Fatalf("weight %d scale1 %d", q, s1)
			}
			v := float64(int8(q<<4)>>4) * float64(s1) * s2
			if f := float64(w[o*in+i]); math.Abs(v-f) > 0.76*float64(s1)*s2 { // half a step, and a little for the rounded block scale
				t.Fatalf("weight %d of output %d: %v became %v, step %v", i, o, f, v, float64(s1)*s2)
			}
		}
	}
}

// The result has exactly the tensors of the schema, and quantised and float model mostly choose the same tokens.
func TestQuantisedModelFollowsTheFloatModel(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	c := toymodel.DefaultConfig()
	if err := toymodel.Make(in, 3, c); err != nil {
		t.Fatal(err)
	}
	n, err := Quantise(context.Background(), Spec{Model: in, Architecture: "qwen3", Out: out})
	if err != nil {
		t.Fatal(err)
	}
	m, err := safetensors.Open(filepath.Join(out, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if schema := c.Schema(); len(schema) != n || len(m.Tensors()) != n {
		t.Errorf("%d tensors were written, %d read, the schema has %d", n, len(m.Tensors()), len(schema))
	}
	w := weights(t, m, c)
	tok, err := toymodel.ReadTokenizer(filepath.Join(out, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := loadFloat(filepath.Join(in, "model.safetensors"), c)
	if err != nil {
		t.Fatal(err)
	}
	agree, total := 0, 0
	for _, prompt := range []string{"When the wind turns, she", "hello", "The model has layers", "a notebook and a clock"} {
		r, err := toymodel.Generate(context.Background(), w, tok, prompt, 24)
		if err != nil {
			t.Fatal(err)
		}
		p := f.newPass(func(string, []float64) {})
		var logits []float64
		for _, id := range r.PromptTokens {
			logits = p.step(id)
		}
		for _, id := range r.Tokens { // both see the same history, so that one difference does not hide the rest
			if argmax(logits) == id {
				agree++
			}
			total++
			logits = p.step(id)
		}
	}
	if total < 60 || agree*10 < total*8 {
		t.Errorf("the quantised model chose the float model's token %d times of %d", agree, total)
	}
}

// weights takes the way of the pipeline: through a .mllm file.
func weights(t *testing.T, m *safetensors.Model, c toymodel.Config) *toymodel.Weights {
	t.Helper()
	var b bytes.Buffer
	if err := convert.Convert(context.Background(), &b, m, convert.Options{Version: mllm.V2}); err != nil {
		t.Fatal(err)
	}
	f, err := mllm.Parse(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	w, err := toymodel.LoadWeights(f, c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "model")
	if err := toymodel.Make(model, 1, toymodel.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(model, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	noBlock := filepath.Join(dir, "noblock")
	if err := os.CopyFS(noBlock, os.DirFS(model)); err != nil {
		t.Fatal(err)
	}
	stock := strings.Replace(string(config), `"linear_block_size": 16,`, "", 1)
	if err := os.WriteFile(filepath.Join(noBlock, "config.json"), []byte(stock), 0o644); err != nil {
		t.Fatal(err)
	}
	epsilon := filepath.Join(dir, "epsilon")
	if err := os.CopyFS(epsilon, os.DirFS(model)); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(config), `"rms_norm_eps": 0.000001`, `"rms_norm_eps": 0.25`, 1)
	if err := os.WriteFile(filepath.Join(epsilon, "config.json"), []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		spec Spec
		want string
	}{
		"epsilon":      {Spec{Model: epsilon, Architecture: "qwen3", Out: filepath.Join(dir, "o")}, "only 1e-06"},
		"architecture": {Spec{Model: model, Architecture: "qwen2", Out: filepath.Join(dir, "o")}, `write architecture = "qwen3"`},
		"no model":     {Spec{Model: filepath.Join(dir, "none"), Architecture: "qwen3", Out: "o"}, "none"},
		"block":        {Spec{Model: model, Architecture: "qwen3", Out: filepath.Join(dir, "o"), BlockSize: 24}, "choose 16, 32 or 64"},
		"stock":        {Spec{Model: noBlock, Architecture: "qwen3", Out: filepath.Join(dir, "o")}, "linear_block_size"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, stderr, code := tooltest.Run(t, Tool, Run, c.spec); code != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("exit %d, %q; want 1 with %q", code, stderr, c.want)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	if err := toymodel.Make(dir, 1, toymodel.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Quantise(ctx, Spec{Model: dir, Architecture: "qwen3", Out: filepath.Join(dir, "out")}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// The block size that was asked for must be the one that is written down.
func TestBlockSizeGoesIntoTheConfig(t *testing.T) {
	dir := t.TempDir()
	small := toymodel.DefaultConfig()
	small.NumHiddenLayers = 1
	if err := toymodel.Make(dir, 1, small); err != nil {
		t.Fatal(err)
	}
	const template = "{{ messages[0].content }}"
	if err := os.WriteFile(filepath.Join(dir, "chat_template.jinja"), []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if _, err := Quantise(context.Background(), Spec{Model: dir, Architecture: "qwen3", BlockSize: 32, Out: out}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "chat_template.jinja")); err != nil || string(b) != template {
		t.Errorf("the chat template: %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(out, "tokenizer_config.json")); err == nil {
		t.Error("a tokenizer_config.json that the model has not")
	}
	raw, err := os.ReadFile(filepath.Join(out, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := toymodel.ParseHub(raw, 0)
	if err != nil || c.LinearBlockSize != 32 {
		t.Fatalf("%+v, %v", c, err)
	}
	m, err := safetensors.Open(filepath.Join(out, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if s, _ := m.Lookup("lm_head.scale1"); !slices.Equal(s.Shape, []int64{512 * 128 / 32}) {
		t.Errorf("lm_head.scale1 is %v", s.Shape)
	}
}
