package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/secret"
)

// Notes are lines to add to a rendered plan. They predict how a build will run.
type Notes struct {
	Spec     func(n *Instance, spec string) string // a line for an action, or ""; nil: no lines
	Instance func(n *Instance) string              // a line for a step, or ""; nil: no lines
	Last     string                                // the last line, or ""
	Paths    bool                                  // show the path of each output in other exec roots
}

// Text renders the plan for users: each step in order, its actions with their command lines, its outputs, and the
// notes. If a step is deferred, Text shows the known parts and the reason.
func Text(p *Plan, notes Notes) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pipeline %s", p.Pipeline)
	if p.Profile != "" {
		fmt.Fprintf(&b, ", profile %s", p.Profile)
	}
	b.WriteString("\n")
	if p.Description != "" {
		fmt.Fprintf(&b, "%s\n", p.Description)
	}
	for _, n := range p.Instances {
		textInstance(&b, n, notes)
	}
	if len(p.Outputs) > 0 {
		b.WriteString("\noutputs\n")
	}
	for _, o := range p.Outputs {
		fmt.Fprintf(&b, "  %s = %s\n", o.Name, TextOfOutput(o))
	}
	checks := p.askedChecks()
	if len(checks) > 0 {
		b.WriteString("\nchecks\n")
	}
	for _, c := range checks {
		fmt.Fprintf(&b, "  %s  (%s)  %s%s\n", c.At, c.Where, c.Severity, checkText(c))
	}
	if missing := p.Missing(); len(missing) > 0 {
		fmt.Fprintf(&b, "\nthis machine cannot run the plan yet\n")
		for _, m := range missing {
			fmt.Fprintf(&b, "  missing: %s\n", m)
		}
	}
	if notes.Last != "" {
		fmt.Fprintf(&b, "\n%s\n", notes.Last)
	}
	return b.String()
}

// TextOf renders one instance in the format of Text.
func TextOf(n *Instance, notes Notes) string {
	var b strings.Builder
	textInstance(&b, n, notes)
	return strings.TrimPrefix(b.String(), "\n")
}

// TextOfOutput renders one output of the pipeline in the format of Text.
func TextOfOutput(o Output) string {
	switch {
	case o.Artifact.Artifact != nil && o.Artifact.Sub != "":
		return fmt.Sprintf("%s/%s (%s)", o.Artifact.Artifact, o.Artifact.Sub, o.Class)
	case o.Artifact.Artifact != nil:
		return fmt.Sprintf("%s (%s)", o.Artifact.Artifact, o.Class)
	case o.Waits == ForValues:
		return "depends on " + named(o.AwaitValues)
	}
	return o.Literal
}

// askedChecks returns the checks that read only steps of the plan.
func (p *Plan) askedChecks() []Check {
	there := map[addrs.Instance]bool{}
	for _, n := range p.Instances {
		there[n.At] = true
	}
	return slices.DeleteFunc(slices.Clone(p.Checks), func(c Check) bool {
		return slices.ContainsFunc(c.AwaitValues, func(o addrs.Output) bool { return !there[o.Instance] })
	})
}

// reads returns the instances whose outputs the check reads.
func (c Check) reads() []addrs.Instance {
	var all []addrs.Instance
	for _, o := range c.AwaitValues {
		all = append(all, o.Instance)
	}
	return addrs.SortInstances(all)
}

func checkText(c Check) string {
	if len(c.AwaitValues) == 0 {
		return ""
	}
	return ", reads " + named(c.AwaitValues)
}

func named(outputs []addrs.Output) string {
	var names []string
	for _, o := range outputs {
		names = append(names, o.String())
	}
	return strings.Join(names, ", ")
}

