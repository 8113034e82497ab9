package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/lang"
)

// Old is what pipelines once said in other words.
type Old struct {
	TargetName string             // the argument of a target block that is its name now
	Axes       map[string]OldAxes // by kind of step
}

// OldAxes are the arguments of a kind in which {axis} once stood for ${matrix.axis}.
type OldAxes struct {
	Matrix string // the argument that has the axes
	In     []string
}

// Change is what an upgrade rewrites at a place, or leaves.
type Change struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Was  string `json:"was"`
	Now  string `json:"now,omitempty"`
	Left string `json:"left,omitempty"` // why it was left as it is
}

// edit is a change of bytes.
type edit struct {
	from, to int
	now      string
}

// upgrading is a file being upgraded.
type upgrading struct {
	Old
	src     []byte
	name    string
	edits   []edit
	changes []Change
}

// Upgrade rewrites old forms to today's, and touches nothing else. A file that does not parse, or would not any more,
// is returned as it is, with diagnostics.
func (o Old) Upgrade(src []byte, name string) ([]byte, []Change, hcl.Diagnostics) {
	f, diags := lang.Parse(src, name)
	if diags.HasErrors() {
		return src, nil, diags
	}
	body, ok := f.Body.(*hclsyntax.Body)
	if !ok {
		return src, nil, nil
	}
	u := &upgrading{Old: o, src: src, name: name}
	for _, b := range body.Blocks {
		switch b.Type {
		case "target":
			u.target(b)
		case "profile":
			for _, inner := range b.Body.Blocks {
				u.step(inner)
			}
		default:
			u.step(b)
		}
	}
	slices.SortFunc(u.edits, func(a, b edit) int { return b.from - a.from })
	out := slices.Clone(src)
	for _, e := range u.edits {
		out = slices.Concat(out[:e.from], []byte(e.now), out[e.to:])
	}
	if _, diags := lang.Parse(out, name); diags.HasErrors() {
		return src, nil, errorf(&hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}, "The file cannot be upgraded",
			"What would be written does not parse (%s); it is left as it is. Upgrade it by hand, and please report it.", diags[0].Detail)
	}
	slices.SortStableFunc(u.changes, func(a, b Change) int { return a.Line - b.Line })
	return out, u.changes, nil
}

func (u *upgrading) change(at hcl.Range, was, now string) {
	u.changes = append(u.changes, Change{File: u.name, Line: at.Start.Line, Was: was, Now: now})
}

func (u *upgrading) left(at hcl.Range, why string, args ...any) {
	was, _, _ := strings.Cut(string(at.SliceBytes(u.src)), "\n")
	u.changes = append(u.changes, Change{File: u.name, Line: at.Start.Line, Was: was, Left: fmt.Sprintf(why, args...)})
}

