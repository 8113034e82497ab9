// Package runlog keeps what earlier runs of a pipeline did: each action's key, outcome, duration and place, and what
// the run was told.
//
// A run is a file of JSON lines, which grows while the run goes on: what a killed run had done up to then is there,
// and a torn last line is ignored. A run in which nothing ran and nothing changed leaves no file. The oldest files
// are removed.
//
// The package does not know what a key was made of, nor whether what it names is still in the store; and it keeps
// nothing of actions that a run did not come to.
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

// Info is what a run was told, and by whom.
type Info struct {
	Pipeline   string            `json:"pipeline"`
	Folder     string            `json:"folder,omitempty"` // the workspace, an absolute path: it stays on this machine
	Profile    string            `json:"profile,omitempty"`
	Variables  string            `json:"variables,omitempty"` // digest of the variables' values
	Version    string            `json:"version"`             // of hexmage
	Toolchains map[string]string `json:"toolchains,omitempty"`
	Jobs       int               `json:"jobs,omitempty"` // how many actions at once
	Started    time.Time         `json:"started"`
	Selected   []string          `json:"selected,omitempty"` // the steps that were asked for; none: all
	Fresh      []string          `json:"fresh,omitempty"`    // the steps whose results were not to count; "" for all
	Host       map[string]string `json:"host,omitempty"`     // the machine, by "os", "processors", …
}

// Action is what a run had of one action.
type Action struct {
	Step     string        `json:"step"`           // the instance: exec.obj["a.c"]
	Name     string        `json:"name,omitempty"` // the action in it, "" if it has one only
	Key      digest.Digest `json:"-"`              // see actionLine
	Outcome  event.Outcome `json:"outcome"`        // never Skipped
	Start    time.Duration `json:"start_ns"`       // since the run's start
	Duration time.Duration `json:"duration_ns"`    // of the lookup for one that was cached
	Worker   string        `json:"worker,omitempty"`
	// peak of the largest process of one that was executed; 0: unknown
	Memory int64 `json:"memory_bytes,omitempty"`
}

// Totals are the numbers of a run that came to its end.
type Totals struct {
	Executed int           `json:"executed"`
	Cached   int           `json:"cached"`
	Failed   int           `json:"failed"`
	Skipped  int           `json:"skipped"`
	Took     time.Duration `json:"took_ns"`
}

// Run is one run.
type Run struct {
	Info
	Totals
	Summary Summary
	ID      string // among the runs of all pipelines, most likely
	Ended   bool   // it came to its end; else it was killed, and Totals are zero
	Actions []Action
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

// Book is the runs of a pipeline. It reads files when they are asked for. It is not for use by several goroutines at
// once.
type Book struct {
	dir   string
	names []string // newest first
	pages []*page
}

// page is a run that was read, with its actions by step and name.
type page struct {
	run *Run // nil: it cannot be read
	by  map[string]int
}

// Open returns what the folder has. One that is not there has no runs.
func Open(dir string) *Book {
	names, _ := list(dir)
	b := &Book{dir: dir, pages: make([]*page, len(names))}
	for i := range names {
		b.names = append(b.names, names[len(names)-1-i])
	}
	return b
}

// Runs returns the runs, newest first, without those that cannot be read.
func (b *Book) Runs() []*Run {
	var runs []*Run
	for i := range b.names {
		if r := b.page(i).run; r != nil {
			runs = append(runs, r)
		}
	}
	return runs
}

// Refs returns the runs by what their names tell, newest first, without reading any.
func (b *Book) Refs() []Ref {
	refs := make([]Ref, 0, len(b.names))
	for i, name := range b.names {
		var at int64
		if _, err := fmt.Sscanf(name, "%016x-", &at); err == nil {
			refs = append(refs, Ref{ID: idOf(name), Started: time.Unix(0, at), book: b, at: i})
		}
	}
	return refs
}

// Ref is a run that was not read yet.
type Ref struct {
	ID      string
	Started time.Time

	book *Book
	at   int
}

// Run reads it; nil if it cannot be read.
func (r Ref) Run() *Run { return r.book.page(r.at).run }

// Earlier returns the newest earlier run of the book with the same profile for which want returns true; nil if there
// is none.
func (b *Book) Earlier(r *Run, want func(*Run) bool) *Run {
	for i := range b.names {
		if p := b.page(i); p.run != nil && p.run.Profile == r.Profile && p.run.Started.Before(r.Started) &&
			want(p.run) {
			return p.run
		}
	}
	return nil
}

// LastBefore is Last, of runs that began before r did.
func (b *Book) LastBefore(r *Run, step, name string) (*Run, *Action) {
	for i := range b.names {
		p := b.page(i)
		if p.run == nil || p.run.Profile != r.Profile || !p.run.Started.Before(r.Started) {
			continue
		}
		if at, ok := p.by[step+"\x00"+name]; ok && !p.run.Actions[at].Key.IsZero() {
			return p.run, &p.run.Actions[at]
		}
	}
	return nil, nil
}

// idOf is the part of a file's name that is random.
func idOf(name string) string {
	_, id, _ := strings.Cut(name, "-")
	id, _, _ = strings.Cut(id, ".")
	return id
}

func (b *Book) page(i int) *page {
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

// Find returns the newest record of the action in runs with the profile, and its run, for which want returns true.
func (b *Book) Find(profile, step, name string, want func(*Action) bool) (*Run, *Action) {
	for i := range b.names {
		p := b.page(i)
		if p.run == nil || p.run.Profile != profile {
			continue
		}
		if at, ok := p.by[step+"\x00"+name]; ok {
			if a := &p.run.Actions[at]; want(a) {
				return p.run, a
			}
		}
	}
	return nil, nil
}

// Last returns the newest record of the action with a key, nil if there is none.
func (b *Book) Last(profile, step, name string) (*Run, *Action) {
	return b.Find(profile, step, name, func(a *Action) bool { return !a.Key.IsZero() })
}

// LastSuccess is Last for an action that did not fail.
func (b *Book) LastSuccess(profile, step, name string) (*Run, *Action) {
	return b.Find(profile, step, name, func(a *Action) bool { return !a.Key.IsZero() && a.Outcome != event.Failed })
}
