package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// expected is the estimate of a run.
type expected struct {
	Seconds float64 `json:"seconds"`         // duration with all workers, if all deferred actions run
	Known   int     `json:"timed_actions"`   // pending or deferred actions with a recorded duration
	Unknown int     `json:"untimed_actions"` // pending or deferred actions without a recorded duration
	Memory  int     `json:"memory_gb,omitempty"`
	// largest peak memory of a pending or deferred action, in its last run
	Peak *peak  `json:"peak_memory,omitempty"`
	Disk amount `json:"disk"` // growth of the cache
	// whether less than Disk is free. JSON leaves out the free bytes, so that equal plans have equal output
	Short bool   `json:"disk_short,omitempty"`
	Free  int64  `json:"-"`                         // free bytes in the cache's file system; -1: unknown
	Cache string `json:"-"`                         // the cache folder
	Steps []need `json:"memory_of_steps,omitempty"` // memory that pending or deferred steps declare
}

// need is the largest memory request of any action of a step.
type need struct {
	Step string `json:"step"`
	GB   int    `json:"memory_gb"`
}

// peak is the peak memory of an action of a step.
type peak struct {
	Step  string `json:"step"`
	Bytes int64  `json:"bytes"`
}

// amount is a number of bytes, possibly incomplete.
type amount struct {
	Bytes int64 `json:"bytes"`
	// number of actions, and of steps with unknown actions, that Bytes does not include
	Unknown int `json:"unknown_actions"`
}

// String returns "~ 1.2 GB", "> 1.2 GB" if some parts are unknown, or "" if all parts are unknown.
func (m amount) String() string {
	switch {
	case m.Bytes == 0:
		return ""
	case m.Unknown > 0:
		return "> " + bytesize.Decimal(m.Bytes)
	}
	return "~ " + bytesize.Decimal(m.Bytes)
}

// full returns an error text if the run does not fit on the disk, else "".
func (e *expected) full() string {
	if !e.Short {
		return ""
	}
	return fmt.Sprintf("the run needs %s of disk, but only %s are free at %s",
		e.Disk, bytesize.Decimal(e.Free), e.Cache)
}

// makeRoom is the remedy.
const makeRoom = "run `hexmage cache gc`, which removes old results, or set HEXMAGE_CACHE to a folder on a larger disk"

// freeFor returns the free bytes at an existing or future folder; -1: unknown.
func freeFor(dir string) int64 {
	free, err := doctor.System().Free(dir)
	if err != nil {
		return -1
	}
	return free
}

// disk returns a line about disk, or "" if the amount is unknown.
func (e *expected) disk() string {
	is := e.Disk.String()
	if is == "" {
		return ""
	}
	if e.Free >= 0 {
		is += " of " + bytesize.Decimal(e.Free) + " free"
	}
	return "disk: " + is + "\n"
}

// fetches describes an action's downloads: "; downloads 2.4 GB from example.com".
func (a *app) fetches(s action.Spec) string {
	n, from := steps.Download(s, a.places().Downloads())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; downloads %s from %s", bytesize.Decimal(n), from)
}

// pending reports whether an action will run, or is deferred.
func pending(v *engine.Previewed) bool {
	return v.Status == engine.WillRun || v.Status == engine.Deferred
}

// expect returns an estimate. It uses the last results of actions, the lock for downloads, and the declarations of
// steps.
func (w *reasons) expect(ctx context.Context, workers int, free int64, cache string) *expected {
	e := &expected{Free: free, Cache: cache}
	of := map[addrs.Instance][]*engine.Previewed{}
	counted := map[digest.Digest]bool{}
	e.Disk.Bytes = w.download
	for i := range w.seen.Actions {
		if v := &w.seen.Actions[i]; pending(v) {
			of[v.Instance.At] = append(of[v.Instance.At], v)
			w.left(ctx, v, &e.Disk, counted)
		}
	}
	w.time(ctx, e, workers, of)
	e.Short = e.Free >= 0 && e.Disk.Bytes > e.Free
	return e
}

