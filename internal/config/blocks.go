package config

import (
	"cmp"
	"fmt"
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

// builder puts the skeleton together from files, and finds duplicates.
type builder struct {
	p     *Pipeline
	first map[string]hcl.Range // by what: `variable "x"`
}

func fileSchema() *hcl.BodySchema {
	return &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "pipeline"},
		{Type: "variable", LabelNames: []string{"name"}},
		{Type: "locals"},
		{Type: "profile", LabelNames: []string{"name"}},
		{Type: "toolchain", LabelNames: []string{"name"}},
		{Type: "step", LabelNames: []string{"kind", "name"}},
		{Type: "output", LabelNames: []string{"name"}},
	}}
}

// fileName tells whether each part of the name between dots could stand in a reference, so that it is a file name on
// every system.
func fileName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !hclsyntax.ValidIdentifier(part) {
			return false
		}
	}
	return true
}

// maxName is how long a name may be, in bytes: those of steps and outputs are names of folders, which file systems take up to 255 bytes of.
const maxName = 200

func (b *builder) file(body hcl.Body) hcl.Diagnostics {
	if b.first == nil {
		b.first = make(map[string]hcl.Range)
	}
	body, targets := splitTargets(body)
	c, diags := content(body, fileSchema(), "a pipeline file", "target")
	for _, blk := range append(c.Blocks, targets...) {
		for i, l := range blk.Labels {
			diags = append(diags, nameLength(l, blk.LabelRanges[i])...)
			if blk.Type == "output" && fileName(l) || blk.Type == "target" { // an output's name is the name of what is exported; of targets others say which there are
				continue
			}
			if !hclsyntax.ValidIdentifier(l) {
				diags = append(diags, errorf(&blk.LabelRanges[i], "Not a name",
					"%q cannot be used in references. Names start with a letter or _ and go on with letters, digits, _ and -.", l)...)
			}
		}
		diags = append(diags, b.block(blk)...)
	}
	return diags
}

func nameLength(name string, at hcl.Range) hcl.Diagnostics {
	if len(name) <= maxName {
		return nil
	}
	return errorf(&at, "A name is too long", "It has %d bytes; a name may have %d.", len(name), maxName)
}

// splitTargets takes the target blocks out of a body: they may have a label or none, which no schema can say.
func splitTargets(body hcl.Body) (rest hcl.Body, targets []*hcl.Block) {
	whole, ok := body.(*hclsyntax.Body)
	if !ok {
		return body, nil
	}
	own := *whole
	own.Blocks = nil
	for _, b := range whole.Blocks {
		if b.Type == "target" {
			targets = append(targets, b.AsHCLBlock())
		} else {
			own.Blocks = append(own.Blocks, b)
		}
	}
	return &own, targets
}

func (b *builder) block(blk *hcl.Block) hcl.Diagnostics {
	switch blk.Type {
	case "pipeline":
		return b.pipeline(blk)
	case "variable":
		return b.variable(blk)
	case "locals":
		return b.locals(blk)
	case "profile":
		return b.profile(blk)
	case "target":
		return b.target(blk)
	case "toolchain":
		t, diags := toolchain(blk)
		b.p.Toolchains = append(b.p.Toolchains, t)
		return append(diags, b.unique(t.At.String(), t.Range)...)
	case "step":
		s, diags := stepBlock(blk)
		b.p.Steps = append(b.p.Steps, s)
		return append(diags, b.unique(s.At.String(), s.Range)...)
	case "output":
		return b.output(blk)
	}
	return nil
}

// unique reports a second declaration of the same thing.
func (b *builder) unique(what string, r hcl.Range) hcl.Diagnostics {
	if first, ok := b.first[what]; ok {
		return duplicate(what, r, first)
	}
	b.first[what] = r
	return nil
}

func (b *builder) pipeline(blk *hcl.Block) hcl.Diagnostics {
	c, diags := content(blk.Body, attributes("description"), "the pipeline block")
	diags = append(diags, b.unique("The pipeline block", blk.DefRange)...)
	return append(diags, text(c, "description", &b.p.Description)...)
}

func (b *builder) variable(blk *hcl.Block) hcl.Diagnostics {
	schema := attributes("type", "default", "description", "sensitive")
	schema.Blocks = []hcl.BlockHeaderSchema{{Type: "validation"}}
	c, diags := content(blk.Body, schema, "a variable block")
	v := &Variable{Name: blk.Labels[0], Type: cty.DynamicPseudoType, Range: blk.DefRange}
	diags = append(diags, b.unique("var."+v.Name, v.Range)...)
	diags = append(diags, text(c, "description", &v.Description)...)
	diags = append(diags, flag(c, "sensitive", &v.Sensitive)...)
	if a := c.Attributes["type"]; a != nil {
		var ds hcl.Diagnostics
		v.Type, v.Defaults, ds = typeexpr.TypeConstraintWithDefaults(a.Expr)
		diags = append(diags, ds...)
	}
	if a := c.Attributes["default"]; a != nil {
		v.Default = a.Expr
	}
	for _, vb := range c.Blocks {
		vc, ds := content(vb.Body, &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
			{Name: "condition", Required: true}, {Name: "error_message", Required: true}}}, "a validation block")
		diags = append(diags, ds...)
		if ds.HasErrors() {
			continue
		}
		v.Validations = append(v.Validations, Validation{
			Condition: vc.Attributes["condition"].Expr, Message: vc.Attributes["error_message"].Expr, Range: vb.DefRange})
	}
	b.p.Variables = append(b.p.Variables, v)
	return diags
}

