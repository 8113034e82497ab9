package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/hexmage/hexmage/internal/addrs"
)

// Mark is the type of marks that are not addresses.
type Mark string

// Sensitive is the mark of a value that must not be shown, and must not become part of a command or a key.
const Sensitive Mark = "sensitive"

// Argument is an evaluated argument of a block, for who decides what the block means.
type Argument struct {
	Value    cty.Value
	Range    hcl.Range // of its expression
	Constant bool      // it refers to nothing
}

// Scope has the values that expressions can see. Every value is there before an expression that refers to it is
// evaluated; what is not referred to may be missing.
type Scope struct {
	Vars, Locals map[string]cty.Value
	Path         cty.Value // the zero Value leaves it out, as with the other three
	Profile      cty.Value
	Target       cty.Value
	Toolchains   map[string]cty.Value
	Steps        map[addrs.Step]cty.Value
	Each         cty.Value
	Functions    map[string]function.Function
}

// EvalContext returns a scope for HCL that holds only what the references mean.
func (s *Scope) EvalContext(refs []Ref) *hcl.EvalContext {
	vars, locals, toolchains := map[string]cty.Value{}, map[string]cty.Value{}, map[string]cty.Value{}
	kinds := map[string]map[string]cty.Value{}
	for _, r := range refs {
		switch r.Root {
		case Var:
			put(vars, r.Name, s.Vars)
		case Local:
			put(locals, r.Name, s.Locals)
		case Toolchain:
			put(toolchains, r.Name, s.Toolchains)
		case StepRoot:
			v, ok := s.Steps[r.Step]
			if !ok {
				continue
			}
			if kinds[r.Step.Kind] == nil {
				kinds[r.Step.Kind] = make(map[string]cty.Value)
			}
			kinds[r.Step.Kind][r.Step.Name] = v
		}
	}
	steps := make(map[string]cty.Value, len(kinds))
	for k, byName := range kinds {
		steps[k] = cty.ObjectVal(byName)
	}
	ctx := &hcl.EvalContext{Functions: s.Functions, Variables: map[string]cty.Value{
		Var: cty.ObjectVal(vars), Local: cty.ObjectVal(locals), Toolchain: cty.ObjectVal(toolchains), StepRoot: cty.ObjectVal(steps),
	}}
	for name, v := range map[string]cty.Value{Path: s.Path, Profile: s.Profile, Target: s.Target, Each: s.Each} {
		if v != cty.NilVal {
			ctx.Variables[name] = v
		}
	}
	return ctx
}

func put(to map[string]cty.Value, name string, from map[string]cty.Value) {
	if v, ok := from[name]; ok {
		to[name] = v
	}
}
