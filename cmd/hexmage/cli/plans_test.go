package cli_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

// plannedStep is what `hexmage plan --json` says of a step.
type plannedStep struct {
	Address, Kind string
	Actions       []struct {
		Name    string
		Argv    []string
		Env     map[string]string
		Inputs  []struct{ Path, Artifact string }
		Outputs []struct {
			Path string
			Tree bool
		}
		Platform map[string]string
	}
}

// planned plans a shipped pipeline on a machine that has nothing of Qualcomm's.
func planned(t *testing.T, pipeline, profile string) []plannedStep {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := cli.Env{Stdout: &stdout, Stderr: &stderr, CPULevel: "x86-64-v3", Dir: filepath.Join("..", "..", ".."),
		Vars: []string{"HEXMAGE_CACHE=" + t.TempDir(), "HOME=" + t.TempDir()}}
	// where something is missing the plan is there all the same
	if code := cli.Main([]string{"hexmage", "plan", pipeline, "--profile", profile, "--json"},
		env); code != cli.ExitOK && (code != cli.ExitUsage || stdout.Len() == 0) {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	var p struct{ Steps []plannedStep }
	if err := json.Unmarshal(stdout.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	return p.Steps
}

func devicePlan(t *testing.T) []plannedStep { return planned(t, "qwen3-aot-v79", "device") }

// TestPlans: every command of every shipped pipeline in each of its profiles, but those that fetch toolchains: what
// these do depends on what the machine has. go test ./cmd/hexmage/cli -run Plans -update writes them anew.
func TestPlans(t *testing.T) {
	pipelines, err := filepath.Glob("../../../pipelines/*.hcl")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, file := range pipelines {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".hcl")
		for _, m := range regexp.MustCompile(`(?m)^profile "(\w+)"`).FindAllSubmatch(text, -1) {
			profile := string(m[1])
			golden := filepath.Join("testdata/plans", name+"."+profile+".txt")
			want[golden] = true
			t.Run(name+"/"+profile, func(t *testing.T) { isGolden(t, golden, commands(planned(t, name, profile))) })
		}
	}
	have, err := filepath.Glob("testdata/plans/*")
	if err != nil || len(have) != len(want) {
		t.Errorf("%d files of plans, %d plans, %v", len(have), len(want), err)
	}
}

// commands writes down what is run.
func commands(steps []plannedStep) string {
	var b strings.Builder
	for _, s := range steps {
		if strings.Contains(s.Address, "toolchain.") {
			continue
		}
		for _, a := range s.Actions {
			fmt.Fprintf(&b, "%s\n", strings.TrimSpace(s.Address+" "+a.Name))
			words := make([]string, len(a.Argv))
			for i, w := range a.Argv {
				if words[i] = w; w == "" || strings.ContainsAny(w, " \n;$'\"") {
					words[i] = "'" + w + "'"
				}
			}
			fmt.Fprintf(&b, "  $ %s\n", strings.ReplaceAll(strings.Join(words, " "), "\n", "\n    "))
			for _, k := range slices.Sorted(maps.Keys(a.Env)) {
				if k != "PATH" {
					fmt.Fprintf(&b, "  env %s=%s\n", k, a.Env[k])
				}
			}
			for _, k := range slices.Sorted(maps.Keys(a.Platform)) {
				fmt.Fprintf(&b, "  %s = %s\n", k, a.Platform[k])
			}
			for _, in := range a.Inputs {
				if in.Artifact != "" {
					fmt.Fprintf(&b, "  in  %s <- %s\n", in.Path, in.Artifact)
				}
			}
			for _, o := range a.Outputs {
				fmt.Fprintf(&b, "  out %s%s\n", o.Path, map[bool]string{true: "/"}[o.Tree])
			}
		}
	}
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(b.String(), "")
}

func isGolden(t *testing.T, golden, got string) {
	t.Helper()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("the plan is another (go test ./cmd/hexmage/cli -run Plans -update writes it): %s", d)
	}
}

