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

// slang are words that only their author knew, or that say nothing. No name has one as a part; docs/glossary.md has
// the words to take.
func slang() []string {
	return []string{"recall", "recalled", "heal", "heals", "larder", "laid", "stands", "lend", "lends", "lent",
		"borrow", "borrowed", "borrower",
		"loan", "loans", "rebase", "upkeep", "memo", "memos", "durable", "remembering", "untouched", "standing",
		"looker",
		"task", "tasks", "job", "jobs", "manager", "managers", "helper", "helpers", "util", "utils"}
}

// bare are words that say nothing when they are the whole name of a type, a function, a method, a field or a package.
func bare() []string {
	return []string{"look", "looked", "once", "both", "one", "ahead", "told", "moved", "before", "why", "kept",
		"nothing", "not", "context",
		"then", "given", "how", "who", "really", "mine", "ours", "alone", "seldom", "tell", "did", "beside", "aloft",
		"under"}
}

// foreign are words that mean something else in the engine than there, or nothing: no name of internal/ has one as a
// part.
func foreign() []string { return []string{"rule", "ruleset", "rules", "context", "node", "nodes"} }

// meant are the names that are right all the same, by package: the word is that of the field.
func meant() map[string]string {
	return map[string]string{
		"cmd/hexmage/cli Jobs":              "the flag -j, as of make and ninja",
		"internal/engine Jobs":              "the same",
		"internal/runlog Jobs":              "the same",
		"internal/depfile rule":             "make's rules",
		"internal/execute/sandbox ruleset":  "Landlock's rules",
		"internal/execute/sandbox rules":    "the same",
		"internal/engine jobs":              "as -j",
		"internal/runlog jobs":              "the same",
		"internal/execute/sandbox baseRule": "the same",
		"internal/lang EvalContext":         "HCL's",
		"internal/planner evalContext":      "HCL's",
		"steps Context":                     "the kind `context`: a QNN context",
	}
}

// inComments are words of ours that no sentence needs either.
var inComments = regexp.MustCompile(`(?i)\b(recall(s|ed)?|heal(s|ed)?|larders?|upkeep|memos?|loans?|rebased?)\b`)

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

// wordIn returns the first word of the name that is one of avoid, or "".
func wordIn(name string, avoid []string) string {
	for _, w := range words(name) {
		if w = strings.ToLower(w); slices.Contains(avoid, w) {
			return w
		}
	}
	return ""
}

// TestWords: names of packages, files, types, functions, methods, fields and package variables are words that others
// know.
func TestWords(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		avoid := slang()
		if below(p.rel(), "internal") {
			avoid = append(avoid, foreign()...)
		}
		if name := filepath.Base(p.Dir); wordIn(name, avoid) != "" || slices.Contains(bare(), name) {
			t.Errorf("package %s: take a word that others know", p.rel())
		}
		for _, name := range p.GoFiles {
			if w := wordIn(strings.TrimSuffix(name, ".go"), avoid); w != "" {
				t.Errorf("%s/%s: %q is a word of our own", p.rel(), name, w)
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range wrongNames(f, avoid) {
				key := p.rel() + " " + wrong.Name
				if used[key] = true; meant()[key] == "" {
					t.Errorf("%s/%s:%d: %s: take a word that others know (docs/glossary.md)", p.rel(), name,
						fset.Position(wrong.Pos()).Line, wrong.Name)
				}
			}
			for _, c := range wrongComments(f) {
				t.Errorf("%s/%s:%d: %q: take a word that others know, and the name of what the comment is about",
					p.rel(), name, fset.Position(c.Pos()).Line, c.Text)
			}
		}
	}
	for key, why := range meant() {
		if !used[key] {
			t.Errorf("there is no %s any more (%s): take it out of meant", key, why)
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
type once struct{ memoPath string; told int; once sync.Once }
func (once) healAll() {} // it recalls nothing
func (once) Look() {}
// once is a call.
func call() {}
var tookBefore, stand, helperOf int
`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if names, comments := wrongNames(f, slang()), wrongComments(f); len(names) != 6 || len(comments) != 2 {
		t.Errorf("of planted words %v and %d comments are found", names, len(comments))
	}
}

// TestWordsOfDocs: pages and catalogs do not use what no comment does.
func TestWordsOfDocs(t *testing.T) {
	for _, p := range append(pages(t), filesEnding(t, ".hcl")...) {
		if p == "CHANGELOG.md" || p == "docs/glossary.md" {
			continue // what things were called
		}
		for i, line := range strings.Split(page(t, filepath.FromSlash(p)), "\n") {
			if w := inComments.FindString(line); w != "" {
				t.Errorf("%s:%d: %q is a word of our own", p, i+1, w)
			}
		}
	}
}

// wrongNames returns the names that a file declares and that have a wrong word.
func wrongNames(f *ast.File, avoid []string) (wrong []*ast.Ident) {
	check := func(whole bool, names ...*ast.Ident) {
		for _, n := range names {
			if wordIn(n.Name, avoid) != "" || whole && slices.Contains(bare(), n.Name) {
				wrong = append(wrong, n)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			check(false, n.Name)
			if slices.Contains(bare(), strings.ToLower(n.Name.Name)) {
				wrong = append(wrong, n.Name)
			}
		case *ast.TypeSpec:
			check(false, n.Name)
			if slices.Contains(bare(), strings.ToLower(n.Name.Name)) {
				wrong = append(wrong, n.Name)
			}
		case *ast.StructType:
			for _, field := range n.Fields.List {
				check(!isOnce(field.Type), field.Names...) // exported ones are the keys of formats
			}
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				check(true, m.Names...)
			}
		}
		return true
	})
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					check(false, v.Names...)
				}
			}
		}
	}
	return wrong
}

// isOnce tells whether the type is sync.Once, of which once is a good name.
func isOnce(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Once"
}

// wrongComments returns the comments with a word of ours, and those that call a function or type by a name that says
// nothing and is not its own.
func wrongComments(f *ast.File) (wrong []*ast.Comment) {
	for _, g := range f.Comments {
		for _, c := range g.List {
			if inComments.MatchString(c.Text) {
				wrong = append(wrong, c)
			}
		}
	}
	named := func(doc *ast.CommentGroup, name string) {
		if doc == nil {
			return
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(doc.List[0].Text, "// "), " ")
		if first != name && slices.Contains(bare(), first) {
			wrong = append(wrong, doc.List[0])
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			named(d.Doc, d.Name.Name)
		case *ast.GenDecl:
			if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
				named(d.Doc, s.Name.Name)
			}
		}
	}
	return wrong
}
