package config

import (
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
)

// MetaArguments returns the names of the arguments that every step has, whatever its kind.
func MetaArguments() []string {
	return []string{"cache", "depends_on", "description", "env", "for_each", "resources", "retries", "retry_exit_codes", "timeout", "when"}
}

func newBlock(blk *hcl.Block, at addrs.Step) *Block {
	b := &Block{At: at, Range: blk.DefRange, KindRange: blk.TypeRange, Whole: blk.DefRange}
	if len(blk.LabelRanges) == 2 {
		b.KindRange = blk.LabelRanges[0]
	}
	if body, ok := blk.Body.(*hclsyntax.Body); ok {
		b.Whole = hcl.RangeBetween(blk.DefRange, body.SrcRange)
	}
	return b
}

func stepBlock(blk *hcl.Block) (*Block, hcl.Diagnostics) {
	b := newBlock(blk, addrs.Step{Kind: blk.Labels[0], Name: blk.Labels[1]})
	schema := attributes(MetaArguments()...)
	schema.Blocks = []hcl.BlockHeaderSchema{{Type: "output", LabelNames: []string{"name"}}}
	c, remain, diags := blk.Body.PartialContent(schema)
	if b.At.Kind == addrs.Toolchain {
		diags = append(diags, errorf(&b.KindRange, "A toolchain is not a step", "Write toolchain %q { … } instead.", b.At.Name)...)
	}
	diags = append(diags, b.meta(c)...)
	first := make(map[string]hcl.Range)
	for _, ob := range c.Blocks {
		o, ds := stepOutput(ob)
		diags = append(diags, ds...)
		if o == nil {
			continue
		}
		if r, ok := first[o.Name]; ok {
			diags = append(diags, duplicate(b.At.String()+".outputs."+o.Name, o.Range, r)...)
			continue
		}
		first[o.Name] = o.Range
		b.Outputs = append(b.Outputs, o)
	}
	b.Body, b.Names = remain, names(remain)
	return b, diags
}

// meta takes the meta-arguments that are there.
func (b *Block) meta(c *hcl.BodyContent) hcl.Diagnostics {
	diags := text(c, "description", &b.Description)
	for name, to := range map[string]*hcl.Expression{
		"for_each": &b.ForEach, "when": &b.When, "timeout": &b.Timeout, "retries": &b.Retries,
		"resources": &b.Resources, "env": &b.Env, "cache": &b.Cache, "retry_exit_codes": &b.RetryExitCodes,
	} {
		if a := c.Attributes[name]; a != nil {
			*to = a.Expr
		}
	}
	if a := c.Attributes["depends_on"]; a != nil {
		exprs, ds := hcl.ExprList(a.Expr)
		diags = append(diags, ds...)
		for _, e := range exprs {
			t, ds := hcl.AbsTraversalForExpr(e)
			if ds.HasErrors() {
				r := e.Range()
				ds = errorf(&r, "Not the address of a step", "depends_on is a list of addresses, written without quotes: depends_on = [step.patch.ops].")
			} else {
				b.DependsOn = append(b.DependsOn, t)
			}
			diags = append(diags, ds...)
		}
	}
	return diags
}

func stepOutput(blk *hcl.Block) (*StepOutput, hcl.Diagnostics) {
	o := &StepOutput{Name: blk.Labels[0], Range: blk.DefRange}
	if !hclsyntax.ValidIdentifier(o.Name) {
		return nil, errorf(&blk.LabelRanges[0], "Not a name",
			"%q cannot be used in references. Names start with a letter or _ and go on with letters, digits, _ and -.", o.Name)
	}
	c, diags := content(blk.Body, attributes("file", "tree", "value"), "an output block of a step")
	for class, name := range map[action.Class]string{action.File: "file", action.Tree: "tree", action.Value: "value"} {
		a := c.Attributes[name]
		if a == nil {
			continue
		}
		if o.Path != nil {
			return nil, append(diags, errorf(&o.Range, "An output has one class", "Output %q sets more than one of file, tree and value. Keep one.", o.Name)...)
		}
		o.Class, o.Path = class, a.Expr
	}
	if o.Path == nil {
		if !diags.HasErrors() {
			diags = append(diags, errorf(&o.Range, "An output without a path",
				"Say what output %q is and where the command writes it: file = \"…\", tree = \"…\" or value = \"…\" (a file whose content other steps use).", o.Name)...)
		}
		return nil, diags
	}
	return o, diags
}

// names lists what a body holds, in the order of the source. Bodies that do not come from native syntax have none:
// HCL's own messages are good enough for them.
func names(body hcl.Body) []Name {
	b, ok := body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	var out []Name
	// PartialContent hides what it took by asking: an empty schema with the same hidden names is not to be had, so ask
	// for everything and see what is given.
	schema := &hcl.BodySchema{}
	for n := range b.Attributes {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: n})
	}
	types := make(map[string]bool)
	for _, blk := range b.Blocks {
		types[blk.Type] = true
	}
	c, _, _ := b.PartialContent(schema)
	for _, a := range c.Attributes {
		out = append(out, Name{Name: a.Name, Range: a.NameRange})
	}
	out = append(out, blockNames(b, types)...)
	sort.Slice(out, func(i, j int) bool { return out[i].Range.Start.Byte < out[j].Range.Start.Byte })
	return out
}

// blockNames lists the blocks that are not hidden, whatever their labels.
func blockNames(b *hclsyntax.Body, types map[string]bool) []Name {
	var out []Name
	for t := range types {
		// Asked for with no labels, a visible type gives either a block or a diagnostic; a hidden one gives neither.
		c, _, diags := b.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: t}}})
		if len(c.Blocks) == 0 && len(diags) == 0 {
			continue
		}
		for _, blk := range b.Blocks {
			if blk.Type == t {
				out = append(out, Name{Name: t, Block: true, Range: blk.TypeRange})
			}
		}
	}
	return out
}
