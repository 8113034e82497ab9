package step_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

type pause struct{ time.Duration }

func (p *pause) UnmarshalText(b []byte) (err error) {
	p.Duration, err = time.ParseDuration(string(b))
	return err
}

type shared struct {
	Flags []string `arg:"flags"`
}

type row struct {
	Name  string             `arg:"name,label"`
	Value float64            `arg:"value,required"`
	When  map[string]float64 `arg:"when"`
}

type everything struct {
	Text   string               `arg:"text,required"`
	Format string               `arg:"format" default:"v2" oneof:"v1 v2"`
	Count  int                  `arg:"count" default:"3" range:"1..10"`
	Part   float64              `arg:"part" range:"0..1"`
	Seed   uint64               `arg:"seed"`
	On     bool                 `arg:"on"`
	Words  []string             `arg:"words,nonull" default:"a b"`
	Maybe  *string              `arg:"maybe"`
	Wait   pause                `arg:"wait"`
	File   step.Path            `arg:"file"`
	Files  []step.Path          `arg:"files"`
	Push   map[string]step.Path `arg:"push"`
	Axes   map[string][]string  `arg:"axes"`
	Any    cty.Value            `arg:"any"`
	Rows   []row                `block:"row"`
	One    *shared              `block:"one"`
	shared
	Hidden string
}

// kindOf and plan of a kind with those arguments, which gives them to got.
func kindOf(got *everything) step.Kind {
	return step.New(step.Schema{}, func(e everything, p *step.Plan) { *got = e })
}

// plan decodes a body as the planner does, and plans.
func plan(t *testing.T, k step.Kind, src string, uses ...step.OutputRef) (step.Planned, hcl.Diagnostics) {
	t.Helper()
	f, diags := hclsyntax.ParseConfig([]byte(src), "p.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	v, diags := hcldec.Decode(f.Body, k.Schema().Args, nil)
	if diags.HasErrors() {
		return step.Planned{}, diags
	}
	return k.Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "all", Name: "x"}}, Args: v.AsValueMap(),
		Uses: uses, ArgAt: func(name string) (hcl.Range, bool) {
			return hcl.Range{Filename: "count"},
				name == "count"
		}})
}

func TestArguments(t *testing.T) {
	var got everything
	o := out("a")
	use := func(arg string) step.OutputRef { return step.OutputRefOf(cty.GetAttrPath(arg), o) }
	if _, diags := plan(t, kindOf(&got), `
text  = 12
seed  = 18446744073709551615
on    = true
words = ["x", "y"]
maybe = ""
wait  = "90s"
file  = "steps/patch/a.dir/x"
files = ["b", "steps/patch/a.dir", null]
push  = { m = "f", n = null }
axes  = { s = ["1", "2"] }
any   = [1]
flags = ["-O2"]
row "speed" {
  value = 1.5
  when  = { n = 2 }
}
row "other" { value = 2 }
one { flags = ["-g"] }
`, use("file"), use("files")); diags.HasErrors() {
		t.Fatal(diags)
	}
	empty := ""
	want := everything{
		Text: "12", Format: "v2", Count: 3, Seed: 1<<64 - 1, On: true, Words: []string{"x", "y"}, Maybe: &empty,
		Wait: pause{90 * time.Second},
		Axes: map[string][]string{"s": {"1", "2"}},
		Rows: []row{{"speed", 1.5, map[string]float64{"n": 2}}, {Name: "other", Value: 2}},
		One:  &shared{[]string{"-g"}}, shared: shared{[]string{"-O2"}},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(everything{}),
		cmpopts.IgnoreFields(everything{}, "File", "Files", "Push", "Any")); d != "" {
		t.Error(d)
	}
	if !got.Any.RawEquals(cty.TupleVal([]cty.Value{cty.NumberIntVal(1)})) || len(got.Push) != 1 ||
		got.Push["m"].Host() != "f" || len(got.Files) != 2 {
		t.Errorf("%#v, %v, %v", got.Any, got.Push, got.Files)
	}
	for i, c := range []struct {
		p         step.Path
		at, host  string
		input, as action.Input
		ofOutput  bool
	}{
		{got.File, "steps/patch/a.dir/x", "", action.Input{Path: o.Path(), Artifact: &o},
			action.Input{Path: "to", Artifact: &o, Sub: "x"}, true},
		{got.Files[0], "in/files/0/b", "b", action.Input{Path: "in/files/0/b", Host: &action.HostPath{Path: "b"}},
			action.Input{Path: "to", Host: &action.HostPath{Path: "b"}}, false},
		{got.Files[1], "steps/patch/a.dir", "", action.Input{Path: o.Path(), Artifact: &o},
			action.Input{Path: "to", Artifact: &o}, true},
	} {
		made, ofOutput := c.p.Output()
		if d := cmp.Diff([]action.Input{c.input, c.as}, []action.Input{c.p.Input(), c.p.As("to")}); d != "" ||
			c.p.InRoot() != c.at || c.p.Host() != c.host || ofOutput != c.ofOutput || ofOutput && made != o {
			t.Errorf("%d: %s at %q of %q: %s", i, c.p, c.p.InRoot(), c.p.Host(), d)
		}
	}
	// What is not set, or null, is the default.
	if _, diags := plan(t, kindOf(&got), `text = ""
count = null
format = ""
words = []`); diags.HasErrors() {
		t.Fatal(diags)
	}
	if got.Count != 3 || got.Format != "v2" || got.Maybe != nil || got.One != nil || got.File.IsSet() ||
		got.Rows != nil || !cmp.Equal(got.Words, []string{"a", "b"}) {
		t.Errorf("%+v", got)
	}
	if in := got.File.Input(); in != (action.Input{}) || got.File.InRoot() != "" {
		t.Errorf("a path that is not set is the input %+v", in)
	}
}

