package runlog

import (
	"io"
	"os"
	"path"
	"reflect"
	"strings"

	"github.com/hexmage/hexmage/internal/event"
)

// Summary is the part of a record that hexmage writes at the end of the run. If a run was killed, its record has no
// Summary.
type Summary struct {
	// steps of the plan; empty if an earlier run made the plan
	Steps []Step `json:"steps,omitempty"`
	// number of actions in the whole plan, including actions that the run did not reach
	Actions      int                   `json:"actions,omitempty"`
	Outputs      []Output              `json:"outputs,omitempty"`
	Checks       []event.CheckFinished `json:"checks,omitempty"`
	ChecksFailed int                   `json:"checks_failed,omitempty"` // of severity error
	Failures     []Failure             `json:"failures,omitempty"`
	Warnings     []Warning             `json:"warnings,omitempty"`
	// whether entries are missing because they exceeded the limits
	Cut bool `json:"cut,omitempty"`
}

// Step is a step or a toolchain of a plan. It stands for all instances of the step.
type Step struct {
	Step  string `json:"step"`            // address without keys: module.aot.exec.obj
	Needs []int  `json:"needs,omitempty"` // its dependencies, by index in the list
}

// Output is an output of the pipeline.
type Output struct {
	Name    string `json:"name"`
	Path    string `json:"path"` // where the run copied it
	Show    string `json:"show,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`   // of a file
	Content []byte `json:"content,omitempty"` // of a table or a picture, as this run wrote it
}

// Failure describes a failed action.
type Failure struct {
	Step     string   `json:"step"`
	Name     string   `json:"name,omitempty"`
	Summary  string   `json:"summary"`
	Where    string   `json:"where,omitempty"`
	ExitCode int      `json:"exit_code,omitempty"`
	Output   string   `json:"output,omitempty"` // the end of its output
	Hints    []string `json:"hints,omitempty"`
}

// Warning is a warning of a successful action.
type Warning struct {
	Step string `json:"step"`
	Text string `json:"text"`
}

// Limits for the size of a Summary.
const (
	maxSteps    = 20_000
	maxOutputs  = 1000
	maxChecks   = 1000
	maxFailures = 50
	maxWarnings = 200
	maxText     = 8 << 10
	maxContent  = 256 << 10 // per output
	maxContents = 1 << 20   // sum over all outputs
)

// taken adds an event to the summary.
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

// last returns the end of a long text.
func last(text string) string {
	if len(text) <= maxText {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-maxText:], "")
}

// read adds the sizes of the outputs, and the content of tables and pictures, because a later run overwrites those
// files.
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

// empty reports whether the summary is empty.
func (s *Summary) empty() bool { return reflect.ValueOf(*s).IsZero() }

// valid reports whether all dependencies are valid indexes.
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
