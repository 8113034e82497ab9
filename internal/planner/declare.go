package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/suggest"
)

// placed is an object in one frame, with its values in that frame.
type placed struct {
	p *planner
	*object
	frame *frame
	at    addrs.Step // of a step or toolchain, like the fields below
	// those that exist; a step with when = false and without for_each has one without a plan
	instances []*instance
	byAddress map[addrs.Instance]*instance
	off       map[string]bool // keys of instances whose when is false
	attrs     cty.Value       // of a toolchain, for kinds
}

// kindSchema is a kind with its arguments and blocks.
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
	s.instances, s.byAddress[in.at] = append(s.instances, in), in
}

// copy returns the instance with a key, or nil.
func (s *placed) copy(key string) *instance {
	return s.byAddress[addrs.Instance{Step: s.at, Key: key, Keyed: true}]
}

// optional reports whether steps of the kind may lack an output.
func (s *placed) optional(output string) bool {
	return slices.ContainsFunc(s.schema.Outputs, func(o step.OutputSpec) bool { return o.Name == output && o.Optional })
}

// exists reports whether the step or one of its instances exists.
func (s *placed) exists() bool {
	return s != nil && slices.ContainsFunc(s.instances, func(in *instance) bool { return in.plan != nil })
}

// instance is a step or toolchain in a frame, or one of its for_each instances.
type instance struct {
	s       *placed
	at      addrs.Instance
	value   cty.Value             // each.value; the zero Value without for_each
	outputs []step.DeclaredOutput // outputs of the kind and of the step; Path is set for outputs of the step
	plan    *plan.Instance        // nil when when = false
	answer  step.Planned          // the kind's, if it was asked
}

// declare creates an object for every element of a module and checks every reference, before any evaluation.
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
	for _, a := range sorted(t.Arguments) {
		exprs = append(exprs, a.Expr)
	}
	return variables(exprs...)
}

// declareBlocks looks up the kind of each block of a module.
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
			case m.steps[b.At] != nil: // a duplicate; config has reported it
				continue
			case k == nil && b.At.Kind == addrs.Toolchain:
				diags = append(diags, errorf(b.Range, "Toolchains are not supported",
					"This program has no toolchain catalog. Remove the block.")...)
				continue
			case k == nil:
				advice := "Known kinds: " + strings.Join(kinds, ", ") + "."
				if near := suggest.Name(b.At.Kind, kinds); near != "" {
					advice = fmt.Sprintf("Did you mean %s?", near)
				}
				diags = append(diags, errorf(b.KindRange, "Unknown step kind",
					"hexmage has no step kind %s. %s", b.At.Kind, advice)...)
				// Do not report references to it, too.
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

// declareNames records the names that references in a module can use, including its callers' toolchains.
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

// declaredStep returns the references that a step allows.
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

// elsewhere returns the declarations of other profiles, by profile name.
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

// declareStep creates the object of a step or toolchain, and checks its body and references.
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
		diags = append(diags, errorf(b.Outputs[0].Range, "Unexpected output block",
			"Steps of kind %s have fixed outputs: %s. Remove the output block.", b.At.Kind,
			orNone(schemaOutputs(o.schema)))...)
	}
	for _, own := range b.Outputs {
		for _, fixed := range o.schema.Outputs {
			if own.Name == fixed.Name {
				diags = append(diags, errorf(own.Range, "Duplicate output",
					"Steps of kind %s already have an output named %s. Choose another name.", b.At.Kind, own.Name)...)
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

// referOrder checks and records the references in depends_on.
func (p *planner) referOrder(o *object, on []config.Dependency) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, d := range on {
		r, ds := lang.ParseRef(d.Step)
		if !ds.HasErrors() {
			if r.Root != lang.StepRoot && r.Root != lang.Toolchain && (r.Root != lang.Module || r.Attr != "") {
				ds = errorf(r.Range, "Invalid step address",
					"depends_on can contain only steps and modules, such as [step.patch.ops].")
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

// references returns the references of the whole block. It records which of them must be static, and decodes the body.
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
		{"side_effects", b.SideEffects},
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

// variables returns the references in the arguments of the kind. It decodes the body.
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
	slices.SortFunc(ts, func(a, b hcl.Traversal) int { // the order of plans depends on this order
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
		names = append(names, "one for each element of "+s.OutputsFrom)
	}
	return names
}

// refer checks and records references.
func (p *planner) refer(o *object, each bool, ts []hcl.Traversal) hcl.Diagnostics {
	var known []hcl.Traversal
	var diags hcl.Diagnostics
	for _, t := range ts {
		if name := t.RootName(); p.o.Kinds[name] != nil && !slices.Contains(lang.Roots(), name) {
			r := t.SourceRange()
			diags = append(diags, errorf(r, "Unknown reference",
				"%s is a step kind. To refer to a step, write step.%s.NAME.outputs.OUTPUT.", name, name)...)
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

// firstOnly reports once, instead of at each reference, that a module has no blocks for the pipeline's profile. It also
// marks errors about a missing target.
func (p *planner) firstOnly(m *module, r lang.Ref, diags hcl.Diagnostics) hcl.Diagnostics {
	var what saying
	switch {
	case (r.Root == lang.Target || r.Root == lang.Targets) && !m.declared.HasTarget:
		diags[0].Extra = step.MissingBlockError{}
		return diags // together keeps one of them
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

// strangeProfile reports that a module with profiles lacks the pipeline's profile.
func (m *module) strangeProfile(chosen string) hcl.Diagnostics {
	var names []string
	for _, pr := range m.cfg.Profiles {
		names = append(names, pr.Name)
	}
	slices.Sort(names)
	has := "has no profile"
	if chosen != "" {
		has = "uses profile " + chosen
	}
	return errorf(m.call.Range, "Missing profile",
		"Module %s (%s) supports only profiles %s, but the pipeline %s. Add a supported profile to the "+
			"pipeline, such as profile %q {}.",
		m.call.Source, m.cfg.Dir, strings.Join(names, ", "), has, names[len(names)-1])
}

// referEach checks and records references to all instances of a step.
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
		default: // not the other outputs of the module: they may depend on this object
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
