package onnx

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/model/diff"
)

// Diff tells in what two graphs differ: section by section, without those that are the same.
//
// Nodes belong together that have the same name and op; of the others those that make a tensor of the same name; then those of the same op and attributes
// whose inputs belong together; and last those that have the same name alone. Constants belong together by name, then by content; inputs by name, then by
// type at the same place.
func Diff(a, b *Graph) []diff.Section {
	if reflect.DeepEqual(a, b) { // a graph that ONNX does not allow, such as one with two tensors of a name, is what it is, too
		return nil
	}
	m := &matcher{a: a, b: b, tensors: map[string]string{}, back: map[string]string{}, made: map[string]bool{}}
	for _, g := range []*Graph{a, b} {
		for _, v := range g.Inputs {
			m.made[v.Name] = true
		}
		for _, c := range g.Constants {
			m.made[c.Name] = true
		}
		for _, n := range g.Nodes {
			for _, name := range n.Outputs {
				m.made[name] = true
			}
		}
	}
	sections := []diff.Section{m.model(), m.values("inputs", a.Inputs, b.Inputs), m.constants()}
	m.match()
	sections = append(sections, m.nodes(), m.names(), m.values("outputs", a.Outputs, b.Outputs))
	return slices.DeleteFunc(sections, func(s diff.Section) bool { return len(s.Entries) == 0 })
}

// matcher finds out what of two graphs belongs together.
type matcher struct {
	a, b          *Graph
	tensors, back map[string]string // the second's name of a tensor of the first, and the other way round
	made          map[string]bool   // tensors that either has; a name that neither has is the same in both
	pair          []int             // of the first's nodes: which of the second's, or -1
	paired        []int             // likewise of the second's
}

// same says that two tensors are the same, unless one of them is another's already.
func (m *matcher) same(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if _, ok := m.tensors[a]; ok {
		return false
	}
	if _, ok := m.back[b]; ok {
		return false
	}
	m.tensors[a], m.back[b] = b, a
	return true
}

func (m *matcher) model() diff.Section {
	s := diff.Section{Of: "model", Entries: []diff.Entry{}}
	for _, x := range [][3]string{
		{"operator sets", strings.Join(sorted(m.a.Opsets), ", "), strings.Join(sorted(m.b.Opsets), ", ")},
		{"IR version", fmt.Sprint(m.a.IRVersion), fmt.Sprint(m.b.IRVersion)},
		{"made by", m.a.Producer, m.b.Producer},
		{"graph", m.a.Graph, m.b.Graph},
	} {
		if x[1] == x[2] {
			s.Same++
			continue
		}
		s.Entries = append(s.Entries, diff.Entry{Change: diff.Changed, Name: x[0], A: x[1], B: x[2]})
	}
	return s
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func (v Value) text() string { return v.DType + dimsText(v.Dims) }

func dimsText(dims []string) string { return "[" + strings.Join(dims, "×") + "]" }

// values compares inputs or outputs.
func (m *matcher) values(of string, a, b []Value) diff.Section {
	s := diff.Section{Of: of, Entries: []diff.Entry{}}
	in := make(map[string]Value, len(b))
	for _, v := range b {
		in[v.Name] = v
	}
	was := make(map[string]bool, len(a))
	for _, v := range a {
		was[v.Name] = true
	}
	for i, v := range a {
		w, ok := in[v.Name]
		now, known := m.tensors[v.Name]
		switch {
		case ok:
			m.same(v.Name, v.Name)
			if v.text() == w.text() {
				s.Same++
			} else {
				s.Entries = append(s.Entries, diff.Entry{Change: diff.Changed, Name: v.Name, A: v.text(), B: w.text()})
			}
			continue
		case known: // an output whose node was found
			w, ok = in[now]
		case i < len(b) && !was[b[i].Name] && b[i].text() == v.text():
			w, ok = b[i], m.same(v.Name, b[i].Name)
		}
		if !ok {
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Removed, Name: v.Name, A: v.Name + "  " + v.text()})
			continue
		}
		s.Entries = append(s.Entries, diff.Entry{Change: diff.Renamed, Name: v.Name, B: w.Name})
		if v.text() != w.text() {
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Changed, Name: w.Name, A: v.text(), B: w.text()})
		}
		was[w.Name] = true
	}
	for _, w := range b {
		if !was[w.Name] {
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Added, Name: w.Name, B: w.Name + "  " + w.text()})
		}
	}
	return s
}

