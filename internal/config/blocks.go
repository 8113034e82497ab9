package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
)

// builder builds a module's skeleton from files, and reports duplicates.
type builder struct {
	m        *Module
	pipeline bool                 // the module is a pipeline
	first    map[string]hcl.Range // by description: `variable "x"`
}

// partsSchema is the schema of the blocks allowed in profiles and modules.
func partsSchema() []hcl.BlockHeaderSchema {
	return []hcl.BlockHeaderSchema{
		{Type: "locals"},
		{Type: "toolchain", LabelNames: []string{"name"}},
		{Type: "step", LabelNames: []string{"kind", "name"}},
		{Type: "module", LabelNames: []string{"name"}},
		{Type: "output", LabelNames: []string{"name"}},
		{Type: "check", LabelNames: []string{"name"}},
	}
}

func (b *builder) schema() *hcl.BodySchema {
	s := &hcl.BodySchema{Blocks: append(partsSchema(),
		hcl.BlockHeaderSchema{Type: "variable", LabelNames: []string{"name"}},
		hcl.BlockHeaderSchema{Type: "profile", LabelNames: []string{"name"}})}
	if b.pipeline {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: "pipeline"})
	}
	return s
}

// fileName reports whether each part of the name between dots is a valid identifier, so that it is a file name on every
// system.
func fileName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !hclsyntax.ValidIdentifier(part) {
			return false
		}
	}
	return true
}

// maxName is the maximum length of a name in bytes: steps and outputs become folders, whose names file systems limit to
// 255 bytes.
const maxName = 200

func (b *builder) file(body hcl.Body) hcl.Diagnostics {
	body, loose := b.split(body)
	what, more := "a module's file", []string{"module"}
	if b.pipeline {
		what, more = "a pipeline file", []string{"target"}
	}
	c, diags := content(body, b.schema(), what, more...)
	for _, blk := range append(c.Blocks, loose...) {
		diags = append(diags, b.checkLabels(blk)...)
		diags = append(diags, b.block(blk)...)
	}
	return diags
}

func nameLength(name string, at hcl.Range) hcl.Diagnostics {
	if len(name) <= maxName {
		return nil
	}
	return errorf(at, "Name too long", "The name has %d bytes; the limit is %d.", len(name), maxName)
}

func (b *builder) checkLabels(blk *hcl.Block) (diags hcl.Diagnostics) {
	for i, l := range blk.Labels {
		diags = append(diags, nameLength(l, blk.LabelRanges[i])...)
		// an output's name becomes a file name; unknown targets are reported later with the known ones
		if blk.Type == "output" && b.pipeline && fileName(l) || blk.Type == "target" {
			continue
		}
		if !hclsyntax.ValidIdentifier(l) {
			diags = append(diags, errorf(blk.LabelRanges[i], "Invalid name",
				"%q is not a valid name. Use letters, digits, _ and -, and start with a letter or _.", l)...)
		}
	}
	return diags
}

// split takes the blocks with an optional label out of a body, which no schema can express: targets of a pipeline, and
// the block that describes a module.
func (b *builder) split(body hcl.Body) (rest hcl.Body, loose []*hcl.Block) {
	whole, ok := body.(*hclsyntax.Body)
	if !ok {
		return body, nil
	}
	own := *whole
	own.Blocks = nil
	for _, blk := range whole.Blocks {
		if b.pipeline && blk.Type == "target" || !b.pipeline && blk.Type == "module" && len(blk.Labels) == 0 {
			loose = append(loose, blk.AsHCLBlock())
		} else {
			own.Blocks = append(own.Blocks, blk)
		}
	}
	return &own, loose
}

func (b *builder) block(blk *hcl.Block) hcl.Diagnostics {
	switch {
	case blk.Type == "pipeline", blk.Type == "module" && len(blk.Labels) == 0:
		return b.about(blk)
	case blk.Type == "variable":
		return b.variable(blk)
	case blk.Type == "profile":
		return b.profile(blk)
	case blk.Type == "target":
		return b.target(blk)
	}
	return b.part(blk, &b.m.ProfileBlocks, "")
}

