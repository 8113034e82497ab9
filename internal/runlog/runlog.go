// Package runlog records the runs of a pipeline. A record contains the options of the run, and the key, outcome,
// duration and worker of each action.
//
// The record of a run is a file of JSON lines that grows during the run. If a run is killed, its record ends early.
// Readers ignore an incomplete last line. A run that executed no action and changed no output leaves no file. The
// package removes the oldest files.
//
// The package does not know the inputs of a cache key, or whether the store still has the results. If a run did not
// reach an action, its record does not contain the action.
package runlog

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
)

// Info contains the options and the environment of a run.
type Info struct {
	Pipeline   string            `json:"pipeline"`
	Profile    string            `json:"profile,omitempty"`
	Variables  string            `json:"variables,omitempty"` // digest of the variables' values
	Version    string            `json:"version"`             // of hexmage
	Toolchains map[string]string `json:"toolchains,omitempty"`
	Jobs       int               `json:"jobs,omitempty"` // maximum number of concurrent actions
	Started    time.Time         `json:"started"`
	Selected   []string          `json:"selected,omitempty"` // the selected steps; empty means all
	// steps whose cached results the run ignored; the element "" means all steps
	Force []string          `json:"force,omitempty"`
	Host  map[string]string `json:"host,omitempty"` // the machine, by "os", "processors", …
}

// Action is the record of an action in a run.
type Action struct {
	Step     string        `json:"step"`           // the instance: exec.obj["a.c"]
	Name     string        `json:"name,omitempty"` // its name in the step, "" if it is the only action
	Key      digest.Digest `json:"-"`              // digest of the cache key: see actionLine
	Outcome  event.Outcome `json:"outcome"`        // never NotRun
	Start    time.Duration `json:"start_ns"`       // since the run's start
	Duration time.Duration `json:"duration_ns"`    // of the cache lookup if the action was cached
	Worker   string        `json:"worker,omitempty"`
	// peak memory of the action's largest process in bytes; 0 if unknown or not executed
	Memory int64 `json:"memory_bytes,omitempty"`
}

// Totals contains the counts of a finished run.
type Totals struct {
	Executed int           `json:"executed"`
	Cached   int           `json:"cached"`
	Failed   int           `json:"failed"`
	NotRun   int           `json:"not_run"`
	Took     time.Duration `json:"took_ns"`
}

// Run is the record of one run.
type Run struct {
	Info
	Totals
	Summary Summary
	ID      string // almost certainly unique among all runs
	Ended   bool   // the run finished; if false, it was killed, and Totals are zero
	Actions []Action
}

// Folder returns the folder for records of one pipeline in one workspace. It is inside the folder runs.
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

// History lists the runs of a pipeline. It reads each record when needed. Only one goroutine at a time may use it.
type History struct {
	dir   string
	names []string // newest first
	pages []*page
}

// page is a run with its actions by step and name.
type page struct {
	run *Run // nil if the file cannot be read
	by  map[string]int
}

// Open returns the History of the records in the folder dir. If the folder is missing, the History is empty.
func Open(dir string) *History {
	names, _ := list(dir)
	b := &History{dir: dir, pages: make([]*page, len(names))}
	for i := range names {
		b.names = append(b.names, names[len(names)-1-i])
	}
	return b
}

// Runs returns all runs with a readable record, newest first.
func (b *History) Runs() []*Run {
	var runs []*Run
	for i := range b.names {
		if r := b.page(i).run; r != nil {
			runs = append(runs, r)
		}
	}
	return runs
}

// Refs returns references to all runs, newest first. It does not read the records.
func (b *History) Refs() []Ref {
	refs := make([]Ref, 0, len(b.names))
	for i, name := range b.names {
		var at int64
		if _, err := fmt.Sscanf(name, "%016x-", &at); err == nil {
			refs = append(refs, Ref{ID: idOf(name), Started: time.Unix(0, at), book: b, at: i})
		}
	}
	return refs
}

// Ref refers to the record of a run by file name.
type Ref struct {
	ID      string
	Started time.Time

	book *History
	at   int
}

// Run reads the record of the run. If the record is unreadable, Run returns nil.
func (r Ref) Run() *Run { return r.book.page(r.at).run }

// Earlier returns the newest run before r that has the same profile and for which want returns true. If no run matches,
// Earlier returns nil.
func (b *History) Earlier(r *Run, want func(*Run) bool) *Run {
	for i := range b.names {
		if p := b.page(i); p.run != nil && p.run.Profile == r.Profile && p.run.Started.Before(r.Started) &&
			want(p.run) {
			return p.run
		}
	}
	return nil
}

// idOf returns the random part of a file's name.
func idOf(name string) string {
	_, id, _ := strings.Cut(name, "-")
	id, _, _ = strings.Cut(id, ".")
	return id
}

func (b *History) page(i int) *page {
	if b.pages[i] == nil {
		run, err := read(filepath.Join(b.dir, b.names[i]))
		p := &page{by: map[string]int{}}
		if err == nil {
			p.run = run
			run.ID = idOf(b.names[i])
			for i, a := range run.Actions {
				p.by[a.Step+"\x00"+a.Name] = i
			}
		}
		b.pages[i] = p
	}
	return b.pages[i]
}

// find returns the newest record of the action that has a key, and its run. It considers the runs of the profile for
// which want returns true.
func (b *History) find(profile, step, name string, want func(*Run, *Action) bool) (*Run, *Action) {
	for i := range b.names {
		p := b.page(i)
		if p.run == nil || p.run.Profile != profile {
			continue
		}
		if at, ok := p.by[step+"\x00"+name]; ok {
			if a := &p.run.Actions[at]; !a.Key.IsZero() && want(p.run, a) {
				return p.run, a
			}
		}
	}
	return nil, nil
}

// Last returns the newest run in which the action has a cache key, and the record of the action in that run. If no run
// matches, Last returns nil.
func (b *History) Last(profile, step, name string) (*Run, *Action) {
	return b.find(profile, step, name, func(*Run, *Action) bool { return true })
}

// LastSuccess is like Last, but ignores failed actions.
func (b *History) LastSuccess(profile, step, name string) (*Run, *Action) {
	return b.find(profile, step, name, func(_ *Run, a *Action) bool { return a.Outcome != event.Failed })
}

// LastBefore is like Last, but ignores r and later runs.
func (b *History) LastBefore(r *Run, step, name string) (*Run, *Action) {
	return b.find(r.Profile, step, name, func(of *Run, _ *Action) bool { return of.Started.Before(r.Started) })
}
