package planner

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/suggest"
)

const (
	maxModules = 2000   // calls as written; a module that is called twice counts twice
	maxFrames  = 20_000 // instances of all calls
)

// module is a module as named by one call, or the pipeline. It is declared once, however many instances the call has.
type module struct {
	at       addrs.Module // as written, without keys
	cfg      *config.Module
	parts    config.ProfileBlocks
	caller   *module // nil for the pipeline, as is call
	call     *config.Call
	declared lang.Declared
	steps    map[addrs.Step]*object // by their address in the module
	calls    map[string]*module
	frames   []*frame
}

// frame is one instance of a module, with its values.
type frame struct {
	of     *module
	at     addrs.Module // module.aot["Alpha7"]
	caller *frame
	key    cty.Value // each.key and each.value of its call; zero Values without for_each
	value  cty.Value

	scope   lang.Scope
	steps   map[addrs.Step]*placed // by their address in the module
	calls   map[string][]*frame    // instances that exist
	off     map[addrs.Module]bool  // instances that do not exist because their when is false
	outputs map[string]cty.Value
	checks  map[string][]plan.Check // by the block's name
	target  cty.Value               // for kinds; the zero Value without a single target
	targets map[string]cty.Value    // by name
	after   []addrs.Instance        // depends_on of the calls on the way to this frame
}

// newModule creates the module of a call, and the modules it calls; callers come first in p.modules.
func (p *planner) newModule(caller *module, call *config.Call, cfg *config.Module) (*module, hcl.Diagnostics) {
	m := &module{cfg: cfg, caller: caller, call: call, parts: cfg.With(p.profileName()),
		steps: make(map[addrs.Step]*object), calls: make(map[string]*module)}
	if caller != nil {
		m.at = caller.at.Call(call.Name)
		m.parts.Toolchains = slices.DeleteFunc(slices.Clone(m.parts.Toolchains), caller.replaces)
	}
	if p.modules = append(p.modules, m); len(p.modules) > maxModules {
		return m, errorf(call.Range, "Plan too large",
			"The pipeline and its modules contain more than %d module calls. Remove some of the calls.", maxModules)
	}
	var diags hcl.Diagnostics
	for _, c := range m.parts.Calls {
		if c.Module == nil || m.calls[c.Name] != nil { // config has reported it
			continue
		}
		child, ds := p.newModule(m, c, c.Module)
		m.calls[c.Name] = child
		if diags = append(diags, ds...); len(p.modules) > maxModules {
			break
		}
	}
	return m, diags
}

// replaces reports whether the module or one of its callers declares the toolchain of a default block.
func (m *module) replaces(b *config.Block) bool {
	declares := func(own *config.Block) bool { return own.At == b.At }
	for ; b.Default && m != nil; m = m.caller {
		if slices.ContainsFunc(m.parts.Toolchains, declares) {
			return true
		}
	}
	return false
}

// name returns the name of an object of the module.
func (m *module) name(address string) string { return m.at.Of(address) }

// toolchain returns the module that declares the toolchain with a name: the module itself, or its nearest caller.
func (m *module) toolchain(name string) *module {
	at := addrs.Step{Kind: addrs.Toolchain, Name: name}
	for ; m != nil; m = m.caller {
		if m.steps[at] != nil {
			return m
		}
	}
	return nil
}

// up returns the frame of a calling module on the way to f.
func (f *frame) up(to *module) *frame {
	for f != nil && f.of != to {
		f = f.caller
	}
	return f
}

// step returns the step or toolchain that a reference in the frame means.
func (f *frame) step(at addrs.Step) *placed {
	if at.Kind == addrs.Toolchain {
		if f = f.up(f.of.toolchain(at.Name)); f == nil {
			return nil
		}
	}
	return f.steps[at]
}

// objects returns the objects that a reference in the module leads to; order means that the reference is in depends_on.
func (m *module) objects(r lang.Ref, order bool) []string {
	switch r.Root {
	case lang.Toolchain:
		if t := m.toolchain(r.Name); t != nil {
			return []string{t.name(r.Object())}
		}
	case lang.Target, lang.Targets:
		if m.caller != nil {
			return []string{string(m.at)} // the target of each instance is known with the instances
		}
		return []string{lang.Target}
	case lang.Module:
		switch child := m.calls[r.Name]; {
		case child == nil:
		case order:
			return child.allSteps()
		case r.Copies:
			return []string{string(child.at)}
		case r.Attr == "":
			return append(child.allOutputs(), string(child.at))
		default:
			return []string{child.name("output." + r.Attr)}
		}
	}
	return []string{m.name(r.Object())}
}