// part reads a block that is allowed in modules and profiles; of names the profile in messages: " of profile open", or
// "".
func (b *builder) part(blk *hcl.Block, to *ProfileBlocks, of string) (diags hcl.Diagnostics) {
	switch blk.Type {
	case "locals":
		attrs, diags := blk.Body.JustAttributes()
		for _, a := range sortedAttributes(attrs) {
			to.Locals = append(to.Locals, &Local{Name: a.Name, Expr: a.Expr, Range: a.Range})
			diags = append(diags, b.unique("local."+a.Name+of, a.NameRange)...)
		}
		return diags
	case "toolchain":
		t, diags := toolchain(blk)
		to.Toolchains = append(to.Toolchains, t)
		if t.Default && b.pipeline {
			diags = append(diags, errorf(t.Range, "A default toolchain in a pipeline",
				"In a module, default = true gives precedence to the toolchain of the caller. A pipeline has no "+
					"caller. Remove the argument.")...)
		}
		return append(diags, b.unique(t.At.String()+of, t.Range)...)
	case "step":
		s, diags := stepBlock(blk)
		to.Steps = append(to.Steps, s)
		return append(diags, b.unique(s.At.String()+of, s.Range)...)
	case "module":
		c, diags := call(blk)
		to.Calls = append(to.Calls, c)
		return append(diags, b.unique("module."+c.Name+of, c.Range)...)
	case "output":
		o, diags := output(blk)
		if o.Value != nil {
			to.Outputs = append(to.Outputs, o)
		}
		return append(diags, b.unique("output."+o.Name+of, o.Range)...)
	case "check":
		c, diags := check(blk)
		if c.Condition != nil && c.Message != nil {
			to.Checks = append(to.Checks, c)
		}
		return append(diags, b.unique("check."+c.Name+of, c.Range)...)
	}
	return nil
}

// unique reports a second declaration of the same element.
func (b *builder) unique(what string, r hcl.Range) hcl.Diagnostics {
	if first, ok := b.first[what]; ok {
		return duplicate(what, r, first)
	}
	b.first[what] = r
	return nil
}

// about reads the block that describes a pipeline or module.
func (b *builder) about(blk *hcl.Block) hcl.Diagnostics {
	_, diags := read(blk.Body, "the "+blk.Type+" block", []argument{{"description", &b.m.Description}})
	return append(diags, b.unique("The "+blk.Type+" block", blk.DefRange)...)
}

func (b *builder) variable(blk *hcl.Block) hcl.Diagnostics {
	v := &Variable{Name: blk.Labels[0], Type: cty.DynamicPseudoType, Range: blk.DefRange}
	var ty hcl.Expression
	c, diags := read(blk.Body, "a variable block", []argument{
		{"type", &ty}, {"default", &v.Default}, {"description", &v.Description}, {"sensitive", &v.Sensitive},
	}, hcl.BlockHeaderSchema{Type: "validation"})
	diags = append(diags, b.unique("var."+v.Name, v.Range)...)
	if e := ty; e != nil {
		if call, ds := hcl.ExprCall(e); !ds.HasErrors() && call.Name == "optional" && len(call.Arguments) == 1 {
			v.Optional, e = true, call.Arguments[0]
		}
		var ds hcl.Diagnostics
		v.Type, v.Defaults, ds = typeexpr.TypeConstraintWithDefaults(e)
		diags = append(diags, ds...)
	}
	for _, vb := range c.Blocks {
		check := Validation{Range: vb.DefRange}
		_, ds := read(vb.Body, "a validation block", []argument{
			{"condition", required{&check.Condition}}, {"error_message", required{&check.Message}},
		})
		if diags = append(diags, ds...); !ds.HasErrors() {
			v.Validations = append(v.Validations, check)
		}
	}
	b.m.Variables = append(b.m.Variables, v)
	return diags
}

