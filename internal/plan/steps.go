package plan

import (
	"fmt"
	"path"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/step"
)

// evalStep expands a step or toolchain into its instances, plans each, and makes the value that others see.
func (p *planner) evalStep(s *stepState) hcl.Diagnostics {
	b := s.block
	keys, values := []string{""}, []cty.Value{cty.NilVal}
	if b.ForEach != nil {
		var diags hcl.Diagnostics
		if keys, values, diags = p.keys(b); diags.HasErrors() {
			return diags
		}
	}
	var diags hcl.Diagnostics
	for i, k := range keys {
		in := &instance{at: addrs.Instance{Step: b.At, Key: k, Keyed: b.ForEach != nil}}
		scope := p.scope
		if in.at.Keyed {
			scope.Each = cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(k), "value": values[i]})
		}
		exists := true
		if b.When != nil {
			v, ds := evalTo(&scope, b.When, cty.Bool, fmt.Sprintf("when of %s", b.At))
			if diags = append(diags, ds...); ds.HasErrors() {
				return diags
			}
			exists = !v.IsNull() && v.True()
		}
		if !exists && in.at.Keyed {
			continue
		}
		var ds hcl.Diagnostics
		in.outputs, ds = p.instanceOutputs(s, &scope)
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags
		}
		var attrs map[string]cty.Value
		if exists {
			in.node, attrs, ds = p.node(s, in, scope.Each, nil)
			diags = append(diags, ds...)
			if ds.HasErrors() && b.ForEach != nil {
				return diags // the other copies would say the same
			}
		}
		s.add(in)
		if b.At.Kind == addrs.Toolchain {
			p.scope.Toolchains[b.At.Name] = toolchainValue(in, attrs)
		}
	}
	if b.At.Kind != addrs.Toolchain {
		p.scope.Steps[b.At] = stepValue(s, nil)
	}
	return diags
}

// toolchainValue is what expressions see of a toolchain: what is known of it, and dir, the path of its tree.
func toolchainValue(in *instance, attrs map[string]cty.Value) cty.Value {
	obj := make(map[string]cty.Value, len(attrs)+1)
	for name, v := range attrs {
		obj[name] = v
	}
	out := addrs.Output{Instance: in.at, Name: "dir"}
	obj["dir"] = cty.StringVal(out.Path()).Mark(out)
	if in.node == nil {
		obj["dir"] = cty.NullVal(cty.String)
	}
	return cty.ObjectVal(obj)
}

// instanceOutputs lists what an instance will give: the kind's outputs, those named by an argument, its own.
func (p *planner) instanceOutputs(s *stepState, scope *lang.Scope) ([]step.DeclaredOutput, hcl.Diagnostics) {
	var outs []step.DeclaredOutput
	for _, o := range s.schema.Outputs {
		outs = append(outs, step.DeclaredOutput{Name: o.Name, Class: o.Class})
	}
	var diags hcl.Diagnostics
	if a := attribute(s.body, s.schema.OutputsFrom); a != nil {
		v, ds := evalTo(scope, a.Expr, cty.List(cty.String), fmt.Sprintf("%s of %s", a.Name, s.block.At))
		if diags = append(diags, ds...); ds.HasErrors() {
			return nil, diags
		}
		seen := make(map[string]bool)
		if !v.IsNull() {
			for _, e := range v.AsValueSlice() {
				if !e.IsNull() && !seen[e.AsString()] {
					seen[e.AsString()] = true
					outs = append(outs, step.DeclaredOutput{Name: e.AsString(), Class: action.File})
				}
			}
		}
	}
	for _, o := range s.block.Outputs {
		v, ds := evalTo(scope, o.Path, cty.String, fmt.Sprintf("The path of output %s of %s", o.Name, s.block.At))
		if diags = append(diags, ds...); ds.HasErrors() {
			continue
		}
		r := o.Path.Range()
		name := ""
		if !v.IsNull() {
			name = v.AsString()
		}
		clean := path.Clean(name)
		if name == "" || path.IsAbs(name) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(name, "\\\x00") {
			diags = append(diags, errorf(&r, "Not the path of an output",
				"%q must be a relative path, with /, below the folder in which the command starts.", name)...)
			continue
		}
		outs = append(outs, step.DeclaredOutput{Name: o.Name, Class: o.Class, Path: clean})
	}
	return outs, diags
}

