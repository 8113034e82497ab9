// Package event has what a build tells its watchers.
//
// Events are plain data, in the order in which things happened, sent from one goroutine. The package does not know
// who watches: a terminal, a program that reads JSON lines, a test.
package event

import (
	"time"

	"github.com/hexmage/hexmage/internal/digest"
)

// Sink receives events. Send is called from one goroutine, in order, and must not block for long. What an event
// points to is read only, for the sender and every sink, from then on. A sink passes over events that it does not
// know, and bears with any order: one build after the other, actions that end and never began.
//
// A decorator passes every event on before Send returns, in order, those that it does not know included; it may add
// some, and say more or less in a copy.
type Sink interface {
	Send(Event)
}

// Event is one of the structs of this package.
type Event interface {
	EventName() string // in snake_case, as programs read it
}

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

// Diagnostic says what is wrong with a file, or strange, before a build or in place of one.
type Diagnostic struct {
	Severity string `json:"severity"` // "error" or "warning"
	Summary  string `json:"summary"`
	Detail   string `json:"detail,omitempty"`
	// relative to the workspace where it is in it; "" where no place is to blame
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"` // from 1
	Column int    `json:"column,omitempty"`
}

// Error is what a command ends with that could not do what it was asked for. What an action failed with is in its
// ActionFinished.
type Error struct {
	Message  string `json:"message"`
	ExitCode int    `json:"exit_code"`
}

func (Diagnostic) EventName() string { return "diagnostic" }
func (Error) EventName() string      { return "error" }

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
	// 0: nothing that it reads has changed, so nobody looked at it, or a whole step was skipped
	ID          int           `json:"id"`
	Step        string        `json:"step"`
	Name        string        `json:"name,omitempty"`
	Description string        `json:"description,omitempty"`
	Outcome     Outcome       `json:"outcome"`
	Key         string        `json:"key,omitempty"`
	Action      digest.Digest `json:"-"` // Key with its size: names the Action message in the store
	Duration    time.Duration `json:"duration_ns"`
	Worker      string        `json:"worker,omitempty"`
	// that the largest process of one that ran took at its peak; 0: not known
	Memory  int64    `json:"memory_bytes,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	Warning string   `json:"warning,omitempty"` // what a successful action wants people to know
}

// Failure is why an action failed.
type Failure struct {
	Summary  string   `json:"summary"` // what is wrong
	Where    string   `json:"where,omitempty"`
	Source   []string `json:"source,omitempty"` // the step's own lines
	Command  []string `json:"command,omitempty"`
	ExitCode int      `json:"exit_code"`
	Output   string   `json:"output,omitempty"`  // last lines
	Log      string   `json:"log,omitempty"`     // path of the whole output,
	LogCut   bool     `json:"log_cut,omitempty"` // but for what it was too long for
	Hints    []string `json:"hints,omitempty"`   // cause and remedy
	Engine   bool     `json:"engine,omitempty"`  // could not run, as opposed to ran and failed
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

// CheckFinished says what came of a check. Those of all checks come after the outputs, before BuildFinished, also in
// a build that failed.
type CheckFinished struct {
	Check       string      `json:"check"` // module.aot["x"].check.words
	Description string      `json:"description,omitempty"`
	Where       string      `json:"where"`
	Severity    string      `json:"severity"` // "error" or "warning"
	Result      CheckResult `json:"result"`
	Message     string      `json:"message,omitempty"` // why it is not CheckPassed
}

// CheckResult is what came of a check.
type CheckResult string

// The results of checks.
const (
	CheckPassed  CheckResult = "passed"
	CheckFailed  CheckResult = "failed"
	CheckUnknown CheckResult = "not_evaluated" // something that it needs is not there
	CheckLeftOut CheckResult = "left_out"      // a step that it needs is no part of what was asked for
)

// BuildFinished is the last event.
type BuildFinished struct {
	Actions      int     `json:"nodes"`
	Executed     int     `json:"executed"`
	Cached       int     `json:"cached"`
	Failed       int     `json:"failed"`
	Skipped      int     `json:"skipped"`
	ChecksFailed int     `json:"checks_failed,omitempty"` // of severity error
	Seconds      float64 `json:"seconds"`
}

func (BuildStarted) EventName() string   { return "build_started" }
func (ActionsPlanned) EventName() string { return "node_planned" }
func (ActionStarted) EventName() string  { return "node_started" }
func (ActionProgress) EventName() string { return "node_progress" }
func (ActionFinished) EventName() string { return "node_finished" }
func (BuildProgress) EventName() string  { return "build_progress" }
func (OutputReady) EventName() string    { return "output_ready" }
func (CheckFinished) EventName() string  { return "check_finished" }
func (BuildFinished) EventName() string  { return "build_finished" }

// ActionVerified follows ActionFinished in a build that verifies: the action was run once more, or why it was not.
type ActionVerified struct {
	Step    string  `json:"step"`
	Name    string  `json:"name,omitempty"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"` // of Unverified
	// compared with a result that was in the cache, not with a run just before
	Known       bool         `json:"known"`
	Differences []Difference `json:"differences,omitempty"`
	More        int          `json:"more,omitempty"` // how many differences are left out
}

// Verdict is what came of verifying an action.
type Verdict string

// The verdicts.
const (
	Same       Verdict = "same"       // bit by bit
	Different  Verdict = "different"  // something differs
	Declared   Verdict = "declared"   // something differs, all of it in outputs that may
	Unverified Verdict = "unverified" // it cannot be verified
)

// Difference is one file or folder that two runs of an action left differently. "First" is the run whose result the
// cache has, "second" the one that verified it.
type Difference struct {
	Path   string   `json:"path"`             // slash path in the exec root
	Kind   string   `json:"kind"`             // missing, extra, type, mode, size, content, exit code
	Detail string   `json:"detail,omitempty"` // "12 of 4096 bytes differ, the first at 0x1f0"
	First  string   `json:"first,omitempty"`  // digest of the file, where there is one
	Second string   `json:"second,omitempty"`
	Offset int64    `json:"offset"`           // of the first byte that differs; -1: not of that kind
	Lines  []string `json:"lines,omitempty"`  // of text files: the first line that differs, of both
	Varies string   `json:"varies,omitempty"` // why it may differ, of an output that may
}

// VerifyFinished comes before BuildFinished in a build that verifies.
type VerifyFinished struct {
	Same       int `json:"same"`
	Different  int `json:"different"`
	Declared   int `json:"declared"` // different, in outputs that may be
	Unverified int `json:"unverified"`
}

func (ActionVerified) EventName() string { return "node_verified" }
func (VerifyFinished) EventName() string { return "verify_finished" }

// WatchStarted says what is being watched, when nothing is built any more.
type WatchStarted struct {
	Files   int  `json:"files"`   // and folders
	Polling bool `json:"polling"` // they are looked at again and again
}

// FilesChanged comes before a build that a change has set off.
type FilesChanged struct {
	Paths []string `json:"paths"` // as far as they are known; relative to the workspace where they are in it
}

func (WatchStarted) EventName() string { return "watch_started" }
func (FilesChanged) EventName() string { return "files_changed" }
