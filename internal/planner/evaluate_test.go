//go:build unix

package planner_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
)

// TestWorkersPlanTheSame plans with one worker and with several: the plan, what is said and in which order, and what is left of the budget are the same, also
// of what is wrong somewhere in the middle.
func TestWorkersPlanTheSame(t *testing.T) {
	written := func(n int, wrong func(i int) string) string {
		var b strings.Builder
		for i := range n {
			in := ""
			if i >= 100 {
				in = fmt.Sprintf(", step.exec.s%d.outputs.o", i-100)
			}
			fmt.Fprintf(&b, "step \"exec\" \"s%d\" {\n  argv = [\"cc\", \"%s\"%s]\n  output \"o\" { file = \"o%d\" }\n}\n", i, wrong(i), in, i%7)
		}
		return b.String()
	}
	copies := func(step string) string {
		return "step \"exec\" \"a\" {\n  for_each = toset([for i in range(200) : tostring(i)])\n" + step + "\n  output \"o\" { file = \"o${each.key}\" }\n}\n" +
			"step \"exec\" \"b\" {\n  argv = concat([\"ld\"], [for s in step.exec.a : s.outputs.o])\n}\noutput \"all\" { value = [for s in step.exec.a : s.outputs.o] }\n"
	}
	fine := func(int) string { return "x" }
	secret := "variable \"s\" {\n  sensitive = true\n  default = \"\"\n}\nvariable \"k\" {\n  sensitive = true\n  default = \"\"\n}\n"
	work := "locals { many = [for i in range(%d) : \"${i}\"] }\n" + `step "exec" "w" {
  for_each = toset([for i in range(300) : tostring(i)])
  argv     = concat(["cc", each.key], [for m in local.many : m if m == each.key])
}
`
	module := func(argv string) fstest.MapFS {
		return fstest.MapFS{
			"pipelines/x.hcl": {Data: []byte("module \"m\" {\n  source = \"../m\"\n  for_each = toset([for i in range(100) : tostring(i)])\n  n = each.key\n}\nstep \"exec\" \"all\" {\n  argv = concat([\"ld\"], [for m in module.m : m.a])\n}\n")},
			"m/m.hcl": {Data: []byte("variable \"n\" {}\nstep \"exec\" \"c\" {\n  argv = [\"cc\", " + argv + "]\n  output \"o\" { file = \"o\" }\n}\nstep \"exec\" \"a\" {\n  argv = [\"ar\", step.exec.c.outputs.o]\n  output \"a\" { file = \"a\" }\n}\n" +
				"output \"a\" { value = step.exec.a.outputs.a }\n")},
		}
	}
	one := func(text string) fstest.MapFS { return fstest.MapFS{"pipelines/x.hcl": {Data: []byte(text)}} }
	for name, tt := range map[string]struct {
		files fstest.MapFS
		want  string // in what is said
	}{
		"written out":          {one(written(400, fine)), ""},
		"one is wrong":         {one(written(400, func(i int) string { return map[bool]string{true: "${file(\"gone\")}", false: "x"}[i == 40] })), "gone does not exist"},
		"many are wrong":       {one(written(400, func(i int) string { return map[bool]string{true: "${tonumber(\"x\")}", false: "x"}[i%90 == 7] })), "cannot convert"},
		"copies":               {one(copies("  argv = [\"cc\", each.value, \"${basename(each.key)}\"]\n  when = each.key != \"77\"")), ""},
		"some copies":          {one(copies("  argv = [\"cc\", each.value]\n  when = tonumber(each.key) > 100")), ""},
		"a copy is wrong":      {one(copies("  argv = [\"cc\", each.key == \"5\" || each.key == \"555\" ? tonumber(\"x${each.key}\") : 1]")), "x5"},
		"values to wait for":   {one("step \"exec\" \"v\" {\n  argv = [\"date\"]\n  output \"v\" { value = \"v\" }\n}\n" + copies("  argv = [\"cc\", each.key, step.exec.v.outputs.v]")), ""},
		"modules":              {module("var.n"), ""},
		"a module is wrong":    {module("var.n == \"83\" ? tonumber(\"x\") : var.n"), "module.m[\"83\"]"},
		"short secrets":        {one(secret + copies("  argv = [\"cc\"]\n  env = { A = each.key == \"150\" ? var.s : var.k, B = each.key }")), "too short"},
		"within the budget":    {one(fmt.Sprintf(work, 100)), ""},
		"more than the budget": {one(fmt.Sprintf(work, 1000) + written(300, fine)), "more work than is allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			made := func(workers int) (*plan.Plan, string, int64) {
				o := planner.Options{Kinds: kindsForTest(), Workspace: t.TempDir(), Workers: workers, FlagVars: map[string]string{}}
				if strings.Contains(string(tt.files["pipelines/x.hcl"].Data), "sensitive") {
					o.FlagVars = map[string]string{"s": "abc", "k": "def"}
				}
				p, _, cfg, diags := loadAndBuild(tt.files, "x", o)
				if (p == nil) != diags.HasErrors() {
					t.Fatalf("plan %v with %v", p, diags)
				}
				o.Config = cfg
				return p, config.Render(diags, map[string]*hcl.File{}, 200, false), planner.Left(o)
			}
			wantPlan, want, wantLeft := made(1)
			if !strings.Contains(want, tt.want) || tt.want == "" && want != "" {
				t.Fatalf("said:\n%s\nwant %q in it", want, tt.want)
			}
			p, said, left := made(5)
			if said != want {
				t.Errorf("several say:\n%s\none says:\n%s", said, want)
			}
			if left != wantLeft && !strings.Contains(want, "more work") {
				t.Errorf("several leave %d of the budget, one %d", left, wantLeft)
			}
			if !reflect.DeepEqual(wantPlan, p) {
				t.Errorf("another plan (-one +several):\n%s", cmp.Diff(wantPlan, p))
			}
		})
	}
}

