package runlog

import (
	"path/filepath"

	"github.com/hexmage/hexmage/internal/event"
)

// Book is the runs of a pipeline. It reads files when they are asked for. It is not for use by several goroutines at once.
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

func (b *Book) page(i int) *page {
	if b.pages[i] == nil {
		run, err := read(filepath.Join(b.dir, b.names[i]))
		p := &page{by: map[string]int{}}
		if err == nil {
			p.run = run
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
