package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const small = 64 // bytes of a part in tests

// What is parsed in parts is what is parsed whole, with the same places and the same context in diagnostics.
func TestParseParts(t *testing.T) {
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "# ä comment\r\nstep \"exec\" \"s%d\" {\n  argv = [\"a\", \"${each.key}\", <<EOT\n  text\nEOT\n  ]\n  output \"o\" { file = \"ü\" }\n}\n\n", i)
	}
	whole, diags := hclsyntax.ParseConfig([]byte(long.String()), "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	parts, _ := parseParts(long.String(), "x", small)
	if parts == nil {
		t.Fatal("not parsed in parts")
	}
	a, b := whole.Body.(*hclsyntax.Body), parts.Body.(*hclsyntax.Body)
	if len(a.Blocks) != len(b.Blocks) || a.SrcRange != b.SrcRange || a.EndRange != b.EndRange {
		t.Fatalf("%d blocks in %v, %v; want %d in %v, %v", len(b.Blocks), b.SrcRange, b.EndRange, len(a.Blocks), a.SrcRange, a.EndRange)
	}
	for i := range a.Blocks {
		if d := cmp.Diff(ranges(a.Blocks[i]), ranges(b.Blocks[i])); d != "" {
			t.Fatalf("block %d: %s", i, d)
		}
	}
	for at := range long.Len() {
		want := whole.Nav.(interface{ ContextString(int) string }).ContextString(at)
		if got := parts.Nav.(navigation).ContextString(at); got != want {
			t.Fatalf("at %d: in %s, want %s", at, got, want)
		}
	}
}

// ranges lists where everything of a block is, and what it is.
func ranges(b *hclsyntax.Block) []string {
	var out []string
	diags := hclsyntax.VisitAll(b, func(n hclsyntax.Node) hcl.Diagnostics {
		at := n.Range()
		if _, ok := n.(hclsyntax.Attributes); ok {
			at = hcl.Range{} // of a map: that of any of its attributes
		}
		out = append(out, fmt.Sprintf("%T %v", n, at))
		return nil
	})
	slices.Sort(out) // attributes are visited in any order
	return append(out, diags.Error(), fmt.Sprint(b.Type, b.Labels, b.OpenBraceRange, b.CloseBraceRange))
}

// What goes on from one part to the next, and what is wrong, is left to be parsed whole.
func TestParsePartsRefuses(t *testing.T) {
	line := "# " + strings.Repeat("x", small) + "\n"
	for name, src := range map[string]string{
		"heredoc":         line + "locals {\n  a = <<EOT\n" + line + line + "step \"a\" \"b\" {}\nEOT\n}\n",
		"comment":         line + "/*\n" + line + "step \"a\" \"b\" {}\n*/\n" + line,
		"block":           line + "locals {\n" + line + line + "step \"a\" \"b\" {}\n" + line + "b = 2\n}\n",
		"attribute twice": "a = 1\n" + line + line + "step {}\na = 2\n",
		"mistake":         line + line + "step \"a\" {\n",
		"small":           "locals {}\n",
	} {
		if f, _ := parseParts(src, "x", small); f != nil {
			t.Errorf("%s is parsed in parts", name)
		}
	}
}

func FuzzParseParts(f *testing.F) {
	f.Add("locals {\n  a = 1\n}\nstep \"a\" \"b\" {\n  c = <<E\nE\n}\n")
	f.Add("/*\na*/\nb {}\nc {}\n")
	f.Fuzz(func(t *testing.T, src string) {
		parts, _ := parseParts(src, "x", 4)
		if parts == nil {
			return
		}
		whole, diags := hclsyntax.ParseConfig([]byte(src), "x", hcl.InitialPos)
		if len(diags) > 0 {
			t.Fatalf("parts of %q are right, the whole is not: %v", src, diags)
		}
		a, b := whole.Body.(*hclsyntax.Body).Blocks, parts.Body.(*hclsyntax.Body).Blocks
		var as, bs []string
		for _, x := range a {
			as = append(as, ranges(x)...)
		}
		for _, x := range b {
			bs = append(bs, ranges(x)...)
		}
		if d := cmp.Diff(as, bs, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}
