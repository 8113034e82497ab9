package eventtest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/event/eventtest"
)

// The suites send an event of every kind.
func TestRunHasAllEvents(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "event.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, e := range eventtest.Run() {
		has[fmt.Sprintf("%T", e)] = true
	}
	n := 0
	for _, d := range f.Decls {
		if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && m.Name.Name == "EventName" {
			n++
			if name := "event." + m.Recv.List[0].Type.(*ast.Ident).Name; !has[name] {
				t.Errorf("the run of the suites has no %s", name)
			}
		}
	}
	if n != len(has) || n < 12 {
		t.Errorf("%d kinds of events, of which the run has %d", n, len(has))
	}
}
