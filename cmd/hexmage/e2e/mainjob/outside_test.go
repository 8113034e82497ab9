//go:build linux

package mainjob_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// outside is a folder with a pipeline and nothing else, as people have who only installed hexmage.
func outside(t *testing.T, name, text string) *World {
	t.Helper()
	w := Warmed(t)
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	w.Write(t, "pipelines/"+name+".hcl", text)
	Wants(t, w.Run(t, "fmt", "--check", "pipelines/"+name+".hcl"), ExitOK)
	return w
}

const tenLines = `profile "simulated" { default = true }
profile "device" {}
toolchain "qairt" { version = "2.41.0.251128" }
toolchain "hexagon" { version = "6.4.0.2" }
toolchain "ndk" { version = "r28b" }
module "aot" {
  source = "mllm-aot"
  prompt = "Who are you?"
}
output "metrics" { value = module.aot.metrics }
`

// TestTenLines: who calls the shipped module from a workspace of their own has the whole way to the phone, for the
// SoC that they name.
func TestTenLines(t *testing.T) {
	w := outside(t, "chat", tenLines)
	Wants(t, w.Run(t, "validate", "chat"), ExitUsage, "Missing target", "called at pipelines/chat.hcl:6", "--soc")
	Wants(t, w.Run(t, "--soc", "SM8650", "validate", "chat"), ExitOK, "chat: valid in profile simulated, device")

	plan := w.Run(t, "--soc", "SM8650", "plan", "-v", "chat")
	Wants(t, plan, ExitOK, "module.aot.module.toy.step.context.toy", "module.aot.step.run.llm",
		"module.aot.toolchain.llvm", "htp_v75", "libQnnHtpV75Skel.so")
	if strings.Contains(plan.Stdout, "v79") {
		t.Errorf("there is something of v79 in the plan for SM8650:\n%s", plan.Stdout)
	}

	o := w.Run(t, "--soc", "SM8650", "--offline", "run", "chat")
	Wants(t, o, ExitOK, "qwen3 on SM8650, Hexagon v75   profile: simulated", "on simulated phone SM8650 v75",
		AOT+"run.llm")
	if m := regexp.MustCompile(`\n +tokens as the reference +(\d+) of (\d+)\n`).
		FindStringSubmatch(o.Stdout); m == nil || m[1] != m[2] || m[1] == "0" {
		t.Errorf("not all tokens are the reference's: %q in\n%s", m, o.Stdout)
	}
	if metrics := Read(t, filepath.Join(w.Dir, "out", "chat", "metrics")); !strings.Contains(metrics,
		"qwen3 on SM8650, Hexagon v75") {
		t.Errorf("the metrics are those of something else:\n%s", metrics)
	}
	if r := w.RunJSON(t, "--soc", "SM8650", "chat"); r.Executed != 0 || r.Cached == 0 {
		t.Errorf("again: executed %d %q", r.Executed, r.Names)
	}

	device := w.Run(t, "--profile", "device", "--soc", "SM8650", "plan", "-v", "chat")
	Wants(t, device, ExitUsage, "mllm-qwen3-aot-sha-c", "cmake -B", "mllm's arithmetic", "-mv75", "--ar_len 32",
		"github.com/UbiquitousLearning/mllm",
		"missing: "+AOT+"step.quantize.llm: ")
	if strings.Contains(device.Stdout, "simulation") || strings.Contains(device.Stdout, "emulator") {
		t.Errorf("there is something of the simulation in it:\n%s", device.Stdout)
	}
	entries, err := os.ReadDir(w.Dir)
	if err != nil || len(entries) != 2 { // out and pipelines
		t.Errorf("the workspace has %v, %v", entries, err)
	}
}

const product = `profile "simulated" { default = true }

target "SM8750" {}
target "SM8650" {}

toolchain "qairt" { version = "2.41.0.251128" }
toolchain "hexagon" { version = "6.4.0.2" }
toolchain "ndk" { version = "r28b" }

locals {
  builds = { for b in setproduct(keys(targets), [16, 32]) : join("-", b) => { target = targets[b[0]], block_size = b[1] } }
}

module "aot" {
  source     = "mllm-aot"
  for_each   = local.builds
  target     = each.value.target
  block_size = each.value.block_size
}

output "metrics" {
  value = { for build, m in module.aot : build => m.metrics }
  show  = "table"
}
`

