// Package profile reads what the vendor's runtime says of where a graph's time goes (QNN's profiling), as the CSV that ONNX Runtime's QNN provider and
// qnn-profile-viewer write: of the whole, and of each node.
//
// One enters it with Parse and Of, or as a tool. It knows how events are named. It reads none of the vendor's logs, whose format nobody documents, does not know
// who ran the graph, and does not judge what is slow.
package profile

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Emulated is what must stand wherever numbers of the vendor's emulator do.
const Emulated = "Of the vendor's x86 emulator: its cycles and times are this machine's, no performance of an NPU."

// Profile is where a graph's time goes. Of several runs each number is the median, of an even number of them the lower one: so it was measured.
type Profile struct {
	Emulator bool    `json:"emulator"` // the numbers are the emulator's: no performance
	Note     string  `json:"note,omitempty"`
	Runs     int     `json:"runs"`
	Cycles   float64 `json:"cycles"`   // of the whole graph, 0 where the profile does not say
	Assigned float64 `json:"assigned"` // the part of all runs' cycles that nodes have; above 1 where some ran at the same time
	Totals   []Total `json:"totals"`   // of the whole, in the profile's order
	Nodes    []Node  `json:"nodes"`    // those that take most first
	Ops      []Op    `json:"ops"`      // nodes by operation, likewise
	Silent   []Node  `json:"silent"`   // nodes of the compiler's graph that the profile does not name
}

// Total is something that was said of the whole: of loading, of running.
type Total struct {
	Name  string  `json:"name"`  // the vendor's
	Unit  string  `json:"unit"`  // us, cycles, count, bytes
	Value float64 `json:"value"` // the median
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	Times int     `json:"times"` // how often it was said
}

// Node is a node of the compiler's graph.
type Node struct {
	Name   string   `json:"name"`
	Op     string   `json:"op"`     // QNN's operation, "" where it is not known
	ONNX   []string `json:"onnx"`   // the nodes of the ONNX graph that it was made of
	Cycles float64  `json:"cycles"` // the median; 0: it has none of its own, since another node does its work
	Least  float64  `json:"least"`
	Most   float64  `json:"most"`
	Share  float64  `json:"share"` // of the sum of all nodes' cycles, 0 to 1
}

// Op is all nodes with one operation.
type Op struct {
	Op    string  `json:"op"`
	Nodes int     `json:"nodes"`
	Share float64 `json:"share"`
}

// wholeCycles is the event whose parts are the nodes.
const wholeCycles = "Accelerator (execute) time (cycles)"

// node finds a node's name in that of an event: "conv:OpId_17 (cycles)", "Input OpId_2 (cycles)"; or its number, "OpId_25 (cycles)", where the compiler gave none.
var node = lazyregexp.New(`^(?:(.+?)[: ])?(OpId_\d+) \(cycles\)$`)

// values are what was said of one thing, run by run.
type values struct {
	name, unit string
	all        []float64
}

// Of makes a profile of events. made are the nodes of the compiler's graph, by name, with what is known of them, nil where it is not.
func Of(events []Event, made map[string]Node) (Profile, error) {
	totals, nodes := newSeries(), newSeries()
	for _, e := range events {
		if e.Root {
			totals.add(e.Name, e.Name, e.Unit, e.Value)
		} else if m := node.FindStringSubmatch(e.Name); m != nil && e.Unit == "CYCLES" {
			nodes.add(e.Name, cmp.Or(m[1], m[2]), e.Unit, e.Value) // with the number: two may have one name
		}
	}
	if len(totals.list) == 0 {
		return Profile{}, errors.New("the profile has no events: nothing was run")
	}
	p := Profile{Totals: []Total{}, Nodes: []Node{}, Ops: []Op{}, Silent: []Node{}}
	whole := 0.0
	for _, v := range totals.list {
		t := Total{Name: v.name, Unit: strings.ToLower(v.unit), Times: len(v.all)}
		t.Value, t.Least, t.Most = v.spread()
		p.Totals = append(p.Totals, t)
		if strings.Contains(v.name, "(execute") {
			p.Runs = max(p.Runs, t.Times)
		}
		if v.name == wholeCycles {
			p.Cycles, whole = t.Value, v.sum()
		}
	}
	p.fill(nodes.list, made)
	if whole > 0 {
		sum := 0.0
		for _, v := range nodes.list {
			sum += v.sum()
		}
		p.Assigned = sum / whole
	}
	return p, nil
}

// fill puts in the nodes, and what is known of them.
func (p *Profile) fill(nodes []*values, made map[string]Node) {
	named, ops, sum := map[string]bool{}, map[string]*Op{}, 0.0
	for _, v := range nodes {
		n := made[v.name]
		n.Name = v.name
		n.Cycles, n.Least, n.Most = v.spread()
		p.Nodes, named[v.name] = append(p.Nodes, n), true
		sum += n.Cycles
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.ONNX == nil {
			n.ONNX = []string{}
		}
		if sum > 0 {
			n.Share = n.Cycles / sum
		}
		of := cmp.Or(n.Op, n.Name) // Input and Output have no operation
		if ops[of] == nil {
			ops[of] = &Op{Op: of}
		}
		ops[of].Nodes++
		ops[of].Share += n.Share
	}
	slices.SortStableFunc(p.Nodes, func(a, b Node) int { return cmp.Compare(b.Cycles, a.Cycles) })
	for _, o := range ops {
		p.Ops = append(p.Ops, *o)
	}
	slices.SortFunc(p.Ops, func(a, b Op) int { return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Op, b.Op)) })
	if len(nodes) == 0 { // the profile is of the whole alone
		return
	}
	for name, n := range made {
		if !named[name] {
			n.Name = name
			p.Silent = append(p.Silent, n)
		}
	}
	slices.SortFunc(p.Silent, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
}

// series are values in the order in which they first came.
type series struct {
	list []*values
	by   map[string]*values
}

func newSeries() *series { return &series{by: map[string]*values{}} }

func (s *series) add(key, name, unit string, value float64) {
	v := s.by[key]
	if v == nil {
		v = &values{name: name, unit: unit}
		s.by[key], s.list = v, append(s.list, v)
	}
	v.all = append(v.all, value)
}

func (v *values) sum() (s float64) {
	for _, x := range v.all {
		s += x
	}
	return s
}

// spread is the median with the least and the largest.
func (v *values) spread() (median, least, most float64) {
	sorted := slices.Sorted(slices.Values(v.all))
	return sorted[(len(sorted)-1)/2], sorted[0], sorted[len(sorted)-1]
}
