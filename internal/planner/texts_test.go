package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/hexmage/hexmage/internal/plan"
)

// What is written out gets the values that HCL gives it: the same arguments, made by a function, make the same plan. Lists stand in <[ ]>, a text in <( )>.
func TestWrittenOut(t *testing.T) {
	const pipeline = `-- m/m.hcl --
variable "n" {}
step "exec" "c" {
  argv = ["cc", var.n]
  output "o" { file = "o" }
}
step "exec" "d" {
  argv = <["cc", step.exec.c.outputs.o]>
  output "o" { tree = "o" }
}
output "d" { value = step.exec.d.outputs.o }
-- pipelines/p.hcl --
variable "v" { default = "v" }
module "m" {
  source   = "../m"
  for_each = toset(["x", "y"])
  n        = each.key
}
step "exec" "file" {
  argv = ["cc"]
  output "o" { file = "a/b" }
  output "t" { tree = "t" }
  output "v" { value = "v" }
}
step "exec" "off" {
  argv = ["cc"]
  when = false
  output "o" { file = "o" }
}
step "exec" "many" {
  for_each = toset(["x", "y"])
  argv     = ["cc", each.key]
  output "o" { file = "o" }
}
step "exec" "plain" {
  argv   = <["cc", "", "a b", "$${x}", step.exec.file.outputs.o, step.exec.file.outputs.o, step.exec.file.outputs.t, step["exec"].file.outputs.t]>
  inputs = <["x", step.exec.file.outputs["o"]]>
  output "o" { file = "o" }
}
step "exec" "waits" {
  argv = <["cc", step.exec.file.outputs.v, step.exec.file.outputs.o]>
}
step "exec" "maybe" {
  argv = <["cc", "-o", coalesce(step.exec.off.outputs.o, "none")]>
}
step "exec" "keyed" {
  argv = <["cc", step.exec.many["x"].outputs.o, "n-${var.v}"]>
}
step "exec" "deep" {
  argv  = <["cc", step.exec.plain.outputs.o]>
  stdin = <(step.exec.plain.outputs.o)>
}
locals {
  all = <[step.exec.plain.outputs.o, step.exec.file.outputs.t, "x"]>
}
step "exec" "last" {
  argv = concat(["cc", module.m["x"].d], slice(local.all, 0, 2))
}
output "all" { value = slice(local.all, 0, 2) }
`
	made := func(with ...string) *plan.Plan {
		a := txtar.Parse([]byte(strings.NewReplacer(with...).Replace(pipeline)))
		p, _, diags, _ := load(t, a)
		if p == nil {
			t.Fatal(diags)
		}
		for _, n := range p.Instances {
			n.Source = ""
		}
		return p
	}
	written := made("<[", "[", "]>", "]", "<(", "", ")>", "")
	called := made("<[", "concat([", "]>", "])", "<(", `format("%s", `, ")>", ")")
	if diff := cmp.Diff(called, written); diff != "" {
		t.Errorf("another plan (-called +written out):\n%s", diff)
	}
}
