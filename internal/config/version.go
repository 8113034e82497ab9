package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
)

// SetVersion gives each toolchain of that name another version than its blocks say, in the pipeline, its profiles and
// the modules that it calls. It returns the names of the toolchains that there are if that is none of them, else nil.
func (p *Pipeline) SetVersion(name, version string) (others []string) {
	found := false
	all := map[string]bool{}
	seen := map[*Module]bool{}
	var module func(m *Module)
	parts := func(of *Parts) {
		for i, b := range of.Toolchains {
			if all[b.At.Name] = true; b.At.Name == name {
				of.Toolchains[i], found = b.with(versionBlock(b, version)), true
			}
		}
		for _, c := range of.Calls {
			if c.Module != nil {
				module(c.Module)
			}
		}
	}
	module = func(m *Module) {
		if seen[m] {
			return
		}
		seen[m] = true
		parts(&m.Parts)
		for _, f := range m.Profiles {
			parts(&f.Parts)
		}
	}
	module(p.Module)
	if found {
		return nil
	}
	for n := range all {
		others = append(others, n)
	}
	slices.Sort(others)
	return append([]string{}, others...) // not nil
}

// versionBlock is a toolchain block, in the place of b, that says nothing but its version.
func versionBlock(b *Block, version string) *Block {
	at := b.Range
	return &Block{At: addrs.Step{Kind: addrs.Toolchain, Name: b.At.Name}, Range: at, Body: &hclsyntax.Body{
		Attributes: hclsyntax.Attributes{"version": {Name: "version",
			Expr: &hclsyntax.LiteralValueExpr{Val: cty.StringVal(version), SrcRange: at}, SrcRange: at, NameRange: at,
			EqualsRange: at}},
		SrcRange: at, EndRange: hcl.Range{Filename: at.Filename, Start: at.End, End: at.End},
	}}
}
