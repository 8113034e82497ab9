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

// fitHead is what pipelines of these tests begin with. Their steps are those of module onnx-htp, so what a test has
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
  context_len = 128
}
step "onnx_quantize" "scheme" {
  for_each = toset(["a16w8", "lpbq"])
  graphs   = step.onnx_llm.float.outputs.dir
  method   = each.value
}
step "htp_context" "scheme" {
  for_each = toset(["a16w8", "lpbq"])
  graphs   = step.onnx_quantize.scheme[each.key].outputs.dir
}
output "context" { value = { for way, c in step.htp_context.scheme : way => c.outputs.dir } }
output "times" { value = { for way, c in step.htp_context.scheme : way => c.outputs.times } }
`

// fitted holds what fit reckons for what pipeline onnx-htp compiles by default to what that was.
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
// of device/, or of emulator/.
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
		fmt.Fprintf(&steps, "step \"onnx_llm\" %q {\n  model = \"models/%[1]s\"\n"+
			"  ar_len = %d\n  context_len = %d\n}\n",
			p.name, p.chunk, p.context)
		for _, s := range schemes {
			name := p.name + "_" + s
			fmt.Fprintf(&steps, "step \"onnx_quantize\" %q {\n  graphs = step.onnx_llm.%s.outputs.dir\n  method = "+
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

// ways are the parameters of module onnx-htp that decide what a model takes: each compiles, and fit estimates the sizes
// of the parts.
func ways(t *testing.T, w *World) {
	w.Write(t, "pipelines/parts.hcl", partsPipeline)
	Wants(t, w.Run(t, "run", "parts"), ExitOK)
	bundle := filepath.Join(w.Dir, "out", "parts", "bundles.lpbq")
	for _, name := range []string{"embedding.bin", "embedding.onnx", "prefill_0_ctx.onnx", "prefill_0_ctx_qnn.bin",
		"prefill_1_ctx.onnx", "prefill_1_ctx_qnn.bin", "decode_0_ctx.onnx", "decode_1_ctx.onnx"} {
		if !Exists(filepath.Join(bundle, name)) {
			t.Errorf("the bundle has no %s", name)
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
		info, err := os.Stat(filepath.Join(bundle, fmt.Sprintf("prefill_%d_ctx_qnn.bin", i)))
		if err != nil {
			t.Fatal(err)
		}
		if off := float64(c.Bytes)/float64(info.Size()) - 1; math.Abs(off) > 0.3 {
			t.Errorf("context %d: %d bytes reckoned, it has %d: %+.1f %%", i, c.Bytes, info.Size(), 100*off)
		}
	}

	at := filepath.Join(w.Dir, "out", "parts", "apart.a16w8")
	for _, graph := range []string{"prefill", "decode"} {
		name := graph + "_ctx_qnn.bin"
		if Read(t, filepath.Join(at, "device", name)) != Read(t, filepath.Join(at, "emulator", graph, name)) {
			t.Errorf("%s: the context for the device is not that for the emulator, which has one graph", graph)
		}
	}
}

const partsPipeline = `profile "emulator" { default = true }
target "SM8750" {}
step "model" "tiny" {
  seed   = 79
  layers = 2
}
module "parts" {
  source     = "onnx-htp"
  model      = step.model.tiny.outputs.dir
  schemes    = ["lpbq"]
  kv         = "uint8"
  embedding  = "outside"
  num_shards = 2
  ar_len     = 16
  min_cosine = 0.95
}
module "apart" {
  source        = "onnx-htp"
  model         = step.model.tiny.outputs.dir
  schemes       = ["a16w8"]
  share_weights = false
  min_cosine    = 0.95
}
output "bundles" { value = module.parts.bundles }
output "apart" { value = module.apart.contexts }
`
