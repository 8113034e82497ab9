package facts_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
)

func TestTargets(t *testing.T) {
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	v, diags := s.Target("SM8750", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	m := v.AsValueMap()
	model, _ := m["soc_model"].AsBigFloat().Int64()
	vtcm, _ := m["vtcm_mb"].AsBigFloat().Int64()
	if m["soc"].AsString() != "SM8750" || m["arch"].AsString() != "v79" || model != 69 || vtcm != 8 {
		t.Errorf("target %v", m)
	}
	if !v.Type().Equals(facts.TargetType()) {
		t.Errorf("type %s", v.Type().FriendlyName())
	}
	if _, diags := s.Target("SM8751", nil); !diags.HasErrors() || !strings.Contains(diags.Error(), `did you mean "SM8750"`) {
		t.Errorf("diagnostics %v", diags)
	}
	if s.WithAndroidID(639) != "SM8750" || s.WithAndroidID(4711) != "" {
		t.Errorf("soc_id 639 is of %q, 4711 of %q", s.WithAndroidID(639), s.WithAndroidID(4711))
	}
	models, ids := map[int]string{}, map[int]string{}
	for _, s := range s.SoCs {
		if models[s.SoCModel] != "" {
			t.Errorf("%s and %s have the same soc_model", s.Name, models[s.SoCModel])
		}
		models[s.SoCModel] = s.Name
		for _, id := range s.AndroidIDs {
			if ids[id] != "" {
				t.Errorf("%s and %s have the same soc_id", s.Name, ids[id])
			}
			ids[id] = s.Name
		}
	}
}

var update = flag.Bool("update", false, "write the golden file")

// TestVendorsCompiler holds the records against what Qualcomm's compiler writes for each soc_model. Where they differ, the differences are
// written down: a new one is either a mistake here, or news.
func TestVendorsCompiler(t *testing.T) {
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	table, err := os.ReadFile("testdata/htp-socs-2.51.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := regexp.MustCompile(`(?m)^(\d+) ;arch=(\d+) hvx_threads=\d+ soc_type=(\S+) vtcm_size=(\d+)`).FindAllStringSubmatch(string(table), -1)
	if len(lines) < 100 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, m := range lines {
		model, _ := strconv.Atoi(m[1])
		vtcm, _ := strconv.Atoi(m[4])
		vtcm >>= 20
		name := strings.ToUpper(m[3])
		i := slices.IndexFunc(s.SoCs, func(soc *qnn.SoC) bool { return soc.SoCModel == model })
		other, numbered := s.Others.Models[name]
		switch {
		case i >= 0:
			soc := s.SoCs[i]
			if !strings.EqualFold(soc.Name, name) && !slices.Contains(soc.Aliases, name) {
				fmt.Fprintf(&out, "%d: %s here, %s there\n", model, soc.Name, name)
			}
			if soc.Arch != "v"+m[2] && s.HasHTP(soc.Arch) {
				fmt.Fprintf(&out, "%s: %s here, v%s there\n", soc.Name, soc.Arch, m[2])
			}
			if soc.VTCMMB != vtcm && s.HasHTP(soc.Arch) {
				fmt.Fprintf(&out, "%s: %d MB of VTCM here, %d there\n", soc.Name, soc.VTCMMB, vtcm)
			}
		case numbered && other != model:
			fmt.Fprintf(&out, "%s: soc_model %d here, %d there\n", name, other, model)
		case m[2] != "68": // of v68 it may be that the compiler does not know the chip
			fmt.Fprintf(&out, "%d: no record here, %s v%s with %d MB of VTCM there\n", model, name, m[2], vtcm)
		}
	}
	const golden = "testdata/htp-socs-2.51.0.differences"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != out.String() {
		t.Errorf("%v; differences to what the vendor's compiler says are not those that are known; got\n%s\nwant\n%s", err, out.String(), want)
	}
}

// TestFormatted keeps the files in the canonical format.
func TestFormatted(t *testing.T) {
	for _, name := range []string{"arches.hcl", "compat.hcl", "precision.hcl", "unsupported_ops.hcl", "socs.hcl"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := hclwrite.Format(b)
		if string(b) == string(want) {
			continue
		}
		if *update {
			err = os.WriteFile(name, want, 0o644)
		}
		if !*update || err != nil {
			t.Errorf("%s is not formatted (%v): run go test ./qnn/facts -run Formatted -update", name, err)
		}
	}
}

// TestRefused: facts about operations come with their grounds, a workspace may replace and add some, and what cannot be is an error.
func TestRefused(t *testing.T) {
	load := func(text string) (*facts.Set, string) {
		s, _, diags := facts.Load([]facts.File{{Name: "toolchains/x.hcl", Content: []byte(text)}})
		return s, diags.Error()
	}
	const known = "\n  confidence = \"observed\"\n  source = \"tried\"\n}\n"
	s, _ := load("unsupported_op \"Cosh\" {\n  format = \"onnx\"\n  change = \"Exp\"" + known + "unsupported_op \"*\" {\n  format = \"aten\"\n  rank = 7\n  change = \"Reshape\"" + known +
		"precision \"MatMul\" {\n  ops = [\"MatMul\"]\n  takes = { v79 = [\"a8w8\"] }" + known)
	own := 0
	for _, r := range s.UnsupportedOps {
		if r.Source == "tried" {
			own++
		}
	}
	if p := s.FindPrecision("MatMul"); own != 2 || p == nil || len(p.Takes["v79"]) != 1 || s.FindPrecision("Nothing") != nil {
		t.Errorf("%d of the workspace, %+v", own, p)
	}
	for text, want := range map[string]string{
		"unsupported_op \"A\" {\n  format = \"torch\"\n  change = \"B\"" + known:                                           "Use onnx or aten.",
		"unsupported_op \"A\" {\n  format = \"onnx\"\n  change = \"\"" + known:                                             "empty change",
		"unsupported_op \"A\" {\n  format = \"onnx\"\n  rank = -1\n  change = \"B\"" + known:                               "negative rank -1",
		"precision \"x\" {\n  ops = []\n  takes = {}" + known:                                                              "empty ops",
		"precision \"x\" {\n  ops = [\"New\"]\n  takes = { v79 = [\"a9w8\"] }" + known:                                     `v79: invalid type "a9w8". Use types such as`,
		"unsupported_op \"*\" {\n  format = \"onnx\"\n  change = \"B\"" + known:                                            "missing rank",
		"unsupported_op \"A\" {\n  format = \"onnx\"\n  change = \"B\"\n  confidence = \"perhaps\"\n  source = \"x\"\n}\n": "Set confidence to documented, observed or inferred",
		"precision \"x\" {\n  ops = [\"MatMul\"]\n  takes = {}" + known:                                                    "operation MatMul is also in",
		"precision \"x\" {\n  ops = [\"New\"]\n  takes = { v78 = [\"a8\"] }" + known:                                       "unknown arch \"v78\"",
	} {
		if _, said := load(text); !strings.Contains(said, want) {
			t.Errorf("%s: %s", text, said)
		}
	}
}

// TestPageOfTypes: the table of docs/fallback.md is what the facts say.
func TestPageOfTypes(t *testing.T) {
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	page, err := os.ReadFile("../../docs/fallback.md")
	if err != nil {
		t.Fatal(err)
	}
	var archs []string
	for _, p := range s.Precisions {
		for a := range p.Takes {
			if !slices.Contains(archs, a) {
				archs = append(archs, a)
			}
		}
	}
	slices.Sort(archs)
	var columns [][]string // archs for which all is the same stand in one
	for _, a := range archs {
		same := func(p *qnn.Precision) bool { return slices.Equal(p.Takes[a], p.Takes[columns[len(columns)-1][0]]) }
		if len(columns) > 0 && !slices.ContainsFunc(s.Precisions, func(p *qnn.Precision) bool { return !same(p) }) {
			columns[len(columns)-1] = append(columns[len(columns)-1], a)
		} else {
			columns = append(columns, []string{a})
		}
	}
	table, under := "| operation", "|---"
	for _, c := range columns {
		table, under = table+" | "+strings.Join(c, " "), under+"|---"
	}
	table += " |\n" + under + "|\n"
	for _, p := range s.Precisions {
		table += "| " + strings.Join(p.Ops, ", ")
		for _, c := range columns {
			table += " | " + strings.Join(p.Takes[c[0]], " ")
		}
		table += " |\n"
	}
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/fallback.md does not have this table:\n%s", table)
	}
}

// TestNamesOfTheKernel: what Linux calls a SoC leads to the record of that SoC.
func TestNamesOfTheKernel(t *testing.T) {
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for name, want := range map[string]string{"X1E80100": "SC8380XP", "QCS9075": "QCS9100", "qcs8275": "QCS8300", "SM8750": "SM8750"} {
		record, err := s.FindSoC(name)
		if err != nil || record.Name != want || qnn.SoCFromKernelName(name) != want {
			t.Errorf("%s: %+v, %v; %s", name, record, err, qnn.SoCFromKernelName(name))
		}
	}
}
