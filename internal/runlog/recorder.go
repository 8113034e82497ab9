package runlog

import (
	"encoding/binary"
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
	maxFile    = 32 << 20 // bytes: 500,000 actions; what comes after is not recorded
)

// Recorder writes down a run. It is an event.Sink. What goes wrong with it costs an explanation later and never ends a
// build: Err tells.
type Recorder struct {
	dir   string
	info  Info
	now   func() time.Time
	limit Limits

	start   time.Time
	records records
	out     []byte // frames that are not written yet
	file    *os.File
	written int64
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
func (r *Recorder) Toolchains(versions map[string]string) { r.info.Toolchains = versions }

// Err returns what first went wrong.
func (r *Recorder) Err() error { return r.err }

// Send implements event.Sink. The record is finished with BuildFinished.
func (r *Recorder) Send(e event.Event) {
	switch e := e.(type) {
	case event.BuildStarted:
		r.info.Pipeline, r.info.Profile = e.Pipeline, e.Profile
	case event.NodeFinished:
		r.finished(e)
	case event.BuildFinished:
		r.end(e)
	}
}

func (r *Recorder) finished(e event.NodeFinished) {
	if e.Outcome == event.Skipped || r.err != nil || len(e.Step) > maxString || len(e.Name) > maxString || len(e.Worker) > maxString {
		return
	}
	now := r.now()
	a := Action{Step: e.Step, Name: e.Name, Key: e.Action, Outcome: e.Outcome, Duration: e.Duration, Worker: e.Worker}
	a.Start = max(0, now.Sub(r.start)-e.Duration)
	r.seen++
	r.sum = mix(r.sum, &a)
	r.ran = r.ran || e.Outcome != event.Cached
	r.records.add(&a)
	if len(r.records.payload) >= flushBytes {
		r.out = r.records.frame(r.out)
	}
	if r.ran && (len(r.out) > flushBytes || now.Sub(r.flushed) >= flushEvery) {
		r.flushed = now
		r.out = r.records.frame(r.out)
		r.flush()
	}
}

// flush appends what is pending to the run's file.
func (r *Recorder) flush() {
	if r.err != nil || len(r.out) == 0 {
		return
	}
	if r.file == nil {
		if r.err = os.MkdirAll(r.dir, 0o755); r.err != nil {
			return
		}
		name := fmt.Sprintf("%016x-%08x%s", r.start.UnixNano(), rand.Uint32(), suffix)
		if r.file, r.err = os.OpenFile(filepath.Join(r.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); r.err != nil {
			return
		}
		r.out = append(appendInfo([]byte(magic), r.info), r.out...)
	}
	if r.written+int64(len(r.out)) <= maxFile {
		_, r.err = r.file.Write(r.out)
		r.written += int64(len(r.out))
	}
	r.out = r.out[:0]
}

// end finishes the file, unless the run did nothing new, and thins out older ones.
func (r *Recorder) end(e event.BuildFinished) {
	if r.seen == 0 || !r.ran && r.sum == lastFingerprint(r.dir) {
		return
	}
	r.out = r.records.frame(r.out)
	took := time.Duration(e.Seconds * float64(time.Second))
	r.out = appendEnd(r.out, Totals{Executed: e.Executed, Cached: e.Cached, Failed: e.Failed, Skipped: e.Skipped, Took: took}, r.sum)
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

// lastFingerprint returns the fingerprint of the newest run that came to its end, read from the end of its file.
func lastFingerprint(dir string) uint64 {
	names, _ := list(dir)
	for i := len(names) - 1; i >= 0 && i >= len(names)-3; i-- {
		f, err := os.Open(filepath.Join(dir, names[i]))
		if err != nil {
			continue
		}
		b := make([]byte, frameHead+endLen)
		st, err := f.Stat()
		if err == nil && st.Size() > int64(len(b)) {
			_, err = f.ReadAt(b, st.Size()-int64(len(b)))
		}
		f.Close()
		if p, _ := frame(b); err == nil && len(p) == endLen && p[0] == kindEnd {
			return binary.LittleEndian.Uint64(p[endLen-8:])
		}
		return 0 // the newest run was killed: what it did is told by its records alone
	}
	return 0
}
