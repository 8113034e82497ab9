package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
)

// MetaArguments returns the names of the arguments common to all kinds of steps.
func MetaArguments() (names []string) {
	for _, a := range new(Block).meta() {
		names = append(names, a.name)
	}
	return names
}

// meta returns the meta-arguments of a step, sorted.
func (b *Block) meta() []argument {
	return []argument{
		{"cache", &b.Cache}, {"depends_on", &b.DependsOn}, {"description", &b.Description}, {"env", &b.Env},
		{"for_each", &b.ForEach}, {"resources", &b.Resources}, {"retries", &b.Retries},
		{"retry_exit_codes", &b.RetryExitCodes}, {"side_effects", &b.SideEffects}, {"target", &b.Target},
		{"timeout", &b.Timeout}, {"when", &b.When},
	}
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
	schema := schemaOf(b.meta())
	schema.Blocks = []hcl.BlockHeaderSchema{
		{Type: "output", LabelNames: []string{"name"}}, {Type: secretFile, LabelNames: []string{"variable"}},
	}
	c, remain, diags := blk.Body.PartialContent(schema)
	if b.At.Kind == addrs.Toolchain {
		diags = append(diags, errorf(b.KindRange, "Toolchain declared as a step",
			"Write toolchain %q { … } instead.", b.At.Name)...)
	}
	diags = append(diags, take(c, b.meta())...)
	once := builder{first: make(map[string]hcl.Range)}
	for _, ob := range c.Blocks {
		var ds, again hcl.Diagnostics
		if ob.Type == secretFile {
			var f *SecretFile
			if f, ds = secretFileBlock(ob); f != nil {
				if again = once.unique(fmt.Sprintf("secret_file %q of %s", f.Name, b.At), f.Range); again == nil {
					b.SecretFiles = append(b.SecretFiles, f)
				}
			}
		} else {
			var o *StepOutput
			if o, ds = stepOutput(ob); o != nil {
				if again = once.unique(b.At.String()+".outputs."+o.Name, o.Range); again == nil {
					b.Outputs = append(b.Outputs, o)
				}
			}
		}
		diags = append(append(diags, ds...), again...)
	}
	b.Body, b.Names = remain, names(blk.Body, schema)
	return b, diags
}

// dependencies reads depends_on.
func dependencies(x hcl.Expression) (out []Dependency, diags hcl.Diagnostics) {
	exprs, diags := hcl.ExprList(x)
	for _, e := range exprs {
		var d Dependency
		if ix, ok := e.(*hclsyntax.IndexExpr); ok {
			e, d.Key = ix.Collection, ix.Key
		}
		var ds hcl.Diagnostics
		if d.Step, ds = hcl.AbsTraversalForExpr(e); ds.HasErrors() {
			diags = append(diags, errorf(e.Range(), "Invalid step address",
				"depends_on is a list of step addresses without quotes, such as depends_on = [step.patch.ops].")...)
			continue
		}
		out = append(out, d)
	}
	return out, diags
}

// secretFile is the type of a block.
const secretFile = "secret_file"

func secretFileBlock(blk *hcl.Block) (*SecretFile, hcl.Diagnostics) {
	f := &SecretFile{Name: blk.Labels[0], Range: blk.DefRange}
	if strings.Trim(f.Name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") != "" ||
		!hclsyntax.ValidIdentifier(f.Name) {
		return nil, errorf(blk.LabelRanges[0], "Invalid variable name",
			"%q is not a valid name for an environment variable. Use letters, digits and _, such as "+
				"secret_file \"NETRC\".", f.Name)
	}
	_, diags := read(blk.Body, "a secret_file block", []argument{{"content", required{&f.Content}}})
	if f.Content == nil {
		return nil, diags
	}
	return f, diags
}

func stepOutput(blk *hcl.Block) (*StepOutput, hcl.Diagnostics) {
	o := &StepOutput{Name: blk.Labels[0], Range: blk.DefRange}
	if !hclsyntax.ValidIdentifier(o.Name) {
		return nil, errorf(blk.LabelRanges[0], "Invalid name",
			"%q is not a valid name. Use letters, digits, _ and -, and start with a letter or _.", o.Name)
	}
	if ds := nameLength(o.Name, blk.LabelRanges[0]); ds.HasErrors() {
		return nil, ds
	}
	var file, tree, value hcl.Expression
	args := []argument{{"file", &file}, {"tree", &tree}, {"value", &value}}
	_, diags := read(blk.Body, "an output block of a step", args)
	paths := map[action.Class]hcl.Expression{action.File: file, action.Tree: tree, action.Value: value}
	for class, path := range paths {
		if path == nil {
			continue
		}
		if o.Path != nil {
			return nil, append(diags, errorf(o.Range, "Conflicting output types",
				"Output %q sets more than one of file, tree and value. Keep one.", o.Name)...)
		}
		o.Class, o.Path = class, path
	}
	if o.Path == nil {
		if !diags.HasErrors() {
			diags = append(diags, errorf(o.Range, "Output without a path",
				"Output %q has no path. Add file = \"…\", tree = \"…\", or value = \"…\" (a file whose content "+
					"other steps use).", o.Name)...)
		}
		return nil, diags
	}
	return o, diags
}

// names lists the arguments and blocks of a body that the schema lacks, in source order. It returns nil for bodies of
// other syntax: HCL's own messages suffice for them.
func names(body hcl.Body, taken *hcl.BodySchema) []Name {
	b, ok := body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	var out []Name
	for _, a := range b.Attributes {
		if !slices.ContainsFunc(taken.Attributes, func(t hcl.AttributeSchema) bool { return t.Name == a.Name }) {
			out = append(out, Name{Name: a.Name, Range: a.NameRange})
		}
	}
	for _, blk := range b.Blocks {
		if !slices.ContainsFunc(taken.Blocks, func(t hcl.BlockHeaderSchema) bool { return t.Type == blk.Type }) {
			out = append(out, Name{Name: blk.Type, Block: true, Range: blk.TypeRange})
		}
	}
	slices.SortFunc(out, func(a, b Name) int { return cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte) })
	return out
}
