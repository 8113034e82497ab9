package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
)

// Dot returns the graph of steps in Graphviz's language: an arrow leads from a step to what needs it.
func Dot(p *Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n", dotString(p.Pipeline))
	for _, n := range p.Instances {
		style := ""
		switch {
		case n.At.Kind == addrs.Toolchain:
			style = ", style=\"filled,rounded\", fillcolor=\"#eeeeee\""
		case n.Deferred != "":
			style = ", style=\"dashed,rounded\""
		}
		fmt.Fprintf(&b, "  %s [label=%s%s];\n", dotString(n.At.String()), dotString(n.At.Short()), style)
	}
	eachEdge(p, func(from, to addrs.Instance) {
		fmt.Fprintf(&b, "  %s -> %s;\n", dotString(from.String()), dotString(to.String()))
	})
	b.WriteString("}\n")
	return b.String()
}

func dotString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// Mermaid returns the graph of steps as a mermaid flowchart: an arrow leads from a step to what needs it.
func Mermaid(p *Plan) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	ids := make(map[addrs.Instance]string, len(p.Instances))
	for i, n := range p.Instances {
		ids[n.At] = fmt.Sprintf("n%d", i)
		open, shut := "[", "]"
		switch {
		case n.At.Kind == addrs.Toolchain:
			open, shut = "[(", ")]"
		case n.Deferred != "":
			open, shut = "([", "])"
		}
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", i, open, mermaidText(n.At.Short()), shut)
	}
	eachEdge(p, func(from, to addrs.Instance) { fmt.Fprintf(&b, "  %s --> %s\n", ids[from], ids[to]) })
	return b.String()
}

// mermaidText spells what mermaid would read as its own syntax as entities.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '"' || r == '#' || r == '<' || r == '>' || r == '&' || r < ' ' {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func eachEdge(p *Plan, f func(from, to addrs.Instance)) {
	by := p.named()
	for _, n := range p.Instances {
		for _, d := range n.Needs() {
			for _, from := range by[d] {
				f(from.At, n.At)
			}
		}
	}
}

type jsonGraph struct {
	Format    string          `json:"format"`
	Pipeline  string          `json:"pipeline"`
	Profile   string          `json:"profile,omitempty"`
	Instances []graphInstance `json:"nodes"`
	Edges     [][2]string     `json:"edges"` // from what is needed to what needs it
}

type graphInstance struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Where    string `json:"where"`
	Deferred string `json:"deferred,omitempty"`
}

// GraphJSON returns the graph of steps as JSON, format "hexmage-graph/0": the 0 says that it may still change.
func GraphJSON(p *Plan) ([]byte, error) {
	g := jsonGraph{Format: "hexmage-graph/0", Pipeline: p.Pipeline, Profile: p.Profile, Instances: []graphInstance{}, Edges: [][2]string{}}
	for _, n := range p.Instances {
		g.Instances = append(g.Instances, graphInstance{ID: n.At.String(), Kind: n.At.Kind, Where: n.Where, Deferred: n.Deferred})
	}
	eachEdge(p, func(from, to addrs.Instance) { g.Edges = append(g.Edges, [2]string{from.String(), to.String()}) })
	return marshal(g)
}

// marshal is json.MarshalIndent without the escapes that only HTML needs, with a line end.
func marshal(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return []byte(b.String()), err
}