func (b *builder) profile(blk *hcl.Block) hcl.Diagnostics {
	pr := &Profile{Name: blk.Labels[0], Range: blk.DefRange}
	c, diags := read(blk.Body, "a profile block", []argument{
		{"default", &pr.Default}, {"description", &pr.Description}, {"variables", &pr.Variables},
	}, partsSchema()...)
	diags = append(diags, b.unique("profile "+pr.Name, pr.Range)...)
	if pr.Default {
		diags = append(diags, b.unique("The default profile", pr.Range)...)
	}
	if pr.Variables != nil && !b.pipeline {
		diags = append(diags, errorf(pr.Variables.Range(), "Variable values in a module",
			"Variables of a module get their values from the caller. Remove the argument, or use locals.")...)
	}
	of := " of profile " + pr.Name
	for _, blk := range c.Blocks {
		diags = append(diags, b.checkLabels(blk)...)
		diags = append(diags, b.part(blk, &pr.ProfileBlocks, of)...)
	}
	b.m.Profiles = append(b.m.Profiles, pr)
	return diags
}

// finish reports elements declared both in a profile and outside profiles; toolchains may be.
func (b *builder) finish() (diags hcl.Diagnostics) {
	for _, pr := range b.m.Profiles {
		pr.Declared(func(what string, at hcl.Range) {
			if first, ok := b.first[what]; ok && !strings.HasPrefix(what, addrs.Toolchain+".") {
				diags = append(diags, errorf(at, "Declared twice", "%s is declared here for profile %s, "+
					"and at %s for all profiles. Move the second declaration into the profiles that need it.",
					what, pr.Name, Where(first))...)
			}
		})
	}
	return diags
}

// Declared calls f for each declared element, with the element's address and position.
func (p *ProfileBlocks) Declared(f func(what string, at hcl.Range)) {
	for _, l := range p.Locals {
		f("local."+l.Name, l.Range)
	}
	for _, b := range slices.Concat(p.Toolchains, p.Steps) {
		f(b.At.String(), b.Range)
	}
	for _, c := range p.Calls {
		f("module."+c.Name, c.Range)
	}
	for _, o := range p.Outputs {
		f("output."+o.Name, o.Range)
	}
	for _, c := range p.Checks {
		f("check."+c.Name, c.Range)
	}
}

func (b *builder) target(blk *hcl.Block) hcl.Diagnostics {
	attrs, diags := blk.Body.JustAttributes()
	t := &Target{Arguments: attrs, Range: blk.DefRange}
	if len(blk.Labels) > 0 {
		t.Name = blk.Labels[0]
	}
	if len(blk.Labels) > 1 {
		diags = append(diags, errorf(blk.LabelRanges[1], "Too many labels",
			"A target block has one label. Write target %q { }.", t.Name)...)
	}
	b.m.Targets = append(b.m.Targets, t)
	diags = append(diags, b.unique("target "+t.Name, t.Range)...)
	for _, other := range b.m.Targets[:len(b.m.Targets)-1] {
		if t.Name != other.Name && (t.Name == "" || other.Name == "") {
			return append(diags, errorf(t.Range, "Target without a name",
				"A pipeline with several targets needs a label in each block, such as target \"Alpha7\" {}. The "+
					"other block is at %s.", Where(other.Range))...)
		}
	}
	return diags
}

func output(blk *hcl.Block) (*Output, hcl.Diagnostics) {
	o := &Output{Name: blk.Labels[0], Range: blk.DefRange}
	c, diags := read(blk.Body, "an output block", []argument{
		{"description", &o.Description}, {"show", &o.Show}, {"value", required{&o.Value}},
	})
	if a := c.Attributes["show"]; a != nil && o.Show != "table" && o.Show != "" {
		diags = append(diags, errorf(a.Expr.Range(), "Invalid show argument",
			"Unknown value %q for show. Use \"table\", or remove the argument to print the plain value.", o.Show)...)
	}
	return o, diags
}

// severities are the severities of a check; the first is the default.
func severities() []string { return []string{"error", "warning"} }

func check(blk *hcl.Block) (*Check, hcl.Diagnostics) {
	c := &Check{Name: blk.Labels[0], Severity: severities()[0], Range: blk.DefRange}
	body, diags := read(blk.Body, "a check block", []argument{
		{"description", &c.Description}, {"severity", &c.Severity}, {"for_each", &c.ForEach}, {"when", &c.When},
		{"condition", required{&c.Condition}}, {"error_message", required{&c.Message}},
	})
	if a := body.Attributes["severity"]; a != nil && !slices.Contains(severities(), c.Severity) {
		diags = append(diags, errorf(a.Expr.Range(), "Unknown severity",
			"Unknown severity %q. Use \"error\" to fail the run if the check fails, or \"warning\".",
			c.Severity)...)
	}
	return c, diags
}