// allOutputs returns the names of the outputs of a module.
func (m *module) allOutputs() (names []string) {
	for _, out := range m.parts.Outputs {
		names = append(names, m.name("output."+out.Name))
	}
	return names
}

// allSteps returns the instances of a module and its steps, including the modules that it calls.
func (m *module) allSteps() []string {
	names := []string{string(m.at)}
	for _, b := range m.parts.Steps {
		names = append(names, m.name(b.At.String()))
	}
	for _, c := range sortedKeys(m.calls) {
		names = append(names, m.calls[c].allSteps()...)
	}
	return names
}

// declareCall creates the objects of a call: its instances, and the values of the module's variables.
func (p *planner) declareCall(m *module) hcl.Diagnostics {
	c, caller := m.call, m.caller
	o := p.add(&object{name: string(m.at), in: caller, scope: caller, rng: c.Range,
		eval: func(f *frame) hcl.Diagnostics { return p.evalCall(m, f) }})
	if caller.caller == nil && len(p.targets) > 0 {
		o.implicit = append(o.implicit, lang.Target) // the default target of its instances
	}
	of := "module." + c.Name
	ts := slices.Concat(
		o.addStatic("for_each", of, c.ForEach), o.addStatic("when", of, c.When), o.addStatic("target", of, c.Target))
	for _, d := range c.DependsOn {
		ts = append(ts, o.addStatic("The key in depends_on", of, d.Key)...)
	}
	diags := p.refer(o, c.ForEach != nil, ts)
	diags = append(diags, p.referOrder(o, c.DependsOn)...)

	var names []string
	for _, v := range m.cfg.Variables {
		names = append(names, v.Name)
		a := c.Arguments[v.Name]
		vo := p.add(&object{name: m.name("var." + v.Name), in: m, scope: caller, variable: true, rng: v.Range,
			eval: func(f *frame) hcl.Diagnostics { return p.evalArgument(v, a, f) }})
		if a != nil {
			vo.rng = a.NameRange
			diags = append(diags, p.refer(vo, c.ForEach != nil, a.Expr.Variables())...)
			diags = append(diags, p.referEach(vo, a.Expr)...)
		} else if v.Default == nil && !v.Optional {
			vo.failed = true
			diags = append(diags, errorf(c.Range, "Missing variable value",
				"%s does not set the variable %s (%s), which has no default. Add %s = … to the block.",
				m.at, v.Name, config.Where(v.Range), v.Name)...)
		}
	}
	for _, a := range sorted(c.Arguments) {
		if slices.Contains(names, a.Name) {
			continue
		}
		advice := fmt.Sprintf("Known variables: %s.", orNone(names))
		if near := suggest.Name(a.Name, names); near != "" {
			advice = fmt.Sprintf("Did you mean %s?", near)
		}
		diags = append(diags, errorf(a.NameRange, "Unknown variable",
			"Module %s (%s) has no variable %s. %s", c.Source, m.cfg.Dir, a.Name, advice)...)
	}
	return diags
}

// inside adds to diagnostics the instance of the module and the calls that lead to it.
func (f *frame) inside(diags hcl.Diagnostics) hcl.Diagnostics {
	return f.of.inside(f.at, diags)
}

func (m *module) inside(at addrs.Module, diags hcl.Diagnostics) hcl.Diagnostics {
	if m.caller == nil || len(diags) == 0 {
		return diags
	}
	out := slices.Clone(diags)
	for i, d := range out {
		from, at := m, at
		if d.Subject != nil { // it may be about a call on the way here
			for n, up := m, at; n != nil; n, up = n.caller, up.Caller() {
				if n.cfg.Dir == path.Dir(d.Subject.Filename) {
					from, at = n, up
					break
				}
			}
		}
		var places []string
		for ; from.caller != nil; from, at = from.caller, at.Caller() {
			places = append(places, fmt.Sprintf("%s, called at %s", at, config.Where(from.call.Range)))
		}
		if len(places) > 0 {
			own := *d
			own.Detail += "\nThe problem is in " + strings.Join(places, ",\nin ") + "."
			out[i] = &own
		}
	}
	return out
}

// unsaid removes diagnostics already reported for another call of the same module.
func (p *planner) unsaid(m *module, diags hcl.Diagnostics) hcl.Diagnostics {
	diags = slices.DeleteFunc(slices.Clone(diags), func(d *hcl.Diagnostic) bool {
		if m.caller == nil || d.Subject == nil {
			return false
		}
		what := saying{*d.Subject, d.Detail}
		again := p.said[what]
		p.said[what] = true
		return again
	})
	return m.inside(m.at, diags)
}

// saying is the part of a diagnostic that is equal for all calls of a module.
type saying struct {
	at     hcl.Range
	detail string
}
