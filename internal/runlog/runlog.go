// Package runlog keeps what earlier runs of a pipeline did: each action's key, outcome, duration and place, and what the
// run was told.
//
// A run is one file, which grows while the run goes on, in pieces with a checksum each: what a killed run had done up to
// then is there, and a damaged piece is passed over with all that comes after it. A run in which nothing ran and nothing
// changed leaves no file. Old runs are thinned out: of them only what no newer one tells is kept.
//
// The package does not know what a key was made of, nor whether what it names is still in the store; and it is told
// nothing of actions that a build had no need to look at.
package runlog

import (
	"encoding/hex"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
)

// Info is what a run was told, and by whom.
type Info struct {
	Pipeline   string            `json:"pipeline"`
	Profile    string            `json:"profile,omitempty"`
	Variables  string            `json:"variables,omitempty"` // digest of the variables' values
	Version    string            `json:"version"`             // of hexmage
	Toolchains map[string]string `json:"toolchains,omitempty"`
	Jobs       int               `json:"jobs,omitempty"` // how many actions at once
	Started    time.Time         `json:"started"`
}

// Action is what a run had of one action.
type Action struct {
	Step     string // the instance: exec.obj["a.c"]
	Name     string // the action in it, "" if it has one only
	Key      digest.Digest
	Outcome  event.Outcome // never Skipped
	Start    time.Duration // since the run's start
	Duration time.Duration // of the lookup for one that was cached
	Worker   string
}

// Totals are the numbers of a run that came to its end.
type Totals struct {
	Executed, Cached, Failed, Skipped int
	Took                              time.Duration
}

// Run is one run.
type Run struct {
	Info
	Totals
	Ended   bool // it came to its end; else it was killed, and Totals are zero
	Actions []Action

	fingerprint uint64
}

// Folder returns where the runs of a workspace's pipeline are, below the folder for those of all.
func Folder(runs, workspace, pipeline string) string {
	sum := blake3.Sum256([]byte(workspace + "\x00" + pipeline))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, pipeline)
	return filepath.Join(runs, name[:min(len(name), 60)]+"-"+hex.EncodeToString(sum[:8]))
}
