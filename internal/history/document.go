// Package history has runs that are over as documents: what each did and why, and in what two of them differ.
//
// A Document can be written to a file, and read on another machine; what it does not know it says. The package does
// not know how a document is made or shown, nor where anything is stored, and it never runs or plans anything.
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

// Format is the first field of a Document.
const Format = "hexmage-run/1"

// What the file of a Document may have. An empty object is two bytes there and some hundred in memory.
const (
	MaxFile    = 64 << 20 // bytes
	maxObjects = 1 << 20
)

// Document is a run.
type Document struct {
	Format     string            `json:"format"`
	ID         string            `json:"id"`
	Pipeline   string            `json:"pipeline"`
	Profile    string            `json:"profile,omitempty"`
	Version    string            `json:"version"` // of hexmage
	Variables  string            `json:"variables,omitempty"`
	Selected   []string          `json:"selected,omitempty"` // the steps that were asked for; none: all
	Fresh      []string          `json:"fresh,omitempty"`    // the steps whose results were not to count; "" for all
	Parallel   int               `json:"parallel,omitempty"` // actions at once
	Host       map[string]string `json:"host,omitempty"`
	Toolchains map[string]string `json:"toolchains,omitempty"` // version by name
	Digests    string            `json:"digests,omitempty"`    // the function that they are of: "blake3"
	Started    time.Time         `json:"started"`
	Seconds    float64           `json:"seconds"`
	Result     Result            `json:"result"`

	Executed     int `json:"executed"`
	Cached       int `json:"cached"`
	Failed       int `json:"failed"`
	Skipped      int `json:"skipped"`
	Actions      int `json:"actions"` // all that there are, also those that nobody had to look at
	ChecksFailed int `json:"checks_failed,omitempty"`

	Steps    []Step                `json:"steps"` // what a step needs comes before it
	Outputs  []runlog.Output       `json:"outputs,omitempty"`
	Checks   []event.CheckFinished `json:"checks,omitempty"`
	Failures []runlog.Failure      `json:"failures,omitempty"`
	Warnings []runlog.Warning      `json:"warnings,omitempty"`
	// folders of the actions' inputs, by the first digits of their digests
	Trees map[string]Folder `json:"trees,omitempty"`
	// Open returns a folder that Trees lacks; may be nil
	Open    func(name string) (f Folder, ok bool) `json:"-"`
	Unknown []string                              `json:"unknown,omitempty"` // what cannot be told, and why
}

// Result is how a run ended.
type Result string

// The results.
const (
	Succeeded    Result = "ok"
	Failed       Result = "failed"
	ChecksFailed Result = "checks failed"
	Stopped      Result = "stopped" // interrupted, or killed
)

// Step is what a run had of a step: all of its copies, in all copies of its module. Times are seconds.
type Step struct {
	Step     string   `json:"step"` // module.aot.exec.obj
	Module   string   `json:"module,omitempty"`
	Needs    []int    `json:"needs,omitempty"` // what it takes from, by their places among the steps
	Executed int      `json:"executed"`
	Cached   int      `json:"cached"`
	Failed   int      `json:"failed"`
	Start    float64  `json:"start"` // of its first action, since the run's start
	End      float64  `json:"end"`   // of its last
	Work     float64  `json:"work"`  // of all its actions
	Bytes    int64    `json:"bytes"` // of their outputs, as far as that is known
	Critical bool     `json:"critical,omitempty"`
	Made     string   `json:"made,omitempty"` // a digest of all their outputs; "" where that is not known
	Reasons  []Reason `json:"reasons,omitempty"`
	Actions  []Action `json:"actions,omitempty"`
	Kept     []Action `json:"kept,omitempty"` // that the run did not come to, as the last run had them that did
}

// Ran tells whether the run had anything of the step.
func (s *Step) Ran() bool { return len(s.Actions) > 0 }

// Reason is why actions ran, and how many of them.
type Reason struct {
	Text    string `json:"text"`
	Actions int    `json:"actions"`
}

// Action is what a run had of an action.
type Action struct {
	Copy    string            `json:"copy,omitempty"` // the step's address with keys, where it has any
	Name    string            `json:"name,omitempty"` // of the action in the step
	Key     string            `json:"key,omitempty"`
	Outcome event.Outcome     `json:"outcome"`
	Start   float64           `json:"start"`
	Seconds float64           `json:"seconds"` // of the lookup for one that was cached
	Worker  string            `json:"worker,omitempty"`
	Bytes   int64             `json:"bytes,omitempty"`
	Reason  string            `json:"reason,omitempty"` // why it ran, or why it was cached
	Made    map[string]string `json:"made,omitempty"`   // digests of its outputs, by path
	// what its key was made of beside inputs: "argument 3", "variable LANG", …
	Of   map[string]string `json:"of,omitempty"`
	Root string            `json:"root,omitempty"` // the folder of its inputs, among the document's trees
	Run  string            `json:"run,omitempty"`  // of one that was kept: the run that had it
}

// Folder is what is in a folder, by name: "0123456789ab (12 bytes)" for a file, "folder " and a digest, or "symlink
// to " and a path. The texts of what differs differ.
type Folder map[string]string

// Parse reads a Document, of whoever it may be.
func Parse(b []byte) (*Document, error) {
	var d Document
	if bytes.Count(b, []byte("{")) > maxObjects {
		return nil, fmt.Errorf("no run: it has more than %d objects", maxObjects)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("no run: %w", err)
	}
	if was, ok := strings.CutPrefix(d.Format, "hexmage-run/"); ok && d.Format != Format {
		return nil, fmt.Errorf("its format is version %s, and this hexmage reads version %s: have it exported by "+
			"the hexmage that reads it, in the same release", was, strings.TrimPrefix(Format, "hexmage-run/"))
	}
	if d.Format != Format {
		return nil, fmt.Errorf("no run: its format is %q, not %q", d.Format, Format)
	}
	for i, s := range d.Steps {
		for _, n := range s.Needs {
			if n < 0 || n >= i {
				return nil, fmt.Errorf("no run: step %q needs one that does not come before it", s.Step)
			}
		}
	}
	return &d, nil
}
