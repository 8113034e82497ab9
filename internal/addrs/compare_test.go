package addrs_test

import (
	"cmp"
	"testing"

	"github.com/hexmage/hexmage/internal/addrs"
)

// Every pair of awkward addresses is ordered as their spellings are.
func TestCompare(t *testing.T) {
	names := []string{"a", "ab", "a-b", "a_b", "b", "B"}
	var all []addrs.Instance
	for _, kind := range []string{"exec", "exec-x", "exe", addrs.Toolchain, "fetch"} {
		for _, name := range names {
			for _, m := range []addrs.Module{"module.a", `module.a["b"]`, `module.a["b"].module.c`, "module.ab"} {
				all = append(all, addrs.Instance{Step: addrs.Step{Module: m, Kind: kind, Name: name}})
			}
			s := addrs.Step{Kind: kind, Name: name}
			all = append(all, addrs.Instance{Step: s})
			for _, key := range append(names, "", " ", "!", "\"", "a\"", "a ", "a!", "a\\", "\x00", "ä", "\xff",
				"src/a.c", "src/a", "~", "\x7f") {
				all = append(all, addrs.Instance{Step: s, Key: key, Keyed: true})
			}
		}
	}
	for i, a := range all {
		for _, b := range all[:i+1] {
			if got, want := addrs.Compare(a, b), cmp.Compare(a.String(), b.String()); got != want ||
				addrs.Compare(b, a) != -want {
				t.Fatalf("%s and %s: %d, want %d", a, b, got, want)
			}
			for _, n := range []string{"o", "o2"} {
				x, y := addrs.Output{Instance: a, Name: n}, addrs.Output{Instance: b, Name: "o"}
				if got, want := addrs.CompareOutputs(x, y) < 0, x.String() < y.String(); got != want {
					t.Fatalf("%s less than %s: %v", x, y, got)
				}
			}
		}
	}
}
