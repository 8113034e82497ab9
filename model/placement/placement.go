// Package placement says of a compiled graph which of its nodes run on the NPU and which stay on the CPU: in how many parts, why, what crosses between
// them, and what to put in the place of nodes that stay.
//
// One enters it with Read, which knows what the compilers of profile emulator leave (placed.json) and ExecuTorch's .pte; or as a tool. It
// compiles nothing. What may be put in whose place it is told: those are facts.
package placement

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/hexmage/hexmage/qnn"
)

// Graph is a compiled graph.
type Graph struct {
	Name    string            `json:"name"`
	Format  string            `json:"format"` // whose names its operations have: onnx, aten
	Inputs  []string          `json:"inputs"`
	Outputs []string          `json:"outputs"`
	Tensors map[string]Tensor `json:"tensors"`
	Parts   []Part            `json:"parts"` // that the NPU runs
	CPU     []Node            `json:"cpu"`   // what is left
}

// Tensor is what a node reads or writes.
type Tensor struct {
	Type     string  `json:"type"` // "float32"
	Shape    []int64 `json:"shape"`
	Constant bool    `json:"constant,omitempty"`
}

// Part is what the NPU runs at once.
type Part struct {
	Nodes   int      `json:"nodes"` // of the graph as it was; 0 where nothing tells
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
}

// Node is a node that stays on the CPU.
type Node struct {
	Name    string   `json:"name"`
	Op      string   `json:"op"`
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
	Why     string   `json:"why,omitempty"` // what the compiler says of it
}

// Taken is in which types an arch takes an operation of ONNX's, and how that is known: a16w8 is 16 bits for activations and 8 for weights.
type Taken struct {
	Op         string   `json:"op"`
	Types      []string `json:"types"`
	Confidence string   `json:"confidence"`
	Source     string   `json:"source"`
}

// Placed is what is said of graphs, for checks and tables.
type Placed struct {
	NPUNodes   int                  `json:"npu_nodes"` // 0 where no part tells of how many it was made
	CPUNodes   int                  `json:"cpu_nodes"`
	Partitions int                  `json:"partitions"`
	Crossings  int                  `json:"crossings"` // tensors that go from the CPU to a part or back, once for each part
	ToNPU      int64                `json:"to_npu_bytes"`
	ToCPU      int64                `json:"to_cpu_bytes"`
	Between    int64                `json:"between_bytes"`   // from one part to another
	Open       int                  `json:"open_tensors"`    // that cross, and whose size is not known
	In         int64                `json:"in_bytes"`        // from the application to parts
	Out        int64                `json:"out_bytes"`       // from parts to the application
	Nodes      []Stays              `json:"nodes"`           // on the CPU
	Instead    []*qnn.UnsupportedOp `json:"instead"`         // of their operations, each once
	Taken      []Taken              `json:"taken"`           // of their operations that the arch takes in other types
	Unknown    []string             `json:"no_remedy_known"` // their operations of which no fact says what to do
}

// Stays is a node on the CPU, as people read it.
type Stays struct {
	Graph string   `json:"graph"`
	Name  string   `json:"name"`
	Op    string   `json:"op"`
	Takes []string `json:"takes"` // "float32 [1×8×64]", constants left out
	Rank  int      `json:"rank"`  // the largest of what it takes and gives
	Why   string   `json:"why,omitempty"`
}

// Of says it of graphs that were compiled for an arch, "" where that is not known; known has the facts about their operations.
func Of(graphs []Graph, known *qnn.Facts, arch string) Placed {
	p := Placed{Nodes: []Stays{}, Instead: []*qnn.UnsupportedOp{}, Taken: []Taken{}, Unknown: []string{}}
	ops := map[operation]bool{}
	for i := range graphs {
		p.graph(&graphs[i])
		for _, s := range p.Nodes[len(p.Nodes)-len(graphs[i].CPU):] {
			ops[operation{s.Op, graphs[i].Format, s.Rank}] = true
		}
	}
	unknown := map[string]bool{}
	for _, o := range slices.SortedFunc(maps.Keys(ops), operation.compare) {
		if !p.change(o, known, arch) {
			unknown[o.op] = true
		}
	}
	p.Unknown = slices.AppendSeq(p.Unknown, maps.Keys(unknown))
	slices.Sort(p.Unknown)
	return p
}

// operation is what facts are about.
type operation struct {
	op, format string
	rank       int
}

func (o operation) compare(x operation) int {
	return cmp.Or(cmp.Compare(o.op, x.op), cmp.Compare(o.format, x.format), cmp.Compare(o.rank, x.rank))
}

