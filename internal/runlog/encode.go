package runlog

import (
	"encoding/binary"
	"encoding/json"
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
	r.Uint(uint64(outcomeByte(a.Outcome)))
	r.rest(r.step, a.Step)
	r.rest(r.name, a.Name)
	r.rest(r.worker, a.Worker)
	r.Digest(a.Key)
	r.Uint(micros(a.Start))
	r.Uint(micros(a.Duration))
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
	all := [][]byte{infoBlock(r.Info), rec.block()}
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