// target makes an argument of a target block its label.
func (u *upgrading) target(b *hclsyntax.Block) {
	a := b.Body.Attributes[u.TargetName]
	if a == nil || len(b.Labels) > 0 {
		return
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() || len(a.Expr.Variables()) > 0 || v.IsNull() || v.Type() != cty.String || v.AsString() == "" || strings.ContainsAny(v.AsString(), "\n\r") {
		u.left(a.SrcRange, "the name of a block is a constant text, and this is none")
		return
	}
	label := string(hclwrite.TokensForValue(v).Bytes())
	u.edits = append(u.edits, edit{b.TypeRange.End.Byte, b.TypeRange.End.Byte, " " + label})
	u.remove(a.SrcRange, b)
	u.change(b.TypeRange, fmt.Sprintf("target { %s }", a.SrcRange.SliceBytes(u.src)), "target "+label+" {}")
}

// remove takes an argument out of a block, with its line where nothing else is on it; comments stay.
func (u *upgrading) remove(at hcl.Range, b *hclsyntax.Block) {
	from, to := at.Start.Byte, at.End.Byte
	open, end := b.OpenBraceRange.End.Byte, b.CloseBraceRange.Start.Byte
	start := bytes.LastIndexByte(u.src[:from], '\n') + 1
	stop := to + bytes.IndexByte(append(u.src[to:len(u.src):len(u.src)], '\n'), '\n')
	if start >= open && len(bytes.TrimSpace(u.src[start:from]))+len(bytes.TrimSpace(u.src[to:stop])) == 0 {
		from, to = start, min(stop+1, len(u.src))
	}
	if len(bytes.TrimSpace(u.src[open:from]))+len(bytes.TrimSpace(u.src[to:end])) == 0 { // nothing else is in the block
		from, to = open, end
	}
	u.edits = append(u.edits, edit{from, to, ""})
}

// step rewrites axes in the texts of a step.
func (u *upgrading) step(b *hclsyntax.Block) {
	if b.Type != "step" || len(b.Labels) != 2 {
		return
	}
	old, ok := u.Axes[b.Labels[0]]
	matrix := b.Body.Attributes[old.Matrix]
	if !ok || matrix == nil {
		return
	}
	axes, known := axesOf(matrix.Expr)
	for _, name := range old.In {
		a := b.Body.Attributes[name]
		if a == nil {
			continue
		}
		if !known {
			if hasHole(a.Expr.Range().SliceBytes(u.src)) {
				u.left(a.SrcRange, "%s does not say by itself which axes there are: where {x} is one of them, write ${%s.x}", old.Matrix, lang.Matrix)
			}
			continue
		}
		lang.WalkTexts(a.Expr, func(e hclsyntax.Expression) {
			_, literal := e.(*hclsyntax.LiteralValueExpr)
			u.holes(e.Range(), axes, literal)
		}, func(e hclsyntax.Expression) { u.holes(e.Range(), axes, false) })
	}
}

// axesOf are the constant keys of an object, as they may be axes; known is false when there are others.
func axesOf(e hclsyntax.Expression) (axes []string, known bool) {
	o, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil, false
	}
	for _, item := range o.Items {
		v, diags := item.KeyExpr.Value(nil)
		if diags.HasErrors() || v.IsNull() || v.Type() != cty.String {
			return nil, false
		}
		if hclsyntax.ValidIdentifier(v.AsString()) {
			axes = append(axes, v.AsString())
		}
	}
	return axes, true
}

// hasHole tells whether a text has what may be {axis}.
func hasHole(src []byte) bool {
	for before, after, found := bytes.Cut(src, []byte("{")); found; before, after, found = bytes.Cut(after, []byte("{")) {
		word, _, closed := bytes.Cut(after, []byte("}"))
		if closed && hclsyntax.ValidIdentifier(string(word)) && !bytes.HasSuffix(before, []byte("$")) {
			return true
		}
	}
	return false
}

// holes rewrites {axis} in a range of the source, or says why it cannot be.
func (u *upgrading) holes(in hcl.Range, axes []string, rewrite bool) {
	for _, axis := range axes {
		was, now := "{"+axis+"}", lang.Axis(axis)
		for from := in.Start.Byte; ; {
			i := bytes.Index(u.src[from:in.End.Byte], []byte(was))
			if i < 0 {
				break
			}
			from += i + len(was)
			at := in
			at.Start.Line += bytes.Count(u.src[in.Start.Byte:from], []byte("\n"))
			at.Start.Byte, at.End.Byte = from-len(was), from
			before := byte(' ')
			if at.Start.Byte > 0 {
				before = u.src[at.Start.Byte-1]
			}
			switch {
			case !rewrite && before == '$': // a reference of that name
			case !rewrite:
				u.left(at, "an axis has no value where something is worked out of it: write another expression with %s", now)
			case before == '$' || before == '%':
				u.left(at, "with a %c in front it would mean something else: write ${\"%c\"}%s", before, before, now)
			default:
				u.edits = append(u.edits, edit{at.Start.Byte, at.End.Byte, now})
				u.change(at, was, now)
			}
		}
	}
}
