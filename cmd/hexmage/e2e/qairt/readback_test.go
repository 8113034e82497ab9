//go:build linux

package qairt_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

// asked is what a context was compiled for.
type asked struct {
	soc, model, arch, vtcm, level, release string
	graphs                                 map[string]tensors
}

type tensors struct {
	Inputs  []tensor `json:"inputs"`
	Outputs []tensor `json:"outputs"`
}

type tensor struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
}

// TestReadBack holds the check of the generator's contexts to contexts of Qualcomm's compiler: what they were compiled
// for passes, for four SoCs, one context of two graphs, and an older release; anything else is refused.
func TestReadBack(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is missing: install Python 3.10 or newer")
	}
	const net, prefill, decode = "QNNExecutionProvider_QNNExecutionProvider_12722735674823233625_1_0",
		"QNNExecutionProvider_QNNExecutionProvider_16664090799440765514_1_0",
		"QNNExecutionProvider_QNNExecutionProvider_1135731222725871345_1_0"
	of := func(dtype string) tensors {
		return tensors{[]tensor{{"x", dtype}}, []tensor{{"y", dtype}}}
	}
	one, both := map[string]tensors{net: of("float32")}, map[string]tensors{prefill: of("ufixed16"),
		decode: of("ufixed16")}
	checked := func(t *testing.T, file string, a asked) (string, bool) {
		t.Helper()
		at := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(at, qnnctxtest.Real(t, file), 0o644); err != nil {
			t.Fatal(err)
		}
		graphs, err := json.Marshal(a.graphs)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{filepath.Join(Repo(), "modules", "onnx-htp", "qairt.py"), "check", "--binary", at,
			"--graphs", string(graphs), "--release", a.release,
			"--soc", a.soc, "--soc-model", a.model, "--arch", a.arch, "--vtcm-mb", a.vtcm}
		if a.level != "" {
			args = append(args, "--level", a.level)
		}
		cmd := exec.CommandContext(t.Context(), python, args...)
		cmd.Dir = filepath.Dir(at)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HEXMAGE_SELF=" + Hexmage(), "HOME=" + t.TempDir(),
			"PYTHONDONTWRITEBYTECODE=1"}
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
	right := map[string]asked{
		"2.51-SM8550.bin": {"SM8550", "43", "v73", "8", "", "2.51.0", one},
		"2.51-SM8650.bin": {"SM8650", "57", "v75", "8", "", "2.51.0", one},
		"2.51-SM8750.bin": {"SM8750", "69", "v79", "8", "2", "2.51.0", one},
		"2.51-SM8850.bin": {"SM8850", "87", "v81", "8", "", "2.51.0", one},
		"2.51-shared.bin": {"SM8750", "69", "v79", "8", "", "2.51.0", both},
		"2.48-shared.bin": {"SM8750", "69", "v79", "8", "", "2.48.40", both},
	}
	for file, a := range right {
		if said, ok := checked(t, file, a); !ok {
			t.Errorf("%s: %s", file, said)
		}
	}
	wrong := []struct {
		name, file, want string
		change           func(a *asked)
	}{
		{"another SoC", "2.51-SM8650.bin", "SoC model 57 instead of 69",
			func(a *asked) { a.model = "69" }},
		{"another arch", "2.51-SM8750.bin", "arch v79 instead of v81",
			func(a *asked) { a.arch = "v81" }},
		{"another VTCM", "2.51-SM8550.bin", "VTCM 8 MB instead of 4 MB",
			func(a *asked) { a.vtcm = "4" }},
		{"another level", "2.51-SM8850.bin", "optimization level 2 instead of 3",
			func(a *asked) { a.level = "3" }},
		{"another graph", "2.51-SM8750.bin", "graphs " + net + " instead of net",
			func(a *asked) { a.graphs = map[string]tensors{"net": of("float32")} }},
		{"a graph is missing", "2.51-shared.bin", "net", func(a *asked) {
			a.graphs = map[string]tensors{prefill: of("ufixed16"), decode: of("ufixed16"), "net": of("ufixed16")}
		}},
		{"an encoding is missing", "2.51-SM8750.bin",
			"x of " + net + " is float32 without an encoding instead of ufixed16",
			func(a *asked) { a.graphs = map[string]tensors{net: of("ufixed16")} }},
		{"another release", "2.48-shared.bin", "QAIRT v2.48.40.260702151143 instead of 2.51.0",
			func(a *asked) { a.release = "2.51.0" }},
		{"no target at all", "2.51-none.bin", "arch v68 instead of v79",
			func(a *asked) { *a = right["2.51-SM8750.bin"] }},
	}
	for _, c := range wrong {
		t.Run(c.name, func(t *testing.T) {
			a := right[c.file]
			c.change(&a)
			if said, ok := checked(t, c.file, a); ok || !strings.Contains(said, c.want) {
				t.Errorf("want %q, got ok %s: %s", c.want, strconv.FormatBool(ok), said)
			}
		})
	}
}

