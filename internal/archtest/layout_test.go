package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// places are names in a cache folder that only internal/store/layout spells.
func places() []string {
	return []string{"ac", "cas", "trees", "downloads", "shipped", "checkpoints", "damaged",
		"state", "requests", "runlog", "statcache", "synced", "last-runs", "logs",
		"actions.lock", "in-use.lock", "tidy.lock"}
}

// joined returns the places that a file puts into a path: as arguments of filepath.Join and path.Join.
func joined(t *testing.T, name string, src any) (found []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "Join" {
			return true
		}
		for _, arg := range call.Args {
			lit, ok := arg.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				continue
			}
			text, _ := strconv.Unquote(lit.Value)
			if first, _, _ := strings.Cut(text, "/"); slices.Contains(places(), first) {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}

// The layout of the store is known to one package. Tests and their kits may spell it out: they hold it to what is
// promised.
func TestLayoutIsKnownOnce(t *testing.T) {
	if got := joined(t, "planted.go",
		`package p; import "path/filepath"; var x = filepath.Join(cache, "state/memo")`); len(got) != 1 {
		t.Errorf("a planted path is not found: %q", got)
	}
	for _, root := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(p string, d fs.DirEntry, err error) error {
			rel := filepath.ToSlash(strings.TrimPrefix(p, filepath.Join("..", "..")+string(os.PathSeparator)))
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") ||
				strings.HasPrefix(rel, "internal/store/layout/") || strings.HasSuffix(filepath.Dir(rel), "test") {
				return err
			}
			for _, text := range joined(t, p, nil) {
				t.Errorf("%s puts %q into a path: where things are in the cache is for internal/store/layout to say",
					rel, text)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
