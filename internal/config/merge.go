package config

import "github.com/hashicorp/hcl/v2"

// mergedBody is a body whose arguments win over those of another; blocks of a type replace all of that type.
type mergedBody struct {
	base, over hcl.Body
}

func (m *mergedBody) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	c, remain, diags := m.PartialContent(schema)
	rest := remain.(*mergedBody)
	for _, b := range []hcl.Body{rest.base, rest.over} {
		_, ds := b.Content(&hcl.BodySchema{})
		diags = append(diags, ds...)
	}
	return c, diags
}

func (m *mergedBody) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	loose := &hcl.BodySchema{Blocks: schema.Blocks}
	for _, a := range schema.Attributes {
		loose.Attributes = append(loose.Attributes, hcl.AttributeSchema{Name: a.Name})
	}
	out, baseRest, diags := m.base.PartialContent(loose)
	over, overRest, ds := m.over.PartialContent(loose)
	diags = append(diags, ds...)
	merged := &hcl.BodyContent{Attributes: make(hcl.Attributes), MissingItemRange: out.MissingItemRange}
	for _, from := range []hcl.Attributes{out.Attributes, over.Attributes} {
		for name, a := range from {
			merged.Attributes[name] = a
		}
	}
	replaced := make(map[string]bool)
	for _, b := range over.Blocks {
		replaced[b.Type] = true
	}
	for _, b := range out.Blocks {
		if !replaced[b.Type] {
			merged.Blocks = append(merged.Blocks, b)
		}
	}
	merged.Blocks = append(merged.Blocks, over.Blocks...)
	for _, a := range schema.Attributes {
		if a.Required && merged.Attributes[a.Name] == nil {
			r := out.MissingItemRange
			diags = append(diags, errorf(&r, "Missing required argument", "The argument %q is required, but no definition was found.", a.Name)...)
		}
	}
	return merged, &mergedBody{base: baseRest, over: overRest}, diags
}

func (m *mergedBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	out, diags := m.base.JustAttributes()
	over, ds := m.over.JustAttributes()
	merged := make(hcl.Attributes, len(out)+len(over))
	for _, from := range []hcl.Attributes{out, over} {
		for name, a := range from {
			merged[name] = a
		}
	}
	return merged, append(diags, ds...)
}

func (m *mergedBody) MissingItemRange() hcl.Range { return m.base.MissingItemRange() }
