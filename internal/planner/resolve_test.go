package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
)

func golden(t *testing.T, name string) (*plan.Plan, *planner.Resolver) {
	t.Helper()
	a, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	p, x, diags, _ := load(t, a)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p, x
}

func at(s string) addrs.Instance {
	kind, name, _ := strings.Cut(s, ".")
	return addrs.Instance{Step: addrs.Step{Kind: kind, Name: name}}
}

func TestResolve(t *testing.T) {
	p, x := golden(t, "values")
	n := p.Instance(at("exec.use"))
	version, info := addrs.Output{Instance: at("exec.probe"), Name: "version"},
		addrs.Output{Instance: at("exec.probe"), Name: "info"}
	if len(n.AwaitValues) != 2 || n.AwaitValues[0] != info || n.AwaitValues[1] != version {
		t.Fatalf("awaits %v", n.AwaitValues)
	}
	// Several builds may resolve at once, with different values.
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			v := fmt.Sprintf("%d.0-beta", i)
			got, err := x.ExtendInstance(n.At, plan.ResolvedInputs{Values: map[addrs.Output][]byte{
				version: []byte(v + "\n"), info: []byte(`{"name": "x", "list": ["a", "b"]}`)}})
			if err != nil {
				t.Error(err)
				return
			}
			if want := fmt.Sprintf("use %s-x steps/exec/probe.log --x=a --x=b",
				v); action.Quote(got.Specs[0].Args) != want {
				t.Errorf("argv %q, want %q", action.Quote(got.Specs[0].Args), want)
			}
			if got.Specs[0].Env["V"] != v || len(got.Specs[0].Inputs) != 1 || got.Deferred != "" ||
				got.Waits != plan.ForNothing {
				t.Errorf("resolved to %+v", got)
			}
		}()
	}
	wg.Wait()
	if _, err := x.ExtendInstance(n.At,
		plan.ResolvedInputs{Values: map[addrs.Output][]byte{version: []byte("1")}}); err == nil ||
		!strings.Contains(err.Error(), "the value of step.exec.probe.outputs.info is missing") {
		t.Errorf("a value is missing: %v", err)
	}
	if _, err := x.ExtendInstance(n.At,
		plan.ResolvedInputs{Values: map[addrs.Output][]byte{version: []byte("1"),
			info: []byte("no object")}}); err == nil ||
		!strings.Contains(err.Error(), "p.hcl") {
		t.Errorf("a value of the wrong type: %v", err)
	}
	for _, e := range p.Outputs {
		if e.Name != "text" {
			continue
		}
		got, err := x.ExtendOutput(e.Name,
			plan.ResolvedInputs{Values: map[addrs.Output][]byte{version: []byte("7\r\n")}})
		if err != nil || got.Literal != "it is 7" || got.Waits != plan.ForNothing {
			t.Errorf("output text: %+v, %v", got, err)
		}
	}
}

func TestExpand(t *testing.T) {
	p, x := golden(t, "basic")
	n := p.Instance(at("compile.demo"))
	if len(n.Await) != 1 || n.Await[0].Artifact.String() != "step.patch.ops.outputs.dir" {
		t.Fatalf("awaits %v", n.Await)
	}
	got, err := x.ExtendInstance(n.At, plan.ResolvedInputs{Listing: action.Listing{"src": {"a.cpp", "b.cpp"}}})
	if err != nil || len(got.Specs) != 4 || got.Outputs["app_v15"].Class != action.File {
		t.Errorf("expanded to %+v, %v", got, err)
	}
	if n := p.Instance(addrs.Instance{Step: addrs.Step{Kind: "exec", Name: "gen"}, Key: "v11",
		Keyed: true}); n.Specs[0].Timeout != 10*time.Minute {
		t.Errorf("the step's timeout is not in its spec: %v", n.Specs[0].Timeout)
	}
}

func TestSelect(t *testing.T) {
	p, _ := golden(t, "graph")
	for _, tt := range []struct{ steps, nodes, outputs string }{
		{"patch.ops", "patch.ops", "header n"},
		{"toolchain.llvm", "toolchain.llvm", "n"},
		{"exec.gen", `exec.gen["a b"] exec.gen["c"]`, "libs.a b libs.c n"},
		{"compile.demo exec.gen", `toolchain.llvm patch.ops compile.demo exec.gen["a b"] exec.gen["c"]`,
			"libs.a b libs.c header n"},
	} {
		var steps []addrs.Step
		for _, s := range strings.Fields(tt.steps) {
			a, err := addrs.ParseStep(s)
			if err != nil {
				t.Fatal(err)
			}
			steps = append(steps, a)
		}
		got, err := p.Select(steps...)
		if err != nil {
			t.Fatal(err)
		}
		var nodes, outputs []string
		for _, n := range got.Instances {
			nodes = append(nodes, n.At.Short())
		}
		for _, e := range got.Outputs {
			outputs = append(outputs, e.Name)
		}
		if g := strings.Join(nodes, " "); g != tt.nodes {
			t.Errorf("%s: nodes %s, want %s", tt.steps, g, tt.nodes)
		}
		if g := strings.Join(outputs, " "); g != tt.outputs {
			t.Errorf("%s: outputs %s, want %s", tt.steps, g, tt.outputs)
		}
	}
	_, err := p.Select(addrs.Step{Kind: "patch", Name: "opz"})
	if err == nil || err.Error() != "pipeline p has no step patch.opz; did you mean patch.ops?" {
		t.Errorf("an unknown step: %v", err)
	}
}

