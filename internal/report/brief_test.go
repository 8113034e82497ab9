package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
)

// Steps whose actions end by turns are named once each.
func TestBriefNamesStepsOnce(t *testing.T) {
	var out strings.Builder
	b := report.NewBrief(&out, report.Options{})
	b.Send(event.FilesChanged{Paths: []string{"src/a.c"}})
	for _, step := range []string{"exec.a", "exec.b", "exec.a", "exec.b"} {
		b.Send(event.ActionFinished{Step: step, Outcome: event.Executed})
	}
	b.Done(event.BuildFinished{Executed: 4}, time.Second, "")
	if want := "4 actions (exec.a, exec.b)"; !strings.Contains(out.String(), want) {
		t.Errorf("%q; want %q in it", out.String(), want)
	}
}
