package lang_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/lang"
)

// compareWritten holds what ParseWritten makes of a source to what HCL does, and says whether it made anything.
func compareWritten(t *testing.T, src string) bool {
	t.Helper()
	start := hcl.Pos{Line: 7, Column: 1, Byte: 1000}
	got, ok := lang.ParseWritten(src, "x.hcl", start, false)
	if !ok {
		return false
	}
	f, diags := hclsyntax.ParseConfig([]byte(src), "x.hcl", start)
	if len(diags) > 0 {
		t.Fatalf("read without a word:\n%s\nHCL: %v", src, diags)
	}
	want := f.Body.(*hclsyntax.Body)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("of\n%s\nHCL makes something else:\n%s", src, cmp.Diff(got, want, cmp.Exporter(func(reflect.Type) bool { return true })))
	}
	brief, ok := lang.ParseWritten(src, "x.hcl", start, true)
	_ = hclsyntax.VisitAll(want, func(n hclsyntax.Node) hcl.Diagnostics {
		if e, ok := n.(*hclsyntax.ScopeTraversalExpr); ok {
			for i, step := range e.Traversal[1:] {
				e.Traversal[1+i] = hcl.TraverseAttr{Name: step.(hcl.TraverseAttr).Name}
			}
		}
		return nil
	})
	if !ok || !reflect.DeepEqual(brief, want) {
		t.Fatalf("of\n%s\nbriefly something else is made:\n%s", src, cmp.Diff(brief, want, cmp.Exporter(func(reflect.Type) bool { return true })))
	}
	return true
}

// References of a long list share what they have in common, and what is wrong with one has a place.
func TestParseWrittenBriefly(t *testing.T) {
	var src strings.Builder
	src.WriteString("a = [\n")
	for i := range 10_000 {
		fmt.Fprintf(&src, "  step.exec.a%d.outputs.o,\n", i)
	}
	src.WriteString("]\n")
	var body *hclsyntax.Body
	parts := func(brief bool) float64 { // pieces of memory
		return testing.AllocsPerRun(1, func() { body, _ = lang.ParseWritten(src.String(), "x.hcl", hcl.InitialPos, brief) }) / 10_000
	}
	if whole, brief := parts(false), parts(true); brief > whole-2.9 { // step.exec. and .outputs.o have three names after dots in common
		t.Errorf("a reference takes %.2f pieces of memory, briefly %.2f", whole, brief)
	}
	x := body.Attributes["a"].Expr
	steps := cty.ObjectVal(map[string]cty.Value{"exec": cty.EmptyObjectVal})
	_, diags := lang.NewBudget().Value(x.(*hclsyntax.TupleConsExpr).Exprs[1], &hcl.EvalContext{Variables: map[string]cty.Value{"step": steps}})
	if len(diags) != 1 || diags[0].Subject.String() != "x.hcl:3,3-25" {
		t.Errorf("%v", diags)
	}
}

const writtenOut = `
step "exec" "a00001" {
  argv   = ["./tools/tiny", "o", step.exec.a00000.outputs.o, "x y", ]
  inputs = [
    "tools/tiny", local.x,
	var.a-b_c.D9
  ]

  retries = 12
  network = true
  cache=null
  nested = [[1, 2], [], [[false]]]
  output "o" { file = "o" }
  output "p" {}
  output "q" {
  }
}
a = b`

func TestParseWritten(t *testing.T) {
	for _, src := range []string{writtenOut, writtenOut + "\n", "", "\n", "  \n\n", " step \"a\" {}", "x=1", "a {\n}\n", "a { b = [\n1\n,\n2,] }\n", "pipeline { description = \"a graph\" }\n"} {
		if !compareWritten(t, src) {
			t.Errorf("not read: %q", src)
		}
	}
	if compareWritten(t, "a = "+strings.Repeat("[", 1<<20)) || compareWritten(t, strings.Repeat("a{\n", 1<<20)) { // TestBombs says with how much memory
		t.Error("read what has no end")
	}
	for _, src := range []string{ // they are HCL's, or wrong
		"a = \"${b}\"", "a = \"\"", "a = b[0]", "a = f(1)", "a = 1 + 2", "a = [for x in y : x]", "a = b.0", "a = b .c", "a = -1", "a = 1.5", "a = 1e3", "a = 1x", "a = {}", "a = (b)",
		"a = 1 # x", "# x\n", "a = 1\na = 2", "a", "a {", "a }", "a = [1", "a = [1 2]", "a = [,]", "a = 1 b = 2", "a b {}", "a {} b {}", "a = \"x", "a = \"x\n\"", "a = \"\\n\"", "a = \"ä\"",
		"ä = 1", "a = 1\r\n", "a { b = 1, }", "a { b = 1\n}", "a = <<E\nx\nE\n", "a = true.b", "a = b.", "a = b..c", "a = for", "a == b", "a = ", "a =\n1", "a { b {} }", "a { b }", "\x00", "a = \"\x00\"",
		"a = " + strings.Repeat("[", 20) + strings.Repeat("]", 20), "a = " + strings.Repeat("1", 2000), strings.Repeat("a{\n", 20) + strings.Repeat("}\n", 20), "1a = 2", "-a = 1", "a \"x\" = 1", "a\n{}",
	} {
		if compareWritten(t, src) {
			t.Errorf("read: %q", src)
		}
	}
}

// Whatever is read, mistakes among it, is read as HCL does.
func TestParseWrittenMutations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"\n", " ", "\t", "\"", "[", "]", "{", "}", ",", "=", ".", "a", "-", "0", "for", "true", "null", "#", "$", "${", "\\", "step \"x\" {\n", "b = 1\n", "(", "*", "é", "\r"}
	read := 0
	for range 20_000 {
		src := writtenOut
		for range 1 + r.IntN(4) {
			i := r.IntN(len(src) + 1)
			j := min(len(src), i+r.IntN(3))
			src = src[:i] + pieces[r.IntN(len(pieces))] + src[j:]
		}
		if compareWritten(t, src) {
			read++
		}
	}
	if read < 1000 {
		t.Errorf("only %d were read", read)
	}
}

func FuzzParseWritten(f *testing.F) {
	f.Add(writtenOut)
	f.Fuzz(func(t *testing.T, src string) { compareWritten(t, src) })
}