func textInstance(b *strings.Builder, n *Instance, notes Notes) {
	fmt.Fprintf(b, "\n%s  (%s)\n", n.At, n.Where)
	if n.Description != "" {
		fmt.Fprintf(b, "  %s\n", n.Description)
	}
	if n.Deferred != "" {
		fmt.Fprintf(b, "  deferred: %s\n", n.Deferred)
	}
	if notes.Instance != nil {
		if line := notes.Instance(n); line != "" {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
	for _, m := range n.Missing {
		fmt.Fprintf(b, "  missing: %s\n", m)
	}
	if s := metaText(n); s != "" {
		fmt.Fprintf(b, "  %s\n", s)
	}
	for _, s := range n.Specs {
		textSpec(b, n, s, notes)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Classes)) {
		from := artifactText(n.Outputs[name])
		if notes.Paths && from != "" {
			from = " <-" + from
		}
		if notes.Paths {
			from = " at " + n.Output(name).Path() + from
		}
		fmt.Fprintf(b, "  output %s (%s)%s\n", name, n.Classes[name], from)
	}
}

func metaText(n *Instance) string {
	var parts []string
	for _, at := range n.After {
		parts = append(parts, "after "+at.String())
	}
	if n.Timeout > 0 {
		parts = append(parts, "timeout "+n.Timeout.String())
	}
	if n.Retries > 0 {
		parts = append(parts, fmt.Sprintf("retries %d", n.Retries))
		if len(n.RetryExitCodes) > 0 {
			parts = append(parts, fmt.Sprintf("retries also after exit codes %d", n.RetryExitCodes))
		}
	}
	for _, r := range slices.Sorted(maps.Keys(n.Resources)) {
		parts = append(parts, fmt.Sprintf("%s %d", r, n.Resources[r]))
	}
	if n.Cache != CacheDefault {
		parts = append(parts, "cache "+n.Cache)
	}
	if n.SideEffects {
		parts = append(parts, "side effects")
	}
	return strings.Join(parts, ", ")
}

// ActionName returns the name of an action, or the kind of the step if the action has no name.
func (n *Instance) ActionName(s action.Spec) string {
	return cmp.Or(s.Name, n.At.Kind)
}

func textSpec(b *strings.Builder, n *Instance, s action.Spec, notes Notes) {
	name := n.ActionName(s)
	if n.Deferred != "" {
		name += " (preview)"
	}
	fmt.Fprintf(b, "  action %s", name)
	if s.Description != "" {
		fmt.Fprintf(b, ": %s", s.Description)
	}
	b.WriteString("\n")
	if notes.Spec != nil {
		if line := notes.Spec(n, s.Name); line != "" {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	if len(s.Args) > 0 {
		fmt.Fprintf(b, "    $ %s\n", action.Quote(s.Args))
	}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		fmt.Fprintf(b, "    env %s=%s\n", k, action.Quote([]string{s.Env[k]}))
	}
	if s.Stdin != "" {
		fmt.Fprintf(b, "    stdin %s\n", s.Stdin)
	}
	for _, k := range slices.Sorted(maps.Keys(s.Platform)) {
		if name, ok := strings.CutPrefix(k, action.PropertySecret); ok {
			fmt.Fprintf(b, "    env %s=%q %s\n", name, s.Platform[k], secret.Hidden)
		} else if name, ok := strings.CutPrefix(k, action.PropertySecretFile); ok {
			fmt.Fprintf(b, "    secret_file %s %q %s\n", name, s.Platform[k], secret.Hidden)
		} else {
			fmt.Fprintf(b, "    %s = %s\n", k, s.Platform[k])
		}
	}
	byPath := func(a, b action.Input) int { return strings.Compare(a.Path, b.Path) }
	for _, in := range slices.SortedStableFunc(slices.Values(s.Inputs), byPath) {
		fmt.Fprintf(b, "    in  %s\n", inputText(in))
	}
	for _, o := range s.Outputs {
		slash := ""
		if o.Tree {
			slash = "/"
		}
		varies := ""
		if o.Varies != "" {
			varies = "  may differ: " + o.Varies
		}
		fmt.Fprintf(b, "    out %s%s%s\n", o.Path, slash, varies)
	}
}

// inputText describes an input: "src/a.c <- workspace file src/a.c".
func inputText(in action.Input) string {
	from := ""
	switch {
	case in.Artifact != nil:
		from = in.Artifact.String()
	case in.Spec != nil && in.Spec.Spec == "":
		from = "its own " + in.Spec.Path
	case in.Spec != nil:
		from = fmt.Sprintf("%s of action %s", in.Spec.Path, in.Spec.Spec)
	case in.Host != nil:
		from = "workspace " + in.Host.Path
	case in.Content != nil:
		from = fmt.Sprintf("%d bytes of the plan", len(in.Content.Data))
	}
	if in.Sub != "" {
		from += "/" + in.Sub
	}
	return cmp.Or(in.Path, ".") + " <- " + from
}

func artifactText(a action.Artifact) string {
	switch {
	case len(a.Parts) == 1 && a.Parts[0].Path == "":
		return strings.TrimPrefix(inputText(a.Parts[0]), ". <-")
	case len(a.Parts) > 0:
		return fmt.Sprintf(" of %d parts", len(a.Parts))
	}
	return ""
}

// jsonInstance is an instance in JSON.
type jsonInstance struct {
	*Instance
	Kind     string           `json:"kind"`
	Needs    []addrs.Instance `json:"needs,omitempty"`
	TimeoutS float64          `json:"timeout_s,omitempty"`
}

func instanceJSON(n *Instance) jsonInstance {
	return jsonInstance{n, n.At.Kind, n.Needs(), n.Timeout.Seconds()}
}

// JSON renders the plan for programs, in the format "hexmage-plan/0". The 0 means that the format may still change. The
// argument status predicts a build, and becomes the field "status". If status is nil, JSON omits the field.
func JSON(p *Plan, status any) ([]byte, error) {
	out := struct {
		Format string `json:"format"`
		*Plan
		Steps  []jsonInstance `json:"steps"`
		Checks []Check        `json:"checks,omitempty"`
		Status any            `json:"status,omitempty"`
	}{Format: "hexmage-plan/0", Plan: p, Checks: p.askedChecks(), Status: status}
	for _, n := range p.Instances {
		out.Steps = append(out.Steps, instanceJSON(n))
	}
	return marshal(out)
}

// JSONOf renders one instance in the format of JSON.
func JSONOf(n *Instance) ([]byte, error) { return json.Marshal(instanceJSON(n)) }

// Mermaid renders the graph of steps as a Mermaid flowchart. Arrows lead from each step to the steps that depend on it.
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
	for i, c := range p.askedChecks() {
		fmt.Fprintf(&b, "  c%d{{\"%s\"}}\n", i, mermaidText(c.At))
		for _, at := range c.reads() {
			fmt.Fprintf(&b, "  %s -.-> c%d\n", ids[at], i)
		}
	}
	return b.String()
}

// mermaidText escapes Mermaid syntax as entities.
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

type graphInstance struct {
	ID       addrs.Instance `json:"id"`
	Kind     string         `json:"kind"`
	Where    string         `json:"where"`
	Deferred string         `json:"deferred,omitempty"`
}

type graphCheck struct {
	ID    string           `json:"id"`
	Where string           `json:"where"`
	Reads []addrs.Instance `json:"reads,omitempty"` // nodes
}

// GraphJSON renders the graph of steps as JSON, in the format "hexmage-graph/0". The 0 means that the format may still
// change.
func GraphJSON(p *Plan) ([]byte, error) {
	g := struct {
		Format    string              `json:"format"`
		Pipeline  string              `json:"pipeline"`
		Profile   string              `json:"profile,omitempty"`
		Instances []graphInstance     `json:"nodes"`
		Edges     [][2]addrs.Instance `json:"edges"` // from a dependency to its dependent
		Checks    []graphCheck        `json:"checks,omitempty"`
	}{"hexmage-graph/0", p.Pipeline, p.Profile, nil, [][2]addrs.Instance{}, nil}
	for _, n := range p.Instances {
		g.Instances = append(g.Instances, graphInstance{n.At, n.At.Kind, n.Where, n.Deferred})
	}
	eachEdge(p, func(from, to addrs.Instance) { g.Edges = append(g.Edges, [2]addrs.Instance{from, to}) })
	for _, c := range p.askedChecks() {
		g.Checks = append(g.Checks, graphCheck{c.At, c.Where, c.reads()})
	}
	return marshal(g)
}

// marshal is json.Marshal without HTML escapes.
func marshal(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}
