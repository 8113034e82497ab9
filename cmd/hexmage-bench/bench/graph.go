package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Graph is a graph of actions of the program tiny, as each tool is told of it.
type Graph struct {
	Name    string
	Sources []string // src/…
	Nodes   []Node   // each after what it needs
	HCL     string   // the pipeline, written as people write one: with for_each
}

// Node is one action. Outputs below out/ are what the build is for, those below obj/ are in between.
type Node struct {
	Out string
	In  []string
}

const header = "pipeline { description = \"a graph to measure with\" }\n"

// Wide is n actions that read a source each, and one that reads all their outputs.
func Wide(n int) Graph {
	g := Graph{Name: fmt.Sprintf("wide %d", n), Sources: sources(n)}
	link := Node{Out: "out/all"}
	for i, s := range g.Sources {
		out := fmt.Sprintf("out/o.%d", i) // short: ninja hands the link's line to a shell, as one argument of at most 128 KiB
		g.Nodes = append(g.Nodes, Node{Out: out, In: []string{s}})
		link.In = append(link.In, out)
	}
	g.Nodes = append(g.Nodes, link)
	g.HCL = header + `
step "exec" "obj" {
  for_each = toset(fileset("src", "*"))
  argv     = ["./tools/tiny", "o", each.value]
  inputs   = ["tools/tiny", each.value]
  output "o" { file = "o" }
}

step "exec" "all" {
  argv   = concat(["./tools/tiny", "all"], [for s in step.exec.obj : s.outputs.o])
  inputs = ["tools/tiny"]
  output "all" { file = "all" }
}

output "all" { value = step.exec.all.outputs.all }
output "o" { value = [for s in step.exec.obj : s.outputs.o] }
`
	return g
}

// Chain is n actions, each of which reads the output of the one before.
func Chain(n int) Graph {
	g := Graph{Name: fmt.Sprintf("chain %d", n), Sources: sources(1)}
	var b strings.Builder
	b.WriteString(header)
	in, ref := g.Sources[0], `"src/s00000"`
	for i := range n {
		out := fmt.Sprintf("obj/c%05d", i)
		if i == n-1 {
			out = "out/last"
		}
		g.Nodes = append(g.Nodes, Node{Out: out, In: []string{in}})
		fmt.Fprintf(&b, `
step "exec" "c%05d" {
  argv   = ["./tools/tiny", "o", %s]
  inputs = ["tools/tiny", %[2]s]
  output "o" { file = "o" }
}
`, i, ref)
		in, ref = out, fmt.Sprintf("step.exec.c%05d.outputs.o", i)
	}
	fmt.Fprintf(&b, "\noutput \"last\" { value = %s }\n", ref)
	g.HCL = b.String()
	return g
}

const (
	fanIn  = 5
	stride = 97 // between the inputs of one action: an edit spreads slowly from layer to layer
)

// Layered is layers of width actions; each reads five outputs of the layer before, the first layer a source each.
func Layered(layers, width int) Graph {
	g := Graph{Name: fmt.Sprintf("layered %d x %d", layers, width), Sources: sources(width)}
	name := func(layer, i int) string {
		if layer == layers-1 {
			return fmt.Sprintf("out/last.%d", i)
		}
		return fmt.Sprintf("obj/l%02d-%05d", layer, i)
	}
	var b strings.Builder
	fmt.Fprintf(&b, header+`
locals {
  names = { for i in range(%d) : format("s%%05d", i) => i }
}
`, width)
	for layer := range layers {
		for i := range width {
			n := Node{Out: name(layer, i)}
			for j := range fanIn {
				if layer > 0 {
					n.In = append(n.In, name(layer-1, (i+stride*j)%width))
				}
			}
			if layer == 0 {
				n.In = []string{g.Sources[i]}
			}
			g.Nodes = append(g.Nodes, n)
		}
		in := `["src/${each.key}"]`
		if layer > 0 {
			in = fmt.Sprintf(`[for j in range(%d) : step.exec.l%02d[format("s%%05d", (each.value + %d * j) %% %d)].outputs.o]`, fanIn, layer-1, stride, width)
		}
		fmt.Fprintf(&b, `
step "exec" "l%02d" {
  for_each = local.names
  argv     = concat(["./tools/tiny", "o"], %s)
  inputs   = concat(["tools/tiny"], %[2]s)
  output "o" { file = "o" }
}
`, layer, in)
	}
	fmt.Fprintf(&b, "\noutput \"last\" { value = [for s in step.exec.l%02d : s.outputs.o] }\n", layers-1)
	g.HCL = b.String()
	return g
}

func sources(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("src/s%05d", i)
	}
	return all
}

// affected is how many actions a change of a source runs.
func (g Graph) affected(source string) int {
	changed := map[string]bool{source: true}
	for _, n := range g.Nodes {
		for _, in := range n.In {
			if changed[in] {
				changed[n.Out] = true
			}
		}
	}
	return len(changed) - 1
}

// outputs are the paths below out/.
func (g Graph) outputs() []string {
	var all []string
	for _, n := range g.Nodes {
		if strings.HasPrefix(n.Out, "out/") {
			all = append(all, n.Out)
		}
	}
	return all
}

// write makes a workspace: sources, the program, and what each tool wants to be told.
func (g Graph) write(dir, tiny string) error {
	for _, sub := range []string{"src", "tools", "pipelines"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	for i, s := range g.Sources {
		if err := writeSource(filepath.Join(dir, s), uint64(i), 0); err != nil {
			return err
		}
	}
	program, err := os.ReadFile(tiny)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "tools", "tiny"), program, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"pipelines/graph.hcl": g.HCL, "build.ninja": g.ninja(), "Makefile": g.makefile()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeSource writes 4 KiB that depend on the source and its edition, which are the same in the workspaces of all tools.
func writeSource(path string, source, edition uint64) error {
	b := make([]byte, 4096)
	r := rand.New(rand.NewPCG(source, edition))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return os.WriteFile(path, b, 0o644)
}

func (g Graph) ninja() string {
	var b strings.Builder
	b.WriteString("rule tiny\n  command = ./tools/tiny $out $in\n")
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "build %s: tiny %s | tools/tiny\n", n.Out, strings.Join(n.In, " "))
	}
	return b.String()
}

func (g Graph) makefile() string {
	var b strings.Builder
	fmt.Fprintf(&b, "all: %s\n.PHONY: all\n", strings.Join(g.outputs(), " "))
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s: %s | out obj\n\t@./tools/tiny $@ $(filter-out tools/tiny,$^)\n", n.Out, strings.Join(append([]string{"tools/tiny"}, n.In...), " "))
	}
	b.WriteString("out obj:\n\t@mkdir -p $@\n")
	return b.String()
}
