package planner

import (
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

// stepState is what is known of a step or toolchain block.
type stepState struct {
	block *config.Block // with what the profile overrides
	decl  *config.Block // as written in the pipeline
	*kindSchema
	body      hcl.Body
	content   *hcl.BodyContent // of body; nil when it does not fit the schema
	object    *object
	instances []*instance // those that exist; for a step with when = false and without for_each one without a plan
	byAt      map[addrs.Instance]*instance
	off       map[string]bool // keys of copies of which when is false
	attrs     cty.Value       // of a toolchain: what kinds see of it
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
		k.args = append(k.args, "description", "when")
	} else {
		k.args = append(k.args, config.MetaArguments()...)
		k.blocks = append(k.blocks, "output", "secret_file")
	}
	slices.Sort(k.args)
	return k
}

// instance returns the instance of that address, or nil.
func (s *stepState) instance(at addrs.Instance) *instance { return s.byAt[at] }

func (s *stepState) add(in *instance) {
	s.instances = append(s.instances, in)
	s.byAt[in.at] = in
}

// instance is one copy of a step.
type instance struct {
	at      addrs.Instance
	outputs []step.DeclaredOutput // all of them, own and the kind's; Path is set for own ones
	classes map[string]action.Class
	planned *plan.Instance // nil when when = false
}

// declare makes an object for everything in the pipeline and checks every reference, before anything is evaluated.
func (p *planner) declare() hcl.Diagnostics {
	diags := p.declareBlocks()
	p.declareNames()

	if t := p.cfg.Target; t != nil {
		var exprs []hcl.Expression
		for _, n := range sortedKeys(t.Arguments) {
			exprs = append(exprs, t.Arguments[n].Expr)
		}
		o := p.add(&object{name: lang.Target, rng: t.Range, eval: p.evalTarget})
		diags = append(diags, p.refer(o, false, variables(exprs...))...)
	}
	for _, l := range p.cfg.Locals {
		o := p.add(&object{name: "local." + l.Name, rng: l.Range, eval: func() hcl.Diagnostics { return p.evalLocal(l) }})
		diags = append(diags, p.refer(o, false, l.Expr.Variables())...)
		diags = append(diags, p.referEach(o, l.Expr)...)
	}
	for _, blocks := range [][]*config.Block{p.cfg.Toolchains, p.cfg.Steps} {
		for _, b := range blocks {
			if s := p.steps[b.At]; s != nil && s.decl == b {
				diags = append(diags, p.declareStep(s)...)
			}
		}
	}
	for _, out := range p.cfg.Outputs {
		o := p.add(&object{name: "output." + out.Name, rng: out.Range})
		o.eval = func() hcl.Diagnostics { return p.evalOutput(out, o) }
		diags = append(diags, p.refer(o, false, out.Value.Variables())...)
		diags = append(diags, p.referEach(o, out.Value)...)
	}
	return append(diags, p.checkStatic()...)
}

// declareBlocks finds the kind of each block.
func (p *planner) declareBlocks() hcl.Diagnostics {
	var diags hcl.Diagnostics
	var kinds []string
	schemas := make(map[string]*kindSchema)
	for _, k := range sortedKeys(p.o.Kinds) {
		if k != addrs.Toolchain {
			kinds = append(kinds, k)
		}
	}
	for _, blocks := range [][]*config.Block{p.cfg.Toolchains, p.cfg.Steps} {
		for _, b := range blocks {
			k := p.o.Kinds[b.At.Kind]
			switch {
			case p.steps[b.At] != nil: // a duplicate; config has said so
				continue
			case k == nil && b.At.Kind == addrs.Toolchain:
				diags = append(diags, errorf(&b.Range, "Toolchains are not supported", "This program has no toolchain catalogue.")...)
				continue
			case k == nil:
				advice := "There are: " + strings.Join(kinds, ", ") + "."
				if near := nearest.Name(b.At.Kind, kinds); near != "" {
					advice = fmt.Sprintf("Did you mean %s?", near)
				}
				diags = append(diags, errorf(&b.KindRange, "Unknown kind of step", "There is no kind %s. %s", b.At.Kind, advice)...)
				// References to it should not be reported as well.
				p.steps[b.At] = &stepState{block: b, decl: b, kindSchema: new(kindSchema)}
				continue
			}
			if schemas[b.At.Kind] == nil {
				schemas[b.At.Kind] = schemaOf(k, b.At.Kind == addrs.Toolchain)
			}
			p.steps[b.At] = &stepState{block: b, decl: b, kindSchema: schemas[b.At.Kind], body: b.Body}
		}
	}
	if p.profile != nil {
		for _, b := range p.profile.Toolchains {
			s := p.steps[b.At]
			if s == nil {
				diags = append(diags, errorf(&b.Range, "Nothing to override",
					"Profile %s changes %s, which the pipeline does not declare. Add toolchain %q { … } beside the profiles; with when = profile.name == %q it exists in this profile only.",
					p.profile.Name, b.At, b.At.Name, p.profile.Name)...)
				continue
			}
			override := *s.block
			override.Names = append(append([]config.Name(nil), s.block.Names...), b.Names...)
			if b.When != nil {
				override.When = b.When
			}
			if b.Description != "" {
				override.Description = b.Description
			}
			s.body = &mergedBody{base: s.block.Body, over: b.Body}
			s.block = &override
		}
	}
	return diags
}

