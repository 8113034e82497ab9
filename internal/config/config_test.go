package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
)

func workspace(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

func TestLoadFolder(t *testing.T) {
	p, diags := config.Load(workspace(
		"pipelines/p/one.hcl", "step \"exec\" \"a\" {\n  argv = [\"x\"]\n\n  output \"o\" {\n    tree = \"t\"\n  }\n"+
			"}\n",
		"pipelines/p/two.hcl", "pipeline {\n  description = \"d\"\n}\nstep \"exec\" \"b\" {\n  when = true\n  argv "+
			"= [\"x\"]\n}",
		"pipelines/p/own.hexvars.hcl", "x = 1\n", "pipelines/q/q.hcl", "", "pipelines/q/q.hexvars.hcl", "x = 2\n",
	), "p", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if p.Description != "d" || len(p.Steps) != 2 {
		t.Fatalf("%+v", p)
	}
	if len(p.VarFiles) != 1 || p.VarFiles[0].Name != "pipelines/p/own.hexvars.hcl" || !p.VarFiles[0].Own {
		t.Errorf("values of variables: %+v", p.VarFiles)
	}
	a := p.Steps[0]
	if a.At.Short() != "exec.a" || len(a.Outputs) != 1 || a.Outputs[0].Class != action.Tree || len(a.Names) != 1 ||
		a.Names[0].Name != "argv" {
		t.Errorf("step %+v", a)
	}
	if config.Where(a.Range) != "pipelines/p/one.hcl:1" {
		t.Errorf("where %s", config.Where(a.Range))
	}
	if got := p.Source(a.Whole); got != "step \"exec\" \"a\" {\n  argv = [\"x\"]\n\n  output \"o\" {\n    tree = "+
		"\"t\"\n  }\n}" {
		t.Errorf("source %q", got)
	}
	if got := p.Source(p.Steps[1].Whole); !strings.HasSuffix(got, "\n  argv = [\"x\"]\n}") ||
		strings.Count(got, "\n") != 3 {
		t.Errorf("source at the end of a file %q", got)
	}
}

func TestLoadErrors(t *testing.T) {
	big := strings.Repeat("#\n", lang.MaxSource)
	for _, tt := range []struct {
		fsys       fstest.MapFS
		name, want string
	}{
		{workspace("pipelines/alpha.hcl", ""), "alhpa", "Did you mean alpha?"},
		{workspace("pipelines/alpha.hcl", ""), "zebra", "Available pipelines: alpha."},
		{workspace(), "zebra", "no pipelines yet"},
		{workspace("pipelines/a.hcl", ""), "../a", "is not a valid pipeline name"},
		{workspace("pipelines/a.hcl", ""), "", "is not a valid pipeline name"},
		{workspace("pipelines/a.hcl", "", "pipelines/a/b.hcl", ""), "a",
			"Both pipelines/a.hcl and the folder pipelines/a define"},
		{workspace("pipelines/a.hcl", `step "exec" "`+strings.Repeat("x", 201)+`" {}`), "a", "Name too long"},
		{workspace("pipelines/a.hcl", `step "exec" "b" {
  output "`+strings.Repeat("x", 201)+`" { file = "x" }
}`), "a", "Name too long"},
		{workspace("pipelines/a.hcl", "step \"exec\" \"b\" {\n  description = \"${var.x}\"\n}"), "a",
			"hexmage reads description before it evaluates expressions. Write a string in quotes"},
		{workspace("pipelines/a.hcl", "variable \"b\" {\n  sensitive = var.x\n}"), "a",
			"hexmage reads sensitive before it evaluates expressions. Write true or false"},
		{workspace("pipelines/a.hcl", big), "a", "the limit is"},
		{workspace("pipelines/a.hcl", "", "pipelines/a.hexvars.hcl", "x {}"), "a", "Blocks are not allowed here"},
	} {
		_, diags := config.Load(tt.fsys, tt.name, nil)
		if !diags.HasErrors() || !strings.Contains(config.Render(diags, nil, 0, false), tt.want) {
			t.Errorf("Load(%q): %v, want %q", tt.name, diags, tt.want)
		}
	}
}

// A script is the same script in a file whose lines end as Windows ends them.
func TestLineEnds(t *testing.T) {
	p, diags := config.Load(workspace("pipelines/p.hcl",
		"locals {\r\n  a = <<-EOT\r\n    one\r\n    two\r\n  EOT\r\n  b = \"c\\r\\n\"\r\n}\r\n"), "p", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for i, want := range []string{"one\ntwo\n", "c\r\n"} {
		if v, diags := p.Locals[i].Expr.Value(nil); diags.HasErrors() || v.AsString() != want {
			t.Errorf("%s = %#v, %v; want %q", p.Locals[i].Name, v, diags, want)
		}
	}
}

func TestFormatFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ugly := write("pipelines/ugly.hcl", "step \"exec\" \"a\" {\r\n argv=[\"x\"]\r\n     when = true\r\n}\r\n\r\n")
	fine := write("pipelines/fine.hcl", "locals {\n  a = 1\n}\n")
	broken := write("pipelines/broken.hcl", "locals {")
	all := []string{broken, fine, ugly}

	changed, diags, err := config.FormatFiles(all, true)
	if err != nil || len(changed) != 1 || changed[0] != ugly || !diags.HasErrors() ||
		diags[0].Subject.Filename != broken {
		t.Fatalf("check: %v, %v, %v", changed, diags, err)
	}
	if got, _ := os.ReadFile(ugly); !strings.Contains(string(got), "argv=") {
		t.Error("check changed a file")
	}
	if _, _, err := config.FormatFiles(all, false); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(ugly)
	if want := "step \"exec\" \"a\" {\n  argv = [\"x\"]\n  when = true\n}\n"; string(got) != want {
		t.Errorf("formatted to %q, want %q", got, want)
	}
	if info, err := os.Stat(ugly); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	changed, _, err = config.FormatFiles([]string{ugly}, true)
	if err != nil || changed != nil {
		t.Errorf("formatting again changes %v, %v", changed, err)
	}
	_, _, err = config.FormatFiles([]string{filepath.Join(dir, "nope")}, true)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// FuzzLoad: no bytes make the skeleton panic, and all diagnostics can be shown.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"step \"exec\" \"a\" {\n  argv = [\"x\"]\n  output \"o\" { file = \"x\" }\n  depends_on = [step.exec.b]\n}",
		"variable \"x\" {\n  type = list(string)\n  validation {\n    condition = true\n    error_message = \"\"\n  " +
			"}\n}",
		"profile \"a\" {\n  variables = { x = 1 }\n  toolchain \"b\" {}\n}\ntarget { core = \"\" }\noutput \"x\" { " +
			"value = 1 }",
		"step {} step \"a\" {} output \"x\" \"y\" {} locals { a = a } pipeline \"x\" {}",
		"toolchain \"\" { output {} when = when }", "\xff", "step \"exec\" \"a\" {\n  output {\n    file = \n  }\n}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, diags := config.Load(fstest.MapFS{"pipelines/p.hcl": &fstest.MapFile{Data: b}}, "p", nil)
		config.Render(diags, p.Files, 80, false)
		for _, s := range p.Steps {
			p.Source(s.Whole)
		}
	})
}

