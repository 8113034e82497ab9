package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// merged returns base with arguments replaced by those of over; blocks of a type replace all blocks of that type.
func merged(base, over hcl.Body) hcl.Body {
	b, o := base.(*hclsyntax.Body), over.(*hclsyntax.Body)
	out := *b
	out.Attributes = maps.Clone(b.Attributes)
	maps.Copy(out.Attributes, o.Attributes)
	out.Blocks = slices.DeleteFunc(slices.Clone(b.Blocks), func(b *hclsyntax.Block) bool {
		return slices.ContainsFunc(o.Blocks, func(o *hclsyntax.Block) bool { return o.Type == b.Type })
	})
	out.Blocks = append(out.Blocks, o.Blocks...)
	return &out
}
