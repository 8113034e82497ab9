package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// A pipeline in place of the main one: it "compiles" the same source.
const compiles = `pipeline { description = "compile one source" }

step "exec" "compile" {
  description = "compile SiLU.cpp"
  argv        = ["oppackage/example/busybox", "cp", "oppackage/example/LLaMAPackage/src/ops/SiLU.cpp", "object"]
  inputs      = ["oppackage/example/busybox", "oppackage/example/LLaMAPackage/src/ops/SiLU.cpp"]
  output "object" { file = "object" }
}

output "object" { value = step.exec.compile.outputs.object }
`

// small measures small sizes with hexmage of this checkout, ninja and casd. The other peers are missing.
func small(t *testing.T) (*bench, *bytes.Buffer) {
	t.Helper()
	if testing.Short() {
		t.Skip("not run: it starts many processes")
	}
	binary := filepath.Join(t.TempDir(), "hexmage")
	build := exec.Command("go", "build", "-o", binary, "github.com/hexmage/hexmage/cmd/hexmage")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var out bytes.Buffer
	b := &bench{
		env: os.Environ(), out: &out, json: true,
		hexmage: binary, dir: t.TempDir(), age: 500 * time.Millisecond,
		few: 5, many: 7, results: 5, files: 2, fileSize: 400_000, rounds: 2, noOps: 2,
	}
	b.fetch = func(_ context.Context, peer string) (string, error) {
		if slices.Contains([]string{"busybox", "ninja", "casd"}, peer) {
			return toolchaintest.Root(t, peer), nil
		}
		return "", errors.New("no such package")
	}
	return b, &out
}

func write(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755))
}

// The benchmark measures everything, and says which peers are missing.
func TestSmall(t *testing.T) {
	b, out := small(t)
	busybox, err := os.ReadFile(toolchaintest.Path(t, "busybox", "bin/busybox"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for path, text := range map[string]string{
		"pipelines/" + name + ".hcl": compiles, source: "int x;\n",
		"modules/README.md": "", "oppackage/example/busybox": string(busybox),
	} {
		if err := write(path, text); err != nil {
			t.Fatal(err)
		}
	}
	if b.run(t.Context(), "pipeline,actions,files,remote"); b.err != nil {
		t.Fatalf("%v\n%s", b.err, out)
	}
	var missing []string
	lines := 0
	for d := json.NewDecoder(out); d.More(); lines++ {
		var r result
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", r)
		switch absent := strings.HasPrefix(r.Verdict, "MISSING: no such package"); {
		case absent:
			missing = append(missing, r.Peer)
		case r.Median <= 0 || r.Median > 600 || r.Runs == 0 || r.Peer != "" && (r.Ratio <= 0 || r.PeerMedian <= 0):
			t.Errorf("not measured: %+v", r)
		case r.Budget > 0 != (r.Verdict == "within" || r.Verdict == "OVER"):
			t.Errorf("not compared with its budget: %+v", r)
		}
	}
	if want := []string{"Bazel", "Bazel", "b3sum", "bsdtar and sync", "Bazel"}; !slices.Equal(missing, want) {
		t.Errorf("missing %q, want %q", missing, want)
	}
	if lines != 18 {
		t.Errorf("%d results", lines)
	}
}

// A peer with another output makes the benchmark fail, and so does an unknown scenario.
func TestWrongOutput(t *testing.T) {
	b, _ := small(t)
	fetch := b.fetch
	b.fetch = func(ctx context.Context, peer string) (string, error) {
		if peer != "ninja" {
			return fetch(ctx, peer)
		}
		root := t.TempDir()
		return root, write(root+"/usr/bin/ninja", "#!/bin/sh\nmkdir -p out\necho wrong > out/all\n")
	}
	b.age = 0
	if b.run(t.Context(), "actions"); b.err == nil || !strings.Contains(b.err.Error(), "out/all differ") {
		t.Error(b.err)
	}
	b, out := small(t)
	b.age = 0
	b.run(t.Context(), "files,all")
	if out.Len() == 0 || b.err == nil || !strings.Contains(b.err.Error(), `unknown scenario "all"`) {
		t.Errorf("%v, %s", b.err, out)
	}
}

// Results are compared with budgets of times and of ratios.
func TestBudgets(t *testing.T) {
	ours, slow := program{argv: []string{"sleep", "0.3"}}, program{argv: []string{"sleep", "0.1"}}
	for what, c := range map[string]struct {
		peer contestant
		want string
	}{
		"slower than the budget": {contestant{program: slow, budget: 1.5}, "budget 1.5 ×  OVER"},
		"within the budget":      {contestant{program: ours, budget: 1.5}, "budget 1.5 ×  within"},
		"without a budget":       {contestant{program: slow}, "no budget"},
		"without a peer":         {contestant{missing: errors.New("no network"), budget: 1}, "MISSING: no network"},
	} {
		var out bytes.Buffer
		b := &bench{out: &out}
		c.peer.name = "peer"
		b.compare(t.Context(), what, 2, &contestant{program: ours}, &c.peer)
		text := strings.TrimSpace(out.String())
		if b.err != nil || !strings.HasSuffix(text, c.want) || b.over != strings.HasSuffix(c.want, "OVER") {
			t.Errorf("%s: %s, %v, want %s", what, text, b.err, c.want)
		}
	}
	var out bytes.Buffer
	b := &bench{out: &out}
	b.value("memory", "MB", 400, []float64{300, 500, 450})
	got := strings.Join(strings.Fields(out.String()), " ")
	if want := "memory 450 MB ± 22 % budget 400 MB OVER"; got != want || !b.over {
		t.Errorf("%s, want %s", got, want)
	}
	b.compete(t.Context(), 1, &contestant{program: ours, prints: "2000 remote cache hit"})
	if b.err == nil || !strings.Contains(b.err.Error(), "is missing in the output") {
		t.Errorf("a run that did something else: %v", b.err)
	}
}
