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
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// expected is what a run is expected to take, as far as it is known.
type expected struct {
	Seconds float64 `json:"seconds"`         // with as many workers as there are, if all that is deferred has to run
	Known   int     `json:"timed_actions"`   // that will run, or may, and of which it is on record how long they took
	Unknown int     `json:"untimed_actions"` // those of which it is not
	Memory  int     `json:"memory_gb,omitempty"`
	// of those that will run, or may: of the one that took most when they last ran
	Peak *peak  `json:"peak_memory,omitempty"`
	Disk amount `json:"disk"` // in the cache
	// less than that is free. How much is free is not told to programs: plans of the same would differ
	Short bool   `json:"disk_short,omitempty"`
	Free  int64  `json:"-"`                         // where the cache is; -1: this system does not say
	Cache string `json:"-"`                         // the folder
	Steps []need `json:"memory_of_steps,omitempty"` // those that say what they take, and will run, or may
}

// need is the memory that the hungriest action of a step says it takes.
type need struct {
	Step string `json:"step"`
	GB   int    `json:"memory_gb"`
}

// peak is what an action of a step took of memory.
type peak struct {
	Step  string `json:"step"`
	Bytes int64  `json:"bytes"`
}

// amount is a number of bytes, of which a part may not be known.
type amount struct {
	Bytes int64 `json:"bytes"`
	// of how many actions, or steps whose actions are not known, it is not in Bytes
	Unknown int `json:"unknown_actions"`
}

// String is "~ 1.2 GB", "> 1.2 GB" where there is more, and "" where nothing is known.
func (m amount) String() string {
	switch {
	case m.Bytes == 0:
		return ""
	case m.Unknown > 0:
		return "> " + bytesize.Decimal(m.Bytes)
	}
	return "~ " + bytesize.Decimal(m.Bytes)
}

// full says that the run does not fit on the disk, "" where it does, as far as is known.
func (e *expected) full() string {
	if !e.Short {
		return ""
	}
	return fmt.Sprintf("it takes %s of disk, and %s are free for %s", e.Disk, bytesize.Decimal(e.Free), e.Cache)
}

// makeRoom is what to do where it does not fit.
const makeRoom = "run `hexmage cache gc`, which removes what was not used for long, or set HEXMAGE_CACHE to a " +
	"folder on a larger disk"

// freeFor is how many bytes are free where the folder is, or will be; -1 where this system does not say.
func freeFor(dir string) int64 {
	free, err := doctor.System().Free(dir)
	if err != nil {
		return -1
	}
	return free
}

// disk is a line about disk, "" where nothing is known.
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

// pending tells of an action that it will run, or that only a step before it tells.
func pending(v *engine.Previewed) bool {
	return v.Status == engine.WillRun || v.Status == engine.Deferred
}

// expect adds up what is known: of actions that ran before, what they left then; of downloads, what the lock says; of
// steps, what they say they take.
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

// time reckons how long it takes: the larger of all work, shared by the workers, and the longest chain of steps that
// wait for each other.
func (w *reasons) time(ctx context.Context, e *expected, workers int, of map[addrs.Instance][]*engine.Previewed) {
	var all, longest time.Duration
	chain := map[addrs.Instance]time.Duration{}
	for _, n := range w.p.Instances { // in topological order
		var own, before time.Duration
		memory := 0
		for _, v := range of[n.At] {
			if v.Spec == nil {
				memory = max(memory, engine.Demand(v.Instance, action.Spec{})[engine.MemoryPool])
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
			memory = max(memory, engine.Demand(v.Instance, *v.Spec)[engine.MemoryPool])
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

// took is how long the action took when a run of this pipeline here last executed it. Of one that none did, its
// newest result that a run here found says how long it took elsewhere.
func (w *reasons) took(ctx context.Context, step, name string) (took time.Duration, known bool) {
	if cost, ok := w.costs().Of(w.p.Profile, step, name); ok {
		return cost.Duration, true
	}
	if res := w.last(ctx, step, name); res != nil {
		return res.Duration, res.Duration > 0
	}
	return 0, false
}

// last is what the action left when it last succeeded, nil where that is not known any more.
func (w *reasons) last(ctx context.Context, step, name string) *action.Result {
	if w.results == nil {
		return nil
	}
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

// left adds what the action will leave in the cache: as much as it did last time, else what its step is known to. A
// blob counts once.
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

// cost is what is expected of the run, behind the counts.
func (e *expected) cost(s *planStatus) string {
	if s.WillRun+s.Unknown == 0 {
		return ""
	}
	text := "; about " + report.Seconds(time.Duration(e.Seconds*float64(time.Second)))
	switch {
	case e.Known == 0:
		text = "; how long, no earlier run tells"
	case e.Unknown > 0:
		text += fmt.Sprintf(", and %s that never ran here", report.Count(e.Unknown, "action"))
	case s.Deferred > 0:
		text += " at most"
	}
	if e.Memory > 0 {
		text += fmt.Sprintf("; up to %d GB of memory", e.Memory)
	}
	if e.Peak != nil {
		text += fmt.Sprintf("; %s took %s of memory", e.Peak.Step, bytesize.Decimal(e.Peak.Bytes))
	}
	return text
}
