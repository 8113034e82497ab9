package runlog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/statefile"
)

// Limits say how much is kept of a pipeline. Zero fields have defaults.
type Limits struct {
	Runs  int   // that are kept whole: 10
	Bytes int64 // of all files: 64 MiB. The oldest go first, the newest stays
}

const (
	suffix  = ".run"
	thinned = ".old.run" // of runs of which only is left what no newer one tells
	slack   = 30         // how many more runs than Limits.Runs there may be, so that thinning out is rare
)

func (l Limits) orDefault() Limits {
	if l.Runs <= 0 {
		l.Runs = 10
	}
	if l.Bytes <= 0 {
		l.Bytes = 64 << 20
	}
	return l
}

// list returns the names of the runs' files, oldest first.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name: by time
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// thin keeps the folder within limits. Several processes may do so at once: each file is replaced or removed whole.
func thin(dir string, l Limits) error {
	l = l.orDefault()
	names, err := list(dir)
	if err != nil {
		return err
	}
	whole := 0
	for _, n := range names {
		if !strings.HasSuffix(n, thinned) {
			whole++
		}
	}
	if whole > l.Runs+slack {
		if err := thinOld(dir, names, l.Runs); err != nil {
			return err
		}
		if names, err = list(dir); err != nil {
			return err
		}
	}
	var sum int64
	for i := len(names) - 1; i >= 0; i-- {
		path := filepath.Join(dir, names[i])
		st, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if sum += st.Size(); sum > l.Bytes && i < len(names)-1 {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// actionName names an action.
type actionName struct{ profile, step, name string }

// counted is what newer runs tell of an action.
type counted struct{ last, success, duration bool }

// add adds what a says and tells whether any of it is new.
func (t *counted) add(a *Action) bool {
	before := *t
	t.last = true
	t.success = t.success || a.Outcome != event.Failed
	t.duration = t.duration || a.Outcome == event.Executed
	return *t != before
}

// thinOld removes from all but the newest keep runs what newer ones tell, and with the last of it the file.
func thinOld(dir string, names []string, keep int) error {
	known := map[actionName]counted{}
	steps := map[string]bool{} // profiles of which a newer run has the steps
	for i := len(names) - 1; i >= 0; i-- {
		path := filepath.Join(dir, names[i])
		run, err := read(path)
		if err != nil {
			if i < len(names)-keep {
				_ = os.Remove(path) // it is damaged
			}
			continue
		}
		var left []Action
		for _, a := range run.Actions {
			id := actionName{run.Profile, a.Step, a.Name}
			t := known[id]
			if t.add(&a) {
				left = append(left, a)
			}
			known[id] = t
		}
		summary := Summary{Actions: run.Summary.Actions}
		if len(run.Summary.Steps) > 0 && !steps[run.Profile] {
			steps[run.Profile] = true
			summary.Steps, summary.Toolchains = run.Summary.Steps, run.Summary.Toolchains
		}
		same := len(left) == len(run.Actions) && len(summary.Steps) == len(run.Summary.Steps)
		if i >= len(names)-keep || same && strings.HasSuffix(names[i], thinned) {
			continue
		}
		if len(left) > 0 || len(summary.Steps) > 0 {
			run.Actions, run.Summary = left, summary
			to := strings.TrimSuffix(strings.TrimSuffix(path, suffix), ".old") + thinned
			if err := statefile.Commit(to, kind(), run.blocks()...); err != nil {
				return err
			}
			if to == path {
				continue
			}
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
