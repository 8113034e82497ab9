package planner_test

import (
	"path/filepath"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
)

// FuzzBuild: no pipeline makes planning panic; what is planned is in order, can be shown, and its deferred instances
// can be resolved or say why not.
func FuzzBuild(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds")
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		fsys := fstest.MapFS{"pipelines/p.hcl": &fstest.MapFile{Data: b}}
		p, x, cfg, diags := loadAndBuild(fsys, "p",
			planner.Options{Kinds: kindsForTest(), Targets: boards, Workspace: dir})
		config.Render(diags, cfg.Files, 80, true)
		if p == nil {
			if !diags.HasErrors() {
				t.Fatal("no plan and no error")
			}
			return
		}
		seen := make(map[addrs.Instance]bool)
		for _, n := range p.Instances {
			for _, d := range n.Needs() {
				if !seen[d] {
					t.Errorf("%s comes before %s, which it needs", n.At, d)
				}
			}
			// all copies of a step have one address in After
			seen[n.At], seen[addrs.Instance{Step: n.At.Step}] = true, true
			if n.Waits == plan.ForValues {
				values := make(map[addrs.Output][]byte)
				for _, o := range n.AwaitValues {
					values[o] = []byte(`{"a": ["b", 1, null]}`)
				}
				got, err := x.ExtendInstance(n.At, plan.ResolvedInputs{Values: values})
				if err == nil && got.At != n.At {
					t.Errorf("%s is extended to %s", n.At, got.At)
				}
			}
		}
		plan.Text(p, plan.Notes{})
		plan.Mermaid(p)
		jsonText(t, wholeJSON, p)
		jsonText(t, plan.GraphJSON, p)
	})
}