func (p *planner) declareNames() {
	d := lang.Declared{Steps: make(map[addrs.Step]lang.DeclaredStep), HasTarget: p.cfg.Target != nil}
	for _, v := range p.cfg.Variables {
		d.Vars = append(d.Vars, v.Name)
	}
	for _, l := range p.cfg.Locals {
		d.Locals = append(d.Locals, l.Name)
	}
	for at, s := range p.steps {
		if at.Kind == addrs.Toolchain {
			d.Toolchains = append(d.Toolchains, at.Name)
			continue
		}
		ds := lang.DeclaredStep{ForEach: s.block.ForEach != nil}
		p.copies = p.copies || ds.ForEach
		if s.kind != nil && s.schema.OutputsFrom == "" {
			ds.Outputs = []string{}
			for _, o := range s.schema.Outputs {
				ds.Outputs = append(ds.Outputs, o.Name)
			}
			for _, o := range s.block.Outputs {
				ds.Outputs = append(ds.Outputs, o.Name)
			}
		}
		d.Steps[at] = ds
	}
	slices.Sort(d.Toolchains)
	p.declared = d
}

func (p *planner) declareStep(s *stepState) hcl.Diagnostics {
	b := s.block
	o := p.add(&object{name: b.At.String(), rng: b.Range, step: s, failed: s.kind == nil})
	s.object = o
	o.eval = func() hcl.Diagnostics { return p.evalStep(s) }
	if s.kind == nil {
		return nil
	}
	what := "a toolchain"
	if b.At.Kind != addrs.Toolchain {
		what = fmt.Sprintf("a step of kind %s", b.At.Kind)
	}
	diags := config.Unexpected(b.Names, s.args, s.blocks, what)
	if len(b.Outputs) > 0 && !s.schema.OwnOutputs {
		r := b.Outputs[0].Range
		diags = append(diags, errorf(&r, "No output blocks here", "Kind %s decides its outputs itself: %s. Remove the block.", b.At.Kind, orNone(schemaOutputs(s.schema)))...)
	}
	for _, own := range b.Outputs {
		for _, fixed := range s.schema.Outputs {
			if own.Name == fixed.Name {
				r := own.Range
				diags = append(diags, errorf(&r, "The output exists already", "Every step of kind %s has an output %s. Choose another name.", b.At.Kind, own.Name)...)
			}
		}
	}
	o.failed = diags.HasErrors()
	exprs := []hcl.Expression{b.ForEach, b.When, b.Timeout, b.Retries, b.RetryExitCodes, b.Resources, b.Env, b.Cache}
	for _, own := range b.Outputs {
		exprs = append(exprs, own.Path)
	}
	for _, d := range b.DependsOn {
		exprs = append(exprs, d.Key)
	}
	for _, f := range b.SecretFiles {
		exprs = append(exprs, f.Content)
	}
	ts := append(s.variables(), variables(exprs...)...)
	for _, d := range b.DependsOn {
		ts = append(ts, d.Step)
	}
	diags = append(diags, p.refer(o, b.ForEach != nil, ts)...)
	diags = append(diags, p.referEach(o, b.Body)...)
	diags = append(diags, p.referEach(o, b.Env)...)
	for _, f := range b.SecretFiles {
		diags = append(diags, p.referEach(o, f.Content)...)
	}
	for _, d := range b.DependsOn {
		r, ds := lang.ParseRef(d.Step)
		if !ds.HasErrors() && r.Root != lang.StepRoot && r.Root != lang.Toolchain {
			diags = append(diags, errorf(&r.Range, "Not the address of a step", "depends_on is a list of steps, such as [step.patch.ops].")...)
			o.failed = true
		}
	}
	for _, t := range s.schema.Toolchains {
		o.implicit = append(o.implicit, addrs.Step{Kind: addrs.Toolchain, Name: t}.String())
	}
	return diags
}

// variables are those of the arguments of the kind. It decodes the body.
func (s *stepState) variables() []hcl.Traversal {
	content, diags := s.body.Content(s.implied)
	if diags.HasErrors() {
		return hcldec.Variables(s.body, s.schema.Args)
	}
	s.content = content
	var ts []hcl.Traversal
	for name, spec := range s.schema.Args {
		if spec, ok := spec.(*hcldec.AttrSpec); !ok {
			ts = append(ts, hcldec.Variables(s.body, hcldec.ObjectSpec{name: s.schema.Args[name]})...)
		} else if a := content.Attributes[spec.Name]; a != nil {
			ts = append(ts, a.Expr.Variables()...)
		}
	}
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
			diags = append(diags, errorf(&r, "Unknown reference", "There is no %s. References to steps start with step: step.%s.NAME.outputs.OUTPUT.", name, name)...)
			continue
		}
		known = append(known, t)
	}
	refs, ds := lang.Refs(known)
	diags = append(diags, ds...)
	var seen map[hcl.Range]bool
	if len(refs) > 1 {
		seen = make(map[hcl.Range]bool, len(refs))
	}
	for _, r := range refs {
		if seen[r.Range] {
			continue
		}
		if seen != nil {
			seen[r.Range] = true
		}
		ds := p.declared.Check(r, each)
		diags = append(diags, ds...)
		if !ds.HasErrors() {
			o.refs = append(o.refs, r)
		}
	}
	o.failed = o.failed || diags.HasErrors()
	return diags
}

// referEach does the same for what is taken from all copies of a step.
func (p *planner) referEach(o *object, node any) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if !p.copies {
		return nil // a look at every part of the expression for nothing
	}
	for _, r := range lang.EachRefs(node) {
		diags = append(diags, p.declared.CheckEach(r)...)
		o.each = append(o.each, r)
	}
	o.failed = o.failed || diags.HasErrors()
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
