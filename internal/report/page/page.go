// Package page writes a run as one self-contained HTML page.
//
// All texts in a document are untrusted. The template escapes them, and the script of the page treats them as data. The
// content security policy of the page allows only the page's own style and script. The package does not know where a
// document comes from, or what a step does.
package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/runlog"
)

//go:embed page.html page.css page.js
var files embed.FS

const (
	maxDrawn  = 120 // steps in the graph and the timeline
	maxListed = 300 // steps in the list before the script adds more
)

// pageTemplate is the page's template with its style and script.
var pageTemplate = sync.OnceValues(func() (*form, error) {
	text := func(name string) string {
		b, _ := files.ReadFile(name) // embedded
		return string(b)
	}
	t, err := template.New("page").Funcs(template.FuncMap{"bytes": bytesize.Decimal, "moment": moment,
		"seconds": Seconds, "value": report.Value}).Parse(text("page.html"))
	f := &form{t, text("page.css"), text("page.js")}
	return f, err
})

type form struct {
	*template.Template
	style, script string
}

// view is the data of the template.
type view struct {
	*history.Document
	Title        string
	Policy       string
	Style        template.CSS
	Script       template.JS
	Unchanged    int // actions of steps that were not selected or had no changes
	CriticalTime string
	Work         string
	Graph        *graph
	Timeline     []bar
	Drawn        int // steps in the timeline
	Active       int // steps with actions
	Listed       []step
	More         int // steps that the script adds
	Metrics      []metric
	Base         *history.Document // may be nil
	Tables       []table
	Pictures     []picture
	Data         any
}

