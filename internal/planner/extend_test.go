package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/plan/plantest"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/step"
)

// lister makes an action for each file of a tree, and has hints.
type lister struct {
	Source string `arg:"source,required"`
	Flag   string `arg:"flag"`
}

func (l lister) plan(p *step.Plan) {
	var tree *addrs.Output
	for _, u := range p.Uses {
		tree = u.Output
	}
	p.Tree("dir")
	p.Await([]action.Input{{Path: "src", Artifact: tree}}, func(p *step.Plan, found action.Listing) error {
		if len(found["src"]) == 0 {
			return fmt.Errorf("no files in %s", l.Source)
		}
		var parts []action.Input
		for _, f := range found["src"] {
			a := p.Action(f, "", "list", l.Flag, f).In(action.Input{Path: "src/" + f, Artifact: tree, Sub: f})
			parts = append(parts, a.Out("o").As(f))
		}
		p.Tree("dir", parts...)
		return nil
	})
	p.Explain(func(spec string, output []byte) []string {
		return []string{fmt.Sprintf("%s with %q said %s", spec, l.Flag, output)}
	})
}

const waits = `
step "patch" "src" { source = "src" }
step "exec" "probe" {
  argv = ["probe"]
  output "flag" { value = "flag" }
}
step "list" "now" {
  source  = step.patch.src.outputs.dir
  timeout = "5m"
}
step "list" "later" {
  for_each = toset(["a", "b"])
  source   = step.patch.src.outputs.dir
  flag     = "${each.key}${step.exec.probe.outputs.flag}"
}
step "exec" "echo" {
  argv = ["echo", step.exec.probe.outputs.flag]
}
module "m" {
  source = "../m"
  flag   = step.exec.probe.outputs.flag
}
output "dir" { value = step.list.now.outputs.dir }
output "flag" { value = "it is ${step.exec.probe.outputs.flag}" }
check "flag" {
  condition     = step.exec.probe.outputs.flag == "-g"
  error_message = "It is ${step.exec.probe.outputs.flag}."
}
check "known" {
  condition     = 1 > 2
  error_message = "It is ${1 + 1}."
}
`

func waiting(t *testing.T) (*plan.Plan, *planner.Resolver) {
	t.Helper()
	kinds := kindsForTest()
	kinds["list"] = step.New(step.Schema{Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree}}}, lister.plan)
	files := fstest.MapFS{"pipelines/p.hcl": {Data: []byte(waits)}, "m/m.hcl": {Data: []byte(`variable "flag" {}
step "patch" "in" { source = "src" }
step "list" "in" {
  source = step.patch.in.outputs.dir
  flag   = var.flag
}
`)}}
	p, x, _, diags := loadAndBuild(files, "p", planner.Options{Kinds: kinds, Workspace: t.TempDir()})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p, x
}

func listed() action.Listing { return action.Listing{"src": {"a.c", "b.c"}} }

func flagIs(text string) map[addrs.Output][]byte {
	return map[addrs.Output][]byte{{Instance: at("exec.probe"), Name: "flag"}: []byte(text)}
}

func TestExtenderIsOne(t *testing.T) {
	p, x := waiting(t)
	plantest.Resolver(t, "planner.Resolver", p, x, plan.ResolvedInputs{Values: flagIs("-g\n"), Listing: listed()})
}

// What waits for values may wait for a listing then, and is planned with both; hints are those of the arguments as
// they are then.
func TestExtendTwice(t *testing.T) {
	p, x := waiting(t)
	later := addrs.Instance{Step: addrs.Step{Kind: "list", Name: "later"}, Key: "b", Keyed: true}
	if n := p.Instance(later); n.Waits != plan.ForValues || n.Explains {
		t.Errorf("at first: %+v", n)
	}
	first, err := x.ExtendInstance(later, plan.ResolvedInputs{Values: flagIs("1")})
	if err != nil || first.Waits != plan.ForListing || len(first.Await) != 1 || !first.Explains ||
		!strings.Contains(first.Deferred, "files in step.patch.src.outputs.dir") {
		t.Fatalf("with values: %+v, %v", first, err)
	}
	for i := range 3 { // nothing is kept of what was asked
		known := plan.ResolvedInputs{Values: flagIs(fmt.Sprint(i)), Listing: listed()}
		got, err := x.ExtendInstance(later, known)
		if err != nil || len(got.Specs) != 2 ||
			!slices.Equal(got.Specs[1].Args, []string{"list", fmt.Sprint("b", i), "b.c"}) ||
			len(got.Outputs["dir"].Parts) != 2 {
			t.Errorf("with all: %+v, %v", got, err)
		}
		if hints := x.Explain(later, known, "b.c", []byte("no")); !slices.Equal(hints,
			[]string{fmt.Sprintf(`b.c with "b%d" said no`, i)}) {
			t.Errorf("hints %q", hints)
		}
	}
	now, err := x.ExtendInstance(at("list.now"), plan.ResolvedInputs{Listing: listed()})
	if err != nil || now.Specs[0].Timeout != now.Timeout || now.Timeout == 0 {
		t.Errorf("what is planned of a listing lacks the step's timeout: %+v, %v", now, err)
	}
	for what, c := range map[string]struct {
		at    addrs.Instance
		known plan.ResolvedInputs
		want  string
	}{
		"another tree": {at("list.now"), plan.ResolvedInputs{Listing: action.Listing{"other": nil}},
			"the list of files in src is missing"},
		"no files": {at("list.now"), plan.ResolvedInputs{Listing: action.Listing{"src": nil}},
			"no files in steps/patch/src.dir"},
		"no values": {later, plan.ResolvedInputs{Listing: listed()},
			`step.list.later["b"]: the value of step.exec.probe.outputs.flag is missing`},
		"nothing": {at("patch.src"), plan.ResolvedInputs{}, "step.patch.src: the pipeline is newer"},
	} {
		if _, err := x.ExtendInstance(c.at, c.known); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if hints := x.Explain(at("patch.src"), plan.ResolvedInputs{}, "", nil); hints != nil {
		t.Errorf("hints of a kind that has none: %q", hints)
	}
}

// Checks that no step has to do with are settled with the plan.
func TestSettledChecks(t *testing.T) {
	p, x := waiting(t)
	for _, c := range p.Checks {
		switch c.At {
		case "check.known":
			if c.Settled == nil || !c.Settled.Known || c.Settled.Passed || c.Settled.Message != "It is 2." {
				t.Errorf("%+v", c)
			}
		case "check.flag":
			v, err := x.ExtendCheck(c.At, plan.ResolvedInputs{Values: flagIs("-O")})
			if err != nil || !v.Known || v.Passed ||
				v.Message != "It is -O." {
				t.Errorf("%+v, %v", v, err)
			}
		default:
			t.Errorf("%s is not asked for", c.At)
		}
	}
}
