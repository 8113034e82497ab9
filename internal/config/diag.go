package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/suggest"
)

// Render formats diagnostics for users, with quoted source lines. It wraps lines at width columns; 0 means no wrapping.
// It uses terminal colors if color is true, and escapes other control characters. It prints equal diagnostics once,
// because several steps may read the same file.
func Render(diags hcl.Diagnostics, files map[string]*hcl.File, width uint, color bool) string {
	var b bytes.Buffer
	said := map[*hcl.Diagnostic]bool{}
	diags = slices.DeleteFunc(slices.Clone(diags), func(d *hcl.Diagnostic) bool {
		again := said[d]
		said[d] = true
		return again
	})
	more := max(len(diags)-maxShown, 0)
	with, without := hcl.NewDiagnosticTextWriter(&b, files, width, color),
		hcl.NewDiagnosticTextWriter(&b, nil, width, color)
	read := 0
	for _, d := range diags[:len(diags)-more] {
		w := with
		if d.Subject != nil && files[d.Subject.Filename] != nil {
			if read += len(files[d.Subject.Filename].Bytes); read > maxRead {
				w = without
			}
		}
		if err := w.WriteDiagnostic(d); err != nil { // a bytes.Buffer does not fail
			return diags.Error()
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "And %d more.\n", more)
	}
	lines := strings.SplitAfter(ansi.Visible(b.String(), color), "\n")
	for i, l := range lines {
		if len(l) > maxLine {
			lines[i] = strings.ToValidUTF8(l[:maxLine], "") + "…\n"
		}
	}
	return strings.Join(lines, "")
}

// Limits for quoted source lines. For each position, HCL scans the whole file character by character and prints whole
// lines.
const (
	maxShown = 50
	maxRead  = 2 << 20 // bytes of files that are scanned for source lines
	maxLine  = 2000    // bytes of a line
)

func errorf(at hcl.Range, summary, detail string, args ...any) hcl.Diagnostics {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...)}
	if at != (hcl.Range{}) {
		d.Subject = &at
	}
	return hcl.Diagnostics{d}
}

// duplicate reports that an element is declared twice, with both positions.
func duplicate(what string, second, first hcl.Range) hcl.Diagnostics {
	return errorf(second, "Declared twice",
		"%s is declared here and at %s. Rename or remove one of them.", what, Where(first))
}

// Where returns the file and line of a range, such as "pipelines/x.hcl:12".
func Where(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// content decodes a body by the schema, and suggests names for unknown ones.
func content(body hcl.Body, schema *hcl.BodySchema, what string, more ...string) (*hcl.BodyContent, hcl.Diagnostics) {
	c, _, diags := body.PartialContent(schema)
	others := names(body, schema)
	if len(others) == 0 {
		return c, diags
	}
	var args, blocks []string
	for _, a := range schema.Attributes {
		args = append(args, a.Name)
	}
	for _, b := range schema.Blocks {
		blocks = append(blocks, b.Type)
	}
	blocks = append(blocks, more...)
	return c, append(diags, Unexpected(others, args, blocks, what)...)
}

// UnexpectedIn calls Unexpected for the names in a body, in source order.
func UnexpectedIn(b *hclsyntax.Body, args, blocks []string, what string) hcl.Diagnostics {
	return Unexpected(names(b, &hcl.BodySchema{}), args, blocks, what)
}

// Unexpected returns a diagnostic for each name that is not a known argument or block. The parameter what describes the
// body in messages, such as `a step of kind "patch"`.
func Unexpected(names []Name, args, blocks []string, what string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, n := range names {
		if len(diags) > maxShown {
			break
		}
		known, others, word, otherWord := args, blocks, "argument", "block"
		if n.Block {
			known, others, word, otherWord = blocks, args, "block", "argument"
		}
		if slices.Contains(known, n.Name) {
			continue
		}
		advice := ""
		switch near := suggest.Name(n.Name, known); {
		case slices.Contains(others, n.Name) && n.Block:
			advice = fmt.Sprintf(" %s is an argument. Write %s = …", n.Name, n.Name)
		case slices.Contains(others, n.Name):
			advice = fmt.Sprintf(" %s is a block. Write %s { … }", n.Name, n.Name)
		case near != "":
			advice = fmt.Sprintf(" Did you mean %s?", near)
		case suggest.Name(n.Name, others) != "":
			advice = fmt.Sprintf(" Did you mean the %s %s?", otherWord, suggest.Name(n.Name, others))
		case len(known) > 0:
			advice = fmt.Sprintf(" Known %ss: %s.", word, strings.Join(known, ", "))
		}
		diags = append(diags, errorf(n.Range, "Unknown "+word, "The %s %s is not valid in %s.%s", word, n.Name, what,
			advice)...)
	}
	return diags
}