// TestLoadWith: a shipped pipeline has the workspace's values of variables, and one of the workspace comes first.
func TestLoadWith(t *testing.T) {
	shipped := config.ModuleFolder{FS: workspace("pipelines/p.hcl", `variable "v" {}`, "pipelines/q.hcl", ""),
		Root: "/shipped", ID: "shipped"}
	for _, tt := range []struct {
		files                      []string
		dir, values, absent, roots string
	}{
		{nil, "/shipped/pipelines", "", "pipelines", "[{/shipped shipped}]"},
		{[]string{"pipelines/p.hexvars.hcl", "v = 1", "pipelines/q.hexvars.hcl", "v = 2", "pipelines/r.hcl", ""},
			"/shipped/pipelines", "pipelines/p.hexvars.hcl", "", "[{/shipped shipped}]"},
		{[]string{"pipelines/p.hcl", ""}, "pipelines", "", "", "[]"},
	} {
		p, diags := config.LoadWith(workspace(tt.files...), shipped, "p", nil)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var values []string
		for _, v := range p.VarFiles {
			values = append(values, v.Name)
		}
		if got := strings.Join(values, " "); p.Dir != tt.dir || got != tt.values ||
			strings.Join(p.Absent, " ") != tt.absent || fmt.Sprint(p.Roots) != tt.roots {
			t.Errorf("%q: folder %s, values %q, absent %q, roots %v", tt.files, p.Dir, got, p.Absent, p.Roots)
		}
	}
	_, diags := config.LoadWith(workspace(), shipped, "r", nil)
	if !strings.Contains(diags.Error(), "Available pipelines: p, q.") {
		t.Error(diags)
	}
}
