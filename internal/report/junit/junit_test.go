package junit_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/event/eventtest"
	"github.com/hexmage/hexmage/internal/report/junit"
)

func TestSink(t *testing.T) {
	eventtest.Sink(t, "*junit.Report", func(*testing.T) event.Sink { return junit.New() })
}

// doc is JUnit's form as those who read it take it.
type doc struct {
	Name     string  `xml:"name,attr"`
	Time     float64 `xml:"time,attr"`
	Tests    int     `xml:"tests,attr"`
	Failures int     `xml:"failures,attr"`
	Errors   int     `xml:"errors,attr"`
	Skipped  int     `xml:"skipped,attr"`
	Suites   []suite `xml:"testsuite"`
}

type suite struct {
	Name  string  `xml:"name,attr"`
	Tests int     `xml:"tests,attr"`
	Time  float64 `xml:"time,attr"`
	Cases []test  `xml:"testcase"`
}

type test struct {
	Name    string  `xml:"name,attr"`
	Class   string  `xml:"classname,attr"`
	Time    float64 `xml:"time,attr"`
	Status  string  `xml:"status,attr"`
	Failure *bad    `xml:"failure"`
	Error   *bad    `xml:"error"`
	Skipped *bad    `xml:"skipped"`
	Err     string  `xml:"system-err"`
}

type bad struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func written(t *testing.T, events ...event.Event) doc {
	t.Helper()
	r := junit.New()
	for _, e := range events {
		r.Send(e)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	var d doc
	if err := xml.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	return d
}

func TestReport(t *testing.T) {
	got := written(t,
		event.ActionFinished{Step: "exec.early", Outcome: event.Executed}, // of a build that begins again
		event.BuildStarted{Pipeline: "p"},
		event.ActionFinished{Step: "exec.a", Outcome: event.Executed, Seconds: 1.5,
			Warning: "old"},
		event.ActionFinished{Step: "exec.b", Name: "x.o", Outcome: event.Cached, Seconds: 1},
		event.ActionFinished{Step: "exec.b", Name: "y.o", Outcome: event.Failed, Seconds: 1,
			Failure: &event.Failure{
				Summary: "exit code 1", Output: "y.c:1: \x1b[31merror\x00 ]]> <&\xff\r\n", Hints: []string{"add it"},
				Where: "p.hcl:3", Log: "logs/y"}},
		event.ActionFinished{Step: "exec.c", Outcome: event.Failed,
			Failure: &event.Failure{Summary: "no space", InfrastructureError: true}},
		event.ActionFinished{Step: "exec.d", Outcome: event.NotRun},
		event.CheckFinished{Check: "check.few", Severity: "error", Result: event.CheckFailed, Message: "too many",
			Where: "p.hcl:9"},
		event.CheckFinished{Check: "check.odd", Severity: "warning", Result: event.CheckFailed, Message: "odd",
			Where: "p.hcl:10"},
		event.CheckFinished{Check: "check.unknown", Severity: "error", Result: event.CheckUnknown,
			Message: "exec.c failed"},
		event.CheckFinished{Check: "check.good", Severity: "error", Result: event.CheckPassed},
		event.BuildFinished{Seconds: 2.5},
	)
	want := doc{Name: "p", Time: 2.5, Tests: 9, Failures: 2, Errors: 1, Skipped: 2, Suites: []suite{
		{Name: "exec.a", Tests: 1, Time: 1.5,
			Cases: []test{{Name: "exec.a", Class: "exec.a", Time: 1.5, Status: "executed", Err: "old"}}},
		{Name: "exec.b", Tests: 2, Time: 1, Cases: []test{
			{Name: "x.o", Class: "exec.b", Status: "cached"},
			{Name: "y.o", Class: "exec.b", Time: 1, Status: "failed",
				Failure: &bad{"exit code 1", "failed",
					"y.c:1: �[31merror� ]]> <&�\nhint: add it\nwhole output: logs/y\nat p.hcl:3"}},
		}},
		{Name: "exec.c", Tests: 1,
			Cases: []test{{Name: "exec.c", Class: "exec.c", Status: "failed",
				Error: &bad{"no space", "could not run", ""}}}},
		{Name: "exec.d", Tests: 1,
			Cases: []test{{Name: "exec.d", Class: "exec.d", Status: "not_run",
				Skipped: &bad{"a step that it depends on failed", "", ""}}}},
		{Name: "checks", Tests: 4, Cases: []test{
			{Name: "check.few", Class: "checks", Status: "failed", Failure: &bad{"too many", "check", "at p.hcl:9"}},
			{Name: "check.odd", Class: "checks", Status: "failed", Err: "warning: odd"},
			{Name: "check.unknown", Class: "checks", Status: "not_evaluated",
				Skipped: &bad{"exec.c failed", "not_evaluated", ""}},
			{Name: "check.good", Class: "checks", Status: "passed"},
		}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What keeps a run from its first build is in the report too.
func TestNoBuild(t *testing.T) {
	got := written(t,
		event.Diagnostic{Severity: "warning", Summary: "Odd"},
		event.Diagnostic{Severity: "error", Summary: "Unknown argument", Detail: "There is none.", File: "p.hcl",
			Line: 3, Column: 5},
		event.Error{Message: "no pipeline", ExitCode: 2})
	want := []test{
		{Name: "Unknown argument", Class: "pipeline",
			Error: &bad{"Unknown argument", "diagnostic", "p.hcl:3:5\nThere is none."}},
		{Name: "run", Class: "pipeline", Error: &bad{"no pipeline", "exit code 2", ""}},
	}
	if got.Errors != 2 || len(got.Suites) != 1 || !cmp.Equal(want, got.Suites[0].Cases) {
		t.Errorf("%+v", got)
	}
}

func TestOddText(t *testing.T) {
	if got := written(t, event.ActionFinished{Step: "s" + strings.Repeat("\ufffe\x01", 3),
		Name: "n\r\nm"}); got.Tests != 1 {
		t.Errorf("%+v", got)
	}
}