func TestWrongArguments(t *testing.T) {
	for src, want := range map[string]string{
		`count = 0`:                         "count is 0. Use a number from 1 to 10.",
		`count = 1.5`:                       "count is 1.5. Use a whole number.",
		`count = 1e30`:                      "Use a number from 1 to 10",
		`seed = -1`:                         "seed is -1. Use a whole number.",
		`part = 1.01`:                       "part is 1.01. Use a number from 0 to 1.",
		`format = "v3"`:                     `format is "v3". Use v1 or v2.`,
		`words = ["a", null]`:               "words[1] of step.all.x is null",
		`wait = "soon"`:                     `wait is "soon": time: invalid duration`,
		"row \"a\" {\n value = \"fast\"\n}": "number",
		"row \"a\" {\n}":                    `"value" is required`,
		`counts = 1`:                        `"counts" is not expected`,
	} {
		var got everything
		planned, diags := plan(t, kindOf(&got), "text = \"\"\n"+src)
		if !diags.HasErrors() || !strings.Contains(diags.Error(), want) || planned.Specs != nil || got.Count != 0 {
			t.Errorf("%s: %v, want %s", src, diags, want)
		}
		if strings.HasPrefix(src, "count ") && diags[0].Subject.Filename != "count" {
			t.Errorf("%s: said at %v", src, diags[0].Subject)
		}
	}
}

// The same struct is what people read.
func TestArgumentsForPeople(t *testing.T) {
	k := step.New(step.Schema{ArgDocs: map[string]string{"count": "How many.", "row": "A row."}},
		func(everything, *step.Plan) {})
	byName := map[string]step.Argument{}
	var names []string
	for _, a := range k.Schema().Arguments {
		byName[a.Name] = a
		names = append(names, a.Name)
	}
	if got := strings.Join(names, " "); got != "any axes count file files flags format maybe on one part push row "+
		"seed text wait words" {
		t.Error(got)
	}
	for _, want := range []step.Argument{
		{Name: "count", Type: "number", Default: "3", Values: "1 to 10", Doc: "How many."},
		{Name: "row", Type: `blocks "NAME" { value (number, required), when (map(number)) }`, Doc: "A row."},
		{Name: "one", Type: "block { flags (list(string)) }"},
		{Name: "text", Type: "string", Required: true},
		{Name: "format", Type: "string", Default: "v2", Values: "v1 or v2", Choices: []string{"v1", "v2"}},
		{Name: "push", Type: "map(string)"},
		{Name: "axes", Type: "map(list(string))"},
		{Name: "wait", Type: "string"},
		{Name: "any", Type: "any"},
	} {
		if d := cmp.Diff(want, byName[want.Name], cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	}
}
