package runlog

import (
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
)

// Tally is what the runs of all pipelines say of actions, by their keys.
type Tally struct {
	Runs  int       // that are on record
	Since time.Time // when the first of them began
	Found map[digest.Digest]int
	Took  map[digest.Digest]time.Duration // of those that ran in a run on record, when they last did
	Step  map[digest.Digest]string        // in the newest run: "demo: exec.obj x/a.o"
}

// Count reads all runs below the folder for those of all pipelines. It ignores runs that cannot be read.
func Count(runs string) Tally {
	t := Tally{Found: map[digest.Digest]int{}, Took: map[digest.Digest]time.Duration{},
		Step: map[digest.Digest]string{}}
	dirs, _ := os.ReadDir(runs)
	for _, d := range dirs {
		for _, r := range Open(filepath.Join(runs, d.Name())).Runs() {
			t.add(r)
		}
	}
	return t
}

func (t *Tally) add(r *Run) {
	if t.Runs++; t.Since.IsZero() || r.Started.Before(t.Since) {
		t.Since = r.Started
	}
	for _, a := range r.Actions {
		if _, ok := t.Step[a.Key]; !ok {
			name := r.Pipeline + ": " + a.Step
			if a.Name != "" {
				name += " " + a.Name
			}
			t.Step[a.Key] = name
		}
		switch a.Outcome {
		case event.Cached:
			t.Found[a.Key]++
		case event.Executed:
			if _, ok := t.Took[a.Key]; !ok {
				t.Took[a.Key] = a.Duration
			}
		}
	}
}

// Saved is how long those actions ran whose results runs found, once for each time, and how many of them there are.
// took, which may be nil, says what no run does.
func (t *Tally) Saved(took map[digest.Digest]time.Duration) (found int, saved time.Duration) {
	for key, n := range t.Found {
		d, ok := t.Took[key]
		if !ok {
			d = took[key]
		}
		found += n
		saved += time.Duration(n) * d
	}
	return found, saved
}