// node plans an instance. With values nil it is called while planning, else to resolve a deferred instance.
func (p *planner) node(s *stepState, in *instance, each cty.Value, values map[addrs.Output][]byte) (*Node, map[string]cty.Value, hcl.Diagnostics) {
	b := s.block
	scope, diags := p.scopeWith(values)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	scope.Each = each
	n := &Node{At: in.at, Description: b.Description, Where: config.Where(b.Range), Source: p.cfg.Source(b.Whole)}
	n.Classes = make(map[string]action.Class, len(in.outputs))
	for _, o := range in.outputs {
		n.Classes[o.Name] = o.Class
	}
	if diags = p.meta(b, scope, n); diags.HasErrors() {
		return nil, nil, diags
	}
	ctx := scope.EvalContext(s.object.refs)
	args, ds := hcldec.Decode(s.body, s.schema.Args, ctx)
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, nil, diags
	}
	env := cty.NullVal(cty.Map(cty.String))
	if b.Env != nil {
		v, ds := b.Env.Value(ctx)
		if diags = append(diags, ds...); ds.HasErrors() {
			return nil, nil, diags
		}
		var err error
		if env, err = convert.Convert(v, cty.Map(cty.String)); err != nil {
			r := b.Env.Range()
			return nil, nil, append(diags, errorf(&r, "A value has the wrong type", "env of %s is a map from names to texts: %s.", b.At, err)...)
		}
	}
	both := cty.ObjectVal(map[string]cty.Value{"args": args, "env": env})
	if ds := p.checkArguments(s, both); ds.HasErrors() {
		return nil, nil, append(diags, ds...)
	}
	req, known := p.request(s, in, both, n)
	if !known {
		if values != nil {
			return nil, nil, append(diags, errorf(&b.Range, "A value is still not known", "%s depends on a value that no step has given.", b.At)...)
		}
		p.deferNode(s, in, each, req, both, n)
		return n, nil, diags
	}
	if p.cfg.Target != nil && p.scope.Target == cty.NilVal { // what is wrong with the target was said there
		return n, nil, diags
	}
	planned, ds := s.kind.Plan(req)
	if values == nil { // a plan is made, not resolved
		p.looked(planned.Reads)
	}
	for _, d := range ds {
		if d.Subject == nil {
			d.Subject = b.Range.Ptr()
		}
	}
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, nil, diags
	}
	fill(n, planned)
	if ds := p.checkPlanned(s, in, n, planned); ds.HasErrors() {
		return nil, nil, append(diags, ds...)
	}
	return n, planned.Attrs, diags
}

// checkArguments refuses sensitive values, and null for what is required.
func (p *planner) checkArguments(s *stepState, both cty.Value) hcl.Diagnostics {
	var diags hcl.Diagnostics
	_, pvms := both.UnmarkDeepWithPaths()
	said := make(map[string]bool)
	for _, pvm := range pvms {
		if _, secret := pvm.Marks[lang.Sensitive]; !secret {
			continue
		}
		name := argName(pvm.Path)
		if said[name] {
			continue
		}
		said[name] = true
		r := p.argRange(s, name)
		diags = append(diags, errorf(&r, "A sensitive value cannot be used here",
			"%s of %s becomes part of a command, which is shown, logged and hashed. Use a variable that is not sensitive.", name, s.block.At)...)
	}
	for name, spec := range s.schema.Args {
		a, ok := spec.(*hcldec.AttrSpec)
		if !ok || !a.Required || !both.GetAttr("args").GetAttr(name).IsNull() {
			continue
		}
		r := p.argRange(s, a.Name)
		detail := fmt.Sprintf("%s of %s is null.", a.Name, s.block.At)
		if outs := lang.OutputMarks(both.GetAttr("args").GetAttr(name)); len(outs) == 0 {
			detail += " The outputs of a step whose when is false are null: use coalesce(…), or give this step the same when."
		}
		diags = append(diags, errorf(&r, "A required argument is null", "%s", detail)...)
	}
	return diags
}

