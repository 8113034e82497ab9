package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/hexmage/hexmage/internal/addrs"
)

// Mark is the type of all marks that are not addresses.
type Mark string

// Sensitive marks a value that hexmage must not display, and must not put into a command or a cache key.
const Sensitive Mark = "sensitive"

// Argument is an evaluated argument of a block. The caller decides the meaning of the argument.
type Argument struct {
	Value    cty.Value
	Range    hcl.Range // position of the expression
	Constant bool      // the expression has no references
}

// Scope holds the values that expressions can use. Set a value before you evaluate an expression that refers to it.
// Scope may lack values that no expression uses.
type Scope struct {
	Vars, Locals map[string]cty.Value
	Path         cty.Value // the zero Value omits it, as for other cty.Values
	Profile      cty.Value
	Target       cty.Value
	Targets      cty.Value
	Toolchains   map[string]cty.Value
	Caller       *Scope                   // scope of the calling module, for toolchains that are missing here
	Steps        map[addrs.Step]cty.Value // steps by address in the module
	Modules      map[string]*Outputs      // outputs of modules, by the name of the call
	Each         cty.Value
	Functions    map[string]function.Function
}

// Outputs holds the outputs of each instance of a module call.
type Outputs struct {
	Keyed  bool
	Keys   []string               // keys of the instances; without for_each, one arbitrary key
	Values []map[string]cty.Value // values by the name of the output
}

// value returns the value for expressions: an object, or a map of objects by key. It contains the known outputs among
// names, or all if names is nil.
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

// EvalContext returns an HCL evaluation context that contains only the values to which refs lead.
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