// Instances are handed on as the plan has them, in an order in which each comes after what it needs, with the toolchains that a plan has; and nothing more once
// something is wrong.
func TestMade(t *testing.T) {
	const text = `
toolchain "used" { version = "1" }
toolchain "unused" { version = "1" }
step "exec" "a" {
  for_each = toset(["x", "y"])
  argv     = ["${toolchain.used.dir}/cc", each.key]
  output "o" { file = "o" }
}
step "exec" "b" {
  argv       = ["ld", step.exec.a["x"].outputs.o]
  depends_on = [step.exec.c]
}
step "exec" "c" { argv = ["c"] }
`
	made := func(text string, workers int) (*plan.Plan, []*plan.Instance) {
		var told []*plan.Instance
		p, _, _, _ := loadAndBuild(fstest.MapFS{"pipelines/x.hcl": {Data: []byte(text)}}, "x",
			planner.Options{Kinds: kindsForTest(), Workspace: t.TempDir(), Workers: workers, Made: func(more []*plan.Instance) { told = append(told, more...) }})
		return p, told
	}
	for _, workers := range []int{1, 4} {
		p, told := made(text, workers)
		there := map[*plan.Instance]bool{}
		at := map[string]bool{}
		for _, n := range told {
			for _, d := range n.Needs() {
				if !at[d.String()] {
					t.Errorf("%s comes before %s, which it needs", n.At, d)
				}
			}
			if there[n] {
				t.Errorf("%s comes twice", n.At)
			}
			there[n], at[n.At.String()] = true, true
		}
		for _, n := range p.Instances {
			if !there[n] {
				t.Errorf("nobody was told of %s", n.At)
			}
			delete(there, n)
		}
		if len(there) > 0 {
			t.Errorf("told of what the plan does not have: %v", at)
		}
		if p, told := made(text+"step \"exec\" \"d\" { argv = [file(\"gone\")] }\nstep \"exec\" \"e\" {\n  for_each = toset([\"x\"])\n  argv = [\"e\"]\n}\n", workers); p != nil || len(told) > 5 {
			t.Errorf("%d instances, also after a mistake", len(told))
		}
		if p, told := made(text+"step \"exec\" \"d\" { argv = [step.exec.none.outputs.o] }\n", workers); p != nil || len(told) > 0 {
			t.Errorf("%d instances of a pipeline whose references are wrong", len(told))
		}
	}
}
