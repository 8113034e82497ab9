package runlog

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/digest"
)

const suffix = ".jsonl"

// Limits for the records of one pipeline.
const (
	maxRuns  = 30
	maxBytes = 16 << 20 // sum over all files
)

// line is a line of a run's file, with one field set. Run is the first line. End is the last line, unless the run was
// killed.
type line struct {
	Run     *Info       `json:"run,omitempty"`
	Action  *actionLine `json:"action,omitempty"`
	Summary *Summary    `json:"summary,omitempty"`
	End     *Totals     `json:"end,omitempty"`
}

type actionLine struct {
	Action
	Key string `json:"key,omitempty"`
}

func lineOf(a Action) line {
	l := &actionLine{Action: a}
	if !a.Key.IsZero() {
		l.Key = a.Key.String()
	}
	return line{Action: l}
}

// read reads a run's file up to its first damaged line: the last line of a killed run may be torn. It fails if the
// first line is damaged.
func read(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, d := &Run{}, json.NewDecoder(f)
	var first line
	if err := d.Decode(&first); err != nil || first.Run == nil {
		return nil, fmt.Errorf("%s: the first line is not a run record (%w)", path, errors.Join(err, fs.ErrInvalid))
	}
	r.Info = *first.Run
	for !r.Ended {
		var l line
		if d.Decode(&l) != nil || !r.add(l) {
			break
		}
	}
	return r, nil
}

// add adds the content of a line and reports whether the line is valid.
func (r *Run) add(l line) bool {
	switch {
	case l.Action != nil:
		a := l.Action.Action
		if l.Action.Key != "" {
			var err error
			if a.Key, err = digest.Parse(l.Action.Key); err != nil {
				return false
			}
		}
		if a.Outcome == "" {
			return false
		}
		r.Actions = append(r.Actions, a)
		return true
	case l.Summary != nil:
		if !l.Summary.valid() {
			return false
		}
		r.Summary = *l.Summary
		return true
	case l.End != nil:
		r.Totals, r.Ended = *l.End, true
		return true
	}
	return false
}

// mix adds an action's key to the fingerprint of a run. The order in which actions end does not affect the fingerprint.
func mix(fingerprint uint64, a *Action) uint64 {
	if a.Key.IsZero() {
		return fingerprint
	}
	var h [32]byte
	return fingerprint + binary.LittleEndian.Uint64(a.Key.AppendHash(h[:0]))
}

// lastFingerprint returns the fingerprint of the newest run, or 0 if that run was killed.
func lastFingerprint(dir string) (sum uint64) {
	names, _ := list(dir)
	if len(names) == 0 {
		return 0
	}
	r, err := read(filepath.Join(dir, names[len(names)-1]))
	if err != nil || !r.Ended {
		return 0
	}
	for i := range r.Actions {
		sum = mix(sum, &r.Actions[i])
	}
	return sum
}

// list returns the names of the runs' files, oldest first.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // names sort by time
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// prune removes the oldest files beyond the limits, but never the newest. Several processes may do so at once.
func prune(dir string) error {
	names, err := list(dir)
	if err != nil {
		return err
	}
	var sum int64
	for i := len(names) - 1; i >= 0; i-- {
		path := filepath.Join(dir, names[i])
		st, err := os.Lstat(path)
		if err == nil {
			sum += st.Size()
			if n := len(names) - i; n > 1 && (n > maxRuns || sum > maxBytes) {
				err = os.Remove(path)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
