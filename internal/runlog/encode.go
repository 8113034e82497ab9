package runlog

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/statefile"
)

// kind is of the file of a run. The first byte of each block says what it has.
func kind() statefile.Kind {
	return statefile.Kind{Name: "runlog", Version: 1, Max: maxFile, Shared: true}
}

// maxFile is how large a run's file may be, in bytes: 350,000 actions. What comes after is not recorded.
const maxFile = 32 << 20

const (
	blockInfo    = 'I' // Info as JSON; the first block
	blockActions = 'A'
	blockSummary = 'S' // Summary as JSON
	blockEnd     = 'E' // totals and fingerprint; the last block
)

func infoBlock(i Info) []byte {
	b, err := json.Marshal(i)
	if err != nil { // it is plain data: a time beyond year 9999 is the only one that cannot be written
		b = []byte("{}")
	}
	return append([]byte{blockInfo}, b...)
}

// actions collects actions for one block. Strings are written as what they have not in common with those before.
type actions struct {
	statefile.Encoder
	step, name, worker string
}

// block returns what was collected, and starts anew.
func (r *actions) block() []byte {
	b := r.Block
	*r = actions{}
	r.Block = make([]byte, 0, len(b))
	return b
}

func (r *actions) add(a *Action) {
	if len(r.Block) == 0 {
		r.Block = append(r.Block, blockActions)
	}
	outcome := outcomeByte(a.Outcome)
	if a.Memory > 0 {
		outcome = executedIn
	}
	r.Uint(uint64(outcome))
	r.rest(r.step, a.Step)
	r.rest(r.name, a.Name)
	r.rest(r.worker, a.Worker)
	r.Digest(a.Key)
	r.Uint(micros(a.Start))
	r.Uint(micros(a.Duration))
	if a.Memory > 0 {
		r.Uint(uint64(a.Memory) >> 10)
	}
	r.step, r.name, r.worker = a.Step, a.Name, a.Worker
}

func micros(d time.Duration) uint64 { return uint64(max(0, d.Microseconds())) }

// rest appends s as how many bytes it has in common with the one before, and the others.
func (r *actions) rest(before, s string) {
	n := 0
	for n < len(before) && n < len(s) && before[n] == s[n] {
		n++
	}
	r.Int(n)
	r.Text(s[n:])
}

// executedIn stands for the outcome Executed of an action of which is known how much memory it took: that follows.
const executedIn = 'X'

func outcomeByte(o event.Outcome) byte {
	switch o {
	case event.Executed:
		return 'x'
	case event.Cached:
		return 'c'
	}
	return 'f'
}

func endBlock(t Totals, fingerprint uint64) []byte {
	e := statefile.Encoder{Block: []byte{blockEnd}}
	for _, n := range []int{t.Executed, t.Cached, t.Failed, t.Skipped} {
		e.Int(n)
	}
	e.Uint(micros(t.Took))
	e.Uint64(fingerprint)
	return e.Block
}

// blocks returns what the run's file has.
func (r *Run) blocks() [][]byte {
	var rec actions
	for i := range r.Actions {
		rec.add(&r.Actions[i])
	}
	all := [][]byte{infoBlock(r.Info)}
	if len(rec.Block) > 0 {
		all = append(all, rec.block())
	}
	if b := r.Summary.block(); b != nil {
		all = append(all, b)
	}
	if r.Ended {
		all = append(all, endBlock(r.Totals, r.fingerprint))
	}
	return all
}

// mix adds an action's key to the fingerprint of a run: runs of the same actions have the same one, in whatever order they
// ended.
func mix(fingerprint uint64, a *Action) uint64 {
	if a.Key.IsZero() {
		return fingerprint
	}
	var h [32]byte
	return fingerprint + binary.LittleEndian.Uint64(a.Key.AppendHash(h[:0]))
}

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
		if len(b) == 0 || r.Ended || b[0] == blockActions && !r.actions(b[1:]) || b[0] == blockSummary && !r.summary(b[1:]) || b[0] == blockEnd && !r.end(b[1:]) {
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
		outcome := byte(d.Below(1 << 8))
		a := Action{Outcome: outcomeOf(outcome)}
		a.Step = text(&d, last.Step)
		a.Name = text(&d, last.Name)
		a.Worker = text(&d, last.Worker)
		a.Key = d.Digest()
		a.Start = duration(d.Uint())
		a.Duration = duration(d.Uint())
		if outcome == executedIn {
			a.Memory = int64(min(d.Uint(), 1<<50)) << 10
		}
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
	case 'x', executedIn:
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
