package planner

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"

	"github.com/hexmage/hexmage/internal/lang"
)

// checkStatic reports expressions that must be known before any step is planned but depend on a step, with the chain
// that makes them so.
func (p *planner) checkStatic() hcl.Diagnostics {
	var diags hcl.Diagnostics
	check := func(o *object, what string, ts []hcl.Traversal) {
		refs, _ := lang.Refs(ts) // refer has reported what is wrong with them
		if chain := p.dynamic(refs, nil); chain != nil {
			var names []string
			for _, r := range chain {
				names = append(names, r.String())
			}
			r := chain[0].Range
			o.failed = true
			diags = append(diags, errorf(&r, "Not known while planning",
				"%s must be known before any step runs, but it depends on %s. Use only var, local, path, profile, target and toolchain here.",
				what, strings.Join(names, ", which depends on "))...)
		}
	}
	for _, b := range p.cfg.Toolchains {
		if s := p.steps[b.At]; s != nil && s.kind != nil && s.decl == b {
			check(s.object, b.At.String(), append(hcldec.Variables(s.body, s.schema.Args), variables(b.When)...))
		}
	}
	for _, b := range p.cfg.Steps {
		s := p.steps[b.At]
		if s == nil || s.kind == nil || s.block != b {
			continue
		}
		for _, m := range []struct {
			name string
			expr hcl.Expression
		}{{"for_each", b.ForEach}, {"when", b.When}, {"timeout", b.Timeout}, {"retries", b.Retries}, {"retry_exit_codes", b.RetryExitCodes}, {"resources", b.Resources}, {"cache", b.Cache}} {
			check(s.object, fmt.Sprintf("%s of %s", m.name, b.At), variables(m.expr))
		}
		for _, d := range b.DependsOn {
			check(s.object, fmt.Sprintf("The key in depends_on of %s", b.At), variables(d.Key))
		}
		for _, out := range b.Outputs {
			check(s.object, fmt.Sprintf("The path of output %s of %s", out.Name, b.At), variables(out.Path))
		}
		if a := attribute(s.body, s.schema.OutputsFrom); a != nil {
			check(s.object, fmt.Sprintf("%s of %s, which names its outputs,", a.Name, b.At), a.Expr.Variables())
		}
	}
	if t := p.cfg.Target; t != nil {
		var exprs []hcl.Expression
		for _, n := range sortedKeys(t.Arguments) {
			exprs = append(exprs, t.Arguments[n].Expr)
		}
		check(p.objects[lang.Target], "The target", variables(exprs...))
	}
	return diags
}

// dynamic returns the chain of references that leads to a step, or nil.
func (p *planner) dynamic(refs []lang.Ref, seen map[string]bool) []lang.Ref {
	if seen == nil {
		seen = make(map[string]bool)
	}
	for _, r := range refs {
		if r.Root == lang.StepRoot {
			return []lang.Ref{r}
		}
		o := p.objects[r.Object()]
		if o == nil || seen[o.name] {
			continue
		}
		seen[o.name] = true
		if chain := p.dynamic(o.refs, seen); chain != nil {
			return append([]lang.Ref{r}, chain...)
		}
	}
	return nil
}
