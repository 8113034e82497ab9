// Package event has what a build tells its watchers.
//
// Events are plain data, in the order in which things happened, sent from one goroutine. The package does not know who
// watches: a terminal, a program that reads JSON lines, a test.
package event

import (
	"time"

	"github.com/hexmage/hexmage/internal/digest"
)

// Sink receives events. Send is called from one goroutine, in order, and must not block for long.
type Sink interface {
	Send(Event)
}

// Event is one of the structs of this package.
type Event interface{ event() }

// BuildStarted is the first event.
type BuildStarted struct {
	Pipeline string `json:"pipeline"`
	Profile  string `json:"profile"`
	Actions  int    `json:"nodes"` // actions known so far
}

// ActionsPlanned says that more actions became known: a step was expanded.
type ActionsPlanned struct {
	Step    string `json:"step"`
	Actions int    `json:"nodes"` // how many actions it has
}

// ActionStarted says that an action began to run (not sent for cached ones).
type ActionStarted struct {
	ID          int    `json:"id"`
	Step        string `json:"step"`           // patch.ops
	Name        string `json:"name,omitempty"` // the action within the step
	Description string `json:"description,omitempty"`
}

// ActionProgress says how far a running action is.
type ActionProgress struct {
	ID    int    `json:"id"`
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"` // 0: not known
	Unit  string `json:"unit,omitempty"`  // "bytes"
	Text  string `json:"text,omitempty"`
}

// Outcome is how an action ended.
type Outcome string

// The outcomes.
const (
	Executed Outcome = "executed"
	Cached   Outcome = "cached"
	Failed   Outcome = "failed"
	Skipped  Outcome = "skipped" // something it needs failed
)

// ActionFinished says that an action ended.
type ActionFinished struct {
	ID          int           `json:"id"`
	Step        string        `json:"step"`
	Name        string        `json:"name,omitempty"`
	Description string        `json:"description,omitempty"`
	Outcome     Outcome       `json:"outcome"`
	Key         string        `json:"key,omitempty"`
	Action      digest.Digest `json:"-"` // Key with its size: names the Action message in the store
	Duration    time.Duration `json:"duration_ns"`
	Worker      string        `json:"worker,omitempty"`
	Failure     *Failure      `json:"failure,omitempty"`
	Warning     string        `json:"warning,omitempty"` // what a successful action wants people to know
}

// Failure is why an action failed.
type Failure struct {
	Summary  string   `json:"summary"` // what is wrong
	Where    string   `json:"where,omitempty"`
	Source   []string `json:"source,omitempty"` // the step's own lines
	Command  []string `json:"command,omitempty"`
	ExitCode int      `json:"exit_code"`
	Output   string   `json:"output,omitempty"` // last lines
	Log      string   `json:"log,omitempty"`    // path of the whole output
	Hints    []string `json:"hints,omitempty"`  // cause and remedy
	Engine   bool     `json:"engine,omitempty"` // could not run, as opposed to ran and failed
}

// BuildProgress says, now and then, how far the build is.
type BuildProgress struct {
	Ended       int     `json:"ended"`
	Actions     int     `json:"nodes"`  // actions known so far
	LeftSeconds float64 `json:"left_s"` // how long it will take, about, going by earlier runs
}

// OutputReady says that an output of the pipeline is at its place.
type OutputReady struct {
	Name string `json:"name"`
	Path string `json:"path"` // of the exported file or folder
	Show string `json:"show,omitempty"`
}

// BuildFinished is the last event.
type BuildFinished struct {
	Actions  int     `json:"nodes"`
	Executed int     `json:"executed"`
	Cached   int     `json:"cached"`
	Failed   int     `json:"failed"`
	Skipped  int     `json:"skipped"`
	Seconds  float64 `json:"seconds"`
}

func (BuildStarted) event()   {}
func (ActionsPlanned) event() {}
func (ActionStarted) event()  {}
func (ActionProgress) event() {}
func (ActionFinished) event() {}
func (BuildProgress) event()  {}
func (OutputReady) event()    {}
func (BuildFinished) event()  {}
