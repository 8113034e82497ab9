package planner

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
)

// evaluateAll evaluates the objects in order.
func (p *planner) evaluateAll() (diags hcl.Diagnostics) {
	for _, name := range p.order {
		diags = append(diags, p.evaluate(p.objects[name])...)
		if p.budget.Spent() { // everything else would fail for the same reason
			break
		}
	}
	return diags
}

// copies evaluates the step for each key and reports whether all succeeded. It stops at the first copy that fails: the
// others would report the same.
func (e *evaluator) copies(keys []string, values []cty.Value) ([]evaluated, bool) {
	all := make([]evaluated, len(keys))
	for i := range all {
		if e.copy(&all[i], keys[i], values[i]); all[i].diags.HasErrors() {
			return all[:i+1], false
		}
	}
	return all, true
}

// finish drops repeated warnings from the diagnostics of the copies.
func (p *planner) finish(all []evaluated) (diags hcl.Diagnostics) {
	for i := range all {
		diags = append(diags, p.dummies.unwarned(all[i].diags)...)
	}
	return diags
}

// publish lets others see the step.
func (s *placed) publish() {
	at, scope := s.block.At, &s.frame.scope
	s.frame.steps[at] = s
	if at.Kind == addrs.Toolchain {
		scope.Toolchains[at.Name] = s.value
	} else {
		scope.Steps[at] = s.value
	}
}
