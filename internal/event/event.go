// Package event defines the events of a build. Events are plain data; one goroutine sends them in chronological order.
// The package does not know the receivers, such as a terminal, a test, or a program that reads JSON lines.
package event

import (
	"math"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
)

// Sink receives the events of a build. One goroutine calls Send for all events in order, so Send must return quickly.
// Neither the caller nor the Sink may change the data to which the event points. A Sink must ignore unknown events. It
// must accept events in any order, such as events of several builds, or the end of an action that did not start.
//
// A Sink that wraps another Sink must forward each event before Send returns, in order and including unknown events. It
// may also send events of its own, and may forward a changed copy of an event.
type Sink interface {
	Send(Event)
}

// Event is any of the event structs in this package.
type Event interface {
	EventName() string // in snake_case, for programs
}

// BuildStarted is the first event of a build.
type BuildStarted struct {
	Pipeline string `json:"pipeline"`
	Profile  string `json:"profile"`
	Actions  int    `json:"actions"` // number of known actions
}

// ActionsPlanned reports that hexmage planned the actions of another step during the build.
type ActionsPlanned struct {
	Step    string `json:"step"`
	Actions int    `json:"actions"` // number of the step's actions
}

// Diagnostic is an error or warning about a file. It comes before a build, or instead of a build.
type Diagnostic struct {
	Severity string `json:"severity"` // "error" or "warning"
	Summary  string `json:"summary"`
	Detail   string `json:"detail,omitempty"`
	// path relative to the workspace, or absolute outside the workspace; "": the diagnostic has no position
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"` // from 1
	Column int    `json:"column,omitempty"`
}

// Error is the reason why a command of hexmage failed. The reason for a failed action is in ActionFinished.
type Error struct {
	Message  string `json:"message"`
	ExitCode int    `json:"exit_code"`
}

func (Diagnostic) EventName() string { return "diagnostic" }
func (Error) EventName() string      { return "error" }

// ActionStarted reports that an action started to run. hexmage does not send it for a cache hit.
type ActionStarted struct {
	ID          int    `json:"id"`
	Step        string `json:"step"`           // such as patch.ops
	Name        string `json:"name,omitempty"` // name of the action within the step
	Description string `json:"description,omitempty"`
}

// ActionProgress reports the progress of a running action.
type ActionProgress struct {
	ID    int    `json:"id"`
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"` // 0: unknown
	Unit  string `json:"unit,omitempty"`  // such as "bytes"
	Text  string `json:"text,omitempty"`
}

// Outcome is the way in which an action ended.
type Outcome string

// The outcomes.
const (
	Executed Outcome = "executed"
	Cached   Outcome = "cached"
	Failed   Outcome = "failed"
	NotRun   Outcome = "not_run" // a dependency failed
)

