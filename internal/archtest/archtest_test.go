package archtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/hexmage/hexmage"

// pkg is what `go list -json` says of a package.
type pkg struct {
	ImportPath   string
	Dir          string
	Doc          string
	Imports      []string
	Deps         []string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	TestImports  []string
	XTestImports []string
}

func (p pkg) rel() string { return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/") }

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list",
		"-json=ImportPath,Dir,Doc,Imports,Deps,GoFiles,TestGoFiles,XTestGoFiles,TestImports,XTestImports", "./...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func below(path string, folders ...string) bool {
	for _, f := range folders {
		if path == f || strings.HasPrefix(path, f+"/") {
			return true
		}
	}
	return false
}

func local(imports []string) []string {
	var out []string
	for _, i := range imports {
		if r, ok := strings.CutPrefix(i, module+"/"); ok {
			out = append(out, r)
		}
	}
	return out
}

func TestEveryPackageHasADoc(t *testing.T) {
	for _, p := range packages(t) {
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s has no package comment", p.rel())
		}
	}
}

// TestSource looks at what import lists do not show: init functions, mutable package variables, who reads the
// environment or writes to the terminal, the size of interfaces and files.
func TestSource(t *testing.T) {
	for _, p := range packages(t) {
		rel := p.rel()
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if ast.IsGenerated(f) {
				continue
			}
			at := func(n ast.Node) string {
				pos := fset.Position(n.Pos())
				return rel + "/" + filepath.Base(pos.Filename) + ":" + strconv.Itoa(pos.Line)
			}
			outside := !below(rel, "cmd/hexmage/cli", "cmd", "internal/archtest", "toolchains/toolchaintest",
				"simulated/phone/phonetest") &&
				!slices.Contains(ownProcess(), rel+"/"+name)
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Name.Name == "init" && d.Recv == nil {
						t.Errorf("%s: init function", at(d))
					}
				case *ast.GenDecl:
					checkVars(t, d, at)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.InterfaceType:
					if n.Methods != nil && len(n.Methods.List) > 3 {
						t.Errorf("%s: interface with %d methods, 3 are enough", at(n), len(n.Methods.List))
					}
				case *ast.SelectorExpr:
					x, ok := n.X.(*ast.Ident)
					if !ok || !outside || x.Obj != nil {
						break
					}
					full := x.Name + "." + n.Sel.Name
					if slices.Contains([]string{"os.Getenv", "os.LookupEnv", "os.Environ", "os.Args", "os.Getwd",
						"os.Stdout", "os.Stderr", "os.Stdin", "fmt.Print", "fmt.Println", "fmt.Printf", "os.Exit",
						"log.Fatal", "log.Printf", "log.Println"}, full) {
						t.Errorf("%s: %s: only cli reads the environment, exits, or writes to the terminal", at(n),
							full)
					}
				}
				return true
			})
		}
	}
}

// ownProcess are the files of the simulated device's first process, which is a program of its own: it ends itself, and
// what it prints is the device's log.
func ownProcess() []string {
	return []string{"simulated/phone/init_linux.go", "simulated/phone/dsp_linux.go"}
}

// checkVars allows package variables that nobody changes in practice: errors, compiled expressions, embedded files,
// blank assertions, and tables.
func checkVars(t *testing.T, d *ast.GenDecl, at func(ast.Node) string) {
	if d.Tok != token.VAR {
		return
	}
	for _, s := range d.Specs {
		v := s.(*ast.ValueSpec)
		if v.Names[0].Name == "_" || d.Doc != nil && strings.Contains(d.Doc.Text()+embedComment(d), "go:embed") {
			continue
		}
		if sel, ok := v.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "FS" {
			continue
		}
		for _, value := range v.Values {
			atStart(value, func(n ast.Node, why string) { t.Errorf("%s: %s", at(n), why) })
		}
		if len(v.Values) == 0 {
			t.Errorf("%s: package variable %s starts empty: state belongs in a struct", at(v), v.Names[0].Name)
		}
	}
}

// atStart calls wrong with what a package variable's value has computed at every start, and with an expression that
// lazyregexp can't compile later.
func atStart(value ast.Expr, wrong func(n ast.Node, why string)) {
	ast.Inspect(value, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch name := types.ExprString(call.Fun); name {
		case "errors.New", "fmt.Errorf", "sync.OnceValue", "sync.OnceValues":
		case "lazyregexp.New":
			text, ok := literal(call.Args[0])
			if !ok {
				wrong(n, "lazyregexp.New of something that is no literal: nothing tests that it compiles")
			} else if _, err := regexp.Compile(text); err != nil {
				wrong(n, err.Error())
			}
		default:
			wrong(n, name+" is called at every start: use lazyregexp.New for an expression, sync.OnceValue for a table")
		}
		return true
	})
}

// TestAtStartBites shows that what costs time at start is found, wherever it stands in a value.
func TestAtStartBites(t *testing.T) {
	for text, want := range map[string]string{
		`regexp.MustCompile("a")`:                            "regexp.MustCompile",
		`map[string]any{"a": []any{regexp.MustCompile("")}}`: "regexp.MustCompile",
		`parse(embedded)`:                                    "parse",
		`template.Must(template.New("").Parse(""))`:          "template.Must",
		`func() int { return 1 }()`:                          "is called",
		`lazyregexp.New("(")`:                                "missing closing",
		`lazyregexp.New(text)`:                               "no literal",
		`lazyregexp.New("a" + "b")`:                          "",
		`fmt.Errorf("a: %w", errors.New("b"))`:               "",
		`sync.OnceValue(func() int { return f() })`:          "",
		`[]func(){func() { f() }}`:                           "",
	} {
		value, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		atStart(value, func(_ ast.Node, why string) { got = append(got, why) })
		if all := strings.Join(got, "\n"); (want == "") != (all == "") || !strings.Contains(all, want) {
			t.Errorf("%s: %q, want %q", text, all, want)
		}
	}
}

// literal is the text of a string literal, or of a sum of them.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		a, ok := literal(e.X)
		b, also := literal(e.Y)
		return a + b, ok && also
	}
	return "", false
}

func embedComment(d *ast.GenDecl) string {
	var b strings.Builder
	for _, c := range d.Doc.List {
		b.WriteString(c.Text)
	}
	return b.String()
}

func TestNoUtil(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.IsDir() && slices.Contains([]string{"util", "utils", "helper", "helpers", "common", "misc"}, d.Name()) {
			t.Errorf("%s: a folder that says nothing", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
