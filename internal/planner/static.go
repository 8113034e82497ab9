package planner

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/lang"
)

// static is an expression of an object that must be known before any step runs.
type static struct {
	what string
	refs []hcl.Traversal
}

// addStatic adds an expression that must be known before any step runs, and returns its references; of names its owner.
func (o *object) addStatic(name, of string, x hcl.Expression) []hcl.Traversal {
	ts := variables(x)
	o.static = append(o.static, static{name + " of " + of, ts})
	return ts
}

// checkStatic reports expressions of a module that must be known before any step is planned but depend on a step, with
// the chain of references.
func (p *planner) checkStatic(m *module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range p.order {
		o := p.objects[name]
		if o.scope != m {
			continue
		}
		for _, s := range o.static {
			refs, _ := lang.Refs(s.refs) // refer has reported invalid ones
			chain := p.dynamic(o.scope, refs, nil)
			if chain == nil {
				continue
			}
			var names []string
			for _, r := range chain {
				names = append(names, r.String())
			}
			o.failed = true
			diags = append(diags, errorf(chain[0].Range, "Value not known during planning",
				"%s must be known before any step runs, but it depends on %s. "+
					"Use only var, local, path, profile, target and toolchain here.",
				s.what, strings.Join(names, ", which depends on "))...)
		}
	}
	return diags
}

// dynamic returns the chain of references that leads to a step, or nil; m is the module of the names.
func (p *planner) dynamic(m *module, refs []lang.Ref, seen map[string]bool) []lang.Ref {
	if seen == nil {
		seen = make(map[string]bool)
	}
	for _, r := range refs {
		if r.Root == lang.StepRoot {
			return []lang.Ref{r}
		}
		for _, o := range p.leadsTo(m, r) {
			if seen[o.name] {
				continue
			}
			seen[o.name] = true
			if chain := p.dynamic(o.scope, o.refs, seen); chain != nil {
				return append([]lang.Ref{r}, chain...)
			}
		}
	}
	return nil
}

// leadsTo returns the objects whose references count as those of r: a local, a variable of a module, the targets, a
// toolchain, outputs of a module.
func (p *planner) leadsTo(m *module, r lang.Ref) (all []*object) {
	if r.Copies {
		return nil // a call's for_each and when are static
	}
	if (r.Root == lang.Target || r.Root == lang.Targets) && m.caller != nil {
		m = p.root // a call's target is static, like the pipeline's targets
	}
	names := m.objects(r, false)
	if r.Root == lang.Module && r.Attr == "" && m.calls[r.Name] != nil {
		names = m.calls[r.Name].allOutputs()
	}
	for _, name := range names {
		if o := p.objects[name]; o != nil {
			all = append(all, o)
		}
	}
	return all
}

// checkAbsent checks the arguments of steps that have no instance at all: literal values must have the right type
// there, too.
func (p *planner) checkAbsent() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, m := range p.modules {
		var ds hcl.Diagnostics
		for _, b := range m.parts.Steps {
			s := m.steps[b.At]
			if s.block != b || s.content == nil || s.failed ||
				slices.ContainsFunc(m.frames, func(f *frame) bool { return f.steps[b.At].exists() }) {
				continue
			}
			ds = append(ds, p.checkConstants(s)...)
		}
		diags = append(diags, p.unsaid(m, ds)...)
	}
	return diags
}

func (p *planner) checkConstants(s *object) hcl.Diagnostics {
	var diags hcl.Diagnostics
	e := &evaluator{p: p, s: &placed{object: s}, shared: make(map[hcl.Expression]cty.Value)}
	for _, name := range sortedKeys(s.schema.Args) {
		spec, ok := s.schema.Args[name].(*hcldec.AttrSpec)
		if !ok || customdecode.CustomExpressionDecoderForType(spec.Type) != nil {
			continue
		}
		attr := s.content.Attributes[spec.Name]
		if attr == nil || len(attr.Expr.Variables()) > 0 {
			continue
		}
		if _, ds := p.budget.Value(attr.Expr, nil); ds.HasErrors() {
			continue // functions may read files, which may be missing
		}
		_, ds := e.decode(&argument{name: name, attr: attr, ty: spec.Type})
		diags = append(diags, ds...)
	}
	return diags
}
