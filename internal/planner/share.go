package planner

import (
	"slices"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/plan"
)

// share makes an instance's parts those of the instance before where they are the same: plans are not changed, and most copies of a
// step, and many steps, differ in little.
func share(n, last *plan.Instance) {
	if last == nil || len(n.Specs) != len(last.Specs) {
		return
	}
	for i := range n.Specs {
		a, b := &n.Specs[i], &last.Specs[i]
		a.Env = sameMap(a.Env, b.Env)
		a.Platform = sameMap(a.Platform, b.Platform)
		if slices.Equal(a.Outputs, b.Outputs) {
			a.Outputs = b.Outputs
		}
		a.Description = sameText(a.Description, b.Description)
		for j := range min(len(a.Inputs), len(b.Inputs)) {
			x, y := &a.Inputs[j], &b.Inputs[j]
			if x.Host != nil && y.Host != nil && x.Host.Path == y.Host.Path && len(x.Host.Globs)+len(y.Host.Globs) == 0 {
				x.Path, x.Host = sameText(x.Path, y.Path), y.Host
			}
		}
	}
	n.Resources = sameMap(n.Resources, last.Resources)
	n.Classes = sameMap(n.Classes, last.Classes)
	if len(n.Outputs) != len(last.Outputs) {
		return
	}
	for name, o := range n.Outputs {
		l, ok := last.Outputs[name]
		if !ok || o.Class != l.Class || !slices.EqualFunc(o.Parts, l.Parts, sameSpecOutput) {
			return
		}
	}
	n.Outputs = last.Outputs
}

// sameText is a text as another one has it that says the same.
func sameText(s, last string) string {
	if s == last {
		return last
	}
	return s
}

func sameMap[V comparable](m, last map[string]V) map[string]V {
	if len(m) != len(last) || len(m) == 0 {
		return m
	}
	for k, v := range m {
		if l, ok := last[k]; !ok || l != v {
			return m
		}
	}
	return last
}

// sameSpecOutput says whether both inputs are the same output of a spec of their own instance.
func sameSpecOutput(a, b action.Input) bool {
	if a.Spec == nil || b.Spec == nil || *a.Spec != *b.Spec {
		return false
	}
	a.Spec, b.Spec = nil, nil
	return a == b
}
