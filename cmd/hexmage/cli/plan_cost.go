package cli

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// expected is what a run is expected to take, as far as it is known.
type expected struct {
	Seconds float64 `json:"seconds"`         // with as many workers as there are, if all that is deferred has to run
	Known   int     `json:"timed_actions"`   // that will run, or may, and of which it is on record how long they took
	Unknown int     `json:"untimed_actions"` // those of which it is not
	// Elsewhere is how many of the timed ones ran on this machine in no run of the pipeline: their results say how
	// long they took, and Workers where.
	Elsewhere int      `json:"timed_elsewhere,omitempty"`
	Workers   []string `json:"elsewhere,omitempty"`
	Memory    int      `json:"memory_gb,omitempty"`
	// of those that will run, or may: of the one that took most when they last ran
	Peak *peak  `json:"peak_memory,omitempty"`
	Disk amount `json:"disk"` // in the cache, and for the pipeline's outputs beside it
	// less than that is free. How much is free is not told to programs: plans of the same would differ
	Short bool   `json:"disk_short,omitempty"`
	Free  int64  `json:"-"`                         // where the cache is; -1: this system does not say
	Push  amount `json:"push"`                      // to phones
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

// disk is a line about disk and phones, "" where nothing is known.
func (e *expected) disk() string {
	var parts []string
	if is := e.Disk.String(); is != "" {
		if e.Free >= 0 {
			is += " of " + bytesize.Decimal(e.Free) + " free"
		}
		parts = append(parts, "disk: "+is)
	}
	if is := e.Push.String(); is != "" {
		parts = append(parts, "to push to phones: "+is)
	}
	return strings.Join(parts, "; ")
}

// pending tells of an action that it will run, or that only a step before it tells.
func pending(v *engine.Previewed) bool {
	return v.Status == engine.WillRun || v.Status == engine.Deferred
}

// reckoning finds out what a run will take.
type reckoning struct {
	*reasons
	workspace string
	may       map[addrs.Instance]bool // what has actions that will run, or may
	counted   map[digest.Digest]bool
	files     map[string]bool // of this machine, likewise
}

// expect adds up what is known: of actions that ran before, what they left then; of downloads, what the lock says; of
// steps, what they say they take.
func (w *reasons) expect(ctx context.Context, workspace string, workers int, free int64, cache string) *expected {
	e := &expected{Free: free, Cache: cache}
	r := &reckoning{reasons: w, workspace: workspace, may: map[addrs.Instance]bool{}, files: map[string]bool{}}
	byInstance := map[addrs.Instance][]*engine.Previewed{}
	for i := range w.seen.Actions {
		if v := &w.seen.Actions[i]; pending(v) {
			r.may[v.Instance.At] = true
			byInstance[v.Instance.At] = append(byInstance[v.Instance.At], v)
		}
	}
	r.time(ctx, e, workers, byInstance)
	r.counted = map[digest.Digest]bool{}
	e.Disk.Bytes = w.download
	for i := range w.seen.Actions {
		if v := &w.seen.Actions[i]; pending(v) {
			r.left(ctx, v, &e.Disk)
		}
	}
	e.Disk.Bytes += r.exported()
	e.Short = e.Free >= 0 && e.Disk.Bytes > e.Free
	r.counted = map[digest.Digest]bool{}
	for i := range w.seen.Actions {
		if v := &w.seen.Actions[i]; pending(v) && v.Spec != nil &&
			v.Spec.Platform[action.PropertyExecutor] == runner.Executor {
			r.pushed(ctx, v, &e.Push)
		}
	}
	return e
}

// time reckons how long it takes: the larger of all work, shared by the workers, and the longest chain of steps that
// wait for each other.
func (r *reckoning) time(ctx context.Context, e *expected, workers int, of map[addrs.Instance][]*engine.Previewed) {
	var all, longest time.Duration
	chain := map[addrs.Instance]time.Duration{}
	for _, n := range r.p.Instances { // in topological order
		var own, before time.Duration
		memory := 0
		for _, v := range of[n.At] {
			if v.Spec == nil {
				memory = max(memory, engine.Demand(v.Instance, action.Spec{})[engine.MemoryPool])
				continue
			}
			last := r.took(ctx, n.At.Short(), v.Spec.Name)
			took := last.took
			switch {
			case !last.known:
				e.Unknown++
			case last.elsewhere:
				e.Elsewhere++
				if !slices.Contains(e.Workers, last.worker) {
					e.Workers = append(e.Workers, last.worker)
				}
				fallthrough
			default:
				e.Known++
			}
			cost, _ := r.costs().Of(r.p.Profile, v.Instance.At.Short(), v.Spec.Name)
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

// lastTime is how long an action took when it last ran.
type lastTime struct {
	known     bool
	took      time.Duration
	elsewhere bool   // it was no run of this pipeline on this machine
	worker    string // where it ran then, as its result says
}

// took is how long the action took when a run of this pipeline here last executed it. Of one that none did, its
// newest result that a run here found says how long it took whoever made it.
func (w *reasons) took(ctx context.Context, step, name string) lastTime {
	if cost, ok := w.costs().Of(w.p.Profile, step, name); ok {
		return lastTime{known: true, took: cost.Duration}
	}
	if res := w.last(ctx, step, name); res != nil && res.Duration > 0 {
		return lastTime{known: true, took: res.Duration, elsewhere: true, worker: res.Worker}
	}
	return lastTime{}
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

// left adds what the action will leave in the cache: as much as it did last time, else what its step is known to.
func (r *reckoning) left(ctx context.Context, v *engine.Previewed, m *amount) {
	if v.Spec == nil {
		m.Unknown++
		return
	}
	res := r.last(ctx, v.Instance.At.Short(), v.Spec.Name)
	if res == nil {
		m.Unknown++
		if v.Spec.Name == v.Instance.Specs[0].Name {
			m.Bytes += v.Instance.OutputBytes
		}
		return
	}
	for _, f := range res.Files {
		m.Bytes += r.uncounted(f.Digest)
	}
	for _, d := range res.Dirs {
		tree, err := merkle.LoadOutput(ctx, r.seen.Store, d)
		if err != nil {
			m.Unknown++
			return
		}
		m.Bytes += r.ofTree(tree)
	}
}

// uncounted is the size of a blob that was not counted yet.
func (r *reckoning) uncounted(d digest.Digest) int64 {
	if r.counted[d] {
		return 0
	}
	r.counted[d] = true
	return d.Size()
}

func (r *reckoning) ofTree(tree *merkle.Dir) (n int64) {
	_ = tree.Walk(func(_ string, e merkle.Entry) error {
		if e.File != nil {
			n += r.uncounted(e.File.Digest)
		}
		return nil
	})
	return n
}

// exported is how large those of the pipeline's outputs were in the last run that put any into their places which may
// change: they are copies. Of folders that is not on record.
func (r *reckoning) exported() (n int64) {
	changes := map[string]bool{}
	for _, o := range r.p.Outputs {
		if from := o.Artifact.Artifact; from != nil && r.may[from.Instance] {
			changes[o.Name] = true
		}
	}
	for _, ref := range r.book.Refs() {
		run := ref.Run()
		if len(changes) == 0 || run == nil || run.Profile != r.p.Profile || len(run.Summary.Outputs) == 0 {
			continue
		}
		for _, o := range run.Summary.Outputs {
			if changes[o.Name] {
				n += o.Bytes
			}
		}
		break
	}
	return n
}

// pushed adds what the action will send to a phone that has what the action sent there last: of one that will run,
// the files that are new; of one that waits, those of its last set that may change.
func (r *reckoning) pushed(ctx context.Context, v *engine.Previewed, m *amount) {
	was := map[string]digest.Digest{}
	_, known := r.book.LastSuccess(r.p.Profile, v.Instance.At.Short(), v.Spec.Name)
	if known != nil {
		a, blobs, err := explain.Load(ctx, r.seen.Store, r.results, known.Key)
		if err == nil {
			was, err = pushOf(ctx, blobs, a)
		}
		if err != nil {
			known = nil
		}
	}
	has := map[digest.Digest]bool{}
	for _, d := range was {
		has[d] = true
	}
	switch {
	case v.Action != nil:
		set, err := pushOf(ctx, r.seen.Store, v.Action)
		if err != nil {
			m.Unknown++
			return
		}
		for _, d := range set {
			if !has[d] {
				m.Bytes += r.uncounted(d)
			}
		}
	case known != nil:
		for name, d := range was {
			if r.mayChange(v.Spec.Inputs, path.Join(runner.PushDir, name)) {
				m.Bytes += r.uncounted(d)
			}
		}
	default:
		m.Unknown++
		for _, in := range v.Spec.Inputs {
			if below(in.Path, runner.PushDir) {
				m.Bytes += r.here(in)
			}
		}
	}
}

// pushOf is what of an action's inputs goes to a phone.
func pushOf(ctx context.Context, blobs store.Blobs, a *action.Action) (map[string]digest.Digest, error) {
	set := map[string]digest.Digest{}
	push, err := merkle.Ref(a.InputRoot).Sub(ctx, blobs, runner.PushDir)
	if err == nil {
		if root, ok := push.Ref(); ok {
			push, err = merkle.Load(ctx, blobs, root)
		}
	}
	if err != nil {
		return nil, err
	}
	return set, push.Walk(func(p string, e merkle.Entry) error {
		if e.File != nil {
			set[p] = e.File.Digest
		}
		return nil
	})
}

// mayChange tells whether the input that has the file comes of a step that will run, or may.
func (r *reckoning) mayChange(inputs []action.Input, name string) bool {
	for _, in := range inputs {
		if in.Artifact != nil && below(name, in.Path) && r.may[in.Artifact.Instance] {
			return true
		}
	}
	return false
}

// below tells whether the path is the folder, or in it.
func below(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder+"/")
}

// here is the size of an input that is a file of this machine that was not counted yet, or in the plan.
func (r *reckoning) here(in action.Input) int64 {
	switch {
	case in.Content != nil:
		return int64(len(in.Content.Data))
	case in.Host != nil:
		at := filepath.FromSlash(in.Host.Path)
		if !filepath.IsAbs(at) {
			at = filepath.Join(r.workspace, at)
		}
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && !r.files[at] {
			r.files[at] = true
			return info.Size()
		}
	}
	return 0
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
	if e.Elsewhere > 0 {
		text += fmt.Sprintf(" (%s as elsewhere", report.Count(e.Elsewhere, "action"))
		if others := slices.DeleteFunc(slices.Clone(e.Workers),
			func(w string) bool { return w == "" || w == action.ExecutorLocal }); len(others) > 0 {
			text += ": at " + some(others, 2)
		}
		text += ")"
	}
	if e.Memory > 0 {
		text += fmt.Sprintf("; up to %d GB of memory", e.Memory)
	}
	if e.Peak != nil {
		text += fmt.Sprintf("; %s took %s of memory", e.Peak.Step, bytesize.Decimal(e.Peak.Bytes))
	}
	return text
}