// TestDeviceDefects has what once stopped the profile: each was seen, and hidden by the simulation.
func TestDeviceDefects(t *testing.T) {
	steps := map[string]plannedStep{}
	for _, s := range devicePlan(t) {
		steps[strings.TrimPrefix(s.Address, "module.aot.step.")] = s
	}
	command := func(address string) string {
		t.Helper()
		s, ok := steps[address]
		if !ok || len(s.Actions) == 0 {
			t.Fatalf("no step %s", address)
		}
		return strings.Join(s.Actions[0].Argv, " ")
	}
	has := func(what, text string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(text, p) {
				t.Errorf("%s: no %q in\n%s", what, p, text)
			}
		}
	}
	source, err := os.ReadFile("../../../modules/mllm-aot/device.hcl")
	if err != nil {
		t.Fatal(err)
	}
	has("submodules", string(source), "third_party/fmt", "third_party/flatbuffers", "mllm/ffi/vendors/tvm-ffi",
		"mllm/backends/cpu/vendors/kleidiai")
	for _, build := range []string{"exec.aot_tools", "exec.android"} {
		has(build+": the SDK's root is absolute", command(build), `QAIRT_SDK_ROOT="$HEXMAGE_ROOT/toolchains/qairt"`)
		has(build+": nothing is downloaded", command(build), "-DFETCHCONTENT_FULLY_DISCONNECTED=ON",
			"-DCPM_stdexec_SOURCE=")
		if steps[build].Actions[0].Platform["network"] != "" {
			t.Errorf("%s uses the network", build)
		}
	}
	has("compiler and linker", command("exec.aot_tools"), "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_C_COMPILER=gcc",
		"-fuse-ld=bfd", "-DCPM_highway_SOURCE=")
	if strings.Contains(command("exec.aot_tools"), "march=native") {
		t.Error("the compiler's program is for this machine's processor alone, and its key does not know it")
	}

	run := steps["run.llm"].Actions[0]
	var pushed []string
	for _, in := range run.Inputs {
		if name, ok := strings.CutPrefix(in.Path, "push/"); ok {
			pushed = append(pushed, name)
			if strings.HasSuffix(name, "config.json") && !strings.Contains(in.Artifact, "context.llm.outputs.config") {
				t.Errorf("the runner gets %s as its config", in.Artifact)
			}
		}
	}
	slices.Sort(pushed)
	// Of the SDK: what mllm's backend opens, and what that opens for the arch. No op package: graphs compiled
	// ahead have none. No libQnnHtpPrepare.so: the context is finished. No readers of profiles: its level is OFF.
	if d := cmp.Diff([]string{"config.json", "libMllmCPUBackend.so", "libMllmQNNBackend.so", "libMllmRT.so",
		"libQnnHtp.so", "libQnnHtpV79Skel.so", "libQnnHtpV79Stub.so",
		"libQnnSystem.so", "libomp.so", "mllm-qwen3-aot-runner", "model.bin",
		"tokenizer.json"}, pushed); d != "" {
		t.Errorf("pushed: %s", d)
	}
	if _, ok := steps["patch.mllm"]; !ok || !strings.Contains(command("exec.android"), "-S steps/patch/mllm.dir") {
		t.Error("the runner is built from sources that print no speed")
	}
	for address := range steps {
		if strings.HasPrefix(address, "simulated_phone") || strings.HasPrefix(address, "reference") ||
			strings.HasPrefix(address, "model.") {
			t.Errorf("%s is the simulation's", address)
		}
	}
}

// TestMllmsGuide: docs/mllm.md has a row for each step of mllm's guide, and what a row names is in the plan
// or in the module.
func TestMllmsGuide(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/mllm.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := map[string]bool{}
	for _, s := range devicePlan(t) {
		steps[strings.TrimPrefix(strings.TrimPrefix(s.Address, "module.aot."), "step.")] = true
	}
	rows, named := 0, map[string]bool{}
	_, guide, _ := strings.Cut(string(doc), "\n## mllm's guide, row by row\n")
	guide, _, _ = strings.Cut(guide, "\n## ")
	for _, line := range strings.Split(guide, "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| mllm") {
			continue
		}
		rows++
		ours := regexp.MustCompile("`((?:step\\.)?[a-z_]+\\.[a-z_0-9]+)`").FindAllStringSubmatch(cells[1], -1)
		if len(ours) == 0 {
			t.Errorf("the row names no step: %s", line)
		}
		for _, m := range ours {
			if named[m[1]] = true; !steps[m[1]] {
				t.Errorf("there is no step %s: %s", m[1], line)
			}
		}
	}
	for s := range steps {
		if !named[s] {
			t.Errorf("no row of docs/mllm.md names step %s", s)
		}
	}
	if rows < 12 {
		t.Errorf("%d rows", rows)
	}
}