func (b *builder) locals(blk *hcl.Block) hcl.Diagnostics {
	attrs, diags := blk.Body.JustAttributes()
	for _, a := range sortedAttributes(attrs) {
		b.p.Locals = append(b.p.Locals, &Local{Name: a.Name, Expr: a.Expr, Range: a.Range})
		diags = append(diags, b.unique("local."+a.Name, a.NameRange)...)
	}
	return diags
}

func (b *builder) profile(blk *hcl.Block) hcl.Diagnostics {
	schema := attributes("default", "description", "variables")
	schema.Blocks = []hcl.BlockHeaderSchema{{Type: "toolchain", LabelNames: []string{"name"}}}
	c, diags := content(blk.Body, schema, "a profile block")
	pr := &Profile{Name: blk.Labels[0], Range: blk.DefRange}
	diags = append(diags, b.unique("profile "+pr.Name, pr.Range)...)
	diags = append(diags, text(c, "description", &pr.Description)...)
	diags = append(diags, flag(c, "default", &pr.Default)...)
	if pr.Default {
		diags = append(diags, b.unique("The default profile", pr.Range)...)
	}
	if a := c.Attributes["variables"]; a != nil {
		pr.Variables = a.Expr
	}
	for _, tb := range c.Blocks {
		t, ds := toolchain(tb)
		diags = append(diags, ds...)
		diags = append(diags, b.unique(fmt.Sprintf("%s of profile %s", t.At, pr.Name), t.Range)...)
		pr.Toolchains = append(pr.Toolchains, t)
	}
	b.p.Profiles = append(b.p.Profiles, pr)
	return diags
}

func (b *builder) target(blk *hcl.Block) hcl.Diagnostics {
	attrs, diags := blk.Body.JustAttributes()
	t := &Target{Arguments: attrs, Range: blk.DefRange}
	if len(blk.Labels) > 0 {
		t.Name = blk.Labels[0]
	}
	if len(blk.Labels) > 1 {
		diags = append(diags, errorf(&blk.LabelRanges[1], "Too many labels", "A target has one name: target %q { }.", t.Name)...)
	}
	b.p.Target = t
	return append(diags, b.unique("The target block", t.Range)...)
}

func (b *builder) output(blk *hcl.Block) hcl.Diagnostics {
	schema := attributes("description", "show")
	schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: "value", Required: true})
	c, diags := content(blk.Body, schema, "an output block")
	o := &Output{Name: blk.Labels[0], Range: blk.DefRange}
	diags = append(diags, b.unique("output."+o.Name, o.Range)...)
	diags = append(diags, text(c, "description", &o.Description)...)
	diags = append(diags, text(c, "show", &o.Show)...)
	if a := c.Attributes["show"]; a != nil && o.Show != "table" && o.Show != "" {
		r := a.Expr.Range()
		diags = append(diags, errorf(&r, "Unknown way to show an output", "show = %q is not known. The only one is \"table\"; leave it out to show the value as it is.", o.Show)...)
	}
	if a := c.Attributes["value"]; a != nil {
		o.Value = a.Expr
		b.p.Outputs = append(b.p.Outputs, o)
	}
	return diags
}

func attributes(names ...string) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, n := range names {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: n})
	}
	return s
}

// text reads an argument that must be written as a constant string.
func text(c *hcl.BodyContent, name string, to *string) hcl.Diagnostics {
	return constant(c.Attributes[name], to, "a text between quotes")
}

// flag reads an argument that must be written as true or false.
func flag(c *hcl.BodyContent, name string, to *bool) hcl.Diagnostics {
	return constant(c.Attributes[name], to, "true or false")
}

func constant(a *hcl.Attribute, to any, what string) hcl.Diagnostics {
	if a == nil {
		return nil
	}
	if diags := gohcl.DecodeExpression(a.Expr, nil, to); diags.HasErrors() {
		r := a.Expr.Range()
		return errorf(&r, "Not a constant", "%s is read before anything is evaluated: write %s, without references.", a.Name, what)
	}
	return nil
}

func sortedAttributes(attrs hcl.Attributes) []*hcl.Attribute {
	return slices.SortedFunc(maps.Values(attrs), func(a, b *hcl.Attribute) int {
		return cmp.Or(cmp.Compare(a.Range.Filename, b.Range.Filename), cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte))
	})
}

func toolchain(blk *hcl.Block) (*Block, hcl.Diagnostics) {
	b := newBlock(blk, addrs.Step{Kind: addrs.Toolchain, Name: blk.Labels[0]})
	schema := attributes("when", "description")
	c, remain, diags := blk.Body.PartialContent(schema)
	diags = append(diags, b.meta(c)...)
	b.Body, b.Names = remain, names(blk.Body, schema)
	return b, diags
}