// TestReadBackDLC holds the check of the converter's DLCs to one that ONNX Runtime's provider wrote of a quantized
// graph.
func TestReadBackDLC(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"prefill.onnx", "prefill.dlc"} {
		if err := os.WriteFile(filepath.Join(dir, name), qnnctxtest.Real(t, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const graph = "QNNExecutionProvider_QNNExecutionProvider_16664090799440765514_1_0"
	for _, c := range []struct{ name, graph, want string }{
		{"right", graph, "{'sfixed8': 1, 'ufixed16': 2}"},
		{"another graph", "prefill", "missing graph prefill"},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, ok := asModule(t, dir, `graph = qairt.onnx_graph(Path("prefill.onnx"))
print(qairt.converted(Path("prefill.dlc"), argv[1], graph, "32", "prefill.onnx"))`, c.graph)
			if ok != (c.name == "right") || !strings.Contains(said, c.want) {
				t.Errorf("want %q, got %s", c.want, said)
			}
		})
	}
}

// TestRealLogs gives lines of public logs of QAIRT's tools to the check that decides success.
func TestRealLogs(t *testing.T) {
	for _, c := range []struct{ source, tool, log, token, want string }{
		{"a run of SNPE 1.66's converter, VGG16", "qairt-converter",
			"219 - WARNING - WARNING_GEMM: GEMM operation is not supported in the general case, " +
				"attempting to interpret as FC\n" +
				"214 - INFO - INFO_DLC_SAVE_LOCATION: Saving model at models/VGG/dlc/vgg16.dlc\n" +
				"214 - INFO - INFO_CONVERSION_SUCCESS: Conversion completed successfully",
			"INFO_CONVERSION_SUCCESS", ""},
		{"a report on 2.45.0.260326, Depth Anything", "qairt-converter",
			"addNode: WARNING: Unknown backend name 'DSP' provided. Proceeding without backend-specific handling.\n" +
				"INFO_CONVERSION_SUCCESS: Conversion completed successfully", "INFO_CONVERSION_SUCCESS", ""},
		{"a run of 2.43, Hexagon 770", "qnn-context-binary-generator",
			"rpcmem_android.c:38:dummy call to rpcmem_init, rpcmem APIs will be used from libxdsprpc\n" +
				"Completed stage: Finalizing Graph Sequence (9903 us)\n====== DDR bandwidth summary ======\n" +
				"spill_bytes=0\nfill_bytes=0\nwrite_total_bytes=65536\nread_total_bytes=11130880", "", ""},
		{"a run of 2.45.0.260326154327, Real-ESRGAN", "qnn-net-run",
			"qnn-net-run build version: v2.45.0.260326154327\n" +
				"Creating context from binary file: real_esrgan_general_x4v3.bin\nExecuting Graphs\n" +
				"Finished Executing Graphs", "Finished Executing Graphs", ""},
		{"the run of SNPE 1.66 without its last line", "qairt-converter",
			"214 - INFO - INFO_DLC_SAVE_LOCATION: Saving model at models/VGG/dlc/vgg16.dlc", "INFO_CONVERSION_SUCCESS",
			"the log lacks"},
		{"MollySophia/rwkv-qualcomm#14", "qairt-converter",
			"KeyError: 'No translation registered for op type onnx_wkv7. Op domain: rwkv'", "",
			"QAIRT has no such operator"},
		{"pytorch/executorch#1430", "qnn-context-binary-generator",
			"    32.1ms [ ERROR ] Invalid key: graph_configs/0/graph_priority", "",
			"the tool ignores keys of a config"},
		{"a report on 2.48.0, SM8750", "qairt-quantizer",
			"fallbackToFloat: Use float fallback flag when user specify encodings", "", "fell back to floats"},
	} {
		t.Run(c.source, func(t *testing.T) {
			said, ok := asModule(t, t.TempDir(), `qairt.judged(argv[1], argv[2], 0)
if argv[3]: qairt.said(argv[2], argv[1], argv[3])`, c.tool, c.log, c.token)
			if ok != (c.want == "") || !strings.Contains(said, c.want) {
				t.Errorf("want %q, got %s", c.want, said)
			}
		})
	}
}

// asModule runs Python code that uses the check program.
func asModule(t *testing.T, dir, code string, args ...string) (said string, ok bool) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is missing: install Python 3.10 or newer")
	}
	cmd := exec.CommandContext(t.Context(), python,
		append([]string{"-c", "import qairt\nfrom pathlib import Path\nfrom sys import argv\n" + code}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HEXMAGE_SELF=" + Hexmage(), "HOME=" + dir, "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH=" + filepath.Join(Repo(), "modules", "onnx-htp")}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}
