package fit_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/fit"
	"github.com/hexmage/hexmage/qnn"
)

// smol is SmolLM2-135M, tiny the model of pipeline onnx-htp.
func smol() fit.Model {
	return fit.Model{Architecture: "llama", Layers: 30, Hidden: 576, Heads: 9, KVHeads: 3, HeadDim: 64, Intermediate: 1536, Vocabulary: 49152, Tied: true}
}

func tiny() fit.Model {
	return fit.Model{Architecture: "qwen3", Layers: 2, Hidden: 128, Heads: 4, KVHeads: 2, HeadDim: 32, Intermediate: 256, Vocabulary: 512, Tied: true}
}

func way(scheme string) fit.Way {
	return fit.Way{Scheme: scheme, BlockSize: 32, Chunk: 32, Context: 128, KV: "uint16", Sharing: true}
}

// measured is what was compiled, with what it took.
type measured struct {
	Name    string    `json:"name"`
	Model   fit.Model `json:"model"`
	Way     fit.Way   `json:"way"`
	SoC     string    `json:"soc"`
	Context int64     `json:"context"` // bytes
	Peak    int64     `json:"peak"`    // bytes; 0: not known
}

// TestAgainstMeasured holds the formulas to all that was compiled: sizes and memory are within 30 %.
func TestAgainstMeasured(t *testing.T) {
	var all []measured
	for _, name := range []string{"testdata/measured.json", "testdata/smollm2.json"} { // the second by TestSmolLM2, and its part by hand
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var more []measured
		if err := json.Unmarshal(raw, &more); err != nil {
			t.Fatal(err)
		}
		all = append(all, more...)
	}
	socs := map[string]bool{}
	for _, x := range all {
		socs[x.SoC] = true
		e, err := fit.Of(x.Model, x.Way, fit.Known{})
		if err != nil {
			t.Errorf("%s: %v", x.Name, err)
			continue
		}
		for what, pair := range map[string][2]int64{"context": {e.Largest, x.Context}, "peak": {e.Compile, x.Peak}} {
			if pair[1] == 0 {
				continue // nobody looked
			}
			off := float64(pair[0])/float64(pair[1]) - 1
			t.Logf("%-28s %-8s %-7s reckoned %11d, measured %11d: %+.1f %%", x.Name, x.SoC, what, pair[0], pair[1], 100*off)
			if math.Abs(off) > 0.3 {
				t.Errorf("%s for %s: %s reckoned %d, measured %d: %+.1f %%", x.Name, x.SoC, what, pair[0], pair[1], 100*off)
			}
		}
	}
	if len(all) < 12 || !socs["SM8550"] || !socs["SM8750"] {
		t.Errorf("%d measurements, for %v", len(all), socs)
	}
}

