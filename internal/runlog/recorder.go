package runlog

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/statefile"
)

const (
	flushBytes = 64 << 10
	flushEvery = time.Second
)

// Recorder writes down a run. It is an event.Sink. What goes wrong with it costs an explanation later and never ends a
// build: Err tells.
type Recorder struct {
	dir   string
	info  Info
	now   func() time.Time
	limit Limits

	start   time.Time
	actions actions
	summary Summary
	out     [][]byte // blocks that are not written yet
	file    *statefile.Writer
	full    bool // there is no room in the file any more
	flushed time.Time
	ran     bool // something was executed or failed: the run is worth a file
	seen    int
	sum     uint64 // fingerprint
	err     error
}

// Record returns a Recorder that writes to the folder (see Folder), which it makes if there is something to write. The
// run's start is Info.Started; its pipeline and profile are those of BuildStarted.
func Record(dir string, info Info, limit Limits) *Recorder {
	return &Recorder{dir: dir, info: info, now: time.Now, limit: limit, start: info.Started}
}

// Toolchains adds the versions of the toolchains that the run uses, by name, to what is recorded of it. It is to be called
// before the build begins.
func (r *Recorder) Toolchains(versions map[string]string) {
	r.info.Toolchains, r.summary.Toolchains = versions, versions
}

// Steps adds the steps of the run's plan.
func (r *Recorder) Steps(steps []Step) {
	if r.summary.Steps = steps; len(steps) > maxSteps {
		r.summary.Steps, r.summary.Cut = nil, true
	}
}

// Err returns what first went wrong.
func (r *Recorder) Err() error { return r.err }

// Send implements event.Sink. The record is finished with BuildFinished.
func (r *Recorder) Send(e event.Event) {
	r.summary.taken(e)
	switch e := e.(type) {
	case event.BuildStarted:
		r.info.Pipeline, r.info.Profile = e.Pipeline, e.Profile
	case event.ActionFinished:
		r.finished(e)
	case event.BuildFinished:
		r.end(e)
	}
}

func (r *Recorder) finished(e event.ActionFinished) {
	if e.Outcome == event.Skipped || r.err != nil || len(e.Step) > maxString || len(e.Name) > maxString || len(e.Worker) > maxString {
		return
	}
	now := r.now()
	a := Action{Step: e.Step, Name: e.Name, Key: e.Action, Outcome: e.Outcome, Duration: e.Duration, Worker: e.Worker}
	if e.Outcome == event.Executed {
		a.Memory = e.Memory
	}
	a.Start = max(0, now.Sub(r.start)-e.Duration)
	r.seen++
	r.sum = mix(r.sum, &a)
	r.ran = r.ran || e.Outcome != event.Cached
	r.actions.add(&a)
	full := len(r.actions.Block) >= flushBytes
	if late := r.ran && now.Sub(r.flushed) >= flushEvery; full || late {
		r.out = append(r.out, r.actions.block())
	}
	if r.ran && len(r.out) > 0 {
		r.flushed = now
		r.flush()
	}
}

// flush adds what is pending to the run's file.
func (r *Recorder) flush() {
	if r.err != nil || r.full {
		return
	}
	if r.file == nil {
		if r.err = os.MkdirAll(r.dir, 0o755); r.err != nil {
			return
		}
		name := fmt.Sprintf("%016x-%08x%s", r.start.UnixNano(), rand.Uint32(), suffix)
		if r.file, r.err = statefile.Create(filepath.Join(r.dir, name), kind()); r.err != nil {
			return
		}
		r.out = slices.Insert(r.out, 0, infoBlock(r.info))
	}
	for _, b := range r.out {
		if r.err = r.file.Add(b); r.err != nil {
			if r.full = errors.Is(r.err, statefile.ErrNoRoom); r.full {
				r.err = nil
			}
			return
		}
	}
	r.out = r.out[:0]
}

// end finishes the file, unless the run did nothing new, and thins out older ones.
func (r *Recorder) end(e event.BuildFinished) {
	if r.seen == 0 || !r.ran && r.sum == lastFingerprint(r.dir) {
		return
	}
	if len(r.actions.Block) > 0 {
		r.out = append(r.out, r.actions.block())
	}
	r.summary.read()
	if b := r.summary.block(); b != nil {
		r.out = append(r.out, b)
	}
	took := time.Duration(e.Seconds * float64(time.Second))
	r.out = append(r.out, endBlock(Totals{Executed: e.Executed, Cached: e.Cached, Failed: e.Failed, Skipped: e.Skipped, Took: took}, r.sum))
	r.flush()
	if r.file != nil {
		if err := r.file.Close(); r.err == nil {
			r.err = err
		}
	}
	if r.err == nil {
		r.err = thin(r.dir, r.limit)
	}
}

// lastFingerprint returns the fingerprint of the newest run, if it came to its end.
func lastFingerprint(dir string) uint64 {
	names, _ := list(dir)
	for i := len(names) - 1; i >= 0 && i >= len(names)-3; i-- {
		f, err := statefile.Read(filepath.Join(dir, names[i]), kind())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var last Run
		if b := lastBlock(f); err == nil && len(b) > 0 && b[0] == blockEnd && last.end(b[1:]) {
			return last.fingerprint
		}
		return 0 // the newest run was killed: what it did is told by its records alone
	}
	return 0
}

func lastBlock(f *statefile.File) []byte {
	if f == nil {
		return nil
	}
	return f.Blocks[len(f.Blocks)-1]
}
