package langserver

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexmage/hexmage/internal/config"
)

// The server offers the blocks and arguments that config accepts.
func TestLanguage(t *testing.T) {
	var meta []string
	for _, w := range language()["step{"] {
		if !w.block {
			meta = append(meta, w.Name)
		}
	}
	if want := config.MetaArguments(); !slices.Equal(meta, want) {
		t.Errorf("meta-arguments are %q, not %q", meta, want)
	}
	refused := func(text string) bool {
		fsys := fstest.MapFS{"pipelines/p.hcl": {Data: []byte(text)}, "pipelines/p.hexvars.hcl": {}}
		_, diags := config.Load(fsys, "p", nil)
		for _, d := range diags {
			if d.Summary == "Unknown argument" || d.Summary == "Unknown block" {
				return true
			}
		}
		return false
	}
	labels := map[string]string{"locals": "", "pipeline": "", "validation": "", "step": ` "exec" "x"`}
	block := func(name, inner string) string {
		of, ok := labels[name]
		if !ok {
			of = ` "x"`
		}
		return name + of + " {\n" + inner + "\n}\n"
	}
	in := func(name, inner string) string {
		parent, name, nested := strings.Cut(name, "/")
		if !nested {
			return block(parent, inner)
		}
		return block(parent, block(name, inner))
	}
	for key, words := range language() {
		name, isBody := strings.CutSuffix(key, "{")
		if !isBody || name == "" {
			continue
		}
		for _, w := range words {
			text := in(name, w.Name+" = null")
			if w.block {
				text = in(name, block(w.Name, ""))
			}
			if refused(text) || w.Doc == "" {
				t.Errorf("config rejects, or %q does not document\n%s", w.Doc, text)
			}
		}
		switch name {
		case "locals", "target", "toolchain", "step", "module": // have arguments of any name
		default:
			if text := in(name, "no_such = null"); !refused(text) {
				t.Errorf("config accepts\n%s", text)
			}
		}
	}
	for _, w := range language()["{"] {
		if text := block(w.Name, ""); refused(text) || w.Doc == "" {
			t.Errorf("config rejects, or %q does not document\n%s", w.Doc, text)
		}
	}
}
