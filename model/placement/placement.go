// Package placement reports which nodes of a compiled ONNX graph run on the NPU or on the CPU. The report has
// partitions, the provider's reasons, transferred bytes, and known replacements.
//
// The tool reads the placed.json of htp_context and facts about operations from its spec. It does not know the
// compiler of the graph.
package placement

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/qnn"
)

// Graph is a compiled graph and the placement of its nodes.
type Graph struct {
	Name    string            `json:"name"`
	Inputs  []string          `json:"inputs"`
	Outputs []string          `json:"outputs"`
	Tensors map[string]Tensor `json:"tensors"`
	Parts   []Part            `json:"parts"` // partitions on the NPU
	CPU     []Node            `json:"cpu"`
}

// Tensor is an input or output of a node.
type Tensor struct {
	Type     string  `json:"type"`  // "float32"
	Shape    []int64 `json:"shape"` // -1 for a dimension that is not fixed
	Constant bool    `json:"constant,omitempty"`
}

// Part is a subgraph that the NPU runs as a whole.
type Part struct {
	Nodes   int      `json:"nodes"` // number of nodes in the original graph
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
}

// Node is a node that runs on the CPU.
type Node struct {
	Name    string   `json:"name"`
	Op      string   `json:"op"`
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
	Why     string   `json:"why,omitempty"` // the provider's reason
}

// Report summarizes all graphs and lists their nodes on the CPU.
type Report struct {
	NPUNodes           int                  `json:"npu_nodes"`
	CPUNodes           int                  `json:"cpu_nodes"`
	Partitions         int                  `json:"partitions"`
	Crossings          int                  `json:"crossings"` // tensors between CPU and NPU, counted once per partition
	ToNPU              int64                `json:"to_npu_bytes"`
	ToCPU              int64                `json:"to_cpu_bytes"`
	Between            int64                `json:"between_bytes"`   // bytes between partitions
	UnknownSize        int                  `json:"unknown_size"`    // transferred tensors without a fixed size
	Nodes              []CPUNode            `json:"nodes"`           // nodes on the CPU
	Replacements       []*qnn.UnsupportedOp `json:"replacements"`    // for operations in Nodes, without duplicates
	SupportedTypes     []*qnn.Precision     `json:"supported_types"` // operations in Nodes that the NPU runs in other types
	UnknownReplacement []string             `json:"no_replacement_known"`
}

// CPUNode describes a node on the CPU in a report.
type CPUNode struct {
	Graph string   `json:"graph"`
	Name  string   `json:"name"`
	Op    string   `json:"op"`
	Takes []string `json:"takes"` // inputs without constants: "float32 [1×8×64]"
	Rank  int      `json:"rank"`  // largest rank of its inputs and outputs
	Why   string   `json:"why,omitempty"`
}

// Of returns the report on graphs that were compiled for an arch, such as "v79".
func Of(graphs []Graph, known *qnn.Facts, arch string) Report {
	r := Report{Nodes: []CPUNode{}, Replacements: []*qnn.UnsupportedOp{}, SupportedTypes: []*qnn.Precision{}, UnknownReplacement: []string{}}
	for i := range graphs {
		r.add(&graphs[i])
	}
	for _, n := range r.Nodes {
		r.advise(n, known, arch)
	}
	slices.Sort(r.UnknownReplacement)
	return r
}

func (r *Report) add(g *Graph) {
	r.Partitions += len(g.Parts)
	r.CPUNodes += len(g.CPU)
	cpuWrites, cpuReads, npuWrites := map[string]bool{}, map[string]bool{}, map[string]bool{}
	note := func(in map[string]bool, names []string) {
		for _, n := range names {
			in[n] = true
		}
	}
	for _, n := range g.CPU {
		note(cpuWrites, n.Outputs)
		note(cpuReads, n.Inputs)
		r.Nodes = append(r.Nodes, g.describe(n))
	}
	for _, part := range g.Parts {
		note(npuWrites, part.Outputs)
	}
	for _, part := range g.Parts {
		r.NPUNodes += part.Nodes
		for _, t := range distinct(part.Inputs) {
			switch {
			case g.Tensors[t].Constant:
			case cpuWrites[t]:
				r.Crossings++
				r.cross(&r.ToNPU, g.Tensors[t])
			case npuWrites[t]:
				r.cross(&r.Between, g.Tensors[t])
			}
		}
		for _, t := range distinct(part.Outputs) {
			if cpuReads[t] {
				r.Crossings++
				r.cross(&r.ToCPU, g.Tensors[t])
			}
		}
	}
}

func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

func (r *Report) cross(to *int64, t Tensor) {
	n, ok := t.bytes()
	if !ok || *to > math.MaxInt64-n {
		r.UnknownSize++
		return
	}
	*to += n
}

// bytes returns the size of a tensor with a fixed shape and a type whose name ends with its number of bits.
func (t Tensor) bytes() (n int64, ok bool) {
	bits, err := strconv.Atoi(strings.TrimLeft(strings.Replace(t.Type, "bool", "uint8", 1), "abcdefghijklmnopqrstuvwxyz"))
	if err != nil || bits < 1 || bits > 64 || t.Shape == nil {
		return 0, false
	}
	n = int64(bits)
	for _, d := range t.Shape {
		if d < 0 || d > 0 && n > (math.MaxInt64-7)/d {
			return 0, false
		}
		n *= d
	}
	return (n + 7) / 8, true
}

func (g *Graph) describe(n Node) CPUNode {
	c := CPUNode{Graph: g.Name, Name: n.Name, Op: n.Op, Takes: []string{}, Why: strings.Join(strings.Fields(n.Why), " ")}
	for _, name := range n.Inputs {
		if t := g.Tensors[name]; !t.Constant && t.Type != "" {
			c.Takes = append(c.Takes, t.String())
		}
	}
	for _, name := range slices.Concat(n.Inputs, n.Outputs) {
		c.Rank = max(c.Rank, len(g.Tensors[name].Shape))
	}
	return c
}

func (t Tensor) String() string {
	if t.Shape == nil {
		return t.Type + " [?]"
	}
	return t.Type + " " + strings.ReplaceAll(fmt.Sprint(t.Shape), " ", "×")
}

// advise adds the facts about a node's operation. Facts about the operation precede facts about any operation;
// higher ranks precede lower ranks.
func (r *Report) advise(n CPUNode, known *qnn.Facts, arch string) {
	var best *qnn.UnsupportedOp
	for _, f := range known.UnsupportedOps {
		if f.Format == "onnx" && n.Rank >= f.Rank && (f.Op == n.Op || f.Op == "*") &&
			(best == nil || best.Op == "*" && f.Op != "*" || (best.Op == "*") == (f.Op == "*") && f.Rank > best.Rank) {
			best = f
		}
	}
	types := known.FindPrecision(n.Op)
	switch {
	case best != nil:
		if !slices.Contains(r.Replacements, best) {
			r.Replacements = append(r.Replacements, best)
		}
	case types != nil && len(types.Takes[arch]) > 0:
		of := &qnn.Precision{Name: types.Name, Ops: []string{n.Op}, Takes: map[string][]string{arch: types.Takes[arch]}, Confidence: types.Confidence, Source: types.Source}
		if !slices.ContainsFunc(r.SupportedTypes, func(p *qnn.Precision) bool { return p.Ops[0] == n.Op }) {
			r.SupportedTypes = append(r.SupportedTypes, of)
		}
	case !slices.Contains(r.UnknownReplacement, n.Op):
		r.UnknownReplacement = append(r.UnknownReplacement, n.Op)
	}
}
