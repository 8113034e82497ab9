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
	Path         cty.Value // the zero Value leaves it out, as with the other four
	Profile      cty.Value
	Target       cty.Value
	Targets      cty.Value
	Toolchains   map[string]cty.Value
	Caller       *Scope                   // of a module: it has the toolchains that this one lacks
	Steps        map[addrs.Step]cty.Value // by their addresses in the module
	Modules      map[string]*Outputs      // by the call's name
	Each         cty.Value
	Functions    map[string]function.Function
}

// Outputs are those of a module, of each copy of its call.
type Outputs struct {
	Keyed  bool
	Keys   []string               // of copies, or one that does not matter
	Values []map[string]cty.Value // by the output's name
}

// value is what expressions see: an object, or one of those by key. It has the outputs named, as far as they are
// known; all when names is nil.
func (o *Outputs) value(names map[string]bool) cty.Value {
	byKey := make(map[string]cty.Value, len(o.Keys))
	for i, all := range o.Values {
		some := make(map[string]cty.Value, len(all))
		for name, v := range all {
			if names == nil || names[name] {
				some[name] = v
			}
		}
		obj := cty.ObjectVal(some)
		if !o.Keyed {
			return obj
		}
		byKey[o.Keys[i]] = obj
	}
	return cty.ObjectVal(byKey)
}

// EvalContext returns a scope for HCL that holds only what the references mean.
func (s *Scope) EvalContext(refs []Ref) *hcl.EvalContext {
	vars, locals, toolchains := map[string]cty.Value{}, map[string]cty.Value{}, map[string]cty.Value{}
	kinds := map[string]map[string]cty.Value{}
	outputs := map[string]map[string]bool{} // of modules; nil: all
	axes := map[string]cty.Value{}
	for _, r := range refs {
		switch r.Root {
		case Var:
			put(vars, r.Name, s.Vars)
		case Local:
			put(locals, r.Name, s.Locals)
		case Toolchain:
			for from := s; from != nil && toolchains[r.Name] == cty.NilVal; from = from.Caller {
				put(toolchains, r.Name, from.Toolchains)
			}
		case Matrix:
			axes[r.Name] = cty.StringVal(Axis(r.Name))
		case Module:
			names, seen := outputs[r.Name]
			switch {
			case r.Copies && !seen:
				outputs[r.Name] = map[string]bool{}
			case r.Copies:
			case r.Attr == "" || seen && names == nil:
				outputs[r.Name] = nil
			case !seen:
				outputs[r.Name] = map[string]bool{r.Attr: true}
			default:
				names[r.Attr] = true
			}
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
	modules := make(map[string]cty.Value, len(outputs))
	for name, names := range outputs {
		if m := s.Modules[name]; m != nil {
			modules[name] = m.value(names)
		}
	}
	ctx := &hcl.EvalContext{Functions: s.Functions, Variables: map[string]cty.Value{
		Var: cty.ObjectVal(vars), Local: cty.ObjectVal(locals), Toolchain: cty.ObjectVal(toolchains),
		StepRoot: cty.ObjectVal(steps), Module: cty.ObjectVal(modules),
	}}
	if len(axes) > 0 {
		ctx.Variables[Matrix] = cty.ObjectVal(axes)
	}
	for name, v := range map[string]cty.Value{Path: s.Path, Profile: s.Profile, Target: s.Target, Targets: s.Targets,
		Each: s.Each} {
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
