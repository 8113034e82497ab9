package planner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/step"
)

// looking is a kind that asks the machine for something.
type looking struct{ at string }

func (looking) Schema() step.Schema {
	return step.Schema{Args: hcldec.ObjectSpec{"note": &hcldec.AttrSpec{Name: "note", Type: cty.String}}}
}

func (k looking) Plan(step.Request) (step.Planned, hcl.Diagnostics) {
	return step.Planned{Reads: step.Reads{Paths: []string{k.at, "sdk"}, Env: []string{"SDK_ROOT"}}}, nil
}

// TestReadsAll has one of everything that a plan can be made from.
func TestReadsAll(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pipelines/p.hcl": `
variable "v" { default = "x" }
step "look" "a" { note = file("note.txt") }
step "look" "b" { note = try(file("gone.txt"), var.v) }
step "look" "c" {
  for_each = toset(fileset("src", "**/*.c"))
  note     = each.key
}
`,
		"pipelines/p.hexvars.hcl":       `v = "y"`,
		"pipelines/all.hexvars.hcl":     ``,
		"pipelines/other.hcl":           ``,
		"pipelines/other.hexvars.hcl":   ``,
		"pipelines/folder/one.hcl":      ``,
		"note.txt":                      "a",
		"src/a.c":                       "",
		"src/deep/b.c":                  "",
		"src/deep/deeper/c.h":           "",
		"toolchains/own.hcl":            "",
		"elsewhere/not/looked/at/it.md": "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	absolute := filepath.ToSlash(filepath.Join(dir, "elsewhere"))
	p, _, _, diags := loadAndBuild(os.DirFS(dir), "p", planner.Options{
		Kinds: map[string]step.Kind{"look": looking{absolute}}, Workspace: dir,
		Reads: step.Reads{Paths: []string{"toolchains", "toolchains/own.hcl", "hexmage.lock.hcl"},
			Env: []string{"HOME"}},
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := plan.Reads{
		Files: []string{"note.txt", "pipelines/all.hexvars.hcl", "pipelines/p.hcl", "pipelines/p.hexvars.hcl",
			"toolchains/own.hcl"},
		Dirs:   []string{"elsewhere", "pipelines", "pipelines/folder", "toolchains"},
		Absent: []string{"gone.txt", "hexmage.lock.hcl", "sdk"},
		Globs: []plan.Glob{{Dir: "src", Patterns: []string{"**/*.c"}, Found: []string{"src/a.c", "src/deep/b.c"},
			Dirs: []string{"src", "src/deep", "src/deep/deeper"}}},
		Env: []string{"HOME", "SDK_ROOT"},
	}
	if d := cmp.Diff(want, p.Reads); d != "" {
		t.Error(d)
	}
}