// argName returns the argument in a path that starts with args or env.
func argName(path cty.Path) string {
	if len(path) > 0 {
		if a, ok := path[0].(cty.GetAttrStep); ok && a.Name == "env" {
			return "env"
		}
	}
	if len(path) > 1 {
		if a, ok := path[1].(cty.GetAttrStep); ok {
			return a.Name
		}
	}
	return "an argument"
}

func (p *planner) argRange(s *stepState, name string) hcl.Range {
	if r, ok := p.argRanges(s)[name]; ok {
		return r
	}
	return s.block.Range
}

func (p *planner) argRanges(s *stepState) map[string]hcl.Range {
	m := make(map[string]hcl.Range, len(s.block.Names)+1)
	if s.block.Env != nil {
		m["env"] = s.block.Env.Range()
	}
	for _, n := range s.block.Names { // the profile's come last
		m[n.Name] = n.Range
	}
	return m
}

// request makes what the kind is given, and the node's dependencies. It says whether all arguments are known.
func (p *planner) request(s *stepState, in *instance, both cty.Value, n *Node) (step.Request, bool) {
	plain, pvms := both.UnmarkDeepWithPaths()
	known := plain.IsWhollyKnown()
	req := step.Request{At: in.at, Args: plain.GetAttr("args"), Profile: p.profileName(), Target: p.scope.Target, Range: s.block.Range,
		Toolchains: make(map[string]step.Toolchain), Env: make(map[string]string)}
	req.ArgRanges = p.argRanges(s)
	if req.Target == cty.NilVal {
		req.Target = cty.NullVal(cty.DynamicPseudoType)
	}
	for _, o := range in.outputs {
		if o.Path != "" {
			req.Outputs = append(req.Outputs, o)
		}
	}
	if env := plain.GetAttr("env"); env.IsKnown() && !env.IsNull() {
		for name, v := range env.AsValueMap() {
			if v.IsKnown() && !v.IsNull() {
				req.Env[name] = v.AsString()
			}
		}
	}
	used := make(map[addrs.Instance]bool)
	for _, pvm := range pvms {
		at := pvm.Path
		if at[0].(cty.GetAttrStep).Name == "args" {
			at = at[1:]
		}
		for m := range pvm.Marks {
			o, ok := m.(addrs.Output)
			if !ok {
				continue
			}
			used[o.Instance] = true
			if o.Kind == addrs.Toolchain {
				p.useToolchain(req.Toolchains, o.Step)
			}
			if p.class(o) != action.Value {
				req.Uses = append(req.Uses, step.Use{Path: at, Output: o})
			}
		}
	}
	sort.Slice(req.Uses, func(i, j int) bool {
		a, b := req.Uses[i], req.Uses[j]
		if pa, pb := fmt.Sprintf("%#v", a.Path), fmt.Sprintf("%#v", b.Path); pa != pb {
			return pa < pb
		}
		return addrs.Less(a.Output, b.Output)
	})
	for _, name := range s.schema.Toolchains {
		p.useToolchain(req.Toolchains, addrs.Step{Kind: addrs.Toolchain, Name: name})
	}
	for _, t := range req.Toolchains {
		used[t.Output.Instance] = true
	}
	n.Deps = p.dependencies(s.object, used, known)
	return req, known
}
