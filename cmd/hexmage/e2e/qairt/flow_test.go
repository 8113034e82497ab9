//go:build linux

package qairt_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// schemes are a QDQ graph, calibration by qairt-quantizer, and floats.
const schemes = `--var=schemes=["a16w8", "qairt_a16w8", "none"]`

// TestFlow runs pipeline onnx-htp with simulated tools: each tool has the arguments that QAIRT documents, the converter
// and the generator write files in Qualcomm's layouts, and the simulated qnn-net-run computes on the simulated phone.
// Then each failure that QAIRT's tools are silent about is provoked with the tools of this run.
func TestFlow(t *testing.T) {
	w := NewWorld(t).WithDownloads(t)
	args := []string{"onnx-htp", Simulated, "--var=graph=example", schemes}
	o := w.Run(t, append([]string{"run"}, args...)...)
	Wants(t, o, ExitOK, "Simulated tools, nothing quantized: example for SM8750, Hexagon v79",
		"Measured on the simulated phone",
		"passed         module.net.check.accuracy")
	if r := w.RunJSON(t, args...); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}
	if found, err := filepath.Glob(filepath.Join(w.Cache, "trees", "*", "include", "QNN")); err != nil ||
		len(found) > 0 {
		t.Errorf("of the SDK more than the flow needs was unpacked: %q, %v", found, err)
	}
	out := filepath.Join(w.Dir, "out", "onnx-htp")
	for scheme, dtype := range map[string]string{"a16w8": "ufixed16", "qairt_a16w8": "ufixed16",
		"none": "float16"} {
		c := inspected(t, w, filepath.Join(out, "contexts."+scheme, "device", "net.bin"))
		if g := c.Graphs; !c.Simulated || c.SoCModel != 69 || c.Arch != 79 || c.VTCM != 8<<20 ||
			len(g) != 1 || g[0].Name != "net" ||
			g[0].Inputs[0].DType != dtype {
			t.Errorf("%s: %+v", scheme, c)
		}
	}
	t.Run("another SoC, native types", func(t *testing.T) { flowsNatively(t, w) })
	t.Run("shared weights", func(t *testing.T) {
		o := w.Run(t, "run", "onnx-htp", Simulated, `--var=schemes=["a16w8"]`)
		Wants(t, o, ExitOK)
		c := inspected(t, w, filepath.Join(out, "contexts.a16w8", "device", "model.bin"))
		if len(c.Graphs) != 2 || !strings.Contains(Read(t, filepath.Join(out, "contexts.a16w8", "htp.json")),
			"weight_sharing_enabled") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("failures", func(t *testing.T) { provokes(t, w) })
}

// flowsNatively compiles for two SoCs, and runs with the context's own types and AIMET's way of a file of encodings.
func flowsNatively(t *testing.T, w *World) {
	t.Helper()
	w.Write(t, "pipelines/native.hcl", `pipeline { description = "two SoCs and native types" }
profile "simulated" { default = true }
target "SM8750" {}
target "SM8650" {}
module "net" {
  source       = "onnx-htp"
  target       = target.SM8750
  socs         = targets
  graph        = "example"
  native_io    = true
  perf_profile = "balanced"
}
output "contexts" { value = module.net.contexts }
output "rows" { value = module.net.rows }
`)
	o := w.Run(t, "run", "native")
	Wants(t, o, ExitOK, "passed         module.net.check.accuracy")
	if c := inspected(t, w, filepath.Join(w.Dir, "out", "native", "contexts.a16w8.SM8650", "device",
		"net.bin")); c.SoCModel != 57 || c.Arch != 75 {
		t.Errorf("%+v", c)
	}
	var rows map[string]struct{ Cosine float64 }
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(w.Dir, "out", "native", "rows"))),
		&rows); err != nil || rows["a16w8"].Cosine < 0.99 {
		t.Errorf("%v, %v", rows, err)
	}
	Wants(t, w.Run(t, "plan", "-v", "native"), ExitOK, "--use_native_input_files", "--perf_profile balanced")
}

// contextInfo is what inspect says of a context.
type contextInfo struct {
	Simulated bool
	SoCModel  int `json:"soc_model"`
	Arch      int
	VTCM      int `json:"vtcm_bytes"`
	Graphs    []struct {
		Name   string
		Inputs []struct{ DType string }
	}
}

func inspected(t *testing.T, w *World, file string) contextInfo {
	t.Helper()
	o := w.Run(t, "inspect", "--json", file)
	var d struct{ Context contextInfo }
	if err := json.Unmarshal([]byte(o.Stdout), &d); err != nil {
		t.Fatalf("%v: %s", err, o)
	}
	return d.Context
}

// TestPlan: without an SDK, the plan prints each command, each missing requirement, and the bytes to download.
func TestPlan(t *testing.T) {
	w := NewWorld(t)
	o := w.Run(t, "plan", "-v", "onnx-htp", "--profile", "device", "--var=graph=example", `--var=schemes=["qairt_a16w8"]`)
	Wants(t, o, ExitUsage, "/qairt-converter --input_network ", "--float_bitwidth 32",
		"/qairt-quantizer --input_dlc ", "--bias_bitwidth 32",
		"/qnn-context-binary-generator --backend ", "--soc-model 69 --arch v79 --vtcm-mb 8",
		"--config_file context/link.json",
		"./qnn-net-run --backend libQnnHtp.so --retrieve_context context.bin", "No phone is attached",
		"to download: 2.5 GB")
}
