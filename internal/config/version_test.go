package config_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/hexmage/hexmage/internal/config"
)

func TestSetVersion(t *testing.T) {
	files := fstest.MapFS{
		"pipelines/p.hcl": {Data: []byte(`
toolchain "a" { version = "1" }
profile "x" {
  toolchain "a" { version = "2" }
  toolchain "b" {}
}
module "m" { source = "../modules/m" }
`)},
		"modules/m/main.hcl": {Data: []byte(`
module {}
toolchain "a" { description = "the module's" }
toolchain "c" {}
`)},
	}
	p, diags := config.Load(files, "p", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if others := p.SetVersion("a", "3"); others != nil {
		t.Errorf("there is a, and it says there are %q", others)
	}
	for _, b := range []*config.Block{p.Toolchains[0], p.Profiles[0].Toolchains[0], p.Calls[0].Module.Toolchains[0]} {
		attrs, diags := b.Body.JustAttributes()
		if diags.HasErrors() || attrs["version"] == nil {
			t.Errorf("%s at %s: %v, %v", b.At, b.Range, attrs, diags)
			continue
		}
		if v, diags := attrs["version"].Expr.Value(nil); diags.HasErrors() || v.AsString() != "3" {
			t.Errorf("%s at %s: %#v, %v", b.At, b.Range, v, diags)
		}
	}
	if got := p.Calls[0].Module.Toolchains[0].Description; got != "the module's" {
		t.Errorf("its description is %q", got)
	}
	if others := p.SetVersion("d", "3"); !slices.Equal(others, []string{"a", "b", "c"}) {
		t.Errorf("others than d: %q", others)
	}
}
