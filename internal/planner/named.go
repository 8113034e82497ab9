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

// Names is what a pipeline's files name beside the instances and outputs of its plan, and what the arguments of these
// are.
type Names struct {
	All       []Named // those of a module after those of its caller
	Arguments map[addrs.Instance][]Argument
}

// Named is something with a name, in one place: a variable, a local, a target, a toolchain, a call of a module, or an
// output of one.
type Named struct {
	Address     string `json:"address"` // module.aot["x"].var.model
	Where       string `json:"where,omitempty"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"`   // of a variable
	Source      string `json:"source,omitempty"` // of a call
	Dir         string `json:"dir,omitempty"`    // of the module's files, likewise
	Value       Value  `json:"value,omitempty"`
}

// Argument is one of an instance, as it was evaluated.
type Argument struct {
	Name  string `json:"name"`
	Value Value  `json:"value"`
}

// Value is JSON of a value, with "<address>" for what is not known yet, and "(sensitive)" for what is not shown.
type Value []byte

// MarshalJSON returns it as it is.
func (v Value) MarshalJSON() ([]byte, error) { return v, nil }

func valueOf(v cty.Value) Value {
	if lang.TraitsOf(v).Sensitive {
		v = cty.StringVal(secret.Hidden)
	}
	v = placeholders(v)
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil { // of a capsule, which the language does not have
		return Value("null")
	}
	return b
}

// BuildNamed is Build, and tells what the pipeline names.
func BuildNamed(o Options) (*plan.Plan, *Extender, *Names, hcl.Diagnostics) {
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

// namesIn are those of a frame.
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

// noteArguments keeps what the arguments of an instance are, those that are set.
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
