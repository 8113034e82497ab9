package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/planner"
)

// Calls that multiply end in an error with their place.
func TestModuleLimits(t *testing.T) {
	calls := func(source string, n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "module \"m%d\" {\n  source = %q\n}\n", i, source)
		}
		return []byte(b.String())
	}
	copies := func(source string, n int) []byte {
		return fmt.Appendf(nil, "module \"m\" {\n  source   = \"../"+source+
			"\"\n  for_each = toset([for i in range(%d) : tostring(i)])\n}\n", n)
	}
	checks := func(n int) []byte {
		return fmt.Appendf(nil, "check \"c\" {\n  for_each = toset([for i in range(%d) : tostring(i)])\n  condition "+
			"= true\n  error_message = \"\"\n}\n", n)
	}
	for name, tt := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"written": {fstest.MapFS{"pipelines/x.hcl": {Data: calls("../a", 20)}, "a/a.hcl": {Data: calls("../b", 20)},
			"b/b.hcl": {Data: calls("../c", 20)}, "c/c.hcl": {}}, "more than 2000 module calls"},
		"copies": {fstest.MapFS{"pipelines/x.hcl": {Data: copies("a", 1000)}, "a/a.hcl": {Data: copies("b", 20)},
			"b/b.hcl": {}}, "the limit of 20000 module instances"},
		"checks": {fstest.MapFS{"pipelines/x.hcl": {Data: copies("a", 1000)}, "a/a.hcl": {Data: checks(11)}},
			"the limit of 10000 checks"},
		"enough": {fstest.MapFS{"pipelines/x.hcl": {Data: copies("a", 1000)}, "a/a.hcl": {Data: copies("b", 19)},
			"b/b.hcl": {}}, ""},
	} {
		_, _, cfg, diags := loadAndBuild(tt.files, "x", planner.Options{Kinds: kindsForTest(), Workspace: t.TempDir()})
		if got := config.Render(diags, cfg.Files, 0, false); diags.HasErrors() != (tt.want != "") ||
			!strings.Contains(got, tt.want) || tt.want != "" && !strings.Contains(got, ".hcl line ") {
			t.Errorf("%s: %s, want %q", name, got, tt.want)
		}
	}
}
