package runlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

const (
	flushBytes = 64 << 10
	flushEvery = time.Second
)

// Recorder writes down a run. It is an event.Sink. What goes wrong with it costs an explanation later and never ends
// a build: Err tells.
type Recorder struct {
	dir   string
	info  Info
	now   func() time.Time
	limit Limits

	start   time.Time
	summary Summary
	lines   bytes.Buffer // not written yet
	file    *os.File
	flushed time.Time
	ran     bool // something was executed or failed: the run is worth a file
	seen    int
	sum     uint64 // fingerprint
	err     error
}

// Record returns a Recorder that writes to the folder (see Folder), which it makes if there is something to write.
// The run's start is Info.Started; its pipeline and profile are those of BuildStarted.
func Record(dir string, info Info, limit Limits) *Recorder {
	return &Recorder{dir: dir, info: info, now: time.Now, limit: limit, start: info.Started}
}

// Toolchains adds the versions of the toolchains that the run uses, by name, to what is recorded of it. It is to be
// called before the build begins.
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
	if e.Outcome == event.Skipped || r.err != nil {
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
	r.add(lineOf(a))
	if r.ran && (r.lines.Len() >= flushBytes || now.Sub(r.flushed) >= flushEvery) {
		r.flushed = now
		r.flush()
	}
}

// add adds a line to what is pending.
func (r *Recorder) add(l line) {
	if err := json.NewEncoder(&r.lines).Encode(l); r.err == nil {
		r.err = err
	}
}

// flush appends what is pending to the run's file. The file is neither synced nor renamed into place: a crash costs
// an explanation and no result, and readers take a run that still goes on, and ignore a torn last line.
func (r *Recorder) flush() {
	if r.err != nil {
		return
	}
	if r.file == nil {
		if r.err = os.MkdirAll(r.dir, 0o755); r.err != nil {
			return
		}
		path := filepath.Join(r.dir, fmt.Sprintf("%016x-%08x%s", r.start.UnixNano(), rand.Uint32(), suffix))
		if r.file, r.err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); r.err != nil {
			return
		}
		if r.err = json.NewEncoder(r.file).Encode(line{Run: &r.info}); r.err != nil {
			return
		}
	}
	_, r.err = r.lines.WriteTo(r.file)
}

// end finishes the file, unless the run did nothing new, and removes the oldest ones.
func (r *Recorder) end(e event.BuildFinished) {
	if r.seen == 0 || !r.ran && r.sum == lastFingerprint(r.dir) {
		return
	}
	r.summary.read()
	if !r.summary.empty() {
		r.add(line{Summary: &r.summary})
	}
	took := time.Duration(e.Seconds * float64(time.Second))
	r.add(line{End: &Totals{Executed: e.Executed, Cached: e.Cached, Failed: e.Failed, Skipped: e.Skipped, Took: took}})
	r.flush()
	if r.file != nil {
		if err := r.file.Close(); r.err == nil {
			r.err = err
		}
	}
	if r.err == nil {
		r.err = prune(r.dir, r.limit)
	}
}
