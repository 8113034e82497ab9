//go:build linux

package accuracy_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// envQuantizers has TestQuantizers run, which downloads environments with PyTorch. It is the folder of a cache whose
// downloads are taken, or anything else.
const envQuantizers = "HEXMAGE_QUANTIZERS"

// TestQuantizers has AIMET and Quark quantise a small network: what they make says on the emulator what the float one
// says, and AIMET's encodings are there in three formats. Then both, and mllm's arithmetic, quantise a small language
// model: of 8 bits about 0 the compiler makes something else without a word, and the table says WRONG.
func TestQuantizers(t *testing.T) {
	if os.Getenv(envQuantizers) == "" {
		t.Skip("mage testAll runs this: " + envQuantizers + " is not set; it downloads 3.4 GB of Python packages")
	}
	w := EmulatorWarmed(t).WithDownloadsOf(t, os.Getenv(envQuantizers))
	slow := func(args ...string) *Outcome {
		ctx, cancel := context.WithTimeout(t.Context(), 8*RunLimit)
		defer cancel()
		return Ended(t, w.Command(ctx, args...))
	}
	w.Write(t, "example.py", Read(t, filepath.Join(Repo(), "modules", "onnx-htp", "example.py")))
	w.Write(t, "pipelines/encodings.hcl", encodingsPipeline)
	Wants(t, slow("run", "encodings"), ExitOK, "passed", "check.near")
	for _, version := range []string{"0.6.1", "1.0.0", "2.0.0"} {
		var found map[string]any
		if err := json.Unmarshal(
			[]byte(Read(t, filepath.Join(w.Dir, "out", "encodings", "encodings", version, "net.encodings"))),
			&found); err != nil || len(found) < 2 {
			t.Errorf("%s: %v, %v", version, found, err)
		}
	}

	right, wrong := []string{"aimet_a16w8", "mllm", "quark_a16w8"}, []string{"quark_a8w8", "quark_xint8"}
	all := slices.Concat(right, wrong)
	Wants(t, slow("run", "quantizers", "--var=model=tiny", `--var=ways=["`+strings.Join(all, `", "`)+`"]`), ExitOK,
		"numbers on the CPU: quark_a8w8, quark_xint8. The compiler took these graphs whole, and said nothing.")
	rows := waysTable(t, filepath.Join(w.Dir, "out", "quantizers", "table"))
	for _, way := range right {
		if got, err := strconv.ParseFloat(rows[way]["cpu_cosine"], 64); err != nil || !(got >= 0.99) ||
			rows[way]["verdict"] != "" {
			t.Errorf("%s: %q", way, rows[way])
		}
	}
	for _, way := range wrong {
		nodes := strings.Fields(rows[way]["nodes"])
		if rows[way]["verdict"] != "WRONG" || len(nodes) != 3 || nodes[0] != nodes[2] {
			t.Errorf("%s: %q: whole on the NPU it computes what it should. Have docs/quantizers.md say so", way,
				rows[way])
		}
	}
}

// encodingsPipeline has AIMET and Quark quantise the example of onnx-htp.
const encodingsPipeline = `
profile "emulator" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
toolchain "aimet" {}
toolchain "quark" {}
step "python" "example" {
  environment = toolchain.onnx.dir
  script      = "example.py"
  args        = ["example"]
  output "dir" { tree = "example" }
}
locals {
  net     = "${step.python.example.outputs.dir}/net.onnx"
  samples = "${step.python.example.outputs.dir}/samples"
  schemes = {
    int8       = { activations = "int8", ranges = "min_max", bias = "int32", axis = null }
    xint8      = { activations = "int8", ranges = "min_mse", bias = "int8", axis = null }
    pairs      = { activations = "uint16", ranges = "min_max", bias = "int32", axis = 1 }
    percentile = { activations = "uint16", ranges = "percentile", bias = "int32", axis = 1 }
    entropy    = { activations = "uint8", ranges = "entropy", bias = "int16", axis = null }
  }
}
step "aimet_quantize" "net" {
  graphs      = local.net
  calibration = local.samples
}
step "quark_quantize" "net" {
  for_each         = local.schemes
  graphs           = local.net
  calibration      = local.samples
  activations      = each.value.activations
  asymmetric       = each.value.activations != "int8"
  ranges           = each.value.ranges
  power_of_two     = each.value.ranges == "min_mse"
  adjust           = each.value.ranges == "min_mse" ? ["shift_cut", "shift_bias", "shift_read", "shift_write", "shift_swish", "hard_sigmoid"] : []
  bias             = each.value.bias
  per_channel      = each.value.axis != null
  per_channel_axes = each.value.axis == null ? {} : { MatMul = each.value.axis }
  pairs_on_weights = each.key == "pairs"
  dedicated_pairs  = each.key == "pairs"
  exclude_op_types = each.key == "pairs" ? ["Relu"] : []
}
locals {
  graphs = merge({ aimet = step.aimet_quantize.net.outputs.dir }, { for way, s in step.quark_quantize.net : way => s.outputs.dir })
}
step "onnx_run" "float" {
  graphs = local.net
  inputs = local.samples
}
step "htp_context" "net" {
  for_each = toset(concat(["aimet"], keys(local.schemes)))
  graphs   = local.graphs[each.key]
  floats   = contains(["xint8", "entropy"], each.key) // biases of less than 32 bits, of which the compiler makes floats
}
step "htp_emulate" "net" {
  for_each = toset(concat(["aimet"], keys(local.schemes)))
  context  = step.htp_context.net[each.key].outputs.dir
  inputs   = local.samples
}
step "accuracy" "net" {
  reference = step.onnx_run.float.outputs.dir
  outputs   = { for n, e in step.htp_emulate.net : n => e.outputs.dir }
  least     = 0.99
}
check "near" {
  condition     = step.accuracy.net.outputs.first_bad == ""
  error_message = "${step.accuracy.net.outputs.first_bad} is far."
}
output "encodings" { value = step.aimet_quantize.net.outputs.encodings }
`

// waysTable is the table that a run leaves: of each line the cells by column.
func waysTable(t *testing.T, at string) map[string]map[string]string {
	t.Helper()
	var table struct {
		Columns []struct{ Name string }
		Lines   [][]string
	}
	if err := json.Unmarshal([]byte(Read(t, at)), &table); err != nil {
		t.Fatal(err)
	}
	rows := map[string]map[string]string{}
	for _, line := range table.Lines {
		row := map[string]string{}
		for i, c := range table.Columns {
			row[c.Name] = line[i]
		}
		rows[row["name"]] = row
	}
	return rows
}

// quantizersOnEmulator: ways of quantising side by side, those that need no environment of their own.
func quantizersOnEmulator(t *testing.T, w *World) {
	t.Helper()
	ways := []string{"a16w8", "a8w8_shadow", "lpbq_rotated", "mobilequant", "ort"}
	args := []string{"quantizers", "--var=model=tiny", `--var=ways=["` + strings.Join(ways, `", "`) + `"]`,
		`--var=bisect=["a16w4"]`}
	Wants(t, w.Run(t, append([]string{"run"}, args...)...), ExitOK, "a16w8", "lpbq_rotated", "passed", "check.agree",
		"its own SQNR", "No layer breaks: ")
	if r := w.RunJSON(t, args...); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}
	rows := waysTable(t, filepath.Join(w.Dir, "out", "quantizers", "table"))
	if len(rows) != len(ways)+1 {
		t.Errorf("%d lines: %q", len(rows), rows)
	}
	least := map[string]float64{"ort": 0.85}
	for _, way := range ways {
		row := rows[way]
		enough := cmp.Or(least[way], 0.98)
		for column, want := range map[string]float64{"cosine": enough, "twin_cosine": enough, "cpu_cosine": 0.99} {
			if got, err := strconv.ParseFloat(row[column], 64); err != nil || !(got >= want) { // and so no NaN
				t.Errorf("%s: %s is %q, want %g", way, column, row[column], want)
			}
		}
		if row["verdict"] != "" {
			t.Errorf("%s: %q", way, row)
		}
		if nodes := strings.Fields(row["nodes"]); len(nodes) != 3 || nodes[0] != nodes[2] {
			t.Errorf("%s: %s nodes on the NPU", way, row["nodes"])
		}
	}
	plot := Read(t, filepath.Join(w.Dir, "out", "quantizers", "plot.svg"))
	if !strings.HasPrefix(plot, "<svg ") ||
		slices.ContainsFunc(ways, func(way string) bool { return !strings.Contains(plot, ">"+way+"<") }) {
		t.Errorf("plot.svg:\n%s", plot)
	}
}
