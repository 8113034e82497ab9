package plan

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/step"
)

// class returns the class of an output, 0 when there is no such output.
func (p *planner) class(o addrs.Output) action.Class {
	if s := p.steps[o.Step]; s != nil {
		if in := s.instance(o.Instance); in != nil {
			return outputClass(in.outputs, o.Name)
		}
	}
	return 0
}

func (p *planner) useToolchain(to map[string]step.Toolchain, at addrs.Step) {
	s := p.steps[at]
	if s == nil || len(s.instances) == 0 || s.instances[0].node == nil {
		return
	}
	attrs := make(map[string]cty.Value)
	v, _ := p.scope.Toolchains[at.Name].UnmarkDeep()
	for name, a := range v.AsValueMap() {
		if name != "dir" {
			attrs[name] = a
		}
	}
	to[at.Name] = step.Toolchain{Output: addrs.Output{Instance: s.instances[0].at, Name: "dir"}, Attrs: cty.ObjectVal(attrs)}
}

// dependencies are the instances an object may need. Marks are exact when all values are known, so of a step with
// for_each only the copies that were used count then; before that, all of them.
func (p *planner) dependencies(o *object, used map[addrs.Instance]bool, known bool) []addrs.Instance {
	deps := make(map[addrs.Instance]bool)
	for at := range used {
		deps[at] = true
	}
	direct := make(map[hcl.Range]bool)
	if s := o.step; s != nil {
		for _, t := range s.block.DependsOn {
			direct[t.SourceRange()] = true
		}
	}
	p.eachRef(o, make(map[string]bool), func(r lang.Ref) {
		if r.Root == lang.Toolchain && r.Attr != "" && r.Attr != "dir" && !direct[r.Range] {
			return // known now: nothing to wait for
		}
		s := p.steps[r.Step]
		if s == nil {
			return
		}
		for _, in := range s.instances {
			if r.Keyed && in.at.Key != r.Key {
				continue
			}
			if in.at.Keyed && !r.Keyed && known && !direct[r.Range] {
				continue // those that count are in used
			}
			deps[in.at] = true
		}
	})
	var out []addrs.Instance
	for at := range deps {
		if in := p.steps[at.Step].instance(at); in != nil && in.node != nil {
			out = append(out, at)
		}
	}
	return sortInstances(out)
}

// eachRef calls f for the references of an object to steps and toolchains, also for those by way of locals.
func (p *planner) eachRef(o *object, seen map[string]bool, f func(lang.Ref)) {
	if seen[o.name] {
		return
	}
	seen[o.name] = true
	for _, r := range o.refs {
		switch r.Root {
		case lang.StepRoot, lang.Toolchain:
			f(r)
		case lang.Local:
			if l := p.objects[r.Object()]; l != nil {
				p.eachRef(l, seen, f)
			}
		}
	}
}

// awaited are the value outputs that an object may depend on.
func (p *planner) awaited(o *object, marked []addrs.Output) []addrs.Output {
	var out []addrs.Output
	for _, m := range marked {
		if p.class(m) == action.Value {
			out = append(out, m)
		}
	}
	p.eachRef(o, make(map[string]bool), func(r lang.Ref) {
		s := p.steps[r.Step]
		if s == nil || r.Root != lang.StepRoot {
			return
		}
		for _, in := range s.instances {
			if in.node == nil || r.Keyed && in.at.Key != r.Key {
				continue
			}
			for _, d := range in.outputs {
				if d.Class == action.Value && (r.Output == "" || r.Output == d.Name) {
					out = append(out, addrs.Output{Instance: in.at, Name: d.Name})
				}
			}
		}
	})
	return addrs.SortOutputs(out)
}

// deferNode makes a node that waits for values. Its specs are a preview, made with the names of the values in their
// place, when the kind accepts that.
func (p *planner) deferNode(s *stepState, in *instance, each cty.Value, req step.Request, both cty.Value, n *Node) {
	n.AwaitValues = p.awaited(s.object, lang.OutputMarks(both))
	var names []string
	for _, o := range n.AwaitValues {
		names = append(names, o.String())
	}
	n.Deferred = "waits for the value of " + strings.Join(names, ", ")
	n.Resolve = func(values map[addrs.Output][]byte) (*Node, error) {
		for _, o := range n.AwaitValues {
			if _, ok := values[o]; !ok {
				return nil, fmt.Errorf("%s: the value of %s is not there", in.at, o)
			}
		}
		resolved, _, diags := p.node(s, in, each, values)
		if diags.HasErrors() {
			return nil, diags
		}
		return resolved, nil
	}
	req.Args = placeholders(both.GetAttr("args"))
	planned, ds := s.kind.Plan(req)
	p.looked(planned.Reads)
	if !ds.HasErrors() {
		n.Specs, n.Outputs = planned.Specs, planned.Outputs
	}
}

