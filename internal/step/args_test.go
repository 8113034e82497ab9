package step_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

func out(name string) addrs.Output {
	return addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: "patch", Name: name}}, Name: "dir"}
}

func request(arg string, v cty.Value, used ...addrs.Output) step.Request {
	r := step.Request{Args: cty.ObjectVal(map[string]cty.Value{arg: v})}
	for _, o := range used {
		r.Uses = append(r.Uses, step.Use{Path: cty.GetAttrPath(arg), Output: o})
	}
	return r
}

func TestScalars(t *testing.T) {
	for _, c := range []struct {
		v    cty.Value
		s    string
		n    int
		flag bool
	}{
		{cty.StringVal("x"), "x", -1, false},
		{cty.NumberIntVal(64), "64", 64, false},
		{cty.MustParseNumberVal("0.1"), "0.1", 0, false},
		{cty.MustParseNumberVal("1e20"), "100000000000000000000", 9223372036854775807, false},
		{cty.True, "true", -1, true},
		{cty.NullVal(cty.String), "", -1, false},
		{cty.UnknownVal(cty.Number), "", -1, false},
		{cty.ListValEmpty(cty.String), "", -1, false},
	} {
		r := request("a", c.v)
		if s, n, b := r.String("a"), r.Int("a", -1), r.Bool("a"); s != c.s || n != c.n || b != c.flag {
			t.Errorf("%#v: %q, %d, %v", c.v, s, n, b)
		}
		if r.String("b") != "" || r.Int("b", 3) != 3 || r.Bool("b") || r.Strings("b") != nil || r.Map("b") != nil {
			t.Errorf("an argument that is not there is something")
		}
	}
	if (step.Request{}).String("a") != "" {
		t.Error("no arguments at all")
	}
}

func TestCollections(t *testing.T) {
	list := cty.TupleVal([]cty.Value{cty.StringVal("b"), cty.NullVal(cty.String), cty.StringVal("a")})
	if d := cmp.Diff([]string{"b", "a"}, request("a", list).Strings("a")); d != "" {
		t.Error(d)
	}
	object := cty.ObjectVal(map[string]cty.Value{"x": cty.StringVal("1"), "y": cty.NullVal(cty.String)})
	if d := cmp.Diff(map[string]string{"x": "1"}, request("a", object).Map("a")); d != "" {
		t.Error(d)
	}
}

func TestPlace(t *testing.T) {
	a, b := out("a"), out("ab")
	for _, c := range []struct {
		value string
		used  []addrs.Output
		at    string
		from  string // artifact, or the path of the host
	}{
		{a.Path(), []addrs.Output{a}, "steps/patch/a/dir", a.String()},
		{a.Path() + "/x//y/", []addrs.Output{a}, "steps/patch/a/dir/x/y", a.String()},
		{b.Path() + "/x", []addrs.Output{a, b}, "steps/patch/ab/dir/x", b.String()}, // not below a, whose path begins alike
		{"src/x.c", nil, "in/arg/x.c", "src/x.c"},
		{"/abs/dir/", nil, "in/arg/dir", "/abs/dir/"},
		{".", nil, "in/arg", "."},
		{"..", nil, "in/arg", ".."},
		{"../up", nil, "in/arg/up", "../up"},
		{"", nil, "", ""},
	} {
		at, in := request("arg", cty.StringVal(c.value), c.used...).Place("arg")
		from := ""
		for _, i := range in {
			if i.Artifact != nil {
				from = i.Artifact.String()
			} else {
				from = i.Host.Path
			}
		}
		if at != c.at || from != c.from || len(in) > 1 {
			t.Errorf("%q: at %q from %q (%d inputs), want %q from %q", c.value, at, from, len(in), c.at, c.from)
		}
	}
	all := cty.ListVal([]cty.Value{cty.StringVal("a/x"), cty.StringVal("b/x"), cty.StringVal(a.Path())})
	paths, in := request("arg", all, a).PlaceAll("arg")
	if d := cmp.Diff([]string{"in/arg/0/x", "in/arg/1/x", "steps/patch/a/dir"}, paths); d != "" || len(in) != 3 {
		t.Errorf("%s, %d inputs", d, len(in))
	}
}

func TestInput(t *testing.T) {
	a := out("a")
	for _, c := range []struct{ value, artifact, sub, host string }{
		{a.Path(), a.String(), "", ""},
		{a.Path() + "/lib/x.so", a.String(), "lib/x.so", ""},
		{a.Path() + "/", a.String(), ".", ""},
		{"libs", "", "", "libs"},
	} {
		in := request("arg", cty.StringVal(c.value), a).Input("arg", c.value, "push/x")
		artifact, host := "", ""
		if in.Artifact != nil {
			artifact = in.Artifact.String()
		}
		if in.Host != nil {
			host = in.Host.Path
		}
		if in.Path != "push/x" || artifact != c.artifact || in.Sub != c.sub || host != c.host {
			t.Errorf("%q: %+v", c.value, in)
		}
	}
}
