//go:build linux

package accuracy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/model/fit"
	"github.com/hexmage/hexmage/model/fit/fittest"
)

// fitHead is what pipelines of these tests begin with. Their steps are those of module ort-llm, so what a test has
// compiled before is not compiled again.
const fitHead = `profile "emulator" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
`

// fitSteps are the steps of one model in two schemes.
const fitSteps = `
step "onnx_llm" "float" {
  model   = local.model
  context = 128
}
step "onnx_quantize" "way" {
  for_each = toset(["a16w8", "lpbq"])
  graphs   = step.onnx_llm.float.outputs.dir
  scheme   = each.value
}
step "htp_context" "way" {
  for_each = toset(["a16w8", "lpbq"])
  graphs   = step.onnx_quantize.way[each.key].outputs.dir
}
output "context" { value = { for way, c in step.htp_context.way : way => c.outputs.dir } }
output "times" { value = { for way, c in step.htp_context.way : way => c.outputs.times } }
`

// fitted holds what fit reckons for what pipeline tiny-ort compiles to what that was.
func fitted(t *testing.T, w *World) {
	w.Write(t, "pipelines/fitted.hcl", fitHead+`step "model" "tiny" {
  seed   = 79
  layers = 2
}
locals { model = step.model.tiny.outputs.dir }
output "model" { value = step.model.tiny.outputs.dir }
`+fitSteps)
	Wants(t, w.Run(t, "run", "fitted"), ExitOK)
	Wants(t, w.Run(t, "fit", "out/fitted/model"), ExitUsage, "say the SoC")
	Wants(t, w.Run(t, "fit", "out/fitted/model", "--soc", "SM8750", "--context", "128"), ExitOK, "2 layers of 128",
		"fits", "An estimate")
	near(t, w, "fitted", "out/fitted/model")
}

// near wants the context and the compiler's memory of a pipeline that ends in fitSteps to be what fit reckons, within
// 30 %.
func near(t *testing.T, w *World, pipeline, model string) {
	t.Helper()
	for _, scheme := range []string{"a16w8", "lpbq"} {
		o := w.Run(t, "fit", model, "--soc", "SM8750", "--context", "128", "--scheme", scheme, "--json")
		Wants(t, o, ExitOK)
		var e fit.Estimate
		if err := json.Unmarshal([]byte(o.Stdout), &e); err != nil {
			t.Fatal(err)
		}
		size, peak := took(t, w, filepath.Join("out", pipeline, "context."+scheme),
			filepath.Join("out", pipeline, "times."+scheme), "device")
		for what, pair := range map[string][2]int64{"the context": {e.Largest, size},
			"the compiler's memory": {e.Compile, peak}} {
			off := float64(pair[0])/float64(pair[1]) - 1
			t.Logf("%s, %s: %d reckoned, %d measured: %+.1f %%", scheme, what, pair[0], pair[1], 100*off)
			if math.Abs(off) > 0.3 {
				t.Errorf("%s, %s: %d reckoned, %d measured: %+.1f %%", scheme, what, pair[0], pair[1], 100*off)
			}
		}
	}
}

// took says how large the largest of contexts is that htp_context made, and how much memory the compiler had for it:
// of device/, or of twins.
func took(t *testing.T, w *World, dir, at string, contexts ...string) (size, peak int64) {
	t.Helper()
	var times map[string]struct {
		PeakMB float64 `json:"peak_mb"`
	}
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(w.Dir, at))), &times); err != nil {
		t.Fatal(err)
	}
	for _, name := range contexts {
		found, err := filepath.Glob(filepath.Join(w.Dir, dir, name, "*.bin"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v, %v", name, found, err)
		}
		info, err := os.Stat(found[0])
		if err != nil {
			t.Fatal(err)
		}
		size, peak = max(size, info.Size()), max(peak, int64(1e6*times[name].PeakMB))
	}
	return size, peak
}

// fitPoint is a model of seeded weights, and how it is compiled.
type fitPoint struct {
	name           string
	model          fit.Model
	chunk, context int64
	socs           []string
}

