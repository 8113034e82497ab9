package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
)

// SetVersion sets the version of all toolchains with the given name in the pipeline, in its profiles, and in the
// modules that the pipeline calls. If no toolchain has this name, SetVersion returns the names of all toolchains,
// otherwise nil.
func (p *Pipeline) SetVersion(name, version string) (others []string) {
	found := false
	all := map[string]bool{}
	seen := map[*Module]bool{}
	var module func(m *Module)
	parts := func(of *ProfileBlocks) {
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
		parts(&m.ProfileBlocks)
		for _, f := range m.Profiles {
			parts(&f.ProfileBlocks)
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

// versionBlock returns a copy of toolchain block b whose body sets only the version.
func versionBlock(b *Block, version string) *Block {
	at := b.Range
	return &Block{At: addrs.Step{Kind: addrs.Toolchain, Name: b.At.Name}, Range: at, Body: &hclsyntax.Body{
		Attributes: hclsyntax.Attributes{"version": {Name: "version",
			Expr: &hclsyntax.LiteralValueExpr{Val: cty.StringVal(version), SrcRange: at}, SrcRange: at, NameRange: at,
			EqualsRange: at}},
		SrcRange: at, EndRange: hcl.Range{Filename: at.Filename, Start: at.End, End: at.End},
	}}
}
