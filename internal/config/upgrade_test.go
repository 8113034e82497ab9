package config_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/tools/txtar"

	"github.com/hexmage/hexmage/internal/config"
)

func oldForms() config.Old {
	return config.Old{TargetName: "cpu", Axes: map[string]config.OldAxes{"measure": {Matrix: "matrix", In: []string{"argv", "push", "stdin", "title"}}}}
}

// upgraded returns an upgraded file, laid out.
func upgraded(t *testing.T, src []byte) ([]byte, []config.Change) {
	t.Helper()
	out, changes, diags := oldForms().Upgrade(src, "x.hcl")
	if !diags.HasErrors() {
		out, diags = config.Format(out, "x.hcl")
	}
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, out)
	}
	return out, changes
}

func TestUpgrade(t *testing.T) {
	a, err := txtar.ParseFile(filepath.Join("testdata", "upgrade.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range a.Files {
		files[f.Name] = f.Data
	}
	for name, src := range files {
		name, is := strings.CutSuffix(name, ".hcl")
		if !is {
			continue
		}
		for _, src := range [][]byte{src, bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))} {
			out, changes := upgraded(t, src)
			if d := cmp.Diff(string(files[name+".want"]), string(out)); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			var lines []string
			for _, c := range changes {
				text := fmt.Sprintf("%d: %s → %s", c.Line, c.Was, c.Now)
				if c.Left != "" {
					text = fmt.Sprintf("%d: %s: left", c.Line, strings.TrimSpace(c.Was))
				}
				lines = append(lines, text+"\n")
			}
			slices.SortStableFunc(lines, func(a, b string) int { // within a line, by what it says
				if na, _, _ := strings.Cut(a, ":"); strings.HasPrefix(b, na+":") {
					return strings.Compare(a, b)
				}
				return 0
			})
			if d := cmp.Diff(string(files[name+".changes"]), strings.Join(lines, "")); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}

// comments are a file's comments.
func comments(src []byte) (all []string) {
	tokens, _ := hclsyntax.LexConfig(src, "x.hcl", hcl.InitialPos)
	for _, tok := range tokens {
		if tok.Type == hclsyntax.TokenComment {
			all = append(all, strings.TrimSpace(string(tok.Bytes)))
		}
	}
	return all
}

// FuzzUpgrade: what an upgrade writes parses, has the comments that were there, and is upgraded already.
func FuzzUpgrade(f *testing.F) {
	a, err := txtar.ParseFile(filepath.Join("testdata", "upgrade.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range a.Files {
		f.Add(file.Data)
	}
	for _, s := range []string{
		"target {\n  a = 1 /* x */ \n /* y */ cpu = \"x\" /* z */\n}", "target{cpu=\"a b\"}", "target {\n cpu = \"x\"\n # end\n}", "target \n", "target { cpu = \"$${x}\" }",
		"step \"measure\" \"m\" {\nmatrix = { a = [], \"a-b\" = [] }\nargv = [\"{a}{a-b}\", <<A\n{a}\nA\n, \"%{ for x in \"{a}\" }{a}%{ endfor }\", \"$$${a}\", \"$$$${a}\"]\n}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		out, _, diags := oldForms().Upgrade(src, "x.hcl")
		if diags.HasErrors() {
			if !bytes.Equal(src, out) {
				t.Fatal("changed in spite of errors")
			}
			if strings.Contains(diags[0].Summary, "cannot be upgraded") {
				t.Fatalf("%v\n%s", diags, src)
			}
			return
		}
		if d := cmp.Diff(comments(src), comments(out)); d != "" {
			t.Fatalf("comments: %s\n%s", d, out)
		}
		again, changes, diags := oldForms().Upgrade(out, "x.hcl")
		if diags.HasErrors() || !bytes.Equal(again, out) {
			t.Fatalf("upgraded again: %v\n%s\n%s", diags, out, again)
		}
		for _, c := range changes {
			if c.Left == "" {
				t.Fatalf("%+v of what was upgraded\n%s", c, out)
			}
		}
	})
}