// constants compares initializers: by name, and what is left by content.
func (m *matcher) constants() diff.Section {
	s := diff.Section{Of: "constants", Entries: []diff.Entry{}}
	in, content := make(map[string]int, len(m.b.Constants)), map[string][]int{}
	for i, c := range m.b.Constants {
		in[c.Name] = i
	}
	was := make(map[string]bool, len(m.a.Constants))
	for _, c := range m.a.Constants {
		was[c.Name] = true
	}
	for i, c := range m.b.Constants {
		if !was[c.Name] && c.Digest != "" {
			content[c.text()+c.Digest] = append(content[c.text()+c.Digest], i)
		}
	}
	used := make([]bool, len(m.b.Constants))
	for _, c := range m.a.Constants {
		i, ok := in[c.Name]
		if ok {
			used[i] = true
			m.same(c.Name, c.Name)
			if d := m.b.Constants[i]; c.text() != d.text() || c.Digest != d.Digest {
				s.Entries = append(s.Entries, diff.Entry{Change: diff.Changed, Name: c.Name, A: c.text(), B: d.text()})
			} else {
				s.Same++
			}
			continue
		}
		key := c.text() + c.Digest
		if alike := content[key]; len(alike) > 0 {
			content[key] = alike[1:]
			used[alike[0]] = true
			name := m.b.Constants[alike[0]].Name
			m.same(c.Name, name)
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Renamed, Name: c.Name, B: name})
			continue
		}
		s.Entries = append(s.Entries, diff.Entry{Change: diff.Removed, Name: c.Name, A: c.Name + "  " + c.text()})
	}
	for i, c := range m.b.Constants {
		if !used[i] {
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Added, Name: c.Name, B: c.Name + "  " + c.text()})
		}
	}
	return s
}

// rounds is how often nodes are looked for by their inputs: once is enough of nodes that stand in an order in which they can run.
const rounds = 3

// match finds which nodes belong together.
func (m *matcher) match() {
	m.pair, m.paired = unpaired(len(m.a.Nodes)), unpaired(len(m.b.Nodes))
	m.by(func(n *Node) string { return key(n.Name, n.Op) }, func(n *Node) bool { return n.Name != "" })
	m.by(func(n *Node) string { return n.Outputs[0] }, func(n *Node) bool { return len(n.Outputs) > 0 && n.Outputs[0] != "" })
	for range rounds {
		if !m.structure() {
			break
		}
	}
	m.by(func(n *Node) string { return n.Name }, func(n *Node) bool { return n.Name != "" })
}

func unpaired(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = -1
	}
	return list
}

func key(parts ...string) string {
	var s strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&s, "%d:%s", len(p), p)
	}
	return s.String()
}

// by pairs nodes that alone have a key in each graph, of those that have one.
func (m *matcher) by(of func(*Node) string, has func(*Node) bool) {
	index := func(nodes []Node, paired []int) map[string]int {
		found := map[string]int{}
		for i := range nodes {
			if paired[i] < 0 && has(&nodes[i]) {
				k := of(&nodes[i])
				if _, twice := found[k]; twice {
					found[k] = -1
				} else {
					found[k] = i
				}
			}
		}
		return found
	}
	in := index(m.b.Nodes, m.paired)
	for k, i := range index(m.a.Nodes, m.pair) {
		if j, ok := in[k]; ok && i >= 0 && j >= 0 {
			m.pair[i], m.paired[j] = j, i
		}
	}
	for i, j := range m.pair {
		if j >= 0 {
			m.outputs(i, j)
		}
	}
}

// outputs says that what two nodes make is the same.
func (m *matcher) outputs(i, j int) {
	a, b := m.a.Nodes[i].Outputs, m.b.Nodes[j].Outputs
	for k := range min(len(a), len(b)) {
		m.same(a[k], b[k])
	}
}

// structure pairs nodes of the same op and attributes whose inputs are the same, and tells whether there were any.
func (m *matcher) structure() bool {
	in := map[string][]int{}
	for j, n := range m.b.Nodes {
		if m.paired[j] < 0 {
			k := shape(n, n.Inputs)
			in[k] = append(in[k], j)
		}
	}
	found := false
	for i, n := range m.a.Nodes {
		if m.pair[i] >= 0 {
			continue
		}
		k := shape(n, m.translated(n.Inputs))
		if alike := in[k]; len(alike) > 0 {
			in[k] = alike[1:]
			m.pair[i], m.paired[alike[0]] = alike[0], i
			m.outputs(i, alike[0])
			found = true
		}
	}
	return found
}

