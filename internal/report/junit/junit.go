// Package junit writes what a build did in JUnit's XML, which CI services show as a table of tests.
//
// It does not know what actions are for: each step is a suite, each of its actions a test.
package junit

import (
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

// New returns a report of nothing.
func New() *Report {
	return &Report{suites: map[string]*junit.Testsuite{}, took: map[string]time.Duration{}}
}

// Send implements event.Sink.
func (r *Report) Send(e event.Event) {
	switch e := e.(type) {
	case event.BuildStarted: // a build that begins again, as something in the cache was damaged, is all there was
		*r = *New()
		r.name = e.Pipeline
	case event.ActionFinished:
		r.action(e)
	case event.CheckFinished:
		r.check(e)
	case event.Diagnostic:
		if e.Severity == "error" {
			where := "" // no place is to blame
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
	c := junit.Testcase{Name: e.Name, Status: string(e.Outcome)}
	if c.Name == "" {
		c.Name = e.Step
	}
	switch f := e.Failure; {
	case f != nil && f.Engine:
		c.Error = result(f.Summary, "could not run", details(f))
	case f != nil:
		c.Failure = result(f.Summary, "failed", details(f))
	case e.Outcome == event.Skipped:
		c.Skipped = result("something that it needs failed", "", "")
	}
	if e.Warning != "" {
		c.SystemErr = &junit.Output{Data: text(e.Warning)}
	}
	took := e.Duration
	if e.Outcome == event.Cached {
		took = 0 // it did not run
	}
	r.add(e.Step, c, took)
}

// details are what there is to read of a failure: what it printed, what may help, where it comes from.
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

// text is what XML can say of a text: no control characters, and no bytes that are no character.
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
