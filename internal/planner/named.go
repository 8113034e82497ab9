package planner

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/secret"
)

// Names lists named elements that a plan does not contain, such as variables and locals. It also lists the arguments of
// instances and outputs.
type Names struct {
	All       []Named // the names of a module follow those of its caller
	Arguments map[addrs.Instance][]Argument
}

// Named is a named element of a pipeline or module: a variable, local, target, toolchain, module call, or output of a
// module call.
type Named struct {
	Address     string `json:"address"` // module.aot["x"].var.model
	Where       string `json:"where,omitempty"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"`   // of a variable
	Source      string `json:"source,omitempty"` // of a call
	Dir         string `json:"dir,omitempty"`    // folder of the module's files, for a call
	Value       Value  `json:"value,omitempty"`
}

// Argument is an argument of an instance, with its evaluated value.
type Argument struct {
	Name  string `json:"name"`
	Value Value  `json:"value"`
}

// Value is a value as JSON. An unknown value is "<address>", and a sensitive value is "(sensitive)".
type Value []byte

// MarshalJSON returns the value unchanged.
func (v Value) MarshalJSON() ([]byte, error) { return v, nil }

func valueOf(v cty.Value) Value {
	if lang.ValueMarksOf(v).Sensitive {
		v = cty.StringVal(secret.Hidden)
	}
	v = placeholders(v)
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil { // a capsule, which the language lacks
		return Value("null")
	}
	return b
}

// PlanWithSymbols is like Plan, and also returns the Names of the pipeline.
func PlanWithSymbols(o Options) (*plan.Plan, *Resolver, *Names, hcl.Diagnostics) {
	p := newPlanner(o)
	p.arguments = make(map[addrs.Instance][]Argument)
	made, diags := p.build()
	if made == nil {
		return nil, nil, nil, diags
	}
	n := &Names{Arguments: p.arguments}
	for _, m := range p.modules {
		for _, f := range m.frames {
			n.All = append(n.All, p.namesIn(f)...)
		}
	}
	return made, p.extender, n, diags
}

// namesIn returns the names of a frame.
func (p *planner) namesIn(f *frame) []Named {
	m := f.of
	var all []Named
	add := func(address string, at hcl.Range, v cty.Value, more Named) {
		more.Address = f.at.Of(address)
		if at.Filename != "" {
			more.Where = config.Where(at)
		}
		if v != cty.NilVal {
			more.Value = valueOf(v)
		}
		all = append(all, more)
	}
	if m.caller != nil {
		add("", m.call.Range, cty.NilVal, Named{Description: m.call.Description, Source: m.call.Source, Dir: m.cfg.Dir})
		all[0].Address = string(f.at)
	}
	for _, v := range m.cfg.Variables {
		add("var."+v.Name, v.Range, f.scope.Vars[v.Name],
			Named{Description: v.Description, Type: typeexpr.TypeString(v.Type)})
	}
	for _, l := range m.parts.Locals {
		add("local."+l.Name, l.Range, f.scope.Locals[l.Name], Named{})
	}
	if m.caller == nil {
		for _, name := range sortedKeys(f.targets) {
			at := hcl.Range{}
			if i := slices.IndexFunc(p.targets, func(t *config.Target) bool { return t.Name == name }); i >= 0 {
				at = p.targets[i].Range
			}
			add("target."+name, at, f.targets[name], Named{})
		}
	}
	for _, b := range m.parts.Toolchains {
		add(b.At.String(), b.Range, f.scope.Toolchains[b.At.Name], Named{Description: b.Description})
	}
	if m.caller != nil {
		for _, out := range m.parts.Outputs {
			add("output."+out.Name, out.Range, f.outputs[out.Name], Named{Description: out.Description})
		}
	}
	return all
}

// noteArguments records the arguments of an instance that are set.
func (e *evaluator) noteArguments(args []*argument) {
	if e.p.arguments == nil {
		return
	}
	vals := e.previews(args)
	var all []Argument
	for _, a := range args {
		if v := vals[a.name]; !v.IsNull() {
			all = append(all, Argument{a.name, valueOf(v)})
		}
	}
	e.p.arguments[e.in.at] = all
}
