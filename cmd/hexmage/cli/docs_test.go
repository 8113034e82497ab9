package cli

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/steps"
)

var update = flag.Bool("update", false, "write generated parts of docs anew")

// The argument tables of docs/language.md are made from the kinds' schemas: go test ./cmd/hexmage/cli -run Docs -update.
func TestDocsAreFresh(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "language.md")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := step.UpdateDocs(doc, steps.Workspace{}.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == string(doc) {
		return
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/language.md is not what the kinds say: run go test ./cmd/hexmage/cli -run Docs -update")
}

// Every argument of every kind is documented, and every tool that a kind may plan is in the table.
func TestKindsAreComplete(t *testing.T) {
	for name, k := range (steps.Workspace{}).Kinds() {
		s := k.Schema()
		if s.Summary == "" {
			t.Errorf("kind %s has no summary", name)
		}
		for arg := range s.Args {
			if s.ArgDocs[arg] == "" {
				t.Errorf("kind %s: argument %s is not documented", name, arg)
			}
		}
		for arg := range s.ArgDocs {
			if s.Args[arg] == nil {
				t.Errorf("kind %s documents %s, which is no argument", name, arg)
			}
		}
		for _, o := range s.Outputs {
			if o.Doc == "" {
				t.Errorf("kind %s: output %s is not documented", name, o.Name)
			}
		}
	}
}
