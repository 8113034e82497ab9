// Package history represents finished runs as documents, and compares the documents of two runs.
//
// A Document lists all actions of a run, and why each action ran. It can be saved to a file and read on another
// machine. The package does not know how a document is created, displayed or stored; it neither plans nor runs
// anything.
package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/runlog"
)

// Format is the value of the field Format in a Document.
const Format = "hexmage-run/1"

// Limits for a Document's file, because an empty object of two bytes in the file takes hundreds of bytes in memory.
const (
	MaxFile    = 64 << 20 // bytes
	maxObjects = 1 << 20
)

// Document describes a finished run.
type Document struct {
	Format    string   `json:"format"`
	ID        string   `json:"id"`
	Pipeline  string   `json:"pipeline"`
	Profile   string   `json:"profile,omitempty"`
	Version   string   `json:"version"` // version of hexmage
	Variables string   `json:"variables,omitempty"`
	Selected  []string `json:"selected,omitempty"` // the selected steps; empty means all
	// steps for which the run ignored cached results; an element "" means all steps
	Force      []string          `json:"force,omitempty"`
	Parallel   int               `json:"parallel,omitempty"` // maximum number of concurrent actions
	Host       map[string]string `json:"host,omitempty"`
	Toolchains map[string]string `json:"toolchains,omitempty"` // maps name to version
	Digests    string            `json:"digests,omitempty"`    // the digest function: "blake3"
	Started    time.Time         `json:"started"`
	Seconds    float64           `json:"seconds"`
	Result     Result            `json:"result"`

	Executed     int `json:"executed"`
	Cached       int `json:"cached"`
	Failed       int `json:"failed"`
	NotRun       int `json:"not_run"`
	Actions      int `json:"actions"` // all actions, including those of steps that were not selected
	ChecksFailed int `json:"checks_failed,omitempty"`

	Steps    []Step                `json:"steps"` // dependencies come first
	Outputs  []runlog.Output       `json:"outputs,omitempty"`
	Checks   []event.CheckFinished `json:"checks,omitempty"`
	Failures []runlog.Failure      `json:"failures,omitempty"`
	Warnings []runlog.Warning      `json:"warnings,omitempty"`
	// the input folders of all actions, by the first hexadecimal digits of the folder's digest
	Trees map[string]Folder `json:"trees,omitempty"`
	// Open returns a folder that is not in Trees; may be nil
	Open    func(name string) (f Folder, ok bool) `json:"-"`
	Unknown []string                              `json:"unknown,omitempty"` // missing information, with the reasons
}

// Result is the outcome of a run.
type Result string

// Values of Result.
const (
	Succeeded    Result = "ok"
	Failed       Result = "failed"
	ChecksFailed Result = "checks failed"
	Stopped      Result = "stopped" // interrupted or killed
)

// Step is a step of a run, with all instances of the step. Times are in seconds.
type Step struct {
	Step     string   `json:"step"` // address without keys: module.aot.exec.obj
	Module   string   `json:"module,omitempty"`
	Needs    []int    `json:"needs,omitempty"` // dependencies, by index in Steps
	Executed int      `json:"executed"`
	Cached   int      `json:"cached"`
	Failed   int      `json:"failed"`
	Start    float64  `json:"start"` // start of the first action, since the start of the run
	End      float64  `json:"end"`   // end of the last action, since the start of the run
	Work     float64  `json:"work"`  // total time of all actions
	Bytes    int64    `json:"bytes"` // size of the known outputs
	Critical bool     `json:"critical,omitempty"`
	Made     string   `json:"made,omitempty"` // digest of all outputs; "": unknown
	Reasons  []Reason `json:"reasons,omitempty"`
	Actions  []Action `json:"actions,omitempty"`
}

// Ran reports whether the run includes an action of the step.
func (s *Step) Ran() bool { return len(s.Actions) > 0 }

// Reason is a reason for running actions, with the number of actions that ran for this reason.
type Reason struct {
	Text    string `json:"text"`
	Actions int    `json:"actions"`
}

// Action is an action of a run.
type Action struct {
	Copy    string            `json:"copy,omitempty"` // the address of the instance, if the address has keys
	Name    string            `json:"name,omitempty"` // name within the step
	Key     string            `json:"key,omitempty"`
	Outcome event.Outcome     `json:"outcome"`
	Start   float64           `json:"start"`
	Seconds float64           `json:"seconds"` // run time, or lookup time if cached
	Bytes   int64             `json:"bytes,omitempty"`
	Reason  string            `json:"reason,omitempty"` // reason why the action ran or was cached
	Made    map[string]string `json:"made,omitempty"`   // digests of the outputs, by path
	// inputs in the action's cache key that are not files, such as "argument 3" or "variable LANG"
	Of   map[string]string `json:"of,omitempty"`
	Root string            `json:"root,omitempty"` // key in Document.Trees of the folder with all inputs
}

// Folder maps the name of each entry to a text. The text of a file is a digest and a size, such as "0123456789ab (12
// bytes)". The text of a folder is FolderPrefix and a digest. The text of a symbolic link is "symlink to" and the
// target. Two entries have equal texts if and only if they are equal.
type Folder map[string]string

// Parse parses a Document, which may come from an untrusted source.
func Parse(b []byte) (*Document, error) {
	var d Document
	if bytes.Count(b, []byte("{")) > maxObjects {
		return nil, fmt.Errorf("invalid run document: more than %d objects", maxObjects)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("invalid run document: %w", err)
	}
	if was, ok := strings.CutPrefix(d.Format, "hexmage-run/"); ok && d.Format != Format {
		return nil, fmt.Errorf("run document has format version %s, but this hexmage reads version %s; export the "+
			"run with this release of hexmage", was, strings.TrimPrefix(Format, "hexmage-run/"))
	}
	if d.Format != Format {
		return nil, fmt.Errorf("invalid run document: format %q, want %q", d.Format, Format)
	}
	for i, s := range d.Steps {
		for _, n := range s.Needs {
			if n < 0 || n >= i {
				return nil, fmt.Errorf("invalid run document: step %q precedes one of its dependencies", s.Step)
			}
		}
	}
	return &d, nil
}
