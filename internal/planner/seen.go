package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

// ask has the step's kind plan an instance. A kind knows nothing of modules: it is told of everything as it is seen from the step's
// own, and what it says is put back.
func (p *planner) ask(s *stepState, req step.Request) (step.Planned, hcl.Diagnostics) {
	if s.frame.caller == nil {
		return s.kind.Plan(req)
	}
	v := &seen{frame: s.frame, back: make(map[addrs.Step]addrs.Module)}
	planned, diags := s.kind.Plan(v.request(req))
	if diags.HasErrors() {
		return planned, diags
	}
	planned.Specs, planned.Outputs = v.specs(planned.Specs), v.artifacts(planned.Outputs)
	planned.Await = v.inputs(planned.Await)
	if expand := planned.Expand; expand != nil {
		planned.Expand = func(l action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
			specs, outs, err := expand(l)
			return v.specs(specs), v.artifacts(outs), err
		}
	}
	return planned, diags
}

// seen is what one request says of other steps, as it is seen from a frame.
type seen struct {
	frame *frame
	back  map[addrs.Step]addrs.Module // by the address as it is seen
	paths []movedPath                 // whatever has another path
}

type movedPath struct{ from, to string }

// output is an output as it is seen: a toolchain that the frame means by its name stands where a pipeline's own does.
func (v *seen) output(o addrs.Output) addrs.Output {
	rel := o
	rel.Module = o.Module.From(v.frame.at)
	if o.Kind == addrs.Toolchain {
		if s := v.frame.step(addrs.Step{Kind: o.Kind, Name: o.Step.Name}); s != nil && s.at == o.Step {
			rel.Module = ""
		}
	}
	v.back[rel.Step] = o.Module
	if m := (movedPath{o.Path(), rel.Path()}); m.from != m.to && !slices.Contains(v.paths, m) {
		v.paths = append(v.paths, m)
	}
	return rel
}

func (v *seen) request(r step.Request) step.Request {
	r.At.Module = ""
	uses := r.Uses
	r.Uses = make([]step.Use, len(uses))
	for i, u := range uses {
		r.Uses[i] = step.UseOf(u.Path, v.output(*u.Output))
	}
	toolchains := r.Toolchains
	r.Toolchains = make(map[string]step.Toolchain, len(toolchains))
	for name, t := range toolchains {
		r.Toolchains[name] = step.Toolchain{Output: v.output(t.Output), Attrs: t.Attrs}
	}
	if len(v.paths) == 0 {
		return r
	}
	text := v.replacer() // one text may hold several paths
	args := r.Args
	r.Args = make(map[string]cty.Value, len(args))
	for name, v := range args {
		r.Args[name] = replacedIn(v, text)
	}
	r.Env, r.Secrets = replaced(r.Env, text), replaced(r.Secrets, text)
	return r
}

func replacedIn(v cty.Value, text *strings.Replacer) cty.Value {
	now, err := cty.Transform(v, func(_ cty.Path, x cty.Value) (cty.Value, error) {
		if x.Type() == cty.String && x.IsKnown() && !x.IsNull() {
			if was := x.AsString(); strings.Contains(was, "/") {
				if now := text.Replace(was); now != was {
					return cty.StringVal(now), nil
				}
			}
		}
		return x, nil
	})
	if err != nil { // it never fails
		return v
	}
	return now
}

func replaced(texts map[string]string, text *strings.Replacer) map[string]string {
	out := make(map[string]string, len(texts))
	for name, x := range texts {
		out[name] = text.Replace(x)
	}
	return out
}

// replacer puts paths as they are seen in place of those that nothing else has. Of one that begins as another does, the longer one counts.
func (v *seen) replacer() *strings.Replacer {
	slices.SortFunc(v.paths, func(a, b movedPath) int {
		return cmp.Or(cmp.Compare(len(b.from), len(a.from)), cmp.Compare(a.from, b.from))
	})
	var pairs []string
	for _, m := range v.paths {
		pairs = append(pairs, m.from, m.to)
	}
	return strings.NewReplacer(pairs...)
}

func (v *seen) specs(specs []action.Spec) []action.Spec {
	out := slices.Clone(specs)
	for i := range out {
		out[i].Inputs = v.inputs(out[i].Inputs)
	}
	return out
}

func (v *seen) artifacts(all map[string]action.Artifact) map[string]action.Artifact {
	out := make(map[string]action.Artifact, len(all))
	for name, a := range all {
		a.Parts = v.inputs(a.Parts)
		out[name] = a
	}
	return out
}

// inputs are those of a kind with the addresses that are meant.
func (v *seen) inputs(inputs []action.Input) []action.Input {
	out := slices.Clone(inputs)
	for i, in := range out {
		if in.Artifact == nil {
			continue
		}
		o := *in.Artifact
		if m, told := v.back[o.Step]; told {
			o.Module = m
		} else { // it was not told of: checkPlanned says so
			o.Module = v.frame.at.Seen(o.Module)
		}
		out[i].Artifact = &o
	}
	return out
}
