package planner

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
)

// What HCL makes of ten thousand steps that are written out takes 100 MB, and their plan 13. So steps of large files are read a few at a time (config.Rest),
// and those that need nothing but variables and steps before them are planned at once; then what HCL made of them goes. All others wait until everything is read,
// and are planned with the rest of the pipeline. What is wrong is not told from here: it is found again, and told in order, when the files are read whole.

// asRead plans steps of the pipeline as they are read. It says no when the pipeline has to be read whole.
func (p *planner) asRead() bool {
	m := p.root
	others, ok := p.planRead(m.parts.Steps)
	for ok {
		blocks, right := p.cfg.Rest.Next(func(body hcl.Body) { p.budget.Count(body, p.functions) })
		if !right || len(blocks) == 0 {
			m.parts.Steps = others
			return right
		}
		for _, b := range blocks {
			k := p.o.Kinds[b.At.Kind]
			if k == nil || m.steps[b.At] != nil {
				return false
			}
			m.declared.Steps[b.At] = p.declaredStep(p.declareBlock(m, b, k))
		}
		var more []*config.Block
		more, ok = p.planRead(blocks)
		others = append(others, more...)
	}
	return false
}

// planRead plans those of the steps that can be planned now, and returns the others. It is not ok if anything is to be said of them.
func (p *planner) planRead(blocks []*config.Block) (others []*config.Block, ok bool) {
	for _, b := range blocks {
		s := p.root.steps[b.At]
		if s == nil || s.block != b || !p.plain(s) {
			others = append(others, b)
			continue
		}
		ts := s.allVariables()
		if !p.haveAll(ts) {
			others = append(others, b)
			continue
		}
		if diags := p.declareStep(p.root, s, ts); len(diags) > 0 {
			return nil, false
		}
		p.link(s.object)
	}
	if diags := p.evaluateAll(); len(diags) > 0 {
		return nil, false
	}
	for _, name := range p.order {
		p.letGo(p.objects[name].step)
		delete(p.objects, name)
	}
	p.order = p.order[:0]
	return others, true
}

// plain says whether a step is written out: there is one of it, and what it needs stands in its arguments.
func (p *planner) plain(s *stepDecl) bool {
	b := s.block
	if s.kind == nil || s.schema.OutputsFrom != "" || len(p.targets) > 0 || b.ForEach != nil || b.When != nil || b.Target != nil || len(b.DependsOn) > 0 || len(b.SecretFiles) > 0 {
		return false
	}
	for _, x := range []hcl.Expression{b.Timeout, b.Retries, b.RetryExitCodes, b.Resources, b.Cache} {
		if x != nil && len(lang.Variables(x)) > 0 {
			return false
		}
	}
	for _, o := range b.Outputs {
		if len(lang.Variables(o.Path)) > 0 {
			return false
		}
	}
	for _, t := range s.schema.Toolchains {
		if p.root.toolchain(t) != nil {
			return false
		}
	}
	return true
}

// haveAll says whether variables of a step are those of the pipeline, or steps that are planned, or are going to be before it.
func (p *planner) haveAll(ts []hcl.Traversal) bool {
	for _, t := range ts {
		switch t.RootName() {
		case lang.Var, lang.Path, lang.Profile:
		case lang.StepRoot:
			if len(t) < 3 {
				return false
			}
			kind, ok1 := t[1].(hcl.TraverseAttr)
			name, ok2 := t[2].(hcl.TraverseAttr)
			if !ok1 || !ok2 {
				return false
			}
			if of := p.root.steps[addrs.Step{Kind: kind.Name, Name: name.Name}]; of == nil || of.object == nil && !of.planned {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// letGo keeps of a step that is planned what others need of it, and what is needed where more will be said of it.
func (p *planner) letGo(s *stepDecl) {
	at := s.block.At
	of := p.rootFrame().steps[at]
	p.read = append(p.read, of)
	s.planned = true
	if n := of.instances[0].planned; n.Waits == plan.ForNothing && !n.Explains {
		if p.gone[s.kindSchema] == nil {
			p.gone[s.kindSchema] = &stepDecl{block: new(config.Block), kindSchema: s.kindSchema, planned: true}
		}
		of.stepDecl, of.placement = p.gone[s.kindSchema], nil
		p.root.steps[at] = of.stepDecl
	}
}