// time estimates the duration: the larger of all work divided by the workers, and the longest chain of dependent steps.
func (w *reasons) time(ctx context.Context, e *expected, workers int, of map[addrs.Instance][]*engine.Previewed) {
	var all, longest time.Duration
	chain := map[addrs.Instance]time.Duration{}
	for _, n := range w.p.Instances { // in topological order
		var own, before time.Duration
		memory := 0
		for _, v := range of[n.At] {
			if v.Spec == nil {
				memory = max(memory, engine.ResourcesOf(v.Instance, action.Spec{})[engine.MemoryPool])
				continue
			}
			took, known := w.took(ctx, n.At.Short(), v.Spec.Name)
			if known {
				e.Known++
			} else {
				e.Unknown++
			}
			cost, _ := w.costs().Of(w.p.Profile, v.Instance.At.Short(), v.Spec.Name)
			if cost.Memory > 0 && (e.Peak == nil || cost.Memory > e.Peak.Bytes) {
				e.Peak = &peak{v.Instance.At.Short(), cost.Memory}
			}
			all += took
			own = max(own, took)
			memory = max(memory, engine.ResourcesOf(v.Instance, *v.Spec)[engine.MemoryPool])
		}
		if memory > 0 {
			e.Steps = append(e.Steps, need{n.At.Short(), memory})
			e.Memory = max(e.Memory, memory)
		}
		n.EachNeed(func(at addrs.Instance) { before = max(before, chain[at]) })
		chain[n.At] = before + own
		longest = max(longest, chain[n.At])
	}
	e.Seconds = max(longest, all/time.Duration(max(1, workers))).Seconds()
}

// took returns the action's duration in its last execution by a run of this pipeline. Without one, it returns the
// duration in the newest cached result.
func (w *reasons) took(ctx context.Context, step, name string) (took time.Duration, known bool) {
	if cost, ok := w.costs().Of(w.p.Profile, step, name); ok {
		return cost.Duration, true
	}
	if res := w.last(ctx, step, name); res != nil {
		return res.Duration, res.Duration > 0
	}
	return 0, false
}

// last returns the action's last successful result, or nil.
func (w *reasons) last(ctx context.Context, step, name string) *action.Result {
	_, was := w.book.LastSuccess(w.p.Profile, step, name)
	if was == nil {
		return nil
	}
	res, err := w.results.Get(ctx, was.Key)
	if err != nil {
		return nil
	}
	return res
}

// left adds the expected outputs of the action: those of its last result, else the declaration of its step. It counts
// each blob once.
func (w *reasons) left(ctx context.Context, v *engine.Previewed, m *amount, counted map[digest.Digest]bool) {
	add := func(d digest.Digest) {
		if !counted[d] {
			counted[d] = true
			m.Bytes += d.Size()
		}
	}
	if v.Spec == nil {
		m.Unknown++
		return
	}
	res := w.last(ctx, v.Instance.At.Short(), v.Spec.Name)
	if res == nil {
		m.Unknown++
		if v.Spec.Name == v.Instance.Specs[0].Name {
			m.Bytes += v.Instance.OutputBytes
		}
		return
	}
	for _, f := range res.Files {
		add(f.Digest)
	}
	for _, d := range res.Dirs {
		tree, err := merkle.LoadOutput(ctx, w.seen.Store, d)
		if err != nil {
			m.Unknown++
			return
		}
		_ = tree.Walk(func(_ string, e merkle.Entry) error {
			if e.File != nil {
				add(e.File.Digest)
			}
			return nil
		})
	}
}

// cost returns the estimate as text after the counts.
func (e *expected) cost(s *planStatus) string {
	if s.WillRun+s.Unknown == 0 {
		return ""
	}
	text := "; about " + report.Seconds(time.Duration(e.Seconds*float64(time.Second)))
	switch {
	case e.Known == 0:
		text = "; duration unknown"
	case e.Unknown > 0:
		text += fmt.Sprintf(", plus %s that never ran on this machine", report.Count(e.Unknown, "action"))
	case s.Deferred > 0:
		text += " at most"
	}
	if e.Memory > 0 {
		text += fmt.Sprintf("; up to %d GB of memory", e.Memory)
	}
	if e.Peak != nil {
		text += fmt.Sprintf("; %s last used %s of memory", e.Peak.Step, bytesize.Decimal(e.Peak.Bytes))
	}
	return text
}