// TestExact are numbers that follow from the model alone.
func TestExact(t *testing.T) {
	known := fit.Known{Bandwidth: fit.Fact{Value: 84.8e9}}
	if n := smol().Parameters(); n != 134479872 { // as its GGUF has them, without the norms
		t.Errorf("%d parameters", n)
	}
	w := way("a16w8")
	e, err := fit.Of(smol(), w, known)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(2 * 30 * 3 * 64 * 128 * 2); e.Phone.Cache != want {
		t.Errorf("cache %d, want %d", e.Phone.Cache, want)
	}
	if e.Weights.Embedding != 2*49152*576 || e.Phone.Embedding != 0 {
		t.Errorf("%+v, %+v", e.Weights, e.Phone)
	}
	if got, want := e.Token.Floor, 1e3*float64(e.Token.Bytes)/84.8e9; math.Abs(got-want) > 1e-9 || e.Token.Bytes < 134479872 || e.Token.Bytes > 145e6 {
		t.Errorf("%g ms for %d bytes, want %g", got, e.Token.Bytes, want)
	}
	if d := cmp.Diff(fit.Tensor{Name: "logits", Bytes: 2 * 32 * 49152}, e.Widest); d != "" {
		t.Error(d)
	}

	w.Outside, w.KV = true, "uint8"
	out, err := fit.Of(smol(), w, fit.Known{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Largest-out.Largest != 2*49152*576 || out.Phone.Embedding != 2*49152*576 || 2*out.Phone.Cache != e.Phone.Cache || out.Token.Floor != 0 {
		t.Errorf("outside %+v", out)
	}
	w.Sharing = false
	apart, err := fit.Of(smol(), w, fit.Known{})
	if err != nil {
		t.Fatal(err)
	}
	if len(apart.Contexts) != 2 || apart.Phone.Contexts < 2*out.Phone.Contexts*9/10 || apart.Compile >= out.Compile {
		t.Errorf("apart %+v", apart)
	}
}

// TestSplits: every number of parts has all layers once, the embedding first, the head last, and the largest is no larger than it must be.
func TestSplits(t *testing.T) {
	w := way("a16w8")
	before := int64(math.MaxInt64)
	for n := int64(1); n <= 30; n++ {
		w.Splits = n
		e, err := fit.Of(smol(), w, fit.Known{})
		if err != nil {
			t.Fatal(err)
		}
		var layers int64
		for i, c := range e.Contexts {
			if c.First != layers || c.Layers < 1 || c.Embedding != (i == 0) || c.Head != (i == len(e.Contexts)-1) {
				t.Errorf("%d: %+v", n, e.Contexts)
			}
			layers += c.Layers
		}
		if int64(len(e.Contexts)) != n || layers != 30 || e.Largest > before {
			t.Errorf("%d: %d contexts with %d layers, the largest %d after %d", n, len(e.Contexts), layers, e.Largest, before)
		}
		before = e.Largest
	}
	for _, limit := range []float64{250e6, 150e6, 100e6, 64e6} {
		w.Splits = 0
		e, err := fit.Of(smol(), w, fit.Known{Context: fit.Fact{Value: limit, Sure: qnn.Observed}})
		if err != nil {
			t.Fatal(err)
		}
		if e.Needed < 1 || float64(e.Largest) > limit || len(e.Findings) > 0 || int64(len(e.Contexts)) != e.Needed {
			t.Errorf("limit %g: %d needed, the largest %d, %+v", limit, e.Needed, e.Largest, e.Findings)
		}
		if w.Splits = e.Needed - 1; w.Splits < 1 {
			continue
		}
		less, err := fit.Of(smol(), w, fit.Known{Context: fit.Fact{Value: limit, Sure: qnn.Observed}})
		if err != nil {
			t.Fatal(err)
		}
		if float64(less.Largest) <= limit || len(less.Findings) != 1 || less.Findings[0].Severity != qnn.SeverityError || !strings.Contains(less.Findings[0].Do, "--splits ") {
			t.Errorf("limit %g, %d splits: the largest %d, %+v", limit, w.Splits, less.Largest, less.Findings)
		}
	}
	none, err := fit.Of(smol(), way("a16w8"), fit.Known{Context: fit.Fact{Value: 20e6, Sure: qnn.Inferred}})
	if err != nil {
		t.Fatal(err)
	}
	if none.Needed != 0 || len(none.Findings) != 1 || none.Findings[0].Severity != qnn.SeverityWarning || !strings.Contains(none.Findings[0].Do, "--embedding outside") {
		t.Errorf("an embedding larger than a context: %d, %+v", none.Needed, none.Findings)
	}
}

// TestFindings: what an arch cannot is refused where that was seen, and says what to take instead.
func TestFindings(t *testing.T) {
	k := fit.Known{Target: qnn.Target{SoC: "SM8350", Arch: "v68"}, Features: []string{"quantized"}, Feature: fit.Fact{Value: 1, Sure: qnn.Observed, Source: "a matrix"},
		VTCM: fit.Fact{Value: 2 << 20, Sure: qnn.Observed}, Process: fit.Fact{Value: 100e6, Sure: qnn.Inferred}}
	e, err := fit.Of(smol(), way("lpbq"), k)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		severity, do string
	}{{"error", "--scheme a16w8"}, {"error", "--no-sharing"}, {"error", "--kv uint8"}, {"warning", "--context"}, {"note", "--chunk 16"}} {
		if i >= len(e.Findings) || e.Findings[i].Severity != want.severity || !strings.Contains(e.Findings[i].Do, want.do) {
			t.Fatalf("%d: want %+v in %+v", i, want, e.Findings)
		}
	}
	if len(e.Findings) != 5 {
		t.Errorf("%+v", e.Findings)
	}
}

// TestWays that cannot be.
func TestWays(t *testing.T) {
	for want, change := range map[string]func(*fit.Way){
		"no scheme": func(w *fit.Way) { w.Scheme = "w2" }, "no cache of": func(w *fit.Way) { w.KV = "int4" }, "a chunk has": func(w *fit.Way) { w.Chunk = 129 },
		"at most": func(w *fit.Way) { w.Context = 1 << 40 }, "splits": func(w *fit.Way) { w.Splits = 31 },
		"does not divide into blocks of 128": func(w *fit.Way) { w.Scheme, w.BlockSize = "lpbq", 128 }, "blocks of 0": func(w *fit.Way) { w.Scheme, w.BlockSize = "lpbq", 0 },
	} {
		w := way("a16w8")
		change(&w)
		if _, err := fit.Of(smol(), w, fit.Known{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
