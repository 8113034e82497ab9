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
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/plan"
)

const (
	maxModules = 2000   // calls as written, those of modules that are called twice counted twice
	maxFrames  = 20_000 // copies of all calls
)

// module is a module as a call names it, or the pipeline: declared once, however many copies its calls make.
type module struct {
	at       addrs.Module // as written, without keys
	cfg      *config.Module
	parts    config.Parts
	caller   *module // nil for the pipeline, as is call
	call     *config.Call
	declared lang.Declared
	steps    map[addrs.Step]*object // by their address in the module
	calls    map[string]*module
	frames   []*frame
}

// frame is a module in one place, with what is known there.
type frame struct {
	of     *module
	at     addrs.Module // module.aot["Alpha7"]
	caller *frame
	key    cty.Value // each.key and each.value of its call; zero Values without for_each
	value  cty.Value

	scope   lang.Scope
	steps   map[addrs.Step]*placed // by their address in the module
	calls   map[string][]*frame    // copies that exist
	off     map[addrs.Module]bool  // copies that do not exist, since their when is false
	outputs map[string]cty.Value
	checks  map[string][]plan.Check // by the block's name
	target  cty.Value               // for kinds; the zero Value when there is none, or which one is not said
	targets map[string]cty.Value    // by name
	after   []addrs.Instance        // depends_on of the calls that lead here
}

// newModule makes a module of what a call names, and those that it calls in turn; callers come first in p.modules.
func (p *planner) newModule(caller *module, call *config.Call, cfg *config.Module) (*module, hcl.Diagnostics) {
	m := &module{cfg: cfg, caller: caller, call: call, parts: cfg.With(p.profileName()),
		steps: make(map[addrs.Step]*object), calls: make(map[string]*module)}
	if caller != nil {
		m.at = caller.at.Call(call.Name)
		m.parts.Toolchains = slices.DeleteFunc(slices.Clone(m.parts.Toolchains), caller.replaces)
	}
	if p.modules = append(p.modules, m); len(p.modules) > maxModules {
		return m, errorf(call.Range, "More than a plan may hold",
			"The modules call each other more than %d times.", maxModules)
	}
	var diags hcl.Diagnostics
	for _, c := range m.parts.Calls {
		if c.Module == nil || m.calls[c.Name] != nil { // config has said so
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

// replaces tells whether the module or one of its callers declares the toolchain of a default block.
func (m *module) replaces(b *config.Block) bool {
	declares := func(own *config.Block) bool { return own.At == b.At }
	for ; b.Default && m != nil; m = m.caller {
		if slices.ContainsFunc(m.parts.Toolchains, declares) {
			return true
		}
	}
	return false
}

// name is the name of an object of the module.
func (m *module) name(address string) string { return m.at.Of(address) }

// toolchain is the module that declares the toolchain which this one means by a name: itself, or the nearest of those
// that lead to it.
func (m *module) toolchain(name string) *module {
	at := addrs.Step{Kind: addrs.Toolchain, Name: name}
	for ; m != nil; m = m.caller {
		if m.steps[at] != nil {
			return m
		}
	}
	return nil
}

// up is the frame of a module that leads to f.
func (f *frame) up(to *module) *frame {
	for f != nil && f.of != to {
		f = f.caller
	}
	return f
}

// step is the state of a step or toolchain that a reference in the frame means.
func (f *frame) step(at addrs.Step) *placed {
	if at.Kind == addrs.Toolchain {
		if f = f.up(f.of.toolchain(at.Name)); f == nil {
			return nil
		}
	}
	return f.steps[at]
}

// objects names what a reference in the module leads to; order says that it stands in depends_on.
func (m *module) objects(r lang.Ref, order bool) []string {
	switch r.Root {
	case lang.Toolchain:
		if t := m.toolchain(r.Name); t != nil {
			return []string{t.name(r.Object())}
		}
	case lang.Target, lang.Targets:
		if m.caller != nil {
			return []string{string(m.at)} // with its copies it is known what each is for
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

// allOutputs names the outputs of a module.
func (m *module) allOutputs() (names []string) {
	for _, out := range m.parts.Outputs {
		names = append(names, m.name("output."+out.Name))
	}
	return names
}

// allSteps names the copies of a module, and its steps, also in the modules that it calls.
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

// declareCall makes the objects of a call: its copies, and the values of the module's variables.
func (p *planner) declareCall(m *module) hcl.Diagnostics {
	c, caller := m.call, m.caller
	o := p.add(&object{name: string(m.at), in: caller, scope: caller, rng: c.Range,
		eval: func(f *frame) hcl.Diagnostics { return p.evalCall(m, f) }})
	if caller.caller == nil && len(p.targets) > 0 {
		o.implicit = append(o.implicit, lang.Target) // which its copies are for, unless they say otherwise
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
			diags = append(diags, errorf(c.Range, "A variable has no value",
				"%s needs a value for %s, which is declared at %s and has no default. Write %s = … in the block.",
				m.at, v.Name, config.Where(v.Range), v.Name)...)
		}
	}
	for _, a := range sorted(c.Arguments) {
		if slices.Contains(names, a.Name) {
			continue
		}
		advice := fmt.Sprintf("It has: %s.", orNone(names))
		if near := nearest.Name(a.Name, names); near != "" {
			advice = fmt.Sprintf("Did you mean %s?", near)
		}
		diags = append(diags, errorf(a.NameRange, "No such variable",
			"The module %s, in %s, has no variable %s. %s", c.Source, m.cfg.Dir, a.Name, advice)...)
	}
	return diags
}

// inside says in which copy of a module something is wrong, and by which calls that came to be.
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
		if d.Subject != nil { // it may be about a call that leads here
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
			own.Detail += "\nThis is in " + strings.Join(places, ",\nin ") + "."
			out[i] = &own
		}
	}
	return out
}

// unsaid takes away what was said of another call of the same module.
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

// saying is a diagnostic, as far as it is the same for all calls of a module.
type saying struct {
	at     hcl.Range
	detail string
}
