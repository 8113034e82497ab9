package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/step"
)

// placed is an object in one frame, and what is known of it there.
type placed struct {
	p *planner
	*object
	frame *frame
	at    addrs.Step // of a step or toolchain, as is what follows
	// those that exist; for a step with when = false and without for_each one without a plan
	instances []*instance
	byAddress map[addrs.Instance]*instance
	off       map[string]bool // keys of copies of which when is false
	attrs     cty.Value       // of a toolchain, for kinds
}

// kindSchema is a kind and what its blocks may hold.
type kindSchema struct {
	kind         step.Kind
	schema       step.Schema
	implied      *hcl.BodySchema
	args, blocks []string // names, for did-you-mean; sorted
}

func schemaOf(kind step.Kind, toolchain bool) *kindSchema {
	k := &kindSchema{kind: kind, schema: kind.Schema()}
	k.implied = hcldec.ImpliedSchema(k.schema.Args)
	for _, a := range k.implied.Attributes {
		k.args = append(k.args, a.Name)
	}
	for _, bl := range k.implied.Blocks {
		k.blocks = append(k.blocks, bl.Type)
	}
	if toolchain {
		k.args = append(k.args, "default", "description", "when")
	} else {
		k.args = append(k.args, config.MetaArguments()...)
		k.blocks = append(k.blocks, "output", "secret_file")
	}
	slices.Sort(k.args)
	return k
}

// add adds an instance.
func (s *placed) add(in *instance) {
	if s.byAddress == nil {
		s.byAddress = make(map[addrs.Instance]*instance)
	}
	s.instances, s.byAddress[in.at] = append(s.instances, in), in
}

// copy returns the copy with a key, or nil.
func (s *placed) copy(key string) *instance {
	return s.byAddress[addrs.Instance{Step: s.at, Key: key, Keyed: true}]
}

// optional tells whether steps of the kind may lack an output.
func (s *placed) optional(output string) bool {
	return slices.ContainsFunc(s.schema.Outputs, func(o step.OutputSpec) bool { return o.Name == output && o.Optional })
}

// exists tells whether there is a copy of the step, or it itself.
func (s *placed) exists() bool {
	return s != nil && slices.ContainsFunc(s.instances, func(in *instance) bool { return in.plan != nil })
}

// instance is a step or toolchain in a frame, or one of the copies that for_each makes of it.
type instance struct {
	s       *placed
	at      addrs.Instance
	value   cty.Value             // each.value; the zero Value without for_each
	outputs []step.DeclaredOutput // all of them, own and the kind's; Path is set for own ones
	plan    *plan.Instance        // nil when when = false
	answer  step.Planned          // the kind's, if it was asked
}

// declare makes an object for everything in a module and checks every reference, before anything is evaluated.
func (p *planner) declare(m *module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if m.caller != nil {
		diags = append(diags, p.declareCall(m)...)
	} else if len(p.targets) > 0 {
		o := p.add(&object{name: lang.Target, in: m, scope: m, rng: p.targets[0].Range, eval: p.evalTargets})
		for _, t := range p.targets {
			ts := targetVariables(t)
			o.static = append(o.static, static{"The target", ts})
			diags = append(diags, p.refer(o, false, ts)...)
		}
	}
	for _, l := range m.parts.Locals {
		o := p.add(&object{name: m.name("local." + l.Name), in: m, scope: m, rng: l.Range, local: l,
			eval: func(f *frame) hcl.Diagnostics { return p.evalLocal(l, f) }})
		diags = append(diags, p.refer(o, false, l.Expr.Variables())...)
		diags = append(diags, p.referEach(o, l.Expr)...)
	}
	for _, blocks := range [][]*config.Block{m.parts.Toolchains, m.parts.Steps} {
		for _, b := range blocks {
			if s := m.steps[b.At]; s != nil && s.block == b {
				diags = append(diags, p.declareStep(m, s)...)
			}
		}
	}
	for _, out := range m.parts.Outputs {
		o := p.add(&object{name: m.name("output." + out.Name), in: m, scope: m, rng: out.Range})
		o.eval = func(f *frame) hcl.Diagnostics { return p.evalOutput(out, o, f) }
		diags = append(diags, p.refer(o, false, out.Value.Variables())...)
		diags = append(diags, p.referEach(o, out.Value)...)
	}
	for _, c := range m.parts.Checks {
		diags = append(diags, p.declareCheck(m, c)...)
	}
	return diags
}

func targetVariables(t *config.Target) []hcl.Traversal {
	var exprs []hcl.Expression
	for _, n := range sortedKeys(t.Arguments) {
		exprs = append(exprs, t.Arguments[n].Expr)
	}
	return variables(exprs...)
}

