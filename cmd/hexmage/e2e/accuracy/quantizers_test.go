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

// TestQuantizers has AIMET and Quark quantize a small network: on the emulator the graphs compute what the float one
// does, and AIMET's encodings are there in three formats. Then both, and mllm's arithmetic, quantize a small language
// model: the compiler changes 8 bits that are symmetric about 0 silently, and the table says WRONG.
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

	right, wrong := []string{"aimet_a16w8", "mllm", "quark_a16w8"}, []string{"quark_a8w8"}
	all := slices.Concat(right, wrong)
	Wants(t, slow("run", "quantizers", "--var=model=tiny", `--var=schemes=["`+strings.Join(all, `", "`)+`"]`), ExitOK,
		"same graph on the CPU: quark_a8w8. The compiler changed these graphs silently.")
	rows := schemesTable(t, filepath.Join(w.Dir, "out", "quantizers", "table"))
	for _, way := range right {
		if got, err := strconv.ParseFloat(rows[way]["cpu_cosine"], 64); err != nil || !(got >= 0.99) ||
			rows[way]["verdict"] != "" {
			t.Errorf("%s: %q", way, rows[way])
		}
	}
	for _, way := range wrong {
		nodes := strings.Fields(rows[way]["nodes"])
		if rows[way]["verdict"] != "WRONG" || len(nodes) != 3 || nodes[0] != nodes[2] {
			t.Errorf("%s: %q: computes what it should. Update docs/quantizers.md", way,
				rows[way])
		}
	}
}

// encodingsPipeline has AIMET and Quark quantize the example of onnx-htp.
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
    aimet      = { method = "aimet", bits = 16, symmetric = false, ranges = "min_max" }
    symmetric  = { method = "quark", bits = 8, symmetric = true, ranges = "min_max" }
    percentile = { method = "quark", bits = 16, symmetric = false, ranges = "percentile" }
    entropy    = { method = "quark", bits = 8, symmetric = false, ranges = "entropy" }
  }
}
step "onnx_quantize" "net" {
  for_each        = local.schemes
  graphs          = local.net
  calibration     = local.samples
  method          = each.value.method
  activation_bits = each.value.bits
  symmetric       = each.value.symmetric
  ranges          = each.value.ranges
}
step "onnx_run" "float" {
  graphs = local.net
  inputs = local.samples
}
step "htp_context" "net" {
  for_each = local.schemes
  graphs   = step.onnx_quantize.net[each.key].outputs.dir
}
step "htp_emulate" "net" {
  for_each = local.schemes
  context  = step.htp_context.net[each.key].outputs.dir
  inputs   = local.samples
}
step "accuracy" "net" {
  reference = step.onnx_run.float.outputs.dir
  outputs   = { for n, e in step.htp_emulate.net : n => e.outputs.dir }
  min_cosine = 0.99
}
check "near" {
  condition     = step.accuracy.net.outputs.first_below_min == ""
  error_message = "${step.accuracy.net.outputs.first_below_min} is far."
}
output "encodings" { value = step.onnx_quantize.net["aimet"].outputs.encodings }
`

// schemesTable is the table that a run leaves: of each line the cells by column.
func schemesTable(t *testing.T, at string) map[string]map[string]string {
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

// quantizersOnEmulator: schemes side by side, those that need no environment of their own.
func quantizersOnEmulator(t *testing.T, w *World) {
	t.Helper()
	schemes := []string{"a16w4", "a16w8", "lpbq_rotated", "mobilequant", "ort"}
	args := []string{"quantizers", "--var=model=tiny", `--var=schemes=["` + strings.Join(schemes, `", "`) + `"]`}
	Wants(t, w.Run(t, append([]string{"run"}, args...)...), ExitOK, "a16w8", "lpbq_rotated", "passed", "check.compiler")
	if r := w.RunJSON(t, args...); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}
	rows := schemesTable(t, filepath.Join(w.Dir, "out", "quantizers", "table"))
	if len(rows) != len(schemes)+1 {
		t.Errorf("%d lines: %q", len(rows), rows)
	}
	least := map[string]float64{"ort": 0.85, "a16w4": 0.9}
	for _, way := range schemes {
		row := rows[way]
		enough := cmp.Or(least[way], 0.98)
		for column, want := range map[string]float64{"cosine": enough, "truncated_cosine": enough, "cpu_cosine": 0.99} {
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
}
