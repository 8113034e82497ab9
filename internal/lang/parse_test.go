package lang_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/workspace"
)

// What is long is not deep: none of these nests, however much of it there is.
func TestParseLong(t *testing.T) {
	const n = 2000
	for name, src := range map[string]string{
		"lines":          strings.Repeat("a {\n  x = -1 # [[[\n  y = !true\n}\n", n),
		"a list":         "x = [" + strings.Repeat("-1, a[0], f(1) + 2,\n", n) + "]\n",
		"an object":      "x = {\n" + strings.Repeat("  (a) = b ? -1 : c[0]\n", n) + "}\n",
		"lists of lists": "x = [" + strings.Repeat("[[1], {}],", n) + "]\n",
		"a template":     `x = "` + strings.Repeat(`${a[0]}${-b}`, n) + "\"\n",
		"directives":     `x = "` + strings.Repeat(`%{if a}x%{else}y%{endif}%{for b in c}${b}%{endfor}`, n) + "\"\n",
		"a heredoc":      "x = <<E\n" + strings.Repeat("[[((!! ${a} -\n", n) + "E\n",
		"a text":         `x = "` + strings.Repeat(`([{!-`, n) + "\"\n",
		"comments":       strings.Repeat("// ((((\n", n) + "/*" + strings.Repeat("[", n) + "*/\n",
		"a reference":    "x = a" + strings.Repeat(".b", n) + "\n",
		"hashes":         "x = [" + strings.Repeat(`"3e99999aa", 1e10, `, n) + "]\n",
	} {
		if _, diags := lang.Parse([]byte(src), "x.hcl"); diags.HasErrors() {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// What is deep is refused before the parser sees it, wherever brackets are hidden.
func TestParseDeep(t *testing.T) {
	const n = 600
	for name, src := range map[string]string{
		"brackets":                  "x = " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n",
		"brackets among texts":      "x = " + strings.Repeat(`["]", `, n) + "1" + strings.Repeat("]", n) + "\n",
		"calls":                     "x = " + strings.Repeat("f(", n) + strings.Repeat(")", n) + "\n",
		"blocks":                    strings.Repeat("a {\n", n) + strings.Repeat("}\n", n),
		"templates":                 "x = " + strings.Repeat(`"${`, n) + "1" + strings.Repeat(`}"`, n) + "\n",
		"directives":                `x = "` + strings.Repeat("%{if a}", n) + strings.Repeat("%{endif}", n) + "\"\n",
		"signs":                     "x = " + strings.Repeat("-", n) + "1\n",
		"a sum":                     "x = 1" + strings.Repeat(" + 1", n) + "\n",
		"a sum of lines":            "x = (1" + strings.Repeat("\n + 1", n) + ")\n",
		"a sum of lines, in braces": "x = { for a in b : a => 1" + strings.Repeat("\n + 1", n) + " }\n",
		"indices":                   "x = a" + strings.Repeat("[0]", n) + "\n",
		"splats":                    "x = a" + strings.Repeat("[*]", n) + "\n",
		"conditions":                "x = " + strings.Repeat("a ? b : ", n) + "c\n",
		"a little of each":          "x = " + strings.Repeat(`[-(1 + "${`, n/4) + strings.Repeat(`}")]`, n/4) + "\n",
		"in a heredoc":              "x = <<E\n${" + strings.Repeat("[", n) + strings.Repeat("]", n) + "}\nE\n",
	} {
		_, diags := lang.Parse([]byte(src), "x.hcl")
		if len(diags) != 1 || diags[0].Summary != "Nested too deeply" || diags[0].Subject == nil {
			t.Errorf("%s: %v", name, diags)
		}
	}
	for _, src := range []string{"1e99999", strings.Repeat("1", 1001), "1.0e+100000"} {
		if _, diags := lang.ParseExpression([]byte(src), "x.hcl"); len(diags) != 1 ||
			diags[0].Summary != "Number too long" {
			t.Errorf("%.20s: %v", src, diags)
		}
	}
}

// The budget stays as large as it is said to be: pipelines that are large and not bombs are evaluated.
func TestBudget(t *testing.T) {
	for src, want := range map[string]int{
		"[for a in range(1000) : [for b in range(100) : a * " +
			"b]]": 1000,
		"tolist(flatten([for a in range(1000) : [for b in range(100) : " +
			"a]]))": 100_000,
		`sort([for a in flatten([for a in range(100) : [for b in range(100) : "${a}${b}"]]) : a])`:                   10_000,
		`split(",", join(",", [for a in flatten([for a in range(100) : [for b in range(100) : a]]) : tostring(a)]))`: 10_000,
		`regexall("[0-9]+", join(",", range(1024)))`:                                                                 1024,
		`[for a in flatten([for a in range(100) : range(100)]) : try(tonumber("x${a}"), can(regex("y", "x")))]`:      10_000,
		`distinct([for a in range(1000) : a % 10])`:                                                                  10,
	} {
		budget, functions := lang.NewBudget(), lang.Functions(workspace.NewFiles(t.TempDir()))
		e, diags := lang.ParseExpression([]byte(src), "x.hcl")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		budget.Count(e)
		v, diags := budget.Value(e, &hcl.EvalContext{Functions: functions})
		if diags.HasErrors() || v.LengthInt() != want {
			t.Errorf("%s: %v, want %d elements: %v", src, v.Type().FriendlyName(), want, diags)
		}
		if budget.Spent() {
			t.Errorf("%s spends the whole budget", src)
		}
	}
	budget, functions := lang.NewBudget(), lang.Functions(workspace.NewFiles(t.TempDir()))
	e, _ := lang.ParseExpression([]byte("[for a in range(1000) : length([for b in range(1000) : a])]"), "x.hcl")
	budget.Count(e)
	if _, diags := budget.Value(e, &hcl.EvalContext{Functions: functions}); !diags.HasErrors() || !budget.Spent() ||
		!strings.Contains(fmt.Sprint(diags), "the plan needs more than") {
		t.Errorf("a million elements: %v", diags)
	}
	for _, src := range []string{"1", "try([for a in range(1000) : a], 1)"} { // nothing hides that it is spent
		e, _ := lang.ParseExpression([]byte(src), "x.hcl")
		budget.Count(e)
		if _, diags := budget.Value(e, &hcl.EvalContext{Functions: functions}); !diags.HasErrors() {
			t.Errorf("%s is evaluated with a budget that is spent", src)
		}
	}
	budget.Refill()
	if budget.Spent() {
		t.Error("a full budget is spent")
	}
}
