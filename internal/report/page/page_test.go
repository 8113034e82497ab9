package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/report/page"
	"github.com/hexmage/hexmage/internal/runlog"
)

// table is an output with repetitions of two variants, as a step leaves it.
func table(value float64) []byte {
	var runs []any
	for _, d := range []float64{-1, 0, 1} {
		runs = append(runs, map[string]any{"metrics": []any{map[string]any{"name": "speed", "value": value + d,
			"unit": "words/s"}}})
	}
	b, _ := json.Marshal(map[string]any{
		"title": "bench", "profile": "open", "note": "Measured here.",
		"rows": []any{map[string]any{"name": "time", "label": "time of all", "value": 12.5, "unit": "us"},
			map[string]any{"name": "word", "value": "text"}},
		"columns": []any{map[string]any{"name": "n"}, map[string]any{"name": "speed", "unit": "words/s"}},
		"lines":   [][]string{{"1", "20 ± 1"}},
		"variants": []any{map[string]any{"variant": map[string]string{"n": "1"}, "runs": runs,
			"stats": []any{map[string]any{"name": "speed", "label": "speed", "value": value, "unit": "words/s",
				"n": 3, "spread": 1.5}}}},
	})
	return b
}

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><script>alert(1)</script><rect width="40" height="20"/></svg>`

// whole is a run that has some of everything.
func whole() *history.Document {
	return &history.Document{
		Format: history.Format, ID: "0123abcd", Pipeline: "greet", Profile: "open", Version: "(devel)",
		Variables: "e3b0", Selected: []string{"exec.all"}, Force: []string{""}, Parallel: 2,
		Host: map[string]string{"os": "linux", "processors": "2"}, Toolchains: map[string]string{"cc": "22.1"},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seconds: 9.5,
		Result: history.Failed, Executed: 3, Cached: 1, Failed: 1, NotRun: 1, Actions: 8, ChecksFailed: 1,
		Steps: []history.Step{
			{Step: "toolchain.cc", Cached: 1,
				Actions: []history.Action{{Outcome: event.Cached, Reason: "nothing changed since run 0123",
					Start: 0.1, Seconds: 0.01, Bytes: 5e9}}, Start: 0.1, End: 0.11, Bytes: 5e9},
			{Step: "module.aot.exec.obj", Module: "module.aot", Needs: []int{0}, Executed: 2, Start: 0.2, End: 5,
				Work: 6, Bytes: 1234, Critical: true, Reasons: []history.Reason{{Text: "a.c changed", Actions: 2}},
				Actions: []history.Action{
					{Copy: `module.aot.exec.obj["a.c"]`, Outcome: event.Executed, Start: 0.2, Seconds: 2, Bytes: 1000,
						Reason: "a.c changed"},
					{Copy: `module.aot.exec.obj["b.c"]`, Name: "link", Outcome: event.Executed, Start: 1, Seconds: 4,
						Bytes: 234, Reason: "a.c changed"},
				}},
			{Step: "exec.quiet", Needs: []int{0}},
			{Step: "exec.all", Needs: []int{1, 2}, Executed: 1, Failed: 1, Start: 5.5, End: 9, Work: 3.5,
				Critical: true, Reasons: []history.Reason{{Text: "never ran before", Actions: 1}},
				Actions: []history.Action{{Outcome: event.Failed, Start: 5.5, Seconds: 3.5,
					Reason: "never ran before"}}},
		},
		Outputs: []runlog.Output{
			{Name: "report", Path: "out/report.json", Show: "table", Bytes: 99, Content: table(20)},
			{Name: "bad", Path: "out/bad.json", Show: "table", Bytes: 9, Content: []byte("no table")},
			{Name: "plot.svg", Path: "out/plot.svg", Bytes: 99, Content: []byte(svg)},
			{Name: "dir", Path: "out/dir"},
		},
		Checks: []event.CheckFinished{
			{Check: "check.words", Severity: "error", Result: event.CheckFailed, Message: "They are 3, fewer than 10."},
			{Check: "check.fine", Severity: "warning", Result: event.CheckPassed, Description: "It is fine."},
		},
		Failures: []runlog.Failure{{Step: "exec.all", Name: "x", Summary: "exit code 1",
			Where: "pipelines/greet.hcl:3", Output: "line 1\nline 2", Hints: []string{"Do this."}}},
		Warnings: []runlog.Warning{{Step: "exec.obj", Text: "a note"}},
		Unknown:  []string{"something"},
	}
}

func earlier() *history.Document {
	d := whole()
	d.ID = "99999999"
	d.Outputs[0].Content = table(90)
	return d
}

// large is a run of so many steps with so many actions each.
func large(steps, actions int) *history.Document {
	d := whole()
	d.Steps, d.Seconds = nil, float64(steps)
	for i := range steps {
		s := history.Step{Step: fmt.Sprintf("module.m%d.exec.step_%d", i%5, i),
			Module: fmt.Sprintf("module.m%d", i%5), Executed: actions, Start: float64(i), End: float64(i + 1),
			Work:    float64(actions),
			Reasons: []history.Reason{{Text: fmt.Sprintf("src/%d.c changed", i), Actions: actions}}}
		if i > 0 {
			s.Needs = []int{i - 1}
		}
		for k := range actions {
			s.Actions = append(s.Actions,
				history.Action{Copy: fmt.Sprintf(`%s["src/file_%d.c"]`, s.Step, k), Outcome: event.Executed,
					Start: float64(i) + float64(k)/float64(actions), Seconds: 0.5 / float64(actions), Bytes: 4096,
					Reason: s.Reasons[0].Text})
		}
		d.Steps = append(d.Steps, s)
	}
	return d
}

func write(t *testing.T, d, base *history.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, d, base); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// found is what is in a page.
type found struct {
	elements map[string]int
	text     string // all that is shown
	ids      map[string]int
	links    []string
	scripts  []*html.Node
}

// parsed reads a page, and complains about what refers to anything outside of it.
func parsed(t *testing.T, b []byte) found {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	f := found{elements: map[string]int{}, ids: map[string]int{}}
	for n := range doc.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			f.text += n.Data
		}
		if n.Type != html.ElementNode {
			continue
		}
		f.elements[n.Data]++
		if n.Data == "script" {
			f.scripts = append(f.scripts, n)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcset" || a.Key == "action" ||
				a.Key == "formaction" || a.Key == "data" || a.Key == "ping":
				t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "id":
				f.ids[a.Val]++
			case a.Key == "href":
				f.links = append(f.links, a.Val)
				if !strings.HasPrefix(a.Val, "#") {
					t.Errorf("<%s> leads to %q", n.Data, a.Val)
				}
			case a.Key == "src" && (n.Data != "img" || !strings.HasPrefix(a.Val, "data:image/svg+xml;base64,")):
				t.Errorf("<%s> takes %q", n.Data, a.Val)
			}
		}
		if n.Data == "style" && (strings.Contains(n.FirstChild.Data, "url(") ||
			strings.Contains(n.FirstChild.Data, "@import")) {
			t.Error("the style refers to something")
		}
		if n.Data == "meta" && slices.ContainsFunc(n.Attr,
			func(a html.Attribute) bool { return strings.EqualFold(a.Val, "refresh") }) {
			t.Error("the page leads elsewhere")
		}
	}
	for _, name := range []string{"iframe", "object", "embed", "link", "base", "form", "video", "audio", "image",
		"use"} {
		if f.elements[name] > 0 {
			t.Errorf("the page has <%s>", name)
		}
	}
	for id, n := range f.ids {
		if n > 1 {
			t.Errorf("%d elements have the id %q", n, id)
		}
	}
	for _, l := range f.links {
		if f.ids[strings.TrimPrefix(l, "#")] == 0 {
			t.Errorf("a link leads to %s, and nothing has that id", l)
		}
	}
	return f
}

// TestPage: a run that has some of everything is all on the page, and the page refers to nothing outside.
func TestPage(t *testing.T) {
	f := parsed(t, write(t, whole(), earlier()))
	for _, want := range []string{
		"greet", "0123abcd", "2026-01-02 03:04:05 UTC", "profile open", "failed", // head
		"9.5 s", "not looked at", "something", "a note", // summary
		"exit code 1", "pipelines/greet.hcl:3", "line 1\nline 2", "Do this.", // failures
		"module.aot", "◆ exec.obj", "ran, 4.8 s, 2 actions, critical", "unchanged", // graph
		"a.c changed", "(2 actions)", "5.0 GB", "never ran before", // steps
		"time of all", "12.50", "µs", "Measured here.", "20 ± 1", "invalid table", // tables
		"n=1: speed", "20 ± 1.5 words/s", "90 ± 1.5 words/s", "-77.8 %", "more than the spread", "99999999", // metrics
		"They are 3, fewer than 10.", "It is fine.", "plot.svg", "out/dir", "22.1", "processors", "all steps",
	} {
		if !strings.Contains(f.text, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	html := string(write(t, whole(), earlier()))
	before := 0
	for _, id := range []string{"failures", "tables", "pictures", "metrics", "checks", "outputs", "summary", "graph",
		"timeline", "steps", "environment"} {
		at := strings.Index(html, `<h2 id="`+id+`"`)
		if at < before {
			t.Errorf("section %s is at %d, the one before it at %d", id, at, before)
		}
		before = at
	}
	if f.elements["img"] != 1 || len(f.scripts) != 2 {
		t.Errorf("%d pictures, %d scripts", f.elements["img"], len(f.scripts))
	}
}

// TestNothing: a run of which next to nothing is known has a page, too.
func TestNothing(t *testing.T) {
	f := parsed(t, write(t, &history.Document{Pipeline: "p", Result: history.Stopped}, nil))
	if !strings.Contains(f.text, "stopped") || f.ids["graph"]+f.ids["metrics"]+f.ids["steps"] > 0 {
		t.Error("a page of nothing has more than it can, or less")
	}
}

const hostile = `</script></style></title>--><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "`" +
	`{{.}}javascript:alert(3)` + "\u2028\x00\xff"

