package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// slang are words that only their author knew. No name has one as a part; docs/glossary.md has the words to take.
func slang() []string {
	return []string{"recall", "recalled", "heal", "heals", "larder", "laid", "stands", "lend", "lends", "lent", "borrow", "borrowed", "borrower",
		"loan", "loans", "rebase", "upkeep", "memo", "memos", "durable", "remembering", "untouched"}
}

// bare are words that say nothing when they are the whole name of a type, a function or a package.
func bare() []string {
	return []string{"look", "looked", "once", "both", "one", "ahead", "told", "moved", "before", "why", "kept", "nothing", "not"}
}

var runs = regexp.MustCompile(`[\p{L}\p{N}]+`)

// words splits a name: QNNContext and qnn_context are two.
func words(name string) (all []string) {
	for _, run := range runs.FindAllString(name, -1) {
		r := []rune(run)
		start := 0
		for i := 1; i < len(r); i++ {
			if unicode.IsUpper(r[i]) && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
				all, start = append(all, string(r[start:i])), i
			}
		}
		all = append(all, string(r[start:]))
	}
	return all
}

// slangIn returns the first word of the name that is slang, or "".
func slangIn(name string) string {
	for _, w := range words(name) {
		if w = strings.ToLower(w); slices.Contains(slang(), w) {
			return w
		}
	}
	return ""
}

// TestWords: names of packages, files, types, functions, methods, fields and package variables are words that others know.
func TestWords(t *testing.T) {
	for _, p := range packages(t) {
		if name := filepath.Base(p.Dir); slangIn(name) != "" || slices.Contains(bare(), name) {
			t.Errorf("package %s: take a word that others know", p.rel())
		}
		for _, name := range p.GoFiles {
			if w := slangIn(strings.TrimSuffix(name, ".go")); w != "" {
				t.Errorf("%s/%s: %q is a word of our own", p.rel(), name, w)
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range wrongWords(f) {
				t.Errorf("%s/%s:%d: %s: take a word that others know (docs/glossary.md)", p.rel(), name, fset.Position(wrong.Pos()).Line, wrong.Name)
			}
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\ntype once struct{ memoPath string }\nfunc (once) healAll() {}\nvar tookBefore, stand int\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := wrongWords(f); len(got) != 3 {
		t.Errorf("of planted words %v are found", got)
	}
}

// wrongWords returns the names that a file declares and that have a wrong word.
func wrongWords(f *ast.File) (wrong []*ast.Ident) {
	check := func(names ...*ast.Ident) {
		for _, n := range names {
			if slangIn(n.Name) != "" {
				wrong = append(wrong, n)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && slices.Contains(bare(), n.Name.Name) {
				wrong = append(wrong, n.Name)
			}
			check(n.Name)
		case *ast.TypeSpec:
			if slices.Contains(bare(), n.Name.Name) {
				wrong = append(wrong, n.Name)
			}
			check(n.Name)
		case *ast.StructType:
			for _, field := range n.Fields.List {
				check(field.Names...)
			}
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				check(m.Names...)
			}
		}
		return true
	})
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					check(v.Names...)
				}
			}
		}
	}
	return wrong
}