// fitPoints are what the formulas of package fit stand on: layers, widths, vocabularies, chunks and contexts that
// differ, for two SoCs.
func fitPoints() []fitPoint {
	m := func(arch string, layers, hidden, heads, kv, dim, intermediate, vocabulary int64) fit.Model {
		return fit.Model{Architecture: arch, Layers: layers, Hidden: hidden, Heads: heads, KVHeads: kv, HeadDim: dim,
			Intermediate: intermediate, Vocabulary: vocabulary, Tied: true}
	}
	v79, both := []string{"SM8750"}, []string{"SM8550", "SM8750"}
	return []fitPoint{
		{"tiny", m("qwen3", 2, 128, 4, 2, 32, 256, 512), 32, 128, both},
		{"narrow", m("qwen3", 2, 256, 4, 2, 64, 768, 512), 32, 128, both},
		{"middle", m("llama", 4, 512, 8, 2, 64, 1536, 512), 32, 128, both},
		{"wide", m("qwen3", 2, 1024, 16, 8, 64, 3072, 512), 32, 128, v79},
		{"deep", m("llama", 8, 256, 4, 2, 64, 768, 512), 32, 128, v79},
		{"words", m("llama", 2, 256, 4, 2, 64, 768, 32768), 32, 128, v79},
		{"chunk", m("llama", 4, 512, 8, 2, 64, 1536, 512), 128, 1024, v79},
		{"context", m("llama", 4, 512, 8, 2, 64, 1536, 512), 32, 2048, v79},
		{"qwen2", m("qwen2", 2, 896, 14, 2, 64, 4864, 8192), 64, 512, v79},
	}
}

