package cli_test

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	carried "github.com/hexmage/hexmage"
)

// TestShippedAreShort: a pipeline is short, and neither it nor a module asks which profile it is in: profiles choose.
func TestShippedAreShort(t *testing.T) {
	seen := 0
	err := fs.WalkDir(carried.Shipped, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if f := asks(t, carried.Shipped, p); len(f) > 0 {
				t.Errorf("%s: %s", p, strings.Join(f, "\n"))
			}
			return err
		}
		if path.Dir(p) != "pipelines" || path.Ext(p) != ".hcl" {
			return nil
		}
		seen++
		text, err := fs.ReadFile(carried.Shipped, p)
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if len(lines) > 40 {
			t.Errorf("%s has %d lines, of 40: what is long belongs in a module", p, len(lines))
		}
		for i, l := range lines {
			if len([]rune(l)) > 120 {
				t.Errorf("%s:%d has %d characters, of 120", p, i+1, len([]rune(l)))
			}
		}
		return err
	})
	if err != nil || seen == 0 {
		t.Errorf("%d pipelines: %v", seen, err)
	}
}

// TestAsks holds the finder of such conditionals to some that are there.
func TestAsks(t *testing.T) {
	const blocks = `
variable "v" {}
profile "a" {
  locals {
    yes   = true
    maybe = var.v == ""
    dir   = "d"
  }
}
profile "b" {
  locals {
    yes   = false
    maybe = true
    dir   = var.v
  }
}
locals { again = !local.yes }
`
	for text, bad := range map[string]bool{
		`output "o" { value = profile.name == "a" ? 1 : 2 }`:                                     true,
		`output "o" { value = "${profile.name}/x" }`:                                             true,
		`output "o" { value = local.yes ? 1 : 2 }`:                                               true,
		`output "o" { value = [1, (local.again) ? 1 : 2] }`:                                      true,
		`output "o" { value = "%{ if local.yes }x%{ endif }" }`:                                  true,
		`output "o" { value = [for x in [1] : x if local.yes] }`:                                 true,
		"step \"exec\" \"x\" {\n  when = local.yes\n}":                                           true,
		"profile \"c\" {\n  step \"exec\" \"x\" {\n    argv = [local.again ? 1 : 2]\n  }\n}":     true,
		`output "o" { value = local.maybe ? 1 : 2 }`:                                             false,
		`output "o" { value = var.v == "" ? local.yes : local.dir }`:                             false,
		"step \"exec\" \"x\" {\n  when = local.maybe\n  argv = [\"${local.dir}/x\"]\n}":          false,
		"step \"exec\" \"x\" {\n  when = length(local.dir) > 1 && length(target.arch) > 1\n}":    false,
		"module \"x\" {\n  source = \"./x\"\n  when = local.again\n}":                            true,
		"check \"x\" {\n  condition = local.yes ? true : step.exec.x.outputs.o\n}":               true,
		"locals {\n  z = { for k, v in { a = 1 } : k => v if !local.again && local.yes }\n}":     true,
		"locals {\n  z = { for k, v in { a = 1 } : k => v if !local.again && v == \"${k}\" }\n}": false,
	} {
		got := asks(t, fstest.MapFS{"m/blocks.hcl": {Data: []byte(blocks)}, "m/x.hcl": {Data: []byte(text)}}, "m")
		if (len(got) > 0) != bad {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// asks lists the places in the *.hcl files of a folder, a module or all pipelines, that ask for the profile: by its
// name, or by a condition that nothing but the profile decides.
func asks(t *testing.T, from fs.FS, dir string) []string {
	t.Helper()
	files, err := fs.Glob(from, path.Join(dir, "*.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	a := asker{locals: map[string][]hclsyntax.Expression{}, profiles: map[string]bool{}}
	var bodies []*hclsyntax.Body
	for _, name := range files {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			t.Fatal(err)
		}
		f, diags := hclsyntax.ParseConfig(text, name, hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		body := f.Body.(*hclsyntax.Body)
		a.collect(body, false)
		bodies = append(bodies, body)
	}
	for _, b := range bodies {
		hclsyntax.VisitAll(b, func(n hclsyntax.Node) hcl.Diagnostics {
			switch n := n.(type) {
			case *hclsyntax.ScopeTraversalExpr:
				if n.Traversal.RootName() == "profile" {
					found = append(found, n.SrcRange.String()+" names the profile")
				}
			case *hclsyntax.ConditionalExpr:
				found = append(found, a.condition(n.Condition)...)
			case *hclsyntax.ForExpr:
				if n.CondExpr != nil {
					found = append(found, a.condition(n.CondExpr)...)
				}
			case *hclsyntax.Attribute:
				if n.Name == "when" {
					found = append(found, a.condition(n.Expr)...)
				}
			}
			return nil
		})
	}
	return found
}

type asker struct {
	locals   map[string][]hclsyntax.Expression // in each profile that has one of the name
	profiles map[string]bool                   // locals of profiles
}

func (a asker) collect(b *hclsyntax.Body, profile bool) {
	for _, blk := range b.Blocks {
		switch blk.Type {
		case "profile":
			a.collect(blk.Body, true)
		case "locals":
			for name, attr := range blk.Body.Attributes {
				a.locals[name] = append(a.locals[name], attr.Expr)
				a.profiles[name] = a.profiles[name] || profile
			}
		}
	}
}

// condition says where a condition is if a profile's local is in it and nothing else that could differ.
func (a asker) condition(e hclsyntax.Expression) []string {
	profile, other := a.uses(e, nil)
	if profile && !other {
		return []string{e.Range().String() + " depends on the profile and nothing else"}
	}
	return nil
}

// uses tells whether locals of profiles are in an expression, and whether anything else is that is not constant.
func (a asker) uses(e hclsyntax.Expression, within []string) (profile, other bool) {
	for _, v := range e.Variables() {
		name := ""
		if attr, ok := v[min(1, len(v)-1)].(hcl.TraverseAttr); ok {
			name = attr.Name
		}
		if v.RootName() != "local" || slices.Contains(within, name) {
			other = true
			continue
		}
		profile = profile || a.profiles[name]
		for _, of := range a.locals[name] {
			p, o := a.uses(of, append(within, name))
			profile, other = profile || p, other || o
		}
	}
	return profile, other
}
