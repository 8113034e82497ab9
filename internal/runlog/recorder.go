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

// Recorder writes the record of a run. It is an event.Sink. A build continues after a write error, because hexmage
// needs the record only for later explanations. Err returns the first write error.
type Recorder struct {
	dir  string
	info Info

	start   time.Time
	summary Summary
	lines   bytes.Buffer // not written yet
	file    *os.File
	flushed time.Time
	ran     bool // an action was executed or failed, so the run gets a file
	seen    int
	sum     uint64 // fingerprint
	err     error
}

// Record returns a Recorder that writes to the folder dir (see Folder). The first write creates the folder. The caller
// sets Info.Started to the start of the run. The event BuildStarted sets the pipeline and profile.
func Record(dir string, info Info) *Recorder {
	return &Recorder{dir: dir, info: info, start: info.Started}
}

// Toolchains records the versions of the toolchains that the run uses, by toolchain name. Call it before the build
// begins.
func (r *Recorder) Toolchains(versions map[string]string) {
	r.info.Toolchains = versions
}

// Steps records the steps in the plan of the run.
func (r *Recorder) Steps(steps []Step) {
	if r.summary.Steps = steps; len(steps) > maxSteps {
		r.summary.Steps, r.summary.Cut = nil, true
	}
}

// Err returns the first write error.
func (r *Recorder) Err() error { return r.err }

// Send implements event.Sink. The event BuildFinished completes the record.
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
	if e.Outcome == event.NotRun || r.err != nil {
		return
	}
	now := time.Now()
	a := Action{Step: e.Step, Name: e.Name, Key: e.Action, Outcome: e.Outcome, Duration: e.Duration(), Worker: e.Worker}
	if e.Outcome == event.Executed {
		a.Memory = e.Memory
	}
	a.Start = max(0, now.Sub(r.start)-e.Duration())
	r.seen++
	r.sum = mix(r.sum, &a)
	r.ran = r.ran || e.Outcome != event.Cached
	r.add(lineOf(a))
	if r.ran && (r.lines.Len() >= flushBytes || now.Sub(r.flushed) >= flushEvery) {
		r.flushed = now
		r.flush()
	}
}

// add adds a line to the unwritten ones.
func (r *Recorder) add(l line) {
	if err := json.NewEncoder(&r.lines).Encode(l); r.err == nil {
		r.err = err
	}
}

// flush appends the unwritten lines to the run's file. It neither syncs nor renames the file: a crash loses an
// explanation but no result, and readers accept unfinished runs and ignore a torn last line.
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

// end finishes the file and removes the oldest ones. A run that did nothing new leaves no file.
func (r *Recorder) end(e event.BuildFinished) {
	if r.seen == 0 || !r.ran && r.sum == lastFingerprint(r.dir) {
		return
	}
	r.summary.read()
	if !r.summary.empty() {
		r.add(line{Summary: &r.summary})
	}
	took := time.Duration(e.Seconds * float64(time.Second))
	r.add(line{End: &Totals{Executed: e.Executed, Cached: e.Cached, Failed: e.Failed, NotRun: e.NotRun, Took: took}})
	r.flush()
	if r.file != nil {
		if err := r.file.Close(); r.err == nil {
			r.err = err
		}
	}
	if r.err == nil {
		r.err = prune(r.dir)
	}
}