// poison puts hostile text into every string of a value.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		poison(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				poison(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Map:
		m, value := reflect.MakeMap(v.Type()), reflect.New(v.Type().Elem()).Elem()
		poison(value)
		m.SetMapIndex(reflect.ValueOf(hostile).Convert(v.Type().Key()), value)
		v.Set(m)
	case reflect.String:
		v.SetString(hostile)
	}
}

// TestHostile: whatever a run's texts are, they stay texts: the page has the elements of the same page with harmless
// ones.
func TestHostile(t *testing.T) {
	harmless, d, base := whole(), whole(), earlier()
	poison(reflect.ValueOf(d))
	poison(reflect.ValueOf(base))
	text, _ := json.Marshal(hostile)
	for i, o := range whole().Outputs {
		d.Outputs[i].Show, d.Outputs[i].Path = o.Show, hostile+o.Path
		d.Outputs[i].Content = bytes.ReplaceAll(bytes.ReplaceAll(o.Content, []byte(`"bench"`), text),
			[]byte(`"20 ± 1"`), text)
		harmless.Outputs[i].Content = bytes.Clone(o.Content)
	}
	for i := range harmless.Steps {
		harmless.Steps[i].Module = "the same"
	}
	one := map[string]string{"x": "y"}
	harmless.Host, harmless.Toolchains = one, one
	want, got := parsed(t, write(t, harmless, nil)), parsed(t, write(t, d, nil))
	for name, n := range got.elements {
		if n != want.elements[name] && name != "br" {
			t.Errorf("%d elements <%s>, %d with harmless texts", n, name, want.elements[name])
		}
	}
	if n := strings.Count(got.text, "<script>alert(1)</script>"); n < 30 {
		t.Errorf("the text is shown %d times only", n)
	}
	parsed(t, write(t, d, base))
	data := got.scripts[0].FirstChild.Data
	var all struct {
		Reasons []string
		Steps   []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(data), &all); err != nil || !strings.Contains(all.Steps[0].Name, "<script>") {
		t.Errorf("the data for the script is %.100s: %v", data, err)
	}
	if got.scripts[1].FirstChild.Data != want.scripts[1].FirstChild.Data {
		t.Error("the script is another one")
	}
}

// TestLarge: a page of 10,000 actions, in few steps or many, is small enough for a browser, and has few elements
// before anybody asks for more.
func TestLarge(t *testing.T) {
	for _, c := range []struct {
		steps, actions, bytes, elements int
	}{{20, 500, 1 << 20, 3000}, {10_000, 1, 3 << 20, 8000}} {
		b := write(t, large(c.steps, c.actions), nil)
		f := parsed(t, b)
		n := 0
		for _, of := range f.elements {
			n += of
		}
		if len(b) > c.bytes || n > c.elements {
			t.Errorf("%d steps of %d actions: %d bytes, %d elements; at most %d and %d", c.steps, c.actions, len(b),
				n, c.bytes, c.elements)
		}
	}
}
