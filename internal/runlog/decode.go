package runlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/statefile"
)

// maxString is how long a step's name with its key, or an action's, may be, in bytes. Longer ones are not recorded.
const maxString = 4 << 10

// read reads a run's file. Of one that is damaged it returns what was before the damage, and no error; an error if not even the run's
// Info can be read.
func read(path string) (*Run, error) {
	r, err := decode(statefile.Read(path, kind()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func decode(f *statefile.File, err error) (*Run, error) {
	if f == nil {
		return nil, err
	}
	r := &Run{}
	if head := f.Blocks[0]; len(head) == 0 || head[0] != blockInfo || json.Unmarshal(head[1:], &r.Info) != nil {
		return nil, errors.New("it begins with no run")
	}
	for _, b := range f.Blocks[1:] {
		if len(b) == 0 || r.Ended || b[0] == blockActions && !r.actions(b[1:]) || b[0] == blockEnd && !r.end(b[1:]) {
			break
		}
	}
	return r, nil
}

func (r *Run) end(b []byte) bool {
	d := statefile.Decode(b)
	t := Totals{Executed: d.Below(1 << 31), Cached: d.Below(1 << 31), Failed: d.Below(1 << 31), Skipped: d.Below(1 << 31), Took: duration(d.Uint())}
	fingerprint := d.Uint64()
	if !d.Done() {
		return false
	}
	r.Totals, r.fingerprint, r.Ended = t, fingerprint, true
	return true
}

// text takes a string that was written with what it has in common with the one before.
func text(d *statefile.Decoder, before string) string {
	n := d.Below(len(before) + 1)
	rest := d.Text()
	if n+len(rest) > maxString {
		d.Fail()
		return ""
	}
	if n == len(before) && rest == "" {
		return before
	}
	return before[:n] + rest
}

// actions takes the actions of a block and tells whether all of it was right.
func (r *Run) actions(b []byte) bool {
	d := statefile.Decode(b)
	var last Action
	for d.Len() > 0 {
		a := Action{Outcome: outcomeOf(byte(d.Below(1 << 8)))}
		a.Step = text(&d, last.Step)
		a.Name = text(&d, last.Name)
		a.Worker = text(&d, last.Worker)
		a.Key = d.Digest()
		a.Start = duration(d.Uint())
		a.Duration = duration(d.Uint())
		if d.Bad() || a.Outcome == "" {
			return false
		}
		r.Actions = append(r.Actions, a)
		last = a
	}
	return true
}

func outcomeOf(b byte) event.Outcome {
	switch b {
	case 'x':
		return event.Executed
	case 'c':
		return event.Cached
	case 'f':
		return event.Failed
	}
	return ""
}

// duration is what micros was made of, at most some thousand years.
func duration(us uint64) time.Duration {
	return time.Duration(min(us, uint64(1<<63-1)/1000)) * time.Microsecond
}
