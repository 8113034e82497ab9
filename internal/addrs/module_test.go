package addrs_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/addrs"
)

func modules() []addrs.Module {
	var root addrs.Module
	aot := root.Call("aot")
	odd := root.Copy("aot", `a.b["c"].module.x`)
	return []addrs.Module{root, aot, aot.Call("ops"), root.Copy("aot", "Alpha7"),
		root.Copy("aot", "Alpha7").Call("ops"), root.Copy("aot", "Beta7").Call("ops"),
		odd, odd.Copy("in", "\"\\"), odd.Copy("in", "\"\\").Call("ops"), root.Call("aot-2")}
}

// Whoever looks from one module at another, and back along what it sees, arrives where it looked; and each way has a
// folder of its own.
func TestSeenFromAnother(t *testing.T) {
	for _, at := range modules() {
		dirs := map[string]addrs.Module{}
		for _, m := range modules() {
			rel := m.From(at)
			if got := at.Seen(rel); got != m {
				t.Errorf("%q seen from %q is %q, which is %q", m, at, rel, got)
			}
			if (rel == "") != (m == at) {
				t.Errorf("%q seen from %q is %q", m, at, rel)
			}
			dir := addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Module: rel, Kind: "exec", Name: "x"}},
				Name: "o"}.Path()
			if other, ok := dirs[dir]; ok {
				t.Errorf("seen from %q, %q and %q are both at %s", at, m, other, dir)
			}
			dirs[dir] = m
		}
	}
	a, b := addrs.Module("").Copy("aot", "a"), addrs.Module("").Copy("aot", "b")
	if x, y := addrs.Module("").From(a.Call("in")), addrs.Module("").From(b.Call("in")); x != y || x != "outer.2" {
		t.Errorf("two copies see the pipeline as %q and %q", x, y)
	}
	if x, y := a.Call("in").From(a), b.Call("in").From(b); x != y {
		t.Errorf("two copies see what they call as %q and %q", x, y)
	}
}

func TestModulesAreRead(t *testing.T) {
	for _, m := range modules() {
		for _, rest := range []string{"step.exec.x", "exec.x"} {
			got, err := addrs.ParseStep(m.Of(rest))
			if err != nil || got != (addrs.Step{Module: m, Kind: "exec", Name: "x"}) {
				t.Errorf("%s: %+v, %v", m.Of(rest), got, err)
			}
			for _, key := range []string{"", `["k"]`, `["a[\"b.c\"]"]`} {
				if step, k := addrs.CutKey(m.Of(rest) + key); step != m.Of(rest) || k != key {
					t.Errorf("%s%s is cut into %s and %s", m.Of(rest), key, step, k)
				}
			}
		}
		if m == "" {
			continue
		}
		if got, err := addrs.ParseModule(string(m)); err != nil || got != m {
			t.Errorf("%s: %q, %v", m, got, err)
		}
	}
	for _, bad := range []string{"module.", "module.a[", `module.a["x"`, `module.a[x]`, `module.a["\x"]`,
		"module.a.b", "module.1", `module.a["x"]y`, "outer.1", "outer.1.module.a", "module.a.outer.1"} {
		if m, err := addrs.ParseModule(bad); err == nil {
			t.Errorf("%s is taken for %q", bad, m)
		}
		if st, err := addrs.ParseStep(bad + ".step.exec.x"); err == nil && st.Module != "" {
			t.Errorf("%s is taken for %+v", bad, st)
		}
	}
}

func TestCovers(t *testing.T) {
	big, small := `module.aot["big"]`, `module.aot["small"]`
	steps := []string{"exec.x", "toolchain.llvm", big + ".exec.x", small + ".exec.x", big + ".exec.y",
		big + ".module.in.exec.x", "module.other.exec.x", big + `.module.of["a"].exec.x`,
		small + `.module.of["a"].exec.x`, small + `.module.of["b"].exec.x`}
	for written, want := range map[string]string{
		"exec.x":                 "exec.x",
		big + ".exec.x":          big + ".exec.x",
		"module.aot.step.exec.x": big + ".exec.x " + small + ".exec.x",
		"module.aot": big + ".exec.x " + small + ".exec.x " + big + ".exec.y " + big +
			".module.in.exec.x " + big + `.module.of["a"].exec.x ` + small + `.module.of["a"].exec.x ` + small +
			`.module.of["b"].exec.x`,
		big: big + ".exec.x " + big + ".exec.y " + big + ".module.in.exec.x " + big +
			`.module.of["a"].exec.x`,
		small + ".module.of":        small + `.module.of["a"].exec.x ` + small + `.module.of["b"].exec.x`,
		`module.aot.module.of["a"]`: big + `.module.of["a"].exec.x ` + small + `.module.of["a"].exec.x`,
		"module.aot.module.in":      big + ".module.in.exec.x",
		"module.ao":                 "",
		"module.aot.exec.z":         "",
		"toolchain.llvm":            "toolchain.llvm",
		`module.aot["b"].exec.x`:    "",
		"module.other.step.exec.x":  "module.other.exec.x",
	} {
		s, err := addrs.ParseStep(written)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, text := range steps {
			at, err := addrs.ParseStep(text)
			if err != nil {
				t.Fatal(err)
			}
			if s.Covers(at) {
				got = append(got, at.Short())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s covers %q, want %q", written, got, want)
		}
	}
}

func TestWritten(t *testing.T) {
	m := addrs.Module("").Copy("aot", "a.b").Call("in").Copy("x", "]")
	if got := m.Written(); got != "module.aot.module.in.module.x" {
		t.Errorf("got %q", got)
	}
}

func FuzzParseModule(f *testing.F) {
	for _, m := range modules() {
		f.Add(string(m))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if m, err := addrs.ParseModule(s); err == nil && string(m) != s {
			t.Errorf("%q is read as %q", s, m)
		}
		if st, err := addrs.ParseStep(s); err == nil {
			if again, err := addrs.ParseStep(st.String()); err != nil && st.Kind != "" &&
				st.Kind != addrs.Toolchain || err == nil && again != st {
				t.Errorf("%q: %+v, then %+v, %v", s, st, again, err)
			}
		}
	})
}
