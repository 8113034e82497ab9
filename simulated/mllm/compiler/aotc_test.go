package compiler

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/simulated/mllm/blob"
	"github.com/hexmage/hexmage/simulated/mllm/quantizer"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// small is a model that is quick to quantise and whose sizes all differ.
func small() toymodel.Config {
	c := toymodel.DefaultConfig()
	c.HiddenSize, c.IntermediateSize, c.NumHiddenLayers, c.NumAttentionHeads, c.NumKeyValueHeads, c.HeadDim = 64, 96, 2, 3, 1, 16
	c.MaxCacheLength, c.MaxPositionEmbeddings = 64, 64
	return c
}

func smallWeights(t *testing.T, c toymodel.Config) *toymodel.Weights {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := toymodel.Make(in, 9, c); err != nil {
		t.Fatal(err)
	}
	if _, err := quantizer.Quantise(context.Background(), quantizer.Spec{Model: in, Architecture: c.Architecture(), Out: out}); err != nil {
		t.Fatal(err)
	}
	m, err := safetensors.Open(filepath.Join(out, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
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

// The context holds the document's operations in the document's order, on shared weights that are the model's.
func TestContext(t *testing.T) {
	w := smallWeights(t, small())
	c := w.Config
	s := newStatics(w)
	payload := &blob.Blob{Shape: shape(c), OpPackage: opPackage, Statics: s.list, Graphs: []blob.Graph{buildGraph(s, 32), buildGraph(s, 1)}}
	layer := []string{"input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.q_norm", "self_attn.q_rope", "self_attn.k_norm",
		"self_attn.k_rope", "self_attn.k_cache", "self_attn.v_cache", "self_attn.attention", "self_attn.o_proj", "add_0", "post_attention_layernorm",
		"mlp.gate_proj", "mlp.up_proj", "mlp.act", "mlp.mul", "mlp.down_proj", "add_1"}
	want := []string{"model.embed_tokens"}
	for l := range c.NumHiddenLayers {
		for _, o := range layer {
			want = append(want, fmt.Sprintf("model.layers.%d.%s", l, o))
		}
	}
	want = append(want, "model.norm", "lm_head")
	for _, g := range payload.Graphs {
		var names []string
		for _, o := range g.Ops {
			names = append(names, o.Name)
			if o.Package != (o.Type == "RMSNorm") {
				t.Errorf("%s %s: in the op package: %v", g.Name, o.Name, o.Package)
			}
		}
		if d := cmp.Diff(want, names); d != "" {
			t.Errorf("%s: %s", g.Name, d)
		}
		written := map[blob.Operand]bool{}
		for _, i := range g.Inputs {
			written[blob.Operand(i)] = true
		}
		for _, o := range g.Ops {
			for _, in := range o.In {
				if in>>31 == 0 && !written[in] {
					t.Errorf("%s %s reads tensor %d (%s) before anything writes it", g.Name, o.Name, in, g.Tensors[in].Name)
				}
			}
			for _, out := range o.Out {
				written[out] = true
			}
		}
		if logits := g.Tensors[g.Outputs[0]]; logits.Name != "logits" || logits.Dims != dims(int(g.Tokens), c.VocabSize) || logits.Kind != blob.Output {
			t.Errorf("%s: first output %+v", g.Name, logits)
		}
		if len(g.Inputs) != 2+2*c.NumHiddenLayers || len(g.Outputs) != 1+2*c.NumHiddenLayers {
			t.Errorf("%s: %d inputs, %d outputs", g.Name, len(g.Inputs), len(g.Outputs))
		}
	}
	checkPacked(t, w, payload)
}

// Qwen2 and Llama have no norms of heads in their graphs, and Qwen2's q, k and v alone have a bias, which is the model's.
func TestContextOfOthers(t *testing.T) {
	for architecture, biases := range map[string]int{"qwen2": 3, "llama": 0} {
		c := small()
		c.ModelType, c.AttentionBias, c.HeadDim, c.LinearBlockSize, c.LinearImplType = architecture, biases > 0, 32, 32, toymodel.LinearImplType(32)
		w := smallWeights(t, c)
		s := newStatics(w)
		got := 0
		for _, o := range buildGraph(s, 1).Ops {
			if strings.HasSuffix(o.Name, "q_norm") || strings.HasSuffix(o.Name, "k_norm") {
				t.Errorf("%s has %s", architecture, o.Name)
			}
			if o.Code != blob.OpLinear || len(o.In) == 4 {
				continue
			}
			got++
			if bias := s.list[o.In[4]&^(1<<31)]; bias.Name != o.Name+".bias" || !bytes.Equal(bias.Data, w.Bytes(o.Name+".bias")) || len(bias.Data) == 0 {
				t.Errorf("%s: the bias of %s is %s, %d bytes", architecture, o.Name, bias.Name, len(bias.Data))
			}
		}
		if got != biases*c.NumHiddenLayers {
			t.Errorf("%s: %d layers have a bias, want %d", architecture, got, biases*c.NumHiddenLayers)
		}
	}
}

// A compiler takes the models of its architecture alone.
func TestAnotherArchitecture(t *testing.T) {
	dir := t.TempDir()
	c := toymodel.DefaultConfig()
	raw, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hub.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	_, raw, err = aotconfig.ReadModel(filepath.Join(dir, "hub.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := New(Qwen2)(t.Context(), []string{"-m", "m", "-c", filepath.Join(dir, "config.json"), "-aot_cfg", "a"}, tool.Env{Stdout: &out, Stderr: &out}); code != aborted || !strings.Contains(out.String(), "mllm-qwen2-aot-c-sha compiles qwen2") {
		t.Errorf("exit code %d, %s", code, &out)
	}
	if code := New(Llama)(t.Context(), []string{"-o", "x"}, tool.Env{Stdout: &out, Stderr: &out}); code != aborted || !strings.Contains(out.String(), `unknown argument "-o"`) {
		t.Errorf("-o: exit code %d, %s", code, &out)
	}
}

// checkPacked unpacks every int4 weight and compares it with the model's.
func checkPacked(t *testing.T, w *toymodel.Weights, b *blob.Blob) {
	t.Helper()
	for _, s := range b.Statics {
		raw, want := s.Data, w.Bytes(s.Name)
		if s.DType != blob.Int4Packed {
			if !bytes.Equal(raw, want) {
				t.Errorf("static %s differs from the model's", s.Name)
			}
			continue
		}
		in, out := int(s.Dims[2]), int(s.Dims[3])
		for i := range in {
			for o := range out {
				v := raw[i*(out/2)+o/2]
				if o%2 == 1 {
					v >>= 4
				}
				if v&15 != want[i*out+o] {
					t.Fatalf("%s[%d][%d] is %d, want %d", s.Name, i, o, v&15, want[i*out+o])
				}
			}
		}
	}
}

// Patterns on linear names override the fallback, and one that matches nothing does no harm.
func TestLinearPatterns(t *testing.T) {
	c := toymodel.DefaultConfig()
	good := aotconfig.Method{Method: "LPBQ", Sym: true, Precision: "w4a16", BlockSize: 16}
	other := aotconfig.Method{Method: "per-channel", Sym: true, Precision: "w8a16"}
	cases := map[string]struct {
		methods map[string]aotconfig.Method
		want    string
	}{
		"fallback":    {map[string]aotconfig.Method{"fallback": good}, ""},
		"unused":      {map[string]aotconfig.Method{"fallback": good, "vision": other}, ""},
		"used":        {map[string]aotconfig.Method{"fallback": good, `mlp\.down`: other}, "only symmetric LPBQ"},
		"bad pattern": {map[string]aotconfig.Method{"fallback": good, `(`: good}, "missing closing"},
	}
	for name, k := range cases {
		err := checkLinears(k.methods, c)
		if (err == nil) != (k.want == "") || err != nil && !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, want %q", name, err, k.want)
		}
	}
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string
	}{
		"short":  {[]string{"-m", "a", "-c", "b", "-aot_cfg", "c", "-o", "d"}, ""},
		"long":   {[]string{"--model_path", "a", "--config", "b", "--aot_config", "c", "--output_context_name", "d", "--qnn_env_path", "e/"}, ""},
		"equals": {[]string{"--model_path=a"}, "unknown argument"},
		"value":  {[]string{"-m"}, "needs a value"},
		"bare":   {[]string{"a"}, "unknown argument"},
		"none":   {nil, "--model_path is required"},
	}
	for name, c := range cases {
		_, _, err := newProgram(Qwen3.String()).parse(c.args)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	var out bytes.Buffer
	if code := New(Qwen3)(t.Context(), []string{"-h"}, tool.Env{Stdout: &out}); code != 0 || !strings.Contains(out.String(), "--qnn_env_path") {
		t.Errorf("-h: exit %d, %q", code, out.String())
	}
}

func TestBuildIDMustBeOne(t *testing.T) {
	dir := t.TempDir() + "/"
	for text, want := range map[string]string{"": "no QNN build id", "v2.41.0.251128145156_1 v2.40.0.251030114326_2": "several"} {
		if err := os.WriteFile(dir+"libQnnHtp.so", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := openBackend(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// What an older library does not know, it refuses in the vendor's words; one that does not say what it knows takes all.
func TestBackendTakes(t *testing.T) {
	dir := t.TempDir() + "/"
	for name, c := range map[string]struct {
		says string
		aim  aim
		want string
	}{
		"known":         {"open_socs=57,69;\x00open_device_options=0,1,2;", aim{soc: 69, chipset: "SM8750", signed: true}, ""},
		"says nothing":  {"", aim{soc: 87, signed: true}, ""},
		"cut off":       {"open_socs=57,", aim{soc: 69}, ""},
		"SoC":           {"open_socs=57;", aim{soc: 69, chipset: "SM8750"}, "SoC model (SnapdragonModel) is unknown: SM8750 is 69"},
		"signed domain": {"open_socs=57;\x00open_device_options=0,1;", aim{soc: 57, signed: true}, "Unsupported config option 2"},
		"unsigned":      {"open_socs=57;\x00open_device_options=0,1;", aim{soc: 57}, ""},
	} {
		if err := os.WriteFile(dir+"libQnnHtp.so", []byte("v2.31.0.250130000000_0\x00"+c.says), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := openBackend(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.takes(c.aim); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := openBackend(strings.TrimSuffix(dir, "/")); err == nil || !strings.Contains(err.Error(), "must end in a slash") {
		t.Errorf("without the slash: %v", err)
	}
}

// Values and keys that QNN or its tools do not know are refused in their words.
func TestConfigWords(t *testing.T) {
	c := toymodel.DefaultConfig()
	good, err := aotconfig.Write(aotconfig.Target{Arch: "v79", SoC: "SM8750", VTCMMB: 8}, aotconfig.Model{Type: "qwen3", Layers: c.NumHiddenLayers, BlockSize: c.LinearBlockSize})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ old, new, want string }{
		{`"SM8750"`, `"618"`, "Unknown config socModel 618"},
		{`"htp_arch"`, `"htp_cores": 2, "htp_arch"`, "Invalid key: target_machine/htp_cores"},
		{`"V79"`, `"V80"`, "Unknown HTP architecture"},
		{`"layers": 4`, `"layers": 28`, "quant_recipe.layers is 28, the model has 4"},
		{`"block_size": 16`, `"block_size": 32`, "block_size is 32, the model's linear_block_size 16"},
	} {
		if _, err := parseAOT([]byte(strings.ReplaceAll(string(good), x.old, x.new)), c); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", x.new, err)
		}
	}
}