// ActionFinished reports that an action ended.
type ActionFinished struct {
	// 0: hexmage did not look for a cached result, because no input changed or the whole step did not run
	ID          int           `json:"id"`
	Step        string        `json:"step"`
	Name        string        `json:"name,omitempty"`
	Description string        `json:"description,omitempty"`
	Outcome     Outcome       `json:"outcome"`
	Key         string        `json:"key,omitempty"`
	Action      digest.Digest `json:"-"` // digest of the Action message in the store: Key with the size
	Seconds     float64       `json:"duration_seconds"`
	Worker      string        `json:"worker,omitempty"`
	// peak memory of the action's largest process; 0: unknown
	Memory  int64    `json:"memory_bytes,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	Warning string   `json:"warning,omitempty"` // warning of a successful action
}

// Duration returns the duration of the action.
func (e ActionFinished) Duration() time.Duration {
	return time.Duration(math.Round(e.Seconds * float64(time.Second)))
}

// Failure describes a failed action.
type Failure struct {
	Summary             string   `json:"summary"` // the problem in one line
	Where               string   `json:"where,omitempty"`
	Source              []string `json:"source,omitempty"` // source lines of the step's block
	Command             []string `json:"command,omitempty"`
	ExitCode            int      `json:"exit_code"`
	Output              string   `json:"output,omitempty"`               // last lines of the output
	Log                 string   `json:"log,omitempty"`                  // path of the file with the whole output
	LogCut              bool     `json:"log_cut,omitempty"`              // part of the output was too long for Log
	Hints               []string `json:"hints,omitempty"`                // possible causes and fixes
	InfrastructureError bool     `json:"infrastructure_error,omitempty"` // the action could not run
}

// BuildProgress reports the progress of the build.
type BuildProgress struct {
	Ended            int     `json:"ended"`
	Actions          int     `json:"actions"`           // number of known actions
	RemainingSeconds float64 `json:"remaining_seconds"` // estimate from earlier runs
}

// OutputReady reports that hexmage exported an output of the pipeline.
type OutputReady struct {
	Name string `json:"name"`
	Path string `json:"path"` // path of the exported file or folder
	Show string `json:"show,omitempty"`
}

// CheckFinished reports the result of a check. hexmage sends it after all outputs and before BuildFinished, even if the
// build failed.
type CheckFinished struct {
	Check       string      `json:"check"` // such as module.aot["x"].check.words
	Description string      `json:"description,omitempty"`
	Where       string      `json:"where"`
	Severity    string      `json:"severity"` // "error" or "warning"
	Result      CheckResult `json:"result"`
	Message     string      `json:"message,omitempty"` // the reason, unless Result is CheckPassed
}

// CheckResult is the result of a check.
type CheckResult string

// The results of checks.
const (
	CheckPassed      CheckResult = "passed"
	CheckFailed      CheckResult = "failed"
	CheckUnknown     CheckResult = "not_evaluated" // a value that the check needs is missing
	CheckNotSelected CheckResult = "not_selected"  // the check needs a step that was not selected
)

// BuildFinished is the last event of a build.
type BuildFinished struct {
	Actions      int     `json:"actions"`
	Executed     int     `json:"executed"`
	Cached       int     `json:"cached"`
	Failed       int     `json:"failed"`
	NotRun       int     `json:"not_run"`
	ChecksFailed int     `json:"checks_failed,omitempty"` // number of failed checks with severity "error"
	Seconds      float64 `json:"duration_seconds"`
}

func (BuildStarted) EventName() string   { return "build_started" }
func (ActionsPlanned) EventName() string { return "actions_planned" }
func (ActionStarted) EventName() string  { return "action_started" }
func (ActionProgress) EventName() string { return "action_progress" }
func (ActionFinished) EventName() string { return "action_finished" }
func (BuildProgress) EventName() string  { return "build_progress" }
func (OutputReady) EventName() string    { return "output_ready" }
func (CheckFinished) EventName() string  { return "check_finished" }
func (BuildFinished) EventName() string  { return "build_finished" }

// ActionVerified follows ActionFinished if the build verifies actions. It reports how the outputs of two runs of the
// action differ, or why hexmage ran the action only once.
type ActionVerified struct {
	Step    string  `json:"step"`
	Name    string  `json:"name,omitempty"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"` // reason for Unverified
	// true: the first of the two runs is a cached result; false: hexmage ran the action twice in this build
	ComparedWithCache bool         `json:"compared_with_cache"`
	Differences       []Difference `json:"differences,omitempty"`
	More              int          `json:"more,omitempty"` // number of omitted differences
}

// Verdict is the result of verifying an action.
type Verdict string

// The verdicts.
const (
	Same               Verdict = "same"                // bit-identical
	Different          Verdict = "different"           // outputs differ
	ExpectedDifference Verdict = "expected_difference" // all differences are in outputs that may differ
	Unverified         Verdict = "unverified"          // could not be verified
)

// Difference is a file or folder that differs between two runs of an action. If the action has a cached result, this
// result counts as the first run.
type Difference struct {
	Path   string   `json:"path"`             // slash path in the exec root
	Kind   string   `json:"kind"`             // missing, extra, type, mode, size, content, exit code
	Detail string   `json:"detail,omitempty"` // "12 of 4096 bytes differ; the first difference is at offset 0x1f0"
	First  string   `json:"first,omitempty"`  // digest of the file, if any
	Second string   `json:"second,omitempty"`
	Offset int64    `json:"offset"`           // offset of the first byte that differs; -1: not applicable
	Lines  []string `json:"lines,omitempty"`  // for text files: the first line that differs, from each run
	Varies string   `json:"varies,omitempty"` // reason why the output is allowed to differ; "": it is not
}

// VerifyFinished precedes BuildFinished if the build verifies actions.
type VerifyFinished struct {
	Same                int `json:"same"`
	Different           int `json:"different"`
	ExpectedDifferences int `json:"expected_differences"` // actions with only expected differences
	Unverified          int `json:"unverified"`
}

func (ActionVerified) EventName() string { return "action_verified" }
func (VerifyFinished) EventName() string { return "verify_finished" }

// WatchStarted reports which files hexmage watches after a build has ended.
type WatchStarted struct {
	Files   int  `json:"files"`   // number of watched files and folders
	Polling bool `json:"polling"` // hexmage checks the files at intervals
}

// FilesChanged reports changed files. The events of the resulting build follow.
type FilesChanged struct {
	Paths []string `json:"paths"` // changed paths as far as known; relative to the workspace if inside it
}

func (WatchStarted) EventName() string { return "watch_started" }
func (FilesChanged) EventName() string { return "files_changed" }