// translated are names of the first graph as the second has them; one that it has not keeps its name, with a mark.
func (m *matcher) translated(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		now, ok := m.tensors[name]
		switch {
		case ok || name == "":
		case m.made[name]:
			now = "\x00" + name
		default:
			now = name
		}
		out[i] = now
	}
	return out
}

func shape(n Node, inputs []string) string {
	parts := append([]string{n.Op, fmt.Sprint(len(n.Outputs))}, inputs...)
	for _, a := range n.Attrs {
		parts = append(parts, "="+a.Name, a.Value)
	}
	return key(parts...)
}

// nodes says what became of nodes, in the order of the graphs.
func (m *matcher) nodes() diff.Section {
	s := diff.Section{Of: "nodes", Entries: []diff.Entry{}}
	next := 0
	removed := func(until int) {
		for ; next < until; next++ {
			if n := m.a.Nodes[next]; m.pair[next] < 0 {
				s.Entries = append(s.Entries, diff.Entry{Change: diff.Removed, Name: called(n), A: n.text()})
			}
		}
	}
	for j, n := range m.b.Nodes {
		i := m.paired[j]
		if i < 0 {
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Added, Name: called(n), B: n.text()})
			continue
		}
		removed(i)
		old := m.a.Nodes[i]
		what := m.changes(old, n)
		switch {
		case old.Op != n.Op:
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Changed, Name: called(n), A: old.text(), B: n.text()})
		case len(what) > 0:
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Changed, Name: called(n), A: old.text(), B: n.text(), What: what})
		default:
			s.Same++
		}
	}
	removed(len(m.a.Nodes))
	return s
}

// called is what a node is called: a node without a name by what it makes.
func called(n Node) string {
	if n.Name != "" || len(n.Outputs) == 0 {
		return n.Name
	}
	return n.Outputs[0]
}

// changes says in what two nodes of one op that belong together differ.
func (m *matcher) changes(a, b Node) (what []string) {
	now := m.translated(a.Inputs)
	for i := range max(len(a.Inputs), len(b.Inputs)) {
		var was, is, want string
		if i < len(a.Inputs) {
			was, want = a.Inputs[i], now[i]
		}
		if i < len(b.Inputs) {
			is = b.Inputs[i]
		}
		if want != is {
			what = append(what, fmt.Sprintf("input %d: %s → %s", i, or(was), or(is)))
		}
	}
	if len(a.Outputs) != len(b.Outputs) {
		what = append(what, fmt.Sprintf("%d outputs → %d", len(a.Outputs), len(b.Outputs)))
	}
	has := map[string]string{}
	for _, x := range b.Attrs {
		has[x.Name] = x.Value
	}
	for _, x := range a.Attrs {
		v, ok := has[x.Name]
		delete(has, x.Name)
		switch {
		case !ok:
			what = append(what, fmt.Sprintf("%s=%s is gone", x.Name, x.Value))
		case v != x.Value:
			what = append(what, fmt.Sprintf("%s=%s → %s", x.Name, x.Value, v))
		}
	}
	for _, x := range b.Attrs {
		if _, ok := has[x.Name]; ok {
			what = append(what, fmt.Sprintf("%s=%s is new", x.Name, x.Value))
			delete(has, x.Name)
		}
	}
	return what
}

func or(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// names says which nodes, and which tensors that nodes make, have another name.
func (m *matcher) names() diff.Section {
	s := diff.Section{Of: "names", Entries: []diff.Entry{}}
	for j, n := range m.b.Nodes {
		if m.paired[j] < 0 {
			continue
		}
		old := m.a.Nodes[m.paired[j]]
		if old.Name == n.Name {
			s.Same++
		} else {
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Renamed, Name: "node " + or(old.Name), B: or(n.Name)})
		}
		for k := range min(len(old.Outputs), len(n.Outputs)) {
			switch was, is := old.Outputs[k], n.Outputs[k]; {
			case was == is:
				s.Same++
			case m.tensors[was] == is:
				s.Entries = append(s.Entries, diff.Entry{Change: diff.Renamed, Name: was, B: is})
			}
		}
	}
	return s
}