func (p *Placed) graph(g *Graph) {
	p.Partitions += len(g.Parts)
	p.CPUNodes += len(g.CPU)
	made, parts := map[string]bool{}, map[string]bool{} // what a node of the CPU writes, and what a part does
	read := map[string]bool{}                           // what a node of the CPU reads
	for _, n := range g.CPU {
		note(made, n.Outputs)
		note(read, n.Inputs)
	}
	for _, part := range g.Parts {
		p.NPUNodes += part.Nodes
		note(parts, part.Outputs)
	}
	given := map[string]bool{}
	note(given, g.Inputs)
	asked := map[string]bool{}
	note(asked, g.Outputs)
	for _, part := range g.Parts {
		for _, t := range distinct(part.Inputs) {
			switch {
			case g.Tensors[t].Constant:
			case made[t]:
				p.Crossings++
				p.cross(&p.ToNPU, g.Tensors[t])
			case parts[t]:
				p.cross(&p.Between, g.Tensors[t])
			case given[t]:
				p.cross(&p.In, g.Tensors[t])
			}
		}
		for _, t := range distinct(part.Outputs) {
			if read[t] {
				p.Crossings++
				p.cross(&p.ToCPU, g.Tensors[t])
			}
			if asked[t] {
				p.cross(&p.Out, g.Tensors[t])
			}
		}
	}
	for _, n := range g.CPU {
		p.Nodes = append(p.Nodes, g.stays(n))
	}
}

func note(in map[string]bool, names []string) {
	for _, n := range names {
		in[n] = true
	}
}

func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// cross adds a tensor to what crosses.
func (p *Placed) cross(to *int64, t Tensor) {
	n, ok := t.bytes()
	if !ok || *to > math.MaxInt64-n {
		p.Open++
		return
	}
	*to += n
}

// bytes are those of a tensor, if it has a fixed shape and a type that is known.
func (t Tensor) bytes() (n int64, ok bool) {
	bits := bitsOf(t.Type)
	if bits == 0 || t.Shape == nil {
		return 0, false
	}
	n = 1
	for _, d := range t.Shape {
		if d < 0 || d > 0 && n > math.MaxInt64/8/d {
			return 0, false
		}
		n *= d
	}
	if n > (math.MaxInt64-7)/bits {
		return 0, false
	}
	return (n*bits + 7) / 8, true
}

// bitsOf are those of an element, 0 of a type that is not known.
func bitsOf(kind string) int64 {
	switch kind {
	case "float32", "int32", "uint32", "qint32":
		return 32
	case "float16", "bfloat16", "int16", "uint16":
		return 16
	case "int8", "uint8", "bool", "qint8", "quint8":
		return 8
	case "float64", "int64", "uint64", "complex64":
		return 64
	case "int4", "uint4":
		return 4
	}
	return 0
}

func (g *Graph) stays(n Node) Stays {
	s := Stays{Graph: short(g.Name), Name: short(n.Name), Op: short(n.Op), Takes: []string{}, Why: shown(strings.Join(strings.Fields(n.Why), " "))}
	for _, name := range n.Inputs {
		if t := g.Tensors[name]; !t.Constant && t.Type != "" {
			s.Takes = append(s.Takes, t.String())
		}
	}
	for _, name := range slices.Concat(n.Inputs, n.Outputs) {
		s.Rank = max(s.Rank, len(g.Tensors[name].Shape))
	}
	return s
}

func (t Tensor) String() string {
	if t.Shape == nil {
		return short(t.Type) + " [?]"
	}
	return short(t.Type) + " " + strings.ReplaceAll(fmt.Sprint(t.Shape), " ", "×")
}

// change notes what can be put in the place of an operation, or in which types it is taken; it is false where no fact says either. What is said of the
// operation itself comes before what is said of any, and of more dimensions before of fewer.
func (p *Placed) change(o operation, known *qnn.Facts, arch string) bool {
	var best *qnn.UnsupportedOp
	for _, r := range known.UnsupportedOps {
		if r.Format == o.format && o.rank >= r.Rank && (o.is(r.Op) || r.Op == "*") && (best == nil || best.Op == "*" && r.Op != "*" || (best.Op == "*") == (r.Op == "*") && r.Rank > best.Rank) {
			best = r
		}
	}
	if best != nil {
		if !slices.Contains(p.Instead, best) {
			p.Instead = append(p.Instead, best)
		}
		return true
	}
	if of := known.FindPrecision(o.op); of != nil && o.format == "onnx" && len(of.Takes[arch]) > 0 {
		if !slices.ContainsFunc(p.Taken, func(t Taken) bool { return t.Op == o.op }) {
			p.Taken = append(p.Taken, Taken{o.op, of.Takes[arch], of.Confidence, of.Source})
		}
		return true
	}
	return false
}

// is tells whether a fact's name is the operation's: that of ATen's may be without the overload, aten::erfinv of aten::erfinv.out.
func (o operation) is(name string) bool {
	bare, _, _ := strings.Cut(o.op, ".")
	return o.op == name || o.format == "aten" && bare == name
}

// maxName is what is kept of a name, in letters: a file that has a long one once may name it a million times.
const maxName = 200

// short is shown of a name.
func short(s string) string { return shown(cut(s, maxName)) }

// cut is a text of so many letters at most.
func cut(s string, most int) string {
	last, n := 0, 0
	for i := range s {
		if n++; n == most {
			last = i
		}
		if n > most {
			return s[:last] + "…"
		}
	}
	return s
}

// shown makes a text of a file one that may be printed.
func shown(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, s)
}
