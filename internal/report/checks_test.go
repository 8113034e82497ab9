package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
)

// checked is a build with a check of each sort.
func checked() []event.Event {
	return []event.Event{
		event.BuildStarted{Pipeline: "p"},
		event.CheckFinished{Check: "check.fast", Description: "as before", Severity: "error",
			Result: event.CheckPassed},
		event.CheckFinished{Check: `module.aot["Alpha7-large"].module.ops.check.size`, Severity: "warning",
			Result: event.CheckFailed, Message: "1300 MB\nare many\x1b[31m\n"},
		event.CheckFinished{Check: "check.a", Severity: "error", Result: event.CheckNotSelected,
			Message: "step.exec.a is not part of this run"},
		event.CheckFinished{Check: "check.late", Severity: "error", Result: event.CheckUnknown,
			Message: "step.exec.late failed"},
		event.CheckFinished{Check: "check.b", Severity: "error", Result: event.CheckNotSelected},
		event.CheckFinished{Check: "check.words", Severity: "error", Result: event.CheckFailed, Message: "few"},
		event.BuildFinished{Actions: 2, Cached: 2, ChecksFailed: 1, Seconds: 1},
	}
}

// All checks have a line, those of steps that were not asked for one together.
func TestChecks(t *testing.T) {
	const want = `p
2 actions in 1.00 s: 0 executed, 2 cached, 1 check failed

checks
  passed         check.fast                                        error    as before
  failed         module.aot["Alpha7-large"].module.ops.check.size  warning  1300 MB
                                                                            are many
  not evaluated  check.late                                        error    step.exec.late failed
  failed         check.words                                       error    few
2 checks skipped, because this run omits their steps: check.a, check.b
`
	if d := cmp.Diff(want, show(report.Options{}, checked()...)); d != "" {
		t.Error(d)
	}
	if got := show(report.Options{Width: 90}, checked()...); !strings.Contains(got,
		"  failed         module.aot[\"Alp…ops.check.size  warning  1300 MB\n") {
		t.Errorf("on a narrow terminal:\n%s", got)
	}
	if got := show(report.Options{},
		append(checked(), event.BuildStarted{Pipeline: "q"}, event.BuildFinished{})...); strings.Count(got,
		"checks\n") != 1 {
		t.Errorf("the checks of one build are shown with the next:\n%s", got)
	}
	var b bytes.Buffer
	brief := report.NewBrief(&b, report.Options{})
	for _, e := range checked() {
		brief.Send(e)
	}
	brief.Done(event.BuildFinished{Executed: 1}, time.Second, "")
	if got := b.String(); !strings.Contains(got, "1 action") ||
		!strings.Contains(got, "\nchecks\n  passed         check.fast ") {
		t.Errorf("a watch shows:\n%s", got)
	}
}

// The column of names is as wide as the longest; where there is no room, that is shortened in the middle. Copies of
// modules are copies.
func TestNestedAddresses(t *testing.T) {
	const long, short = `module.aot["Alpha7-large"].module.ops.exec.compile`, "exec.a"
	es := []event.Event{
		event.ActionsPlanned{Step: short, Actions: 1}, event.ActionsPlanned{Step: long, Actions: 1},
		event.ActionFinished{ID: 1, Step: short, Outcome: event.Executed, Seconds: 1},
		event.ActionFinished{ID: 2, Step: long, Outcome: event.Executed, Seconds: 1},
	}
	for width, want := range map[int]string{
		0: "  ok       exec.a                                             1.0 s\n" +
			"  ok       module.aot[\"Alpha7-large\"].module.ops.exec.compile 1.0 s\n",
		70: "  ok       exec.a                              1.0 s\n" +
			"  ok       module.aot[\"Alpha….ops.exec.compile 1.0 s\n",
		40: "  ok       exec.a                       1.0 s\n" +
			"  ok       module.aot[\"Al….exec.compile 1.0 s\n",
	} {
		if d := cmp.Diff(want, show(report.Options{Width: width}, es...)); d != "" {
			t.Errorf("%d columns: %s", width, d)
		}
	}
	es = nil
	for _, key := range []string{"a", "]", `"`, "d", "e", "f", "g", "h", "i"} {
		es = append(es, event.ActionsPlanned{Step: "module.aot[" + quoted(key) + "].exec.compile", Actions: 1})
	}
	for _, e := range es {
		es = append(es, event.ActionFinished{Step: e.(event.ActionsPlanned).Step, Outcome: event.Cached})
	}
	if got := show(report.Options{}, es...); got != "  cached   module.aot.exec.compile       9 actions\n" {
		t.Errorf("of many copies of a module: %s", got)
	}
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }
