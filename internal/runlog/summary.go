package runlog

import (
	"io"
	"os"
	"path"
	"reflect"
	"strings"

	"github.com/hexmage/hexmage/internal/event"
)

// Summary is what a run tells beside its actions. It is written at the run's end; a run that was killed has none.
type Summary struct {
	// of the plan; none: the plan was that of an earlier run
	Steps      []Step            `json:"steps,omitempty"`
	Toolchains map[string]string `json:"toolchains,omitempty"` // of the plan, as in Info
	// all that there are, also those that nobody had to look at
	Actions      int                   `json:"actions,omitempty"`
	Outputs      []Output              `json:"outputs,omitempty"`
	Checks       []event.CheckFinished `json:"checks,omitempty"`
	ChecksFailed int                   `json:"checks_failed,omitempty"` // of severity error
	Failures     []Failure             `json:"failures,omitempty"`
	Warnings     []Warning             `json:"warnings,omitempty"`
	Cut          bool                  `json:"cut,omitempty"` // there was more than a record takes
}

// Step is a step, or a toolchain, of a plan: all of its copies together.
type Step struct {
	Step  string `json:"step"`            // without keys: module.aot.exec.obj
	Needs []int  `json:"needs,omitempty"` // what it takes from, by their places in the list
}

// Output is an output of the pipeline.
type Output struct {
	Name    string `json:"name"`
	Path    string `json:"path"` // where it was put
	Show    string `json:"show,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`   // of a file
	Content []byte `json:"content,omitempty"` // of a table or a picture, as it was then
}

// Failure is why an action failed.
type Failure struct {
	Step     string   `json:"step"`
	Name     string   `json:"name,omitempty"`
	Summary  string   `json:"summary"`
	Where    string   `json:"where,omitempty"`
	ExitCode int      `json:"exit_code,omitempty"`
	Output   string   `json:"output,omitempty"` // the last of what it printed
	Hints    []string `json:"hints,omitempty"`
}

// Warning is what an action that succeeded wants people to know.
type Warning struct {
	Step string `json:"step"`
	Text string `json:"text"`
}

// What a Summary has at most.
const (
	maxSteps    = 20_000
	maxOutputs  = 1000
	maxChecks   = 1000
	maxFailures = 50
	maxWarnings = 200
	maxText     = 8 << 10
	maxContent  = 256 << 10 // of one output
	maxContents = 1 << 20   // of all
)

// taken adds what an event tells to the summary.
func (s *Summary) taken(e event.Event) {
	switch e := e.(type) {
	case event.ActionFinished:
		if e.Warning != "" {
			add(s, &s.Warnings, maxWarnings, Warning{Step: e.Step, Text: last(e.Warning)})
		}
		if f := e.Failure; f != nil {
			add(s, &s.Failures, maxFailures,
				Failure{Step: e.Step, Name: e.Name, Summary: last(f.Summary), Where: f.Where, ExitCode: f.ExitCode,
					Output: last(f.Output), Hints: f.Hints})
		}
	case event.OutputReady:
		add(s, &s.Outputs, maxOutputs, Output{Name: e.Name, Path: e.Path, Show: e.Show})
	case event.CheckFinished:
		add(s, &s.Checks, maxChecks, e)
	case event.BuildFinished:
		s.Actions, s.ChecksFailed = e.Actions, e.ChecksFailed
	}
}

func add[T any](s *Summary, to *[]T, most int, what T) {
	if len(*to) >= most {
		s.Cut = true
		return
	}
	*to = append(*to, what)
}

// last is the end of a text that is long.
func last(text string) string {
	if len(text) <= maxText {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-maxText:], "")
}

// read looks at the outputs, and takes the content of those that people look at: a later run puts others in their
// places.
func (s *Summary) read() {
	room := int64(maxContents)
	for i := range s.Outputs {
		o := &s.Outputs[i]
		info, err := os.Lstat(o.Path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		o.Bytes = info.Size()
		if o.Show != "table" && path.Ext(o.Path) != ".svg" {
			continue
		}
		if o.Bytes > min(room, maxContent) {
			s.Cut = true
			continue
		}
		if f, err := os.Open(o.Path); err == nil {
			o.Content, _ = io.ReadAll(io.LimitReader(f, o.Bytes))
			_ = f.Close()
			room -= int64(len(o.Content))
		}
	}
}

// empty reports whether the summary says nothing.
func (s *Summary) empty() bool { return reflect.ValueOf(*s).IsZero() }

// valid reports whether the steps refer to steps of the list.
func (s *Summary) valid() bool {
	for i, step := range s.Steps {
		for _, n := range step.Needs {
			if n < 0 || n >= len(s.Steps) || n == i {
				return false
			}
		}
	}
	return true
}
