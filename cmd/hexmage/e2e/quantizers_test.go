//go:build linux

package e2e_test

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
)

// envQuantizers has TestQuantizers run, which downloads an environment with PyTorch.
const envQuantizers = "HEXMAGE_QUANTIZERS"

// TestQuantizers has AIMET quantise a small network: what it makes says on the emulator what the float one says, and its encodings are there in three formats.
func TestQuantizers(t *testing.T) {
	if os.Getenv(envQuantizers) == "" {
		t.Skip("mage testAll runs this: " + envQuantizers + " is not set; it downloads 3.3 GB of Python packages")
	}
	w := hostWarmed(t)
	slow := func(args ...string) *outcome {
		ctx, cancel := context.WithTimeout(t.Context(), 8*runLimit)
		defer cancel()
		return ended(t, w.command(ctx, args...))
	}
	w.write(t, "example.py", read(t, filepath.Join(shared.repo, "modules", "onnx-htp", "example.py")))
	w.write(t, "pipelines/encodings.hcl", encodingsPipeline)
	wants(t, slow("run", "encodings"), exitOK, "passed", "check.near")
	for _, version := range []string{"0.6.1", "1.0.0", "2.0.0"} {
		var found map[string]any
		if err := json.Unmarshal([]byte(read(t, filepath.Join(w.dir, "out", "encodings", "encodings", version, "net.encodings"))), &found); err != nil || len(found) < 2 {
			t.Errorf("%s: %v, %v", version, found, err)
		}
	}
}

// encodingsPipeline has AIMET quantise the example of onnx-htp.
const encodingsPipeline = `
profile "host" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
toolchain "aimet" {}
step "python" "example" {
  environment = toolchain.onnx.dir
  script      = "example.py"
  args        = ["example"]
  output "dir" { tree = "example" }
}
locals {
  net     = "${step.python.example.outputs.dir}/net.onnx"
  samples = "${step.python.example.outputs.dir}/samples"
}
step "aimet_quantize" "net" {
  graphs      = local.net
  calibration = local.samples
}
locals {
  graphs = { aimet = step.aimet_quantize.net.outputs.dir }
}
step "onnx_run" "float" {
  graphs = local.net
  inputs = local.samples
}
step "htp_context" "net" {
  for_each = toset(["aimet"])
  graphs   = local.graphs[each.key]
}
step "htp_emulate" "net" {
  for_each = toset(["aimet"])
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
	if err := json.Unmarshal([]byte(read(t, at)), &table); err != nil {
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

// quantizersOnHost: ways of quantising side by side, those that need no environment of their own.
func quantizersOnHost(t *testing.T, w *world) {
	t.Helper()
	ways := []string{"a16w8", "a8w8_shadow", "lpbq_rotated", "mobilequant", "ort"}
	args := []string{"quantizers", "--var=model=tiny", `--var=ways=["` + strings.Join(ways, `", "`) + `"]`, `--var=bisect=["a16w4"]`}
	wants(t, w.run(t, append([]string{"run"}, args...)...), exitOK, "a16w8", "lpbq_rotated", "passed", "check.agree", "its own SQNR", "No layer breaks: ")
	if r := w.runJSON(t, args...); r.executed != 0 {
		t.Errorf("again: %q ran", r.names)
	}
	rows := waysTable(t, filepath.Join(w.dir, "out", "quantizers", "table"))
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
	plot := read(t, filepath.Join(w.dir, "out", "quantizers", "plot.svg"))
	if !strings.HasPrefix(plot, "<svg ") || slices.ContainsFunc(ways, func(way string) bool { return !strings.Contains(plot, ">"+way+"<") }) {
		t.Errorf("plot.svg:\n%s", plot)
	}
}
