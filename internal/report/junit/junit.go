// Package junit writes a build as JUnit XML, which CI services show as a table of tests. Each step is a test suite, and
// each action of the step is a test. The package does not know the meaning of actions.
package junit

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/hexmage/hexmage/internal/event"
)

// Report collects the events of a run.
type Report struct {
	suites map[string]*junit.Testsuite
	order  []string
	took   map[string]time.Duration // by suite
	name   string
	total  float64 // seconds
}

// New returns an empty report.
func New() *Report {
	return &Report{suites: map[string]*junit.Testsuite{}, took: map[string]time.Duration{}}
}

// Send implements event.Sink.
func (r *Report) Send(e event.Event) {
	switch e := e.(type) {
	// hexmage restarts a build after it found a corrupt file in the cache; only the last attempt counts
	case event.BuildStarted:
		*r = *New()
		r.name = e.Pipeline
	case event.ActionFinished:
		r.action(e)
	case event.CheckFinished:
		r.check(e)
	case event.Diagnostic:
		if e.Severity == "error" {
			where := "" // the failure has no place
			if e.File != "" {
				where = fmt.Sprintf("%s:%d:%d\n", e.File, e.Line, e.Column)
			}
			r.add("pipeline", junit.Testcase{Name: e.Summary, Error: result(e.Summary, "diagnostic", where+e.Detail)},
				0)
		}
	case event.Error:
		r.add("pipeline", junit.Testcase{Name: "run",
			Error: result(e.Message, fmt.Sprintf("exit code %d", e.ExitCode), "")}, 0)
	case event.BuildFinished:
		r.total = e.Seconds
	}
}

func (r *Report) action(e event.ActionFinished) {
	c := junit.Testcase{Name: cmp.Or(e.Name, e.Step), Status: string(e.Outcome)}
	switch f := e.Failure; {
	case f != nil && f.InfrastructureError:
		c.Error = result(f.Summary, "could not run", details(f))
	case f != nil:
		c.Failure = result(f.Summary, "failed", details(f))
	case e.Outcome == event.NotRun:
		c.Skipped = result("a step that it depends on failed", "", "")
	}
	if e.Warning != "" {
		c.SystemErr = &junit.Output{Data: text(e.Warning)}
	}
	took := e.Duration()
	if e.Outcome == event.Cached {
		took = 0 // it did not run
	}
	r.add(e.Step, c, took)
}

// details returns the description of a failure: output, hints and place.
func details(f *event.Failure) string {
	parts := []string{strings.TrimRight(f.Output, "\n")}
	for _, h := range f.Hints {
		parts = append(parts, "hint: "+h)
	}
	if f.Log != "" {
		parts = append(parts, "whole output: "+f.Log)
	}
	if f.Where != "" {
		parts = append(parts, "at "+f.Where)
	}
	return strings.Join(parts, "\n")
}

func (r *Report) check(e event.CheckFinished) {
	c := junit.Testcase{Name: e.Check, Status: string(e.Result)}
	switch {
	case e.Result == event.CheckFailed && e.Severity == "error":
		c.Failure = result(e.Message, "check", "at "+e.Where)
	case e.Result == event.CheckFailed:
		c.SystemErr = &junit.Output{Data: text("warning: " + e.Message)}
	case e.Result != event.CheckPassed:
		c.Skipped = result(e.Message, string(e.Result), "")
	}
	r.add("checks", c, 0)
}

func (r *Report) add(suite string, c junit.Testcase, took time.Duration) {
	s := r.suites[suite]
	if s == nil {
		s = &junit.Testsuite{Name: text(suite), ID: len(r.order)}
		r.suites[suite] = s
		r.order = append(r.order, suite)
	}
	r.took[suite] += took
	c.Name, c.Classname, c.Time = text(c.Name), text(suite), seconds(took)
	s.AddTestcase(c)
}

// Write writes the report.
func (r *Report) Write(w io.Writer) error {
	all := junit.Testsuites{Name: text(r.name), Time: fmt.Sprintf("%.3f", r.total)}
	for _, name := range r.order {
		s := *r.suites[name]
		s.Time = seconds(r.took[name])
		all.AddSuite(s)
	}
	if _, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return err
	}
	return all.WriteXML(w)
}

func result(message, kind, data string) *junit.Result {
	return &junit.Result{Message: text(message), Type: kind, Data: text(data)}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// text removes characters that XML does not allow, and invalid UTF-8.
func text(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t' || c == '\n' || c >= ' ' && c != 0x7f && c != 0xfffe && c != 0xffff:
			return c
		case c == '\r':
			return '\n'
		}
		return utf8.RuneError
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}
