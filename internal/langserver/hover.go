package langserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/step"
)

func typeName(t cty.Type) string {
	if t == cty.DynamicPseudoType {
		return "any"
	}
	return typeexpr.TypeString(t)
}

// kindDoc is all that there is to say of a kind in a few lines.
func kindDoc(d step.Description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n%s\n", d.Block(), d.Summary)
	var required []string
	for _, a := range d.Arguments {
		if a.Required {
			required = append(required, "`"+a.Name+"`")
		}
	}
	if len(required) > 0 {
		fmt.Fprintf(&b, "\nRequired: %s\n", strings.Join(required, ", "))
	}
	for i, o := range d.Outputs {
		if i == 0 {
			b.WriteString("\nOutputs:\n\n")
		}
		fmt.Fprintf(&b, "- `%s` (%s): %s\n", o.Name, o.Class, o.Doc)
	}
	if d.Example != "" {
		fmt.Fprintf(&b, "\n```hcl\n%s\n```\n", d.Example)
	}
	return b.String()
}

// wordDoc is a word as a hover shows it.
func wordDoc(title string, w Word) string {
	s := "**" + title + "**"
	if w.Detail != "" {
		s += " (" + w.Detail + ")"
	}
	if w.Doc != "" {
		s += "\n\n" + w.Doc
	}
	return s
}

// hover says what stands at a place, or nothing.
func (v *view) hover(p position) *hover {
	offset := v.lines.offset(p)
	text, start, end := v.explain(offset)
	if text == "" {
		return nil
	}
	at := v.lines.span(start, end)
	return &hover{markup{"markdown", text}, &at}
}

func within(r hcl.Range, offset int) bool { return r.Start.Byte <= offset && offset <= r.End.Byte }

func (v *view) explain(offset int) (text string, start, end int) {
	s := v.sources()[0]
	if s.body == nil {
		return "", 0, 0
	}
	if u, part := s.useAt(offset); u != nil {
		r := u.traversal.SourceRange()
		return v.refDoc(u.ref, part), r.Start.Byte, r.End.Byte
	}
	body := s.body
	var path []header
	for body != nil {
		for _, a := range body.Attributes {
			if within(a.NameRange, offset) {
				return v.argumentDoc(path, a.Name), a.NameRange.Start.Byte, a.NameRange.End.Byte
			}
			if within(a.Expr.Range(), offset) {
				return v.valueDoc(path, a, offset)
			}
		}
		var next *hclsyntax.Body
		for _, b := range body.Blocks {
			if within(b.TypeRange, offset) {
				return v.blockDoc(path, b), b.TypeRange.Start.Byte, b.TypeRange.End.Byte
			}
			for i, r := range b.LabelRanges {
				if within(r, offset) {
					return v.labelDoc(b, i), r.Start.Byte, r.End.Byte
				}
			}
			if b.OpenBraceRange.Start.Byte <= offset && offset <= b.CloseBraceRange.End.Byte {
				path, next = append(path, header{b.Type, b.Labels}), b.Body
			}
		}
		body = next
	}
	return "", 0, 0
}

func (v *view) blockDoc(path []header, b *hclsyntax.Block) string {
	if n := len(path); n > 0 && path[n-1].name == "step" {
		_, inner := v.fits(path)
		for _, w := range inner {
			if w.Name == b.Type {
				return wordDoc(w.Name, w)
			}
		}
		return ""
	}
	of, ok := blockNamed(b.Type)
	if !ok {
		return ""
	}
	return wordDoc(b.Type, Word{Doc: of.doc})
}

func (v *view) labelDoc(b *hclsyntax.Block, label int) string {
	name := b.Labels[label]
	switch {
	case b.Type == "step" && label == 0:
		if d, ok := v.kind(name); ok {
			return kindDoc(d)
		}
	case b.Type == addrs.Toolchain:
		if t, ok := v.toolchain(name); ok {
			return toolchainDoc(t)
		}
	case b.Type == "target":
		return v.targetDoc(name)
	}
	return ""
}

func toolchainDoc(t Toolchain) string {
	s := wordDoc("toolchain "+t.Name, t.Word)
	var versions []string
	for _, w := range t.Versions {
		versions = append(versions, "`"+w.Name+"`")
	}
	if len(versions) > 0 {
		s += "\n\nVersions: " + strings.Join(versions, ", ")
	}
	return s
}

func (v *view) targetDoc(name string) string {
	for _, w := range v.words().Targets {
		if w.Name == name {
			return wordDoc("target "+name, w)
		}
	}
	return ""
}

func (v *view) argumentDoc(path []header, name string) string {
	arguments, _ := v.fits(path)
	for _, w := range arguments {
		if w.Name == name {
			return wordDoc(name, w)
		}
	}
	if n := len(path); n > 0 && path[n-1].name == "locals" {
		return "**local." + name + "**"
	}
	return ""
}