// Write writes the HTML page of the run d. If base is not nil, the page compares the run with base.
func Write(w io.Writer, d, base *history.Document) error {
	f, err := pageTemplate()
	if err != nil {
		return err
	}
	v := &view{Document: d, Title: d.Pipeline, Style: template.CSS(f.style), Script: template.JS(f.script),
		Base: base}
	v.Policy = fmt.Sprintf("default-src 'none'; img-src data:; style-src '%s'; script-src '%s'; base-uri 'none'; "+
		"form-action 'none'", sum(f.style), sum(f.script))
	v.Unchanged = max(0, d.Actions-d.Executed-d.Cached-d.Failed-d.NotRun)
	v.steps()
	v.outputs()
	v.metrics()
	v.Data = dataOf(d)
	var b bytes.Buffer // write the page at once, so that it is complete or missing
	if err := f.Execute(&b, v); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// sum returns the hash of a style or a script for the page's policy.
func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(s[:])
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// Seconds formats a duration for users.
func Seconds(s float64) string {
	switch {
	case s <= 0:
		return "0 s"
	case s < 0.0001:
		return "< 0.1 ms"
	case s < 0.0995:
		return fmt.Sprintf("%.1f ms", 1000*s)
	case s < 0.9995:
		return fmt.Sprintf("%.0f ms", 1000*s)
	case s < 99.95:
		return fmt.Sprintf("%.1f s", s)
	}
	d := time.Duration(s * float64(time.Second)).Round(time.Second)
	if d < time.Hour {
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// step is a line of the list.
type step struct {
	history.Step
	At       int
	State    string
	Counts   string
	Needed   []link
	Elapsed  string
	Detailed bool // the script has more details
}

type link struct {
	At   int
	Text string
	Link bool // in the page from the start, so links to it work
}

// state returns a step's result as a word.
func state(s *history.Step) string {
	switch {
	case s.Failed > 0:
		return "failed"
	case s.Executed > 0:
		return "ran"
	case s.Cached > 0:
		return "cached"
	}
	return "unchanged"
}

func counts(s *history.Step) string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{s.Failed, "failed"}, {s.Executed, "executed"}, {s.Cached, "cached"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no action checked")
}

// elapsed returns the time from the start of the step's first action to the end of its last, or "".
func elapsed(s *history.Step) string {
	if s.Executed+s.Failed == 0 {
		return ""
	}
	return Seconds(max(0, s.End-s.Start))
}

// steps adds the graph, the timeline and the list.
func (v *view) steps() {
	d := v.Document
	waited := d.Critical()
	total, work := 0.0, 0.0
	for _, s := range waited {
		total += s
	}
	order := make([]int, len(d.Steps))
	for i := range d.Steps {
		order[i] = i
		work += d.Steps[i].Work
		if d.Steps[i].Ran() {
			v.Active++
		}
	}
	v.Work = Seconds(work)
	if len(waited) > 0 {
		v.CriticalTime = Seconds(total)
	}
	// Order: failures, the critical path, the longest.
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &d.Steps[a], &d.Steps[b]
		return cmp.Or(first(x.Failed > 0, y.Failed > 0), first(x.Critical, y.Critical), first(x.Ran(), y.Ran()),
			cmp.Compare(y.Work, x.Work))
	})
	drawn := slices.Clone(order[:min(len(order), maxDrawn)])
	listed := slices.Clone(order[:min(len(order), maxListed)])
	slices.Sort(drawn)
	slices.Sort(listed)
	v.Graph = draw(d, drawn)
	span := d.Seconds
	for i := range d.Steps {
		span = max(span, d.Steps[i].End)
	}
	slices.SortStableFunc(drawn, func(a, b int) int { return cmp.Compare(d.Steps[a].Start, d.Steps[b].Start) })
	for _, i := range drawn {
		if d.Steps[i].Ran() {
			v.Timeline = append(v.Timeline, barOf(&d.Steps[i], i, span, waited))
		}
	}
	v.Drawn, v.More = len(v.Timeline), len(d.Steps)-len(listed)
	here := make([]bool, len(d.Steps))
	for _, i := range listed {
		here[i] = true
	}
	for _, i := range listed {
		s := step{Step: d.Steps[i], At: i, State: state(&d.Steps[i]), Counts: counts(&d.Steps[i]),
			Elapsed: elapsed(&d.Steps[i]), Detailed: d.Steps[i].Ran()}
		for _, n := range s.Needs {
			if len(s.Needed) == maxNeeds {
				s.Needed = append(s.Needed, link{Text: fmt.Sprintf("and %d more", len(s.Needs)-maxNeeds)})
				break
			}
			s.Needed = append(s.Needed, link{n, d.Steps[n].Step, here[n]})
		}
		v.Listed = append(v.Listed, s)
	}
}

const maxNeeds = 40 // per step

func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// table is an output with rows or columns.
type table struct {
	Name string
	report.Table
	Wrong string
}

// Grid reports whether the table has columns.
func (t table) Grid() bool { return len(t.Columns) > 0 }

// picture is an image output.
type picture struct {
	Name string
	URL  template.URL
}

func (v *view) outputs() {
	for _, o := range v.Outputs {
		switch {
		case len(o.Content) == 0:
		case o.Show == "table":
			t, err := report.ParseTable(o.Content)
			one := table{Name: o.Name, Table: t}
			if err != nil {
				one.Wrong = err.Error()
			}
			v.Tables = append(v.Tables, one)
		case path.Ext(o.Path) == ".svg":
			// an <img> element can neither run nor fetch anything
			v.Pictures = append(v.Pictures,
				picture{o.Name, template.URL("data:image/svg+xml;base64," +
					base64.StdEncoding.EncodeToString(o.Content))})
		}
	}
}

// metric is a line of the metrics.
type metric struct {
	history.MetricChange
	*history.Metric
	Difference string
}

func (v *view) metrics() {
	var base []history.Metric
	if v.Base != nil {
		base = v.Base.Metrics()
	}
	for _, c := range history.CompareMetrics(base, v.Document.Metrics()) {
		m := metric{MetricChange: c, Metric: c.Metric()}
		if c.Ratio != 0 {
			m.Difference = fmt.Sprintf("%+.1f %%", 100*(c.Ratio-1))
		}
		v.Metrics = append(v.Metrics, m)
	}
}

// Shown reports whether the page contains the output's content.
func (v *view) Shown(o runlog.Output) bool {
	return len(o.Content) > 0 && (o.Show == "table" || path.Ext(o.Path) == ".svg")
}

// CheckText describes the result of a check for users.
func (v *view) CheckText(c event.CheckFinished) string {
	return map[event.CheckResult]string{event.CheckPassed: "passed", event.CheckFailed: "failed",
		event.CheckUnknown: "not evaluated", event.CheckNotSelected: "not part of this run"}[c.Result]
}

// data is the input of the page's script: each reason once, actions as lists.
type data struct {
	Reasons []string   `json:"reasons"`
	Steps   []stepData `json:"steps"`
}

type stepData struct {
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Counts  string   `json:"counts"`
	Took    string   `json:"took,omitempty"`
	Actions [][6]any `json:"actions,omitempty"` // name, outcome, start, seconds, bytes, index of the reason
}

func dataOf(d *history.Document) data {
	all := data{Steps: []stepData{}, Reasons: []string{}}
	number := map[string]int{}
	round := func(s float64) float64 { return float64(int64(s*1e4+0.5)) / 1e4 }
	for i := range d.Steps {
		s := &d.Steps[i]
		one := stepData{Name: s.Step, State: state(s), Counts: counts(s), Took: elapsed(s)}
		for _, a := range s.Actions {
			at, ok := number[a.Reason]
			if !ok {
				at = len(all.Reasons)
				number[a.Reason] = at
				all.Reasons = append(all.Reasons, a.Reason)
			}
			name := strings.TrimSpace(strings.TrimPrefix(a.Copy, s.Step) + " " + a.Name)
			one.Actions = append(one.Actions, [6]any{name, a.Outcome, round(a.Start), round(a.Seconds), a.Bytes, at})
		}
		all.Steps = append(all.Steps, one)
	}
	return all
}
