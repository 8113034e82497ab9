package langserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexmage/hexmage/internal/config"
)

// What the server says of blocks is what config reads: every name is taken, and one that is none is not.
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
	in := func(b block, inner string) string {
		labels := strings.Repeat(` "x"`, b.labels)
		text := fmt.Sprintf("%s%s {\n%s\n}\n", b.name, labels, inner)
		if b.name == "validation" {
			return "variable \"v\" {\n" + text + "}\n"
		}
		return text
	}
	for _, b := range blocks() {
		if b.doc == "" {
			t.Errorf("%s is not explained", b.name)
		}
		for _, a := range b.arguments {
			if a.Doc == "" {
				t.Errorf("%s of %s is not explained", a.Name, b.name)
			}
			if text := in(b, a.Name+" = null"); refused(text) {
				t.Errorf("refused is\n%s", text)
			}
		}
		for _, name := range b.blocks {
			inner, _ := blockNamed(name)
			if text := in(b, in(inner, "")); name != "validation" && refused(text) {
				t.Errorf("refused is\n%s", text)
			}
		}
		switch b.name {
		case "locals", "target", "toolchain", "step", "module": // have arguments of any name
		default:
			if text := in(b, "no_such = null"); !refused(text) {
				t.Errorf("not refused is\n%s", text)
			}
		}
	}
	for _, b := range blocksOfSteps() {
		for _, a := range b.arguments {
			if text := "step \"exec\" \"x\" {\n" + in(b, a.Name+" = \"x\"") + "}\n"; refused(text) {
				t.Errorf("refused is\n%s", text)
			}
		}
	}
	for _, name := range topLevel() {
		if b, ok := blockNamed(name); !ok || refused(in(b, "")) {
			t.Errorf("there is no block %s", name)
		}
	}
}