// declareBlocks finds the kind of each block of a module.
func (p *planner) declareBlocks(m *module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	var kinds []string
	for _, k := range sortedKeys(p.o.Kinds) {
		if k != addrs.Toolchain {
			kinds = append(kinds, k)
		}
	}
	for _, blocks := range [][]*config.Block{m.parts.Toolchains, m.parts.Steps} {
		for _, b := range blocks {
			k := p.o.Kinds[b.At.Kind]
			switch {
			case m.steps[b.At] != nil: // a duplicate; config has said so
				continue
			case k == nil && b.At.Kind == addrs.Toolchain:
				diags = append(diags, errorf(b.Range, "Toolchains are not supported",
					"This program has no toolchain catalogue.")...)
				continue
			case k == nil:
				advice := "There are: " + strings.Join(kinds, ", ") + "."
				if near := nearest.Name(b.At.Kind, kinds); near != "" {
					advice = fmt.Sprintf("Did you mean %s?", near)
				}
				diags = append(diags, errorf(b.KindRange, "Unknown kind of step",
					"There is no kind %s. %s", b.At.Kind, advice)...)
				// References to it should not be reported as well.
				p.declareBlock(m, b, new(kindSchema))
				continue
			}
			if p.schemas[b.At.Kind] == nil {
				p.schemas[b.At.Kind] = schemaOf(k, b.At.Kind == addrs.Toolchain)
			}
			p.declareBlock(m, b, p.schemas[b.At.Kind])
		}
	}
	return diags
}

func (p *planner) declareBlock(m *module, b *config.Block, k *kindSchema) {
	m.steps[b.At] = &object{name: m.name(b.At.String()), in: m, scope: m, rng: b.Range, block: b, kindSchema: k}
}

// declareNames notes what references in a module can mean; its callers' toolchains are among that.
func (p *planner) declareNames(m *module) {
	d := lang.Declared{Steps: make(map[addrs.Step]lang.DeclaredStep), Calls: make(map[string]lang.DeclaredCall),
		HasTarget: len(p.targets) > 0, TargetFlag: p.o.TargetFlag,
		In: p.profileName(), Elsewhere: elsewhere(m.cfg, p.profileName())}
	for _, v := range m.cfg.Variables {
		d.Vars = append(d.Vars, v.Name)
	}
	for _, l := range m.parts.Locals {
		d.Locals = append(d.Locals, l.Name)
	}
	for _, c := range m.parts.Calls {
		dc := lang.DeclaredCall{ForEach: c.ForEach != nil}
		if child := m.calls[c.Name]; child != nil {
			dc.Outputs = []string{}
			for _, o := range child.parts.Outputs {
				dc.Outputs = append(dc.Outputs, o.Name)
			}
			slices.Sort(dc.Outputs)
		}
		d.Calls[c.Name] = dc
	}
	for at, s := range m.steps {
		if at.Kind == addrs.Toolchain {
			d.Toolchains = append(d.Toolchains, at.Name)
			continue
		}
		d.Steps[at] = declaredStep(s)
	}
	if m.caller != nil {
		d.Toolchains = append(d.Toolchains, m.caller.declared.Toolchains...)
	}
	slices.Sort(d.Toolchains)
	d.Toolchains = slices.Compact(d.Toolchains)
	m.declared = d
}

// declaredStep is what references to a step can mean.
func declaredStep(s *object) lang.DeclaredStep {
	ds := lang.DeclaredStep{ForEach: s.block.ForEach != nil}
	if s.kind != nil && s.schema.OutputsFrom == "" {
		ds.Outputs = make([]string, 0, len(s.schema.Outputs)+len(s.block.Outputs))
		for _, o := range s.schema.Outputs {
			ds.Outputs = append(ds.Outputs, o.Name)
		}
		for _, o := range s.block.Outputs {
			ds.Outputs = append(ds.Outputs, o.Name)
		}
	}
	return ds
}

// elsewhere lists what other profiles than the one chosen declare, by the profiles' names.
func elsewhere(m *config.Module, profile string) map[string][]string {
	in := make(map[string][]string)
	for _, pr := range m.Profiles {
		if pr.Name != profile {
			pr.Declared(func(what string, _ hcl.Range) { in[what] = append(in[what], "profile "+pr.Name) })
		}
	}
	parts := m.With(profile)
	parts.Declared(func(what string, _ hcl.Range) { delete(in, what) })
	return in
}