// TestMllmsHeaders: Qualcomm's headers that docs/mllm.md lists are those that mllm's compiler includes,
// by a clone of it.
func TestMllmsHeaders(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm")
	}
	doc, err := os.ReadFile("../../../docs/mllm.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(doc), "Qualcomm's headers that the compiler needs are ")
	list, _, _ = strings.Cut(strings.ReplaceAll(list, " and", ""), ".")
	var got []string
	err = filepath.WalkDir(filepath.Join(clone, "mllm/backends/qnn"), func(at string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "custom-op-package" {
				return filepath.SkipDir
			}
			return err
		}
		raw, err := os.ReadFile(at)
		for _, m := range regexp.MustCompile(`#include [<"]((?:\w+/)?Qnn\w+)\.h[>"]`).
			FindAllStringSubmatch(string(raw), -1) {
			if dir, _, ok := strings.Cut(m[1], "/"); !ok || dir == "HTP" || dir == "System" {
				got = append(got, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if d := cmp.Diff(slices.Sorted(
		slices.Values(strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", \n", r) }))),
		slices.Compact(got)); d != "" {
		t.Error(d)
	}
}

// TestPageOfMllm: every command of docs/mllm.md can be planned, with the folder of a model where it names one.
func TestPageOfMllm(t *testing.T) { everyCommand(t, "mllm.md", 9) }

// TestPageOfProfiles: so can those of docs/profile.md, with a graph and samples.
func TestPageOfProfiles(t *testing.T) { everyCommand(t, "profile.md", 5) }

// TestPageOfFallback: and those of docs/fallback.md.
func TestPageOfFallback(t *testing.T) { everyCommand(t, "fallback.md", 3) }

func everyCommand(t *testing.T, name string, least int) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	commands := regexp.MustCompile("(?m)(?:`|^\\$ )hexmage (run|show) ([^`#\n]+)").FindAllStringSubmatch(string(page),
		-1)
	for _, m := range commands {
		args := strings.Fields(m[2])
		for _, a := range args {
			variable, at, _ := strings.Cut(a, "=")
			at = filepath.Join(dir, at)
			var files []string
			switch {
			case variable == "int8", variable == "q4k",
				variable == "graph" && filepath.Ext(at) == ".onnx":
				files = []string{at}
			case variable == "samples", variable == "pictures":
				files = []string{filepath.Join(at, "0.npz")}
			case variable == "model":
				architecture, layers := "qwen3", 2
				for _, arg := range args {
					if a, ok := strings.CutPrefix(arg, "architecture="); ok {
						architecture = a
					}
				}
				if slices.Contains(args, "layers=30") {
					layers = 30
				}
				writeHF(t, at, architecture, layers)
			}
			for _, f := range files {
				if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f, []byte("{}"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		command := "plan"
		if m[1] == "show" {
			command = "show"
		}
		var stdout, stderr bytes.Buffer
		env := cli.Env{Stdout: &stdout, Stderr: &stderr, Dir: dir,
			Vars: []string{"HEXMAGE_CACHE=" + t.TempDir(), "HOME=" + t.TempDir()}}
		if code := cli.Main(append([]string{"hexmage", command}, args...), env); code != cli.ExitOK &&
			(code != cli.ExitUsage || stdout.Len() == 0) {
			t.Errorf("%s: exit code %d: %s", m[0], code, &stderr)
		}
	}
	if len(commands) < least {
		t.Errorf("%d commands", len(commands))
	}
}
