package addrs_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/addrs"
)

func TestPathsOfCopiesDiffer(t *testing.T) {
	long := strings.Repeat("a/", 300)
	keys := []string{"", ".", "..", "a", "a.c", "src/a.c", "src=2fa.c", "src_a.c", "=", "ä", "a b", "A", "~", long,
		long + "b", long[2:]}
	seen := map[string]string{}
	for _, k := range keys {
		p := addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: "exec", Name: "x"}, Key: k, Keyed: true},
			Name: "o"}.Path()
		name, ok := strings.CutPrefix(p, "steps/exec/x.o/")
		if !ok || name == "" || name == "." || name == ".." || strings.Contains(name, "/") || len(name) > 255 {
			t.Errorf("key %.40q is at %q", k, p)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("keys %.40q and %.40q are both at %s", k, other, p)
		}
		seen[name] = k
	}
}