// TestProduct: two targets and two models are four copies of the shipped module, each with its name; what is equal in
// them, and in what the shipped pipeline did for one of them, is done once.
func TestProduct(t *testing.T) {
	w := outside(t, "all", product)
	builds := map[string]string{"SM8650-16": "v75", "SM8650-32": "v75", "SM8750-16": "v79", "SM8750-32": "v79"}
	at := func(build string) string { return fmt.Sprintf("module.aot[%q].", build) }
	var steps, edges []string
	for build := range builds {
		context, run := at(build)+"module.toy.step.context.toy", at(build)+"step.run.llm"
		steps = append(steps, "\n"+context+" ", "\n"+run+" ")
		edges = append(edges, fmt.Sprintf("[%q,%q]", context, run))
	}
	Wants(t, w.Run(t, "plan", "-v", "all"), ExitOK, steps...)
	Wants(t, w.Run(t, "graph", "--json", "all"), ExitOK, edges...)
	Wants(t, w.Run(t, "explain", "all", at("SM8650-32")+"module.toy.toy_model.toy"), ExitOK,
		at("SM8650-32")+"module.toy.toy_model.toy\n  will run: never ran")

	r := w.RunJSON(t, "--offline", "all")
	sources, err := filepath.Glob(filepath.Join(Repo(), "oppackage/example/LLaMAPackage/src/*.cpp"))
	ops, e := filepath.Glob(filepath.Join(Repo(), "oppackage/example/LLaMAPackage/src/ops/*.cpp"))
	if err != nil || e != nil || len(sources) == 0 || len(ops) == 0 {
		t.Fatalf("sources %v, %v, ops %v, %v", sources, err, ops, e)
	}
	ran := map[string]int{}
	for _, name := range r.Names {
		step, _, _ := strings.Cut(name, " ")
		ran[regexp.MustCompile(`^module\.aot\["SM8[67]50-(16|32)"\]\.`).ReplaceAllString(step, "")]++
	}
	// The shipped pipeline has done SM8750-16, and the toolchains, the runner, the Makefile and the patch with it.
	if diff := cmp.Diff(map[string]int{
		// of block size 32
		"module.toy.toy_model.toy": 1, "module.toy.convert.toy": 1,
		"module.toy.reference.toy":         1,
		"oppackage.llama":                  len(sources) + len(ops) + 2, // and a link and a check for v75
		"module.toy.simulated_phone.phone": 1,                           // SM8650's image
		"module.toy.context.toy":           3 * 2, "run.llm": 3 * 2,
	}, ran); diff != "" {
		t.Errorf("executed %d, by step (-want +ran):\n%s\n%q", r.Executed, diff, r.Names)
	}
	if all := r.Executed + r.Cached; r.Executed >= all/4 {
		t.Errorf("executed %d of %d actions of four copies", r.Executed, all)
	}
	for build, arch := range builds {
		soc, _, _ := strings.Cut(build, "-")
		if metrics := Read(t, filepath.Join(w.Dir, "out", "all", "metrics."+build)); !strings.Contains(metrics,
			"toy qwen3 on "+soc+", Hexagon "+arch) {
			t.Errorf("%s: the metrics are those of something else:\n%s", build, metrics)
		}
	}

	again := w.Run(t, "run", "--force="+at("SM8650-32")+"module.toy.reference.toy", "all")
	Wants(t, again, ExitOK, ": 1 executed, ", "qwen3 on SM8650, Hexagon v75", "qwen3 on SM8750, Hexagon v79")
	if !regexp.MustCompile(`(?m)^ +ok +` + regexp.QuoteMeta(at("SM8650-32")+"module.toy.reference.toy") +
		` `).MatchString(again.Stderr) {
		t.Errorf("progress does not name the copy:\n%s", again.Stderr)
	}
	if r := w.RunJSON(t, "all"); r.Executed != 0 {
		t.Errorf("again: executed %d %q", r.Executed, r.Names)
	}
	names := slices.Sorted(maps.Keys(builds))
	Wants(t, w.Run(t, "run", "all", at("SM8650-64")+"module.toy.context.toy"), ExitUsage,
		"did you mean "+at(names[0])+"module.toy.context.toy?")
}