// declareStep makes the object of a step or toolchain, and checks it and what it refers to.
func (p *planner) declareStep(m *module, o *object) hcl.Diagnostics {
	b := o.block
	p.add(o)
	o.eval = func(f *frame) hcl.Diagnostics { return p.evalStep(o, f) }
	if o.failed = o.kind == nil; o.failed {
		return nil
	}
	what := "a toolchain"
	if b.At.Kind != addrs.Toolchain {
		what = fmt.Sprintf("a step of kind %s", b.At.Kind)
	}
	diags := config.Unexpected(b.Names, o.args, o.blocks, what)
	if len(b.Outputs) > 0 && !o.schema.OwnOutputs {
		diags = append(diags, errorf(b.Outputs[0].Range, "No output blocks here",
			"Kind %s decides its outputs itself: %s. Remove the block.", b.At.Kind, orNone(schemaOutputs(o.schema)))...)
	}
	for _, own := range b.Outputs {
		for _, fixed := range o.schema.Outputs {
			if own.Name == fixed.Name {
				diags = append(diags, errorf(own.Range, "The output exists already",
					"Every step of kind %s has an output %s. Choose another name.", b.At.Kind, own.Name)...)
			}
		}
	}
	o.failed = diags.HasErrors()
	ts := o.references()
	diags = append(diags, p.referMatrix(o)...)
	diags = append(diags, p.refer(o, b.ForEach != nil, ts)...)
	diags = append(diags, p.referOrder(o, b.DependsOn)...)
	diags = append(diags, p.referEach(o, b.Body)...)
	diags = append(diags, p.referEach(o, b.Env)...)
	for _, f := range b.SecretFiles {
		diags = append(diags, p.referEach(o, f.Content)...)
	}
	for _, t := range o.schema.Toolchains {
		if from := m.toolchain(t); from != nil {
			o.implicit = append(o.implicit, from.name(addrs.Step{Kind: addrs.Toolchain, Name: t}.String()))
		}
	}
	return diags
}

// referOrder checks what depends_on names, and keeps it.
func (p *planner) referOrder(o *object, on []config.Dependency) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, d := range on {
		r, ds := lang.ParseRef(d.Step)
		if !ds.HasErrors() {
			if r.Root != lang.StepRoot && r.Root != lang.Toolchain && (r.Root != lang.Module || r.Attr != "") {
				ds = errorf(r.Range, "Not the address of a step",
					"depends_on is a list of steps and modules, such as [step.patch.ops].")
			} else {
				ds = o.scope.declared.Check(r, true)
			}
		}
		diags = append(diags, ds...)
		if !ds.HasErrors() {
			o.order = append(o.order, r)
		}
	}
	o.failed = o.failed || diags.HasErrors()
	return diags
}

// references are those of the whole block. It notes which of them must be static, and decodes the body.
func (s *object) references() []hcl.Traversal {
	b, ts := s.block, s.variables()
	of := b.At.String()
	if b.At.Kind == addrs.Toolchain {
		ts = append(ts, variables(b.When)...)
		s.static = []static{{of, ts}}
		return ts
	}
	for _, a := range []struct {
		name string
		expr hcl.Expression
	}{
		{"for_each", b.ForEach}, {"when", b.When}, {"target", b.Target}, {"timeout", b.Timeout}, {"retries", b.Retries},
		{"retry_exit_codes", b.RetryExitCodes}, {"resources", b.Resources}, {"cache", b.Cache},
	} {
		ts = append(ts, s.addStatic(a.name, of, a.expr)...)
	}
	for _, own := range b.Outputs {
		ts = append(ts, s.addStatic("The path of output "+own.Name, of, own.Path)...)
	}
	for _, d := range b.DependsOn {
		ts = append(ts, s.addStatic("The key in depends_on", of, d.Key)...)
	}
	if a := attribute(b.Body, s.schema.OutputsFrom); a != nil {
		s.addStatic(a.Name, of+", which names its outputs,", a.Expr)
	}
	ts = append(ts, variables(b.Env)...)
	for _, f := range b.SecretFiles {
		ts = append(ts, f.Content.Variables()...)
	}
	return ts
}

// variables are those of the arguments of the kind. It decodes the body.
func (s *object) variables() []hcl.Traversal {
	content, diags := s.block.Body.Content(s.implied)
	if diags.HasErrors() {
		return hcldec.Variables(s.block.Body, s.schema.Args)
	}
	s.content = content
	var ts []hcl.Traversal
	for name, spec := range s.schema.Args {
		if spec, ok := spec.(*hcldec.AttrSpec); !ok {
			ts = append(ts, hcldec.Variables(s.block.Body, hcldec.ObjectSpec{name: s.schema.Args[name]})...)
		} else if a := content.Attributes[spec.Name]; a != nil {
			ts = append(ts, a.Expr.Variables()...)
		}
	}
	slices.SortFunc(ts, func(a, b hcl.Traversal) int { // plans are in an order that comes from this one
		at, bt := a.SourceRange(), b.SourceRange()
		return cmp.Or(cmp.Compare(at.Filename, bt.Filename), cmp.Compare(at.Start.Byte, bt.Start.Byte))
	})
	return ts
}

