package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/hexmage/hexmage/internal/plan"
)

// What is written out gets the values that HCL gives it: the same arguments, made by a function, make the same plan.
func TestWrittenOut(t *testing.T) {
	const pipeline = `-- m/m.hcl --
variable "n" {}
step "exec" "c" {
  argv = ["cc", var.n]
  output "o" { file = "o" }
}
step "exec" "d" {
  argv = ARGS("cc", step.exec.c.outputs.o)
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
  argv   = ARGS("cc", "", "a b", "$${x}", step.exec.file.outputs.o, step.exec.file.outputs.o, step.exec.file.outputs.t, step["exec"].file.outputs.t)
  inputs = ARGS("x", step.exec.file.outputs["o"])
  output "o" { file = "o" }
}
step "exec" "waits" {
  argv = ARGS("cc", step.exec.file.outputs.v, step.exec.file.outputs.o)
}
step "exec" "maybe" {
  argv = ARGS("cc", "-o", coalesce(step.exec.off.outputs.o, "none"))
}
step "exec" "keyed" {
  argv = ARGS("cc", step.exec.many["x"].outputs.o, "n-${var.v}")
}
step "exec" "deep" {
  argv  = ARGS("cc", step.exec.plain.outputs.o)
  stdin = TEXT(step.exec.plain.outputs.o)
}
locals {
  all = ARGS(step.exec.plain.outputs.o, step.exec.file.outputs.t, "x")
}
step "exec" "last" {
  argv = concat(["cc", module.m["x"].d], slice(local.all, 0, 2))
}
output "all" { value = slice(local.all, 0, 2) }
`
	made := func(args, text string) *plan.Plan {
		a := txtar.Parse([]byte(replaced(pipeline, args, text)))
		p, _, diags, _ := load(t, a, 1)
		if p == nil {
			t.Fatal(diags)
		}
		for _, n := range p.Instances {
			n.Source = nil
		}
		return p
	}
	written, called := made("[|]", "|"), made("concat([|])", "format(\"%s\", |)")
	if diff := cmp.Diff(called, written); diff != "" {
		t.Errorf("another plan (-called +written out):\n%s", diff)
	}
}

// replaced is the text with args and text in place of ARGS(…) and TEXT(…); | stands for what is in the parentheses.
func replaced(in, args, text string) string {
	out := ""
	for i := 0; i < len(in); {
		with, name := "", ""
		switch {
		case len(in)-i > 5 && in[i:i+5] == "ARGS(":
			with, name = args, "ARGS("
		case len(in)-i > 5 && in[i:i+5] == "TEXT(":
			with, name = text, "TEXT("
		}
		if name == "" {
			out += in[i : i+1]
			i++
			continue
		}
		end, depth := i+len(name), 1
		for ; depth > 0; end++ {
			switch in[end] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		for _, c := range with {
			if c == '|' {
				out += in[i+len(name) : end-1]
			} else {
				out += string(c)
			}
		}
		i = end
	}
	return out
}
