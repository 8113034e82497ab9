package archtest_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// seams are the interfaces that have a suite, as docs/design/0001-engine-and-packages.md lists them.
func seams() []string {
	return []string{"store.Blobs", "store.Results", "store.Local", "execute.Executor", "transport.Device", "step.Kind",
		"plan.Resolver", "event.Sink"}
}

// checkedHouse is every package of the module, as the compiler sees it, but for what is in functions.
type checkedHouse struct {
	fset     *token.FileSet
	packages []*types.Package
	byPath   map[string]*types.Package
	others   types.Importer // by what the compiler left in the build cache
}

// Import implements types.Importer.
func (h *checkedHouse) Import(path string) (*types.Package, error) {
	if p := h.byPath[path]; p != nil {
		return p, nil
	}
	return h.others.Import(path)
}

// check adds a package of these files. What is wrong with them the compiler says elsewhere.
func (h *checkedHouse) check(importPath string, files []*ast.File) *types.Package {
	conf := types.Config{Importer: h, IgnoreFuncBodies: true, Error: func(error) {}}
	p, _ := conf.Check(importPath, h.fset, files, nil)
	return p
}

func typeCheck(t *testing.T) *checkedHouse {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Export,Dir,GoFiles", "./...")
	cmd.Dir = root()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	h := &checkedHouse{fset: token.NewFileSet(), byPath: map[string]*types.Package{}}
	export := map[string]string{}
	h.others = importer.ForCompiler(h.fset,
		"gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	dec := json.NewDecoder(bytes.NewReader(out))
	for dec.More() { // what is imported comes before who imports it
		var p struct {
			pkg
			Export string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if export[p.ImportPath] = p.Export; !strings.HasPrefix(p.ImportPath, module) || testKit(p.rel()) {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(h.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		h.byPath[p.ImportPath] = h.check(p.ImportPath, files)
		h.packages = append(h.packages, h.byPath[p.ImportPath])
	}
	return h
}

// declared returns the types that a package declares, by their names; of generic ones, that for any.
func declared(p *types.Package) map[string]types.Type {
	all := map[string]types.Type{}
	for _, name := range p.Scope().Names() {
		tn, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || tn.IsAlias() {
			continue
		}
		typ := tn.Type()
		if n, ok := typ.(*types.Named); ok && n.TypeParams().Len() > 0 {
			args := slices.Repeat([]types.Type{types.Universe.Lookup("any").Type()}, n.TypeParams().Len())
			if typ, _ = types.Instantiate(nil, n, args, false); typ == nil {
				continue
			}
		}
		all[path.Base(p.Path())+"."+name] = typ
	}
	return all
}

// implementers returns the names of the types that implement the interface, as "package.Type".
func implementers(packages []*types.Package, of *types.Interface) (names []string) {
	for _, p := range packages {
		for name, typ := range declared(p) {
			if !types.IsInterface(typ) && (types.Implements(typ, of) || types.Implements(types.NewPointer(typ), of)) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// seamRow is a line of the table of seams: where the interface is, the package of its suites, and who implements it.
type seamRow struct {
	file, name, suite string
	types             []string
}

func seamTable(t *testing.T) (rows []seamRow) {
	t.Helper()
	code := regexp.MustCompile("`([^`]+)`")
	for _, m := range regexp.MustCompile("(?m)^\\| `([\\w/]+\\.go)` `(\\w+)` \\| `(\\w[\\w/]*test)` \\| (.+) \\|$").
		FindAllStringSubmatch(page(t, "docs", "design", "0001-engine-and-packages.md"), -1) {
		r := seamRow{file: m[1], name: m[2], suite: m[3]}
		for _, c := range code.FindAllStringSubmatch(m[4], -1) {
			r.types = append(r.types, c[1])
		}
		rows = append(rows, r)
	}
	return rows
}

// claimed returns the types that tests have a suite check, by the suite: what they say a value's type is, the suites
// hold them to.
func claimed(t *testing.T) map[string]map[string]bool {
	t.Helper()
	claims := map[string]map[string]bool{}
	for _, p := range packages(t) {
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range f.Imports {
				suite, _ := strconv.Unquote(i.Path.Value)
				if suite = strings.TrimPrefix(suite, module+"/"); !testKit(suite) {
					continue
				}
				if claims[suite] == nil {
					claims[suite] = map[string]bool{}
				}
				ast.Inspect(f, func(n ast.Node) bool {
					if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						text, _ := strconv.Unquote(lit.Value)
						claims[suite][strings.TrimPrefix(text, "*")] = true
					}
					return true
				})
			}
		}
	}
	return claims
}

// TestSeams: the table in docs/design/0001-engine-and-packages.md has a row for each interface, with all types that
// implement it, and a test has the suite check each type.
func TestSeams(t *testing.T) {
	h, claims := typeCheck(t), claimed(t)
	named := map[string]bool{}
	for _, row := range seamTable(t) {
		seam := path.Base(path.Dir(row.file)) + "." + row.name
		named[seam] = true
		p := h.byPath[module+"/"+path.Dir(row.file)]
		if p == nil || p.Scope().Lookup(row.name) == nil {
			t.Errorf("docs/design/0001-engine-and-packages.md: there is no %s", seam)
			continue
		}
		is := implementers(h.packages, p.Scope().Lookup(row.name).Type().Underlying().(*types.Interface))
		for _, name := range is {
			if !slices.Contains(row.types, name) {
				t.Errorf("%s implements %s: have %s check it in a test, and put it into the table of seams in "+
					"docs/design/0001-engine-and-packages.md", name, seam, row.suite)
			} else if !claims[row.suite][name] {
				t.Errorf("%s implements %s, and no test has %s check it", name, seam, row.suite)
			}
		}
		for _, name := range row.types {
			if !slices.Contains(is, name) {
				t.Errorf("docs/design/0001-engine-and-packages.md: %s does not implement %s", name, seam)
			}
		}
	}
	for _, seam := range seams() {
		if !named[seam] {
			t.Errorf("the table of seams in docs/design/0001-engine-and-packages.md lacks %s", seam)
		}
	}
	for _, p := range h.packages {
		for name, typ := range declared(p) {
			if i, ok := typ.Underlying().(*types.Interface); ok && i.NumMethods() > 3 {
				t.Errorf("%s has %d methods, those that it embeds included: 3 are enough", name, i.NumMethods())
			}
		}
	}

	planted, err := parser.ParseFile(h.fset, "planted.go", `package planted
import "github.com/hexmage/hexmage/internal/event"
type own struct{}
func (*own) Send(event.Event) {}
type embeds struct{ event.Sink }
type generic[T any] struct{ sent []T }
func (generic[T]) Send(event.Event) {}
type other struct{}
func (other) Send(string) {}
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	sink := h.byPath[module+"/internal/event"].Scope().Lookup("Sink").Type().Underlying().(*types.Interface)
	if got := implementers([]*types.Package{h.check("planted", []*ast.File{planted})}, sink); !slices.Equal(got,
		[]string{"planted.embeds", "planted.generic", "planted.own"}) {
		t.Errorf("of the planted sinks %q are found", got)
	}
}
