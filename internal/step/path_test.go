package step_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

func out(name string) addrs.Output {
	return addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: "patch", Name: name}}, Name: "dir"}
}

func request(arg string, v cty.Value, used ...addrs.Output) step.Request {
	r := step.Request{Args: map[string]cty.Value{arg: v}}
	for _, o := range used {
		r.Uses = append(r.Uses, step.OutputRefOf(cty.GetAttrPath(arg), o))
	}
	return r
}

func TestPathInRoot(t *testing.T) {
	a, b := out("a"), out("ab")
	for _, c := range []struct {
		value string
		used  []addrs.Output
		at    string
		from  string // artifact, or the path of the host
	}{
		{a.Path(), []addrs.Output{a}, "steps/patch/a.dir", a.String()},
		{a.Path() + "/x//y/", []addrs.Output{a}, "steps/patch/a.dir/x/y", a.String()},
		// not below a, whose path begins alike
		{b.Path() + "/x", []addrs.Output{a, b}, "steps/patch/ab.dir/x", b.String()},
		{"src/x.c", nil, "in/arg/x.c", "src/x.c"},
		{"/abs/dir/", nil, "in/arg/dir", "/abs/dir"},
		{"modules/m/../../src", nil, "in/arg/src", "src"},
		{".", nil, "in/arg", "."},
		{"..", nil, "in/arg", ".."},
		{"../up", nil, "in/arg/up", "../up"},
		{"", nil, "", ""},
	} {
		p := request("arg", cty.StringVal(c.value), c.used...).Path("arg", c.value)
		at, in, from := p.InRoot(), p.Input(), ""
		switch {
		case in.Artifact != nil:
			from = in.Artifact.String()
		case in.Host != nil:
			from = in.Host.Path
		}
		if at != c.at || from != c.from || p.IsSet() && !strings.HasPrefix(at, in.Path) {
			t.Errorf("%q: at %q from %q as %+v, want %q from %q", c.value, at, from, in, c.at, c.from)
		}
	}
}

func TestPathAs(t *testing.T) {
	a := out("a")
	for _, c := range []struct{ value, artifact, sub, host string }{
		{a.Path(), a.String(), "", ""},
		{a.Path() + "/lib/x.so", a.String(), "lib/x.so", ""},
		{a.Path() + "/", a.String(), ".", ""},
		{"libs", "", "", "libs"},
	} {
		p := request("arg", cty.StringVal(c.value), a).Path("arg", c.value)
		in := p.As("push/x")
		artifact, host := "", ""
		if in.Artifact != nil {
			artifact = in.Artifact.String()
		}
		if in.Host != nil {
			host = in.Host.Path
		}
		if below := p.Below("y/z"); below.Path != p.InRoot()+"/y/z" || below.Host != nil &&
			below.Host.Path != "libs/y/z" || below.Artifact != nil && !strings.HasSuffix(below.Sub, "y/z") {
			t.Errorf("%q: below is %+v", c.value, below)
		}
		if in.Path != "push/x" || artifact != c.artifact || in.Sub != c.sub || host != c.host {
			t.Errorf("%q: %+v", c.value, in)
		}
	}
}

func TestUnexpanded(t *testing.T) {
	t.Parallel()
	for value, part := range map[string]string{
		"$HOME/model": "$HOME", "~/model": "~", "~me/model": "~me", "a/${SDK_ROOT}/lib": "${SDK_ROOT}",
		"model": "", "a~/b": "", "price$": "", "a/~": "", "$lower/x": "",
	} {
		got := step.Unexpanded(value)
		if (got == "") != (part == "") || !strings.Contains(got, part) {
			t.Errorf("%q: %q, want %q in it", value, got, part)
		}
	}
}