// placeholders puts "<address>" where a value is not known yet.
func placeholders(v cty.Value) cty.Value {
	out, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		plain, marks := v.Unmark()
		if plain.IsKnown() {
			return plain, nil
		}
		name := "<not known yet>"
		for m := range marks {
			if o, ok := m.(addrs.Output); ok {
				name = "<" + o.String() + ">"
			}
		}
		switch ty := plain.Type(); {
		case ty == cty.String || ty == cty.DynamicPseudoType:
			return cty.StringVal(name), nil
		case ty.IsListType() && ty.ElementType() == cty.String:
			return cty.ListVal([]cty.Value{cty.StringVal(name)}), nil
		default:
			return cty.NullVal(ty), nil
		}
	})
	if err != nil {
		return cty.NullVal(v.Type())
	}
	out, _ = out.UnmarkDeep()
	return out
}

// fill puts what the kind planned into a node, with the meta-arguments applied to each spec.
func fill(n *Node, planned step.Planned) {
	n.Explain, n.Missing, n.Programs = planned.Explain, planned.Missing, planned.Programs
	n.Specs, n.Outputs = withMeta(n, planned.Specs), planned.Outputs
	if v, ok := planned.Attrs["version"]; ok && v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
		n.Version = v.AsString()
	}
	if planned.Expand == nil {
		return
	}
	n.Await = planned.Await
	expand := planned.Expand
	n.Expand = func(l step.Listing) ([]action.Spec, map[string]action.Artifact, error) {
		specs, outs, err := expand(l)
		return withMeta(n, specs), outs, err
	}
	var names []string
	for _, in := range n.Await {
		switch {
		case in.Artifact != nil:
			names = append(names, in.Artifact.String())
		case in.Host != nil:
			names = append(names, in.Host.Path)
		}
	}
	n.Deferred = "its actions follow from the files in " + strings.Join(names, ", ")
}

func withMeta(n *Node, specs []action.Spec) []action.Spec {
	out := make([]action.Spec, len(specs))
	for i, s := range specs {
		if s.Timeout == 0 {
			s.Timeout = n.Timeout
		}
		s.NoCache = s.NoCache || n.Cache == CacheOff
		s.Programs, s.RetryExitCodes = n.Programs, n.RetryExitCodes
		out[i] = s
	}
	return out
}

// checkPlanned finds mistakes of a kind before they become puzzling failures.
func (p *planner) checkPlanned(s *stepState, in *instance, n *Node, planned step.Planned) hcl.Diagnostics {
	var diags hcl.Diagnostics
	bug := func(detail string, args ...any) {
		diags = append(diags, errorf(&s.block.Range, "A kind does not keep its promise",
			"This is a mistake in hexmage, not in the pipeline. Kind %s, planning %s: %s.", s.block.At.Kind, in.at, fmt.Sprintf(detail, args...))...)
	}
	if planned.Expand == nil {
		for _, o := range in.outputs {
			if a, ok := planned.Outputs[o.Name]; !ok {
				bug("output %s is missing", o.Name)
			} else if a.Class != o.Class {
				bug("output %s is a %s, declared as a %s", o.Name, a.Class, o.Class)
			}
		}
	}
	deps := make(map[addrs.Instance]bool)
	for _, d := range n.Deps {
		deps[d] = true
	}
	names := make(map[string]bool)
	for _, sp := range n.Specs {
		if names[sp.Name] {
			bug("two actions have the name %q", sp.Name)
		}
		names[sp.Name] = true
		for _, i := range sp.Inputs {
			if i.Artifact != nil && !deps[i.Artifact.Instance] {
				bug("action %q uses %s, which the step does not refer to", sp.Name, i.Artifact)
			}
		}
	}
	return diags
}