// TestFitPoints compiles them, and wants what fit reckons to be within 30 %. With -update it writes down what they
// took.
func TestFitPoints(t *testing.T) {
	if os.Getenv(EnvSmolLM2) == "" {
		t.Skip("mage testAll runs this: " + EnvSmolLM2 + " is not set")
	}
	w := EmulatorWarmed(t)
	tokenizer := []byte(Read(t, filepath.Join(Repo(), "simulated", "mllm", "toymodel", "files", "tokenizer.json")))
	var steps strings.Builder
	steps.WriteString(fitHead)
	schemes := []string{"a16w8", "lpbq"}
	for _, p := range fitPoints() {
		if err := fittest.Write(filepath.Join(w.Dir, "models", p.name), p.model, tokenizer); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&steps, "step \"onnx_llm\" %q {\n  model = \"models/%[1]s\"\n  chunk = %d\n  context = %d\n}\n",
			p.name, p.chunk, p.context)
		for _, s := range schemes {
			name := p.name + "_" + s
			fmt.Fprintf(&steps, "step \"onnx_quantize\" %q {\n  graphs = step.onnx_llm.%s.outputs.dir\n  scheme = "+
				"%q\n  samples = 2\n}\n", name, p.name, s)
			fmt.Fprintf(&steps, "step \"htp_context\" %q {\n  graphs = step.onnx_quantize.%[1]s.outputs.dir\n}\n", name)
			fmt.Fprintf(&steps, "output %q { value = step.htp_context.%[1]s.outputs.dir }\noutput \"%[1]s_times\" { "+
				"value = step.htp_context.%[1]s.outputs.times }\n", name)
		}
	}
	w.Write(t, "pipelines/points.hcl", steps.String())
	type row struct {
		Name    string    `json:"name"`
		Model   fit.Model `json:"model"`
		Way     fit.Way   `json:"way"`
		SoC     string    `json:"soc"`
		Context int64     `json:"context"`
		Peak    int64     `json:"peak"`
	}
	var rows []row
	for _, soc := range []string{"SM8550", "SM8750"} {
		var args []string
		for _, p := range fitPoints() {
			for _, s := range schemes {
				if slices.Contains(p.socs, soc) {
					args = append(args, "htp_context."+p.name+"_"+s)
				}
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		Wants(t, Ended(t, w.Command(ctx, append([]string{"--soc", soc, "run", "points"}, args...)...)), ExitOK)
		for _, p := range fitPoints() {
			for _, s := range schemes {
				if !slices.Contains(p.socs, soc) {
					continue
				}
				at := filepath.Join("out", "points", p.name+"_"+s)
				together := row{Name: p.name + ", " + s, Model: p.model, SoC: soc,
					Way: fit.Way{Scheme: s, BlockSize: 32, Chunk: p.chunk, Context: p.context, KV: "uint16",
						Sharing: true}}
				together.Context, together.Peak = took(t, w, at, at+"_times", "device")
				apart := together
				apart.Name, apart.Way.Sharing = apart.Name+", apart", false
				apart.Context, apart.Peak = took(t, w, at, at+"_times", "emulator/prefill", "emulator/decode")
				rows = append(rows, together, apart)
			}
		}
	}
	for _, r := range rows {
		e, err := fit.Of(r.Model, r.Way, fit.Known{})
		if err != nil {
			t.Fatal(err)
		}
		for what, pair := range map[string][2]int64{"context": {e.Largest, r.Context}, "peak": {e.Compile, r.Peak}} {
			if off := float64(pair[0])/float64(pair[1]) - 1; math.Abs(off) > 0.3 {
				t.Errorf("%s for %s: %s %d reckoned, %d measured: %+.1f %%", r.Name, r.SoC, what, pair[0], pair[1],
					100*off)
			}
		}
	}
	if Update() {
		text, err := json.MarshalIndent(rows, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(Repo(), "model", "fit", "testdata", "measured.json"), append(text, '\n'),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ways are the parameters of module ort-llm that decide what a model takes: each is one on the emulator, too, and
// what fit says of the parts is near.
func ways(t *testing.T, w *World) {
	args := []string{"--var=kv=uint8", "--var=embedding=outside", "--var=splits=2", "--var=chunk=16",
		`--var=schemes=["lpbq"]`}
	Wants(t, w.Run(t, append([]string{"run", TinyORT}, args...)...), ExitOK) // each cosine is above 0.95
	made := filepath.Join(w.Dir, "out", TinyORT, "contexts.lpbq")
	for _, name := range []string{"embedding.bin", "device/0/prefill_0_ctx.onnx", "device/0/prefill_0_ctx_qnn.bin",
		"device/1/prefill_1_ctx.onnx", "device/1/prefill_1_ctx_qnn.bin", "device/0/decode_0_ctx.onnx",
		"device/1/decode_1_ctx.onnx", "device/decoder.txt", "device/rotation.f32"} {
		if !Exists(filepath.Join(made, name)) {
			t.Errorf("the contexts have no %s", name)
		}
	}
	o := w.Run(t, "fit", "out/fitted/model", "--soc", "SM8750", "--context", "128", "--chunk", "16", "--scheme",
		"lpbq", "--kv", "uint8", "--embedding", "outside", "--splits", "2", "--json")
	Wants(t, o, ExitOK)
	var e fit.Estimate
	if err := json.Unmarshal([]byte(o.Stdout), &e); err != nil || len(e.Contexts) != 2 {
		t.Fatalf("%v: %s", err, o)
	}
	for i, c := range e.Contexts {
		info, err := os.Stat(filepath.Join(made, "device", Itoa(i), fmt.Sprintf("prefill_%d_ctx_qnn.bin", i)))
		if err != nil {
			t.Fatal(err)
		}
		if off := float64(c.Bytes)/float64(info.Size()) - 1; math.Abs(off) > 0.3 {
			t.Errorf("context %d: %d bytes reckoned, it has %d: %+.1f %%", i, c.Bytes, info.Size(), 100*off)
		}
	}

	Wants(t, w.Run(t, "run", TinyORT, "--var=sharing=false", `--var=schemes=["a16w8"]`), ExitOK, "12 of 12")
	at := filepath.Join(w.Dir, "out", TinyORT, "contexts.a16w8")
	for _, graph := range []string{"prefill", "decode"} {
		name := graph + "_ctx_qnn.bin"
		if Read(t, filepath.Join(at, "device", name)) != Read(t, filepath.Join(at, "emulator", graph, name)) {
			t.Errorf("%s: the context for the device is not that for the emulator, which has one graph", graph)
		}
	}
}
