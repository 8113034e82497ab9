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
	for _, w := range metaArguments() {
		meta = append(meta, w.Name)
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
	for name, b := range language() {
		for _, inner := range b.blocks {
			if language()[inner].doc == "" && language()[name+"/"+inner].doc == "" {
				t.Errorf("%q has an unknown block %s", name, inner)
			}
			if text := in(name, block(inner, "")); name != "" && refused(text) {
				t.Errorf("config rejects\n%s", text)
			}
		}
		for _, a := range b.arguments {
			if a.Doc == "" {
				t.Errorf("%s of %s has no documentation", a.Name, name)
			}
			if text := in(name, a.Name+" = null"); refused(text) {
				t.Errorf("config rejects\n%s", text)
			}
		}
		switch name {
		case "", "locals", "target", "toolchain", "step", "module": // have arguments of any name
		default:
			if text := in(name, "no_such = null"); !refused(text) {
				t.Errorf("config accepts\n%s", text)
			}
		}
	}
}