func schemaOutputs(s step.Schema) []string {
	var names []string
	for _, o := range s.Outputs {
		names = append(names, o.Name)
	}
	if s.OutputsFrom != "" {
		names = append(names, "one for each of "+s.OutputsFrom)
	}
	return names
}

// refer checks references and keeps them.
func (p *planner) refer(o *object, each bool, ts []hcl.Traversal) hcl.Diagnostics {
	var known []hcl.Traversal
	var diags hcl.Diagnostics
	for _, t := range ts {
		if name := t.RootName(); p.o.Kinds[name] != nil && !slices.Contains(lang.Roots(), name) {
			r := t.SourceRange()
			diags = append(diags, errorf(r, "Unknown reference",
				"There is no %s. References to steps start with step: step.%s.NAME.outputs.OUTPUT.", name, name)...)
			continue
		}
		known = append(known, t)
	}
	refs, ds := lang.Refs(known)
	diags = append(diags, ds...)
	seen := make(map[hcl.Range]bool, len(refs))
	for _, r := range refs {
		if seen[r.Range] {
			continue
		}
		seen[r.Range] = true
		ds := o.check(r, each)
		if ds.HasErrors() {
			o.failed = true
			diags = append(diags, p.firstOnly(o.scope, r, ds)...)
			continue
		}
		o.refs = append(o.refs, r)
		diags = append(diags, ds...)
	}
	o.failed = o.failed || diags.HasErrors()
	return diags
}

// firstOnly says once, instead of at each reference, that a module has no blocks for the pipeline's profile; and
// marks what says that there is no target.
func (p *planner) firstOnly(m *module, r lang.Ref, diags hcl.Diagnostics) hcl.Diagnostics {
	var what saying
	switch {
	case (r.Root == lang.Target || r.Root == lang.Targets) && !m.declared.HasTarget:
		diags[0].Extra = step.Undeclared{}
		return diags // together leaves one of them
	case m.caller != nil && len(m.declared.Elsewhere[r.Object()]) > 0 &&
		!slices.ContainsFunc(m.cfg.Profiles, func(pr *config.Profile) bool { return pr.Name == p.profileName() }):
		what.at = m.call.Range
		diags = m.strangeProfile(p.profileName())
	default:
		return diags
	}
	if p.said[what] {
		return nil
	}
	p.said[what] = true
	return diags
}

// strangeProfile says that a module which differs by profile does not know the pipeline's.
func (m *module) strangeProfile(chosen string) hcl.Diagnostics {
	var names []string
	for _, pr := range m.cfg.Profiles {
		names = append(names, pr.Name)
	}
	slices.Sort(names)
	has := "the pipeline has none"
	if chosen != "" {
		has = "the pipeline's is " + chosen
	}
	return errorf(m.call.Range, "A module without the profile",
		"The module %s, in %s, is made for the profiles %s, and %s. Add one of them to the pipeline, such as: "+
			"profile %q {}.",
		m.call.Source, m.cfg.Dir, strings.Join(names, " and "), has, names[len(names)-1])
}

// referEach does the same for what is taken from all copies of a step.
func (p *planner) referEach(o *object, node any) hcl.Diagnostics {
	var diags hcl.Diagnostics
	each, taken := lang.EachRefs(node)
	for _, r := range each {
		diags = append(diags, o.scope.declared.CheckEach(r)...)
		o.each = append(o.each, r)
	}
	if o.failed = o.failed || diags.HasErrors(); o.failed || len(taken) == 0 {
		return diags
	}
	refs := make([]lang.Ref, 0, len(o.refs)+len(taken))
	for _, r := range o.refs {
		t, ok := taken[r.Range]
		switch {
		case !ok || t.All || r.Root != lang.Module || !o.scope.declared.Calls[r.Name].ForEach:
			refs = append(refs, r)
		case len(t.Outputs) == 0:
			r.Copies = true
			refs = append(refs, r)
		default: // not the other outputs of the module: they may need what needs this
			refs = append(refs, t.Outputs...)
		}
	}
	o.refs = refs
	return diags
}

func variables(exprs ...hcl.Expression) []hcl.Traversal {
	var ts []hcl.Traversal
	for _, e := range exprs {
		if e != nil {
			ts = append(ts, e.Variables()...)
		}
	}
	return ts
}

// attribute returns an argument of a body, or nil.
func attribute(body hcl.Body, name string) *hcl.Attribute {
	if name == "" {
		return nil
	}
	c, _, _ := body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name}}})
	return c.Attributes[name]
}

func outputClass(os []step.DeclaredOutput, name string) action.Class {
	for _, o := range os {
		if o.Name == name {
			return o.Class
		}
	}
	return 0
}
