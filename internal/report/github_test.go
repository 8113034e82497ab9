package report_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
)

func TestGitHub(t *testing.T) {
	failed := func(f event.Failure) event.Event {
		return event.ActionFinished{Step: "exec.a", Name: "x.o", Outcome: event.Failed, Failure: &f}
	}
	for _, c := range []struct {
		e    event.Event
		want string
	}{
		{failed(event.Failure{Summary: "exit code 1", Where: "pipelines/p.hcl:3",
			Output: "In file included from b.c:1:\nops/a.c:30:14: fatal error: 100% of x, y\n",
			Hints:  []string{"mend\nit"}}),
			"::error file=sub/ops/a.c,line=30,col=14,title=exec.a x.o::100%25 of x, y%0Amend%0Ait\n"},
		{failed(event.Failure{Summary: "exit code 1", Where: "pipelines/p.hcl:3",
			Output: "a b.c:1: error: no place\nx: error: none\nld: error: y\n:3: error: z\na.c:-3: error: w"}),
			"::error file=sub/pipelines/p.hcl,line=3,title=exec.a x.o::exit code 1\n"},
		{event.CheckFinished{Check: `module.a["x"].check.c`, Where: "p.hcl:7", Severity: "warning",
			Result: event.CheckFailed, Message: "::error::hm"},
			"::warning file=sub/p.hcl,line=7,title=module.a[\"x\"].check.c::::error::hm\n"},
		{event.CheckFinished{Check: "check.c", Where: "p.hcl:7", Severity: "error", Result: event.CheckPassed}, ""},
		{event.Diagnostic{Severity: "error", Summary: "Unknown: argument, here", Detail: "None.\r\n::warning::x",
			File: "p.hcl", Line: 2, Column: 3},
			"::error file=sub/p.hcl,line=2,col=3,title=Unknown%3A argument%2C here::None.%0D%0A::warning::x\n"},
		{event.Diagnostic{Severity: "error", Summary: "Nothing"}, "::error title=Nothing::\n"},
		{event.ActionFinished{Step: "exec.a", Outcome: event.Executed}, ""},
	} {
		var b bytes.Buffer
		report.GitHub(&b, func(file string) string { return "sub/" + file }).Send(c.e)
		if d := cmp.Diff(c.want, b.String()); d != "" {
			t.Error(d)
		}
	}
}