// valueDoc is for constants that name something, and functions.
func (v *view) valueDoc(path []header, a *hclsyntax.Attribute, offset int) (text string, start, end int) {
	for _, call := range callsIn(a.Expr) {
		if within(call.NameRange, offset) {
			for _, w := range v.words().Functions {
				if w.Name == call.Name {
					return wordDoc(w.Name+w.Detail, Word{Doc: w.Doc}), call.NameRange.Start.Byte, call.NameRange.End.Byte
				}
			}
		}
	}
	r := a.Expr.Range()
	value, ok := constantOf(a.Expr)
	if !ok || len(path) == 0 {
		return "", 0, 0
	}
	last := path[len(path)-1]
	switch {
	case last.name == addrs.Toolchain && a.Name == "version" && len(last.labels) == 1:
		t, _ := v.toolchain(last.labels[0])
		for _, w := range t.Versions {
			if w.Name == value {
				return wordDoc(t.Name+" "+value, w), r.Start.Byte, r.End.Byte
			}
		}
	case last.name == "module" && a.Name == "source":
		if p, _ := v.module(value, v.dir()); p != nil {
			return wordDoc("module "+value, Word{Doc: p.Description}), r.Start.Byte, r.End.Byte
		}
	}
	return "", 0, 0
}

// callsIn are the calls of functions in an expression.
func callsIn(e hclsyntax.Expression) []*hclsyntax.FunctionCallExpr {
	var calls []*hclsyntax.FunctionCallExpr
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		if c, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			calls = append(calls, c)
		}
		return nil
	})
	return calls
}

// constantOf is the text that an expression is written out as.
func constantOf(e hclsyntax.Expression) (string, bool) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return "", false
	}
	lit, ok := t.Parts[0].(*hclsyntax.LiteralValueExpr)
	if !ok || lit.Val.Type() != cty.String || lit.Val.IsNull() {
		return "", false
	}
	return lit.Val.AsString(), true
}

// useAt is the reference around an offset, and which of its names the offset is in.
func (s *source) useAt(offset int) (*use, int) {
	for i := range s.uses {
		u := &s.uses[i]
		if !within(u.traversal.SourceRange(), offset) {
			continue
		}
		for n, t := range u.traversal {
			if r := traverserRange(t); within(r, offset) {
				return u, n
			}
		}
	}
	return nil, 0
}

func traverserRange(t hcl.Traverser) hcl.Range {
	switch t := t.(type) {
	case hcl.TraverseRoot:
		return t.SrcRange
	case hcl.TraverseAttr:
		return t.SrcRange
	case hcl.TraverseIndex:
		return t.SrcRange
	}
	return hcl.Range{}
}

// detail says in a few words what is declared.
func (v *view) detail(d *declaration) string {
	switch {
	case d.attr != nil:
		if text := strings.Join(strings.Fields(v.textOf(d.file, d.attr.Expr.Range())), " "); len(text) < 80 {
			return text
		}
	case strings.HasPrefix(d.object, "step."):
		k, _ := v.kind(d.block.Labels[0])
		return k.Summary
	case strings.HasPrefix(d.object, "module."):
		return d.text("source")
	case strings.HasPrefix(d.object, "toolchain."):
		return d.text("version")
	case strings.HasPrefix(d.object, "var."):
		if a := d.block.Body.Attributes["type"]; a != nil {
			return strings.Join(strings.Fields(v.textOf(d.file, a.Expr.Range())), " ")
		}
	}
	return ""
}

func (v *view) textOf(file string, r hcl.Range) string {
	for _, s := range v.sources() {
		if s.file == file && r.CanSliceBytes(s.text) {
			return string(r.SliceBytes(s.text))
		}
	}
	return ""
}

// refDoc says what a reference means; part is which of its names is asked about.
func (v *view) refDoc(r lang.Ref, part int) string {
	if part == 0 && r.Root != lang.Target {
		return wordDoc(r.Root, rootWord(r.Root))
	}
	switch r.Root {
	case lang.StepRoot:
		if r.Output != "" && part > 2 {
			for _, w := range v.outputsOfStep(r.Step.Kind, r.Step.Name) {
				if w.Name == r.Output {
					return wordDoc(r.Step.String()+".outputs."+r.Output, w)
				}
			}
		}
	case lang.Module:
		for _, w := range v.outputsOf(r.Name) {
			if part > 1 && w.Name == r.Attr {
				return wordDoc("module."+r.Name+"."+r.Attr, w)
			}
		}
	case lang.Toolchain:
		t, ok := v.toolchain(r.Name)
		for _, w := range t.Attributes {
			if part > 1 && w.Name == r.Attr {
				return wordDoc(r.String(), w)
			}
		}
		if ok {
			return toolchainDoc(t)
		}
	case lang.Target, lang.Targets:
		for _, w := range v.words().TargetAttributes {
			if w.Name == r.Name {
				return wordDoc("target."+r.Name, w)
			}
		}
		targets := v.declarations(lang.Target)
		targets = slices.DeleteFunc(targets, func(d *declaration) bool { return r.Name != "" && d.name != r.Name })
		if len(targets) == 1 {
			return v.targetDoc(targets[0].name)
		}
		return wordDoc(r.Root, rootWord(r.Root))
	}
	for _, d := range v.declarations(r.Object()) {
		return wordDoc(r.Object(), Word{Detail: v.detail(d), Doc: d.text("description")})
	}
	return ""
}