// A plan holds what it was made from: files, listed folders.
func TestReads(t *testing.T) {
	p, _ := golden(t, "inputs")
	if got := strings.Join(p.Reads.Files, " "); got != "pipelines/p.hcl words.txt" {
		t.Errorf("files %s", got)
	}
	var globs []string
	for _, g := range p.Reads.Globs {
		globs = append(globs, g.Dir+":"+strings.Join(g.Patterns, ",")+"="+strings.Join(g.Found, ","))
	}
	if got := strings.Join(globs, " "); got != ".:ops/*=ops/a.cpp,ops/a.md "+
		"ops:**/*.{cpp,h},!**/skip/**=ops/a.cpp,ops/b/b.h" {
		t.Errorf("globs %s", got)
	}
}

// Planning twice gives the same plan, so that a snapshot of it means something.
func TestSamePlan(t *testing.T) {
	for _, name := range []string{"basic", "graph", "values", "vars"} {
		first, _ := golden(t, name)
		second, _ := golden(t, name)
		a, b := jsonText(t, wholeJSON, first), jsonText(t, wholeJSON, second)
		if a != b {
			t.Errorf("%s planned twice differs:\n%s\n%s", name, a, b)
		}
	}
}

func bigPipeline(n int) *txtar.Archive {
	var b strings.Builder
	b.WriteString("toolchain \"llvm\" {\n  version = \"22\"\n}\n")
	for i := range n {
		fmt.Fprintf(&b, "step \"exec\" \"s%d\" {\n  argv = [\"x\", toolchain.llvm.dir", i)
		for d := 1; d <= 3 && d <= i; d++ {
			fmt.Fprintf(&b, ", step.exec.s%d.outputs.o", i-d)
		}
		b.WriteString("]\n  output \"o\" {\n    file = \"o\"\n  }\n}\n")
	}
	return &txtar.Archive{Files: []txtar.File{{Name: "pipelines/p.hcl", Data: []byte(b.String())}}}
}

func BenchmarkBuild(b *testing.B) {
	a := bigPipeline(1_000)
	for b.Loop() {
		p, _, diags, _ := load(b, a)
		if diags != nil || len(p.Instances) != 1_001 {
			b.Fatal(diags)
		}
	}
}

// A value that a step gives is known wherever it was handed to: in variables, locals and outputs of modules, in each
// copy.
func TestResolveInModules(t *testing.T) {
	p, x := golden(t, "modules")
	version := addrs.Output{Instance: at("exec.src"), Name: "version"}
	values := map[addrs.Output][]byte{version: []byte("1.2\n")}
	for board, core := range map[string]string{"Alpha7": "v15", "Beta7": "v16"} {
		m := addrs.Module("").Copy("aot", board)
		n := p.Instance(addrs.Instance{Step: addrs.Step{Module: m, Kind: "exec", Name: "compile"}})
		got, err := x.ExtendInstance(n.At, plan.ResolvedInputs{Values: values})
		if err != nil {
			t.Fatal(err)
		}
		want := "compile " + core + "-1.2 steps/module.ops/exec/join.o steps/exec/quantize.m -O2 " + board
		if argv := action.Quote(got.Specs[0].Args); argv != want {
			t.Errorf("argv %q, want %q", argv, want)
		}
		var from []string
		for _, in := range got.Specs[0].Inputs {
			from = append(from, in.Artifact.String())
		}
		slices.Sort(from)
		if want := []string{m.Of("module.ops.step.exec.join.outputs.o"),
			m.Of("step.exec.quantize.outputs.m")}; !slices.Equal(from, want) {
			t.Errorf("inputs %q, want %q", from, want)
		}
	}
	for _, o := range p.Outputs {
		want := map[string]string{"version": "1.2", "text": "made by 1.2"}[o.Name]
		if want == "" {
			continue
		}
		got, err := x.ExtendOutput(o.Name, plan.ResolvedInputs{Values: values})
		if err != nil || got.Literal != want {
			t.Errorf("output %s: %q, %v", o.Name, got.Literal, err)
		}
	}
}
