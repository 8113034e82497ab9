package planner

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

// ask has the step's kind plan an instance. The step of a module sees outputs at the paths that they would have if the
// module were the pipeline. Then instances of a module that do the same work have the same keys, and their actions run
// once. So the kind gets addresses and paths relative to the module, and ask makes the addresses in its answer whole.
func (p *planner) ask(s *placed, req step.Request) (step.Planned, hcl.Diagnostics) {
	f := s.frame
	if f.caller == nil {
		return s.kind.Plan(req)
	}
	planned, diags := s.kind.Plan(f.relativeRequest(req))
	if diags.HasErrors() {
		return planned, diags
	}
	planned.Specs, planned.Outputs = f.wholePlan(planned.Specs, planned.Outputs)
	planned.Await = f.wholeInputs(planned.Await)
	if expand := planned.Expand; expand != nil {
		planned.Expand = func(l action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
			specs, outs, err := expand(l)
			specs, outs = f.wholePlan(specs, outs)
			return specs, outs, err
		}
	}
	return planned, diags
}

// relative returns the address of an output in the frame: a toolchain of a caller looks like one of the frame's own.
func (f *frame) relative(o addrs.Output) addrs.Output {
	if o.Kind == addrs.Toolchain {
		if s := f.step(addrs.Step{Kind: o.Kind, Name: o.Step.Name}); s != nil && s.at == o.Step {
			o.Module = ""
			return o
		}
	}
	o.Module = o.Module.From(f.at)
	return o
}

// whole is the inverse of relative.
func (f *frame) whole(o addrs.Output) addrs.Output {
	if o.Kind == addrs.Toolchain && o.Module == "" {
		if s := f.step(o.Step); s != nil {
			o.Module = s.at.Module
			return o
		}
	}
	o.Module = f.at.Seen(o.Module)
	return o
}

func (f *frame) relativeRequest(r step.Request) step.Request {
	paths := make(map[string]string) // whole path → relative path
	relative := func(o addrs.Output) addrs.Output {
		rel := f.relative(o)
		paths[o.Path()] = rel.Path()
		return rel
	}
	r.At.Module = ""
	r.Uses = slices.Clone(r.Uses)
	for i, u := range r.Uses {
		r.Uses[i] = step.OutputRefOf(u.Path, relative(*u.Output))
	}
	for name, t := range r.Toolchains {
		r.Toolchains[name] = step.Toolchain{Output: relative(t.Output), Attrs: t.Attrs}
	}
	var pairs []string
	for _, path := range slices.Backward(sortedKeys(paths)) { // a path comes before its own prefixes
		pairs = append(pairs, path, paths[path])
	}
	text := strings.NewReplacer(pairs...) // one string may contain several paths
	for name, v := range r.Args {
		r.Args[name], _ = cty.Transform(v, func(_ cty.Path, x cty.Value) (cty.Value, error) {
			if x.Type() != cty.String || !x.IsKnown() || x.IsNull() {
				return x, nil
			}
			return cty.StringVal(text.Replace(x.AsString())), nil
		})
	}
	for _, texts := range []map[string]string{r.Env, r.Secrets} {
		for name, x := range texts {
			texts[name] = text.Replace(x)
		}
	}
	return r
}

// wholePlan makes the addresses in a kind's answer whole.
func (f *frame) wholePlan(
	specs []action.Spec, outs map[string]action.Artifact,
) ([]action.Spec, map[string]action.Artifact) {
	specs, outs = slices.Clone(specs), maps.Clone(outs)
	for i := range specs {
		specs[i].Inputs = f.wholeInputs(specs[i].Inputs)
	}
	for name, a := range outs {
		a.Parts = f.wholeInputs(a.Parts)
		outs[name] = a
	}
	return specs, outs
}

func (f *frame) wholeInputs(inputs []action.Input) []action.Input {
	inputs = slices.Clone(inputs) // specs may share them
	for i, in := range inputs {
		if in.Artifact != nil {
			o := f.whole(*in.Artifact)
			inputs[i].Artifact = &o
		}
	}
	return inputs
}
