package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Graph is a graph of actions of one program, as each tool is told of it.
type Graph struct {
	Program string   // of all actions: the name of one of programs
	Size    int64    // bytes of each source
	Shared  bool     // the workspaces share their sources, which are too much to have for each
	Sources []string // src/…
	Nodes   []Node   // each after what it needs
	HCL     []string // the files of the pipeline
}

// Node is one action. Outputs below out/ are what the build is for, those below obj/ are in between.
type Node struct {
	Out string
	In  []string
}

const (
	header = "pipeline { description = \"a graph to measure with\" }\n"

	small = 4 << 10 // bytes of a source, and what tiny reads of it: what follows makes no difference to the output
	large = 1 << 20 // bytes from which on a source is large
)

// large tells whether the sources are.
func (g Graph) large() bool { return g.Size >= large }

// Wide is n actions that read a source each, and one that reads all their outputs; or so many that read a part of
// them each, and one that reads theirs. If explicit, the pipeline has a block for each action.
func Wide(n, groups int, explicit bool) Graph {
	g := Graph{Program: "tiny", Size: small, Shared: groups > 1, Sources: sources(n)}
	all := Node{Out: "out/all"}
	var links []Node
	for k := range groups {
		link := Node{Out: fmt.Sprintf("obj/g%d", k)}
		for i := k * n / groups; i < (k+1)*n/groups; i++ {
			// short: ninja hands the link's line to a shell, as one argument of at most 128 KiB
			out := fmt.Sprintf("out/o.%d", i)
			g.Nodes = append(g.Nodes, Node{Out: out, In: []string{g.Sources[i]}})
			link.In = append(link.In, out)
		}
		links, all.In = append(links, link), append(all.In, link.Out)
	}
	if groups == 1 {
		links, all.In = nil, links[0].In
	}
	g.Nodes = append(append(g.Nodes, links...), all)
	if explicit {
		g.explicit()
		return g
	}
	g.HCL = []string{header + `
step "exec" "obj" {
  for_each = toset(fileset("src", "*"))
  argv     = ["./tools/tiny", "o", each.value]
  inputs   = ["tools/tiny", each.value]
  output "o" { file = "o" }
}

output "all" { value = step.exec.all.outputs.all }
output "o" { value = [for s in step.exec.obj : s.outputs.o] }
`}
	in := "step.exec.obj : s.outputs.o"
	if groups > 1 {
		in = "step.exec.group : s.outputs.g"
		g.HCL[0] += fmt.Sprintf(`
locals {
  objs = [for s in step.exec.obj : s.outputs.o]
}

step "exec" "group" {
  for_each = { for k in range(%d) : format("g%%d", k) => k }
  argv     = concat(["./tools/tiny", "g"], slice(local.objs, floor(each.value * %d / %[1]d), floor((each.value + 1) * %[2]d / %[1]d)))
  inputs   = ["tools/tiny"]
  output "g" { file = "g" }
}
`, groups, n)
	}
	g.HCL[0] += fmt.Sprintf(`
step "exec" "all" {
  argv   = concat(["./tools/tiny", "all"], [for s in %s])
  inputs = ["tools/tiny"]
  output "all" { file = "all" }
}
`, in)
	return g
}

// Chain is n actions, each of which reads the output of the one before.
func Chain(n int) Graph {
	g := Graph{Program: "tiny", Size: small, Sources: sources(1)}
	in := g.Sources[0]
	for i := range n {
		out := fmt.Sprintf("obj/c%05d", i)
		if i == n-1 {
			out = "out/last"
		}
		g.Nodes = append(g.Nodes, Node{Out: out, In: []string{in}})
		in = out
	}
	g.explicit()
	return g
}

const (
	fanIn  = 5
	stride = 97 // between the inputs of one action: an edit spreads slowly from layer to layer
)

// Layered is layers of width actions; each reads five outputs of the layer before, the first layer a source each. If
// explicit, the pipeline has a block for each action.
func Layered(layers, width int, explicit bool) Graph {
	g := Graph{Program: "tiny", Size: small, Sources: sources(width)}
	name := func(layer, i int) string {
		if layer == layers-1 {
			return fmt.Sprintf("out/last.%d", i)
		}
		return fmt.Sprintf("obj/l%02d-%05d", layer, i)
	}
	var b strings.Builder
	fmt.Fprintf(&b, header+`
locals {
  names = [for i in range(%[1]d) : format("s%%05d", i)]
  reads = { for i in range(%[1]d) : local.names[i] => [for j in range(%[2]d) : local.names[(i + %[3]d * j) %% %[1]d]] }
}
`, width, fanIn, stride)
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
		in, inputs := `["src/${each.key}"]`, `["tools/tiny", "src/${each.key}"]`
		if layer > 0 { // outputs in argv are inputs
			inputs = `["tools/tiny"]`
			in = fmt.Sprintf(`[for name in each.value : step.exec.l%02d[name].outputs.o]`, layer-1)
		}
		fmt.Fprintf(&b, `
step "exec" "l%02d" {
  for_each = local.reads
  argv     = concat(["./tools/tiny", "o"], %s)
  inputs   = %s
  output "o" { file = "o" }
}
`, layer, in, inputs)
	}
	fmt.Fprintf(&b, "\noutput \"last\" { value = [for s in step.exec.l%02d : s.outputs.o] }\n", layers-1)
	g.HCL = []string{b.String()}
	if explicit {
		g.explicit()
	}
	return g
}

// Large is n files of size bytes, each of which an action writes again with all bits inverted.
func Large(n int, size int64) Graph {
	g := Graph{Program: "flip", Size: size, Shared: true, Sources: sources(n)}
	for i, s := range g.Sources {
		g.Nodes = append(g.Nodes, Node{Out: fmt.Sprintf("out/o.%d", i), In: []string{s}})
	}
	g.HCL = []string{header + `
step "exec" "flip" {
  for_each = toset(fileset("src", "*"))
  argv     = ["./tools/flip", "o", each.value]
  inputs   = ["tools/flip", each.value]
  output "o" { file = "o" }
}

output "o" { value = [for s in step.exec.flip : s.outputs.o] }
`}
	return g
}

// perFile is the number of steps in a file of an explicit pipeline: a file has at most 2 MiB.
const perFile = 5000

// explicit writes the pipeline with a block for each action.
func (g *Graph) explicit() {
	g.HCL = nil
	ref := map[string]string{}
	for i, n := range g.Nodes {
		ref[n.Out] = fmt.Sprintf("step.exec.a%05d.outputs.o", i)
	}
	var all strings.Builder        // outputs of the pipeline
	lists := map[string][]string{} // of outputs that are lists
	for part := range slices.Chunk(g.Nodes, perFile) {
		var b strings.Builder
		if g.HCL == nil {
			b.WriteString(header)
		}
		for i, n := range part {
			inputs, args := []string{`"tools/` + g.Program + `"`}, []string{`"./tools/` + g.Program + `"`, `"o"`}
			for _, in := range n.In {
				r, made := ref[in]
				if !made {
					r = `"` + in + `"`
					inputs = append(inputs, r)
				}
				args = append(args, r)
			}
			fmt.Fprintf(&b, `
step "exec" "a%05d" {
  argv   = [%s]
  inputs = [%s]
  output "o" { file = "o" }
}
`, len(g.HCL)*perFile+i, strings.Join(args, ", "), strings.Join(inputs, ", "))
			name, wanted := strings.CutPrefix(n.Out, "out/")
			if list, _, ok := strings.Cut(name, "."); ok {
				lists[list] = append(lists[list], ref[n.Out])
			} else if wanted {
				fmt.Fprintf(&all, "\noutput %q { value = %s }\n", name, ref[n.Out])
			}
		}
		g.HCL = append(g.HCL, b.String())
	}
	for name, refs := range lists {
		var parts []string
		for part := range slices.Chunk(refs, perFile) {
			local := fmt.Sprintf("%s%d", name, len(parts))
			parts = append(parts, "local."+local)
			fmt.Fprintf(&all, "\nlocals {\n  %s = [%s]\n}\n", local, strings.Join(part, ", "))
		}
		fmt.Fprintf(&all, "\noutput %q { value = concat(%s) }\n", name, strings.Join(parts, ", "))
	}
	g.HCL = append(g.HCL, all.String())
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

// write makes workspaces: sources, the program, and what each tool wants to be told.
func (g Graph) write(programs string, dirs ...string) error {
	files := map[string]string{"build.ninja": g.ninja(), "Makefile": g.makefile(), floorGraph: g.floor()}
	for i, text := range g.HCL {
		files[fmt.Sprintf("pipelines/graph/%03d.hcl", i)] = text
	}
	for _, dir := range dirs {
		for _, sub := range []string{"src", "tools", "pipelines/graph"} {
			if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
				return err
			}
		}
		if err := copyTo(filepath.Join(programs, g.Program), filepath.Join(dir, "tools", g.Program)); err != nil {
			return err
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	for i := range g.Sources {
		if err := g.edit(i, 0, "", dirs...); err != nil {
			return err
		}
	}
	return nil
}

// edit gives a source of all workspaces the content of an edition, and a comment after it.
func (g Graph) edit(source int, edition uint64, comment string, dirs ...string) error {
	first := filepath.Join(dirs[0], g.Sources[source])
	for i, dir := range dirs {
		path := filepath.Join(dir, g.Sources[source])
		if i > 0 && g.Shared {
			if err := os.Link(first, path); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			continue
		}
		if err := writeSource(path, g.Size, uint64(source), edition, comment); err != nil {
			return err
		}
	}
	return nil
}

func writeSource(path string, size int64, source, edition uint64, comment string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], source)
	binary.LittleEndian.PutUint64(seed[8:], edition)
	_, err = io.CopyN(f, rand.NewChaCha8(seed), size)
	_, cerr := f.WriteString(comment)
	return errors.Join(err, cerr, f.Close())
}

func (g Graph) ninja() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rule make\n  command = ./tools/%s $out $in\n", g.Program)
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "build %s: make %s | tools/%s\n", n.Out, strings.Join(n.In, " "), g.Program)
	}
	return b.String()
}

func (g Graph) makefile() string {
	var b strings.Builder
	tool := "tools/" + g.Program
	fmt.Fprintf(&b, "all: %s\n.PHONY: all\n", strings.Join(g.outputs(), " "))
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s: %s %s | out obj\n\t@./%[2]s $@ $(filter-out %[2]s,$^)\n", n.Out, tool, strings.Join(n.In, " "))
	}
	b.WriteString("out obj:\n\t@mkdir -p $@\n")
	return b.String()
}

// floor is what floorGraph holds.
func (g Graph) floor() string {
	names := append([]string{"tools/" + g.Program}, g.Sources...)
	for _, n := range g.Nodes {
		names = append(names, n.Out)
	}
	number := map[string]int{}
	for i, name := range names {
		number[name] = i
	}
	var b strings.Builder
	b.WriteString(strings.Join(names, "\n") + "\n")
	for _, level := range levels(g) {
		b.WriteString("\n")
		for _, n := range level {
			fmt.Fprintf(&b, "%d 0", number[n.Out])
			for _, in := range n.In {
				fmt.Fprintf(&b, " %d", number[in])
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// levels are actions that don't need each other.
func levels(g Graph) [][]Node {
	at := map[string]int{}
	var all [][]Node
	for _, n := range g.Nodes {
		level := 0
		for _, in := range n.In {
			if l, ok := at[in]; ok {
				level = max(level, l+1)
			}
		}
		at[n.Out] = level
		if level == len(all) {
			all = append(all, nil)
		}
		all[level] = append(all[level], n)
	}
	return all
}