func call(blk *hcl.Block) (*Call, hcl.Diagnostics) {
	c := &Call{Name: blk.Labels[0], Range: blk.DefRange, SourceRange: blk.DefRange}
	args := []argument{
		{"source", &c.Source}, {"for_each", &c.ForEach}, {"when", &c.When}, {"target", &c.Target},
		{"depends_on", &c.DependsOn}, {"description", &c.Description},
	}
	own, rest, diags := blk.Body.PartialContent(schemaOf(args))
	diags = append(diags, take(own, args)...)
	if a := own.Attributes["source"]; a != nil {
		c.SourceRange = a.Expr.Range()
	}
	if c.Source == "" && !diags.HasErrors() {
		diags = append(diags, errorf(c.SourceRange, "Missing module source",
			"The module block has no source. Use source = \"NAME\" for a shipped module, or \"./FOLDER\" or "+
				"\"../FOLDER\" for a module of this workspace.")...)
	}
	var ds hcl.Diagnostics
	c.Arguments, ds = rest.JustAttributes()
	return c, append(diags, ds...)
}

// argument is an argument of a block and its destination: *hcl.Expression, or required, takes it unevaluated, *string
// and *bool take a constant, and *[]Dependency the addresses of depends_on.
type argument struct {
	name string
	to   any
}

type required struct{ to *hcl.Expression }

func schemaOf(args []argument) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, a := range args {
		_, must := a.to.(required)
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: a.name, Required: must})
	}
	return s
}

// read decodes a body that contains only these arguments and blocks.
func read(
	body hcl.Body, what string, args []argument, blocks ...hcl.BlockHeaderSchema,
) (*hcl.BodyContent, hcl.Diagnostics) {
	schema := schemaOf(args)
	schema.Blocks = blocks
	c, diags := content(body, schema, what)
	return c, append(diags, take(c, args)...)
}

// take stores the present arguments.
func take(c *hcl.BodyContent, args []argument) (diags hcl.Diagnostics) {
	for _, arg := range args {
		a := c.Attributes[arg.name]
		if a == nil {
			continue
		}
		switch to := arg.to.(type) {
		case *hcl.Expression:
			*to = a.Expr
		case required:
			*to.to = a.Expr
		case *string:
			diags = append(diags, constant(a, to, "a string in quotes")...)
		case *bool:
			diags = append(diags, constant(a, to, "true or false")...)
		case *[]Dependency:
			var ds hcl.Diagnostics
			*to, ds = dependencies(a.Expr)
			diags = append(diags, ds...)
		}
	}
	return diags
}

func constant(a *hcl.Attribute, to any, what string) hcl.Diagnostics {
	if diags := gohcl.DecodeExpression(a.Expr, nil, to); diags.HasErrors() {
		return errorf(a.Expr.Range(), "Constant required",
			"hexmage reads %s before it evaluates expressions. Write %s, without references.", a.Name, what)
	}
	return nil
}

func sortedAttributes(attrs hcl.Attributes) []*hcl.Attribute {
	return slices.SortedFunc(maps.Values(attrs), func(a, b *hcl.Attribute) int {
		return cmp.Or(cmp.Compare(a.Range.Filename, b.Range.Filename),
			cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte))
	})
}

func toolchain(blk *hcl.Block) (*Block, hcl.Diagnostics) {
	b := newBlock(blk, addrs.Step{Kind: addrs.Toolchain, Name: blk.Labels[0]})
	args := []argument{{"default", &b.Default}, {"when", &b.When}, {"description", &b.Description}}
	schema := schemaOf(args)
	c, remain, diags := blk.Body.PartialContent(schema)
	diags = append(diags, take(c, args)...)
	b.Body, b.Names = remain, names(blk.Body, schema)
	return b, diags
}
