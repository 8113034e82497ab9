package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// contextExceptions are the structs that hold a context all the same. None puts a value into one.
func contextExceptions() map[string]string {
	return map[string]string{"internal/boundedfile/boundedfile.go reader": "io.Reader has no context"}
}

// TestContexts: a context is the first parameter of who needs it: no struct keeps one, and none carries what an
// argument could.
func TestContexts(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, what := range heldContexts(f) {
				key := p.rel() + "/" + name + " " + what
				if used[key] = true; contextExceptions()[key] == "" {
					t.Errorf("%s: a context is the first parameter of who needs it, and what an argument can say no "+
						"value of a context does", key)
				}
			}
		}
	}
	for key := range contextExceptions() {
		if !used[key] {
			t.Errorf("there is no %s any more: take the exception out", key)
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
type held struct{ n int; ctx context.Context }
type embedded struct{ context.Context }
type fine struct{ run func(ctx context.Context) error }
func with(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, 1) }
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(heldContexts(f), " "); got != "held embedded context.WithValue" {
		t.Errorf("of what is planted %q is found", got)
	}
}

// heldContexts returns the types with a context among their fields, and calls of context.WithValue.
func heldContexts(f *ast.File) (held []string) {
	is := func(e ast.Expr, name string) bool {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		x, ok := s.X.(*ast.Ident)
		return ok && x.Name == "context" && s.Sel.Name == name
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					if is(field.Type, "Context") {
						held = append(held, n.Name.Name)
					}
				}
			}
		case *ast.CallExpr:
			if is(n.Fun, "WithValue") {
				held = append(held, "context.WithValue")
			}
		}
		return true
	})
	return held
}
