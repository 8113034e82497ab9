package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/runlog"
	"github.com/hexmage/hexmage/internal/state"
	"github.com/hexmage/hexmage/internal/watch"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/toolchains"
)

// watchCmd is `hexmage watch PIPELINE`.
type watchCmd struct {
	Pipeline  string   `arg:"" help:"A pipeline: the name of a file in pipelines/ without .hcl, or of a folder there."`
	Until     []string `placeholder:"STEP" help:"Only this step (KIND.NAME, module.NAME.KIND.NAME) and what it needs. May be repeated."`
	OnDevice  bool     `name:"run" help:"Also push to the device and run there, after each build. Without it, steps that run on a device are left out."`
	Serial    string   `short:"s" placeholder:"SERIAL" help:"With --run: on this device, as for hexmage run."`
	KeepGoing bool     `short:"k" help:"After a failure, go on with what does not need it."`
	Out       string   `placeholder:"DIR" help:"Outputs go to DIR/PIPELINE. Default: out. DIR may be a link; none is followed below it, and none to the default."`
	Poll      bool     `help:"Look at all files again and again, where the file system gives no events of changes."`
}

// Help is shown with --help.
func (c *watchCmd) Help() string {
	return `Builds the pipeline, and again whenever one of the files that it reads is saved: sources, pipeline files, toolchain data, the
lock file. Of each build one line is shown. A save while a build runs stops it and begins anew. After a failure the outputs stay as the
last good build left them.

Examples:
  hexmage watch qwen3-aot-v79                                      the op package, the model, the context; not the device
  hexmage watch qwen3-aot-v79 --until module.aot.oppackage.llama   the op package only
  hexmage watch qwen3-aot-v79 --run                                and run it, too`
}

// errNewer is why a build was stopped whose sources were saved once more.
var errNewer = errors.New("saved again while it was built")

// notBuilt is the line of a save after which no build could begin.
const notBuilt = "not built; the outputs are those of the last build that succeeded"

// maxStopped is how often in a row a build is stopped for a newer save: then one is carried to its end, in case it is
// a step that writes to what is watched.
const maxStopped = 5

// Run watches until it is interrupted.
func (c *watchCmd) Run(ctx context.Context, a *app) error {
	a.events = true
	if a.Serial = c.Serial; c.Serial != "" && !c.OnDevice {
		return usageError("watch: --serial chooses a device to run on: add --run")
	}
	if _, err := selected(c.Until); err != nil {
		return err
	}
	workspace, err := a.workspace(c.Pipeline)
	if err != nil {
		return err
	}
	v := &viewer{c: c, a: a, workspace: workspace}
	v.outIn, v.out = a.outFolder(c.Out, c.Pipeline)
	if err := engine.CheckOut(v.outIn, v.out); err != nil {
		return usageError("%w", err)
	}
	v.brief = report.NewBrief(a.Env.screen(), a.reportOptions())
	if a.JSON {
		v.json = report.JSON(a.Env.Stdout, time.Now)
	}
	v.w = watch.New(watch.Options{Poll: c.Poll,
		Note: func(text string) { fmt.Fprintf(a.Env.Stderr, "hexmage: %s\n", text) }})
	defer v.w.Close()
	return v.loop(ctx)
}

// viewer builds whenever something changed.
type viewer struct {
	c          *watchCmd
	a          *app
	workspace  string
	outIn, out string
	w          *watch.Watcher
	brief      *report.Brief
	json       event.Sink // nil: for people

	steps    []string // what is built; nil: all
	chosen   bool     // steps is right, unless a pipeline file changes
	watches  watchSet
	stopped  int    // builds in a row
	mistake  string // printed for the last build, which could not begin
	planning *keptPlan
	costs    func() runlog.Costs
}

func (v *viewer) loop(ctx context.Context) error {
	var changed []string
	started := false
	for first := true; ; first = false {
		saved := time.Now()
		if len(changed) > 0 {
			v.send(event.FilesChanged{Paths: changed})
		}
		again, err := v.round(ctx, first, len(changed) > 0, saved)
		if err != nil {
			return err
		}
		if !again {
			if !started {
				v.send(event.WatchStarted{Files: v.watches.len(), Polling: v.w.Polling()})
				started = true
			}
			debug.FreeOSMemory() // it may be hours until the next save
			select {
			case <-v.w.Changed():
			case <-ctx.Done():
				return &exitError{Code: ExitInterrupted, Err: errInterrupted}
			}
		}
		if changed, err = v.w.Settle(ctx); err != nil {
			return &exitError{Code: ExitInterrupted, Err: errInterrupted}
		}
		changed = v.watches.withoutTemporary(v.workspace, changed)
		for i, p := range changed {
			if rel, err := filepath.Rel(v.workspace, p); err == nil && filepath.IsLocal(rel) {
				changed[i] = filepath.ToSlash(rel)
			}
			v.chosen = v.chosen && !strings.HasSuffix(p, ".hcl")
		}
	}
}

func (v *viewer) send(e event.Event) {
	if v.json != nil {
		v.json.Send(e)
		return
	}
	v.brief.Send(e)
}

// round builds once, for changes that were told of, or because something may have changed that nobody watched until
// now. It returns true if something may have changed meanwhile.
func (v *viewer) round(ctx context.Context, first, told bool, saved time.Time) (again bool, err error) {
	// Two things may come while it builds: the end of all, and a newer save.
	inner, cancel := context.WithCancelCause(ctx)
	over, newer := make(chan struct{}), make(chan bool, 1)
	go func() {
		select {
		case <-v.w.Changed():
			if v.stopped < maxStopped {
				cancel(errNewer)
			}
			newer <- true
		case <-over:
			newer <- false
		}
	}()
	v.watches.clear()
	r, sum, ended := v.build(inner, first)
	close(over)
	again = <-newer
	cancel(nil)
	if ctx.Err() != nil {
		return false, &exitError{Code: ExitInterrupted, Err: errInterrupted}
	}
	var exit *exitError
	switch {
	case first && errors.As(ended, new(givenError)):
		return false, ended
	case errors.Is(ended, errNewer):
		v.stopped++
		if v.json == nil {
			v.brief.Done(sum, time.Since(saved), errNewer.Error())
		}
		return true, nil
	case sum.Failed > 0: // the report has the failures
		if !first && v.json == nil && (told || v.brief.News()) {
			v.brief.Done(sum, time.Since(saved), "")
		}
	case ended != nil:
		text := ""
		if !errors.As(ended, &exit) || exit.Err != nil {
			text = fmt.Sprintf("hexmage: %v\n", ended)
		}
		if told || text != v.mistake {
			fmt.Fprint(v.a.Env.Stderr, text)
		}
		if v.mistake = text; told && v.json == nil {
			v.brief.Done(sum, time.Since(saved), notBuilt)
		}
	case !first && v.json == nil && (told && !r.unchanged || sum.Executed > 0):
		v.brief.Done(sum, time.Since(saved), "")
	}
	if v.stopped = 0; ended == nil {
		v.mistake = ""
	}
	return v.watch(ended != nil || sum.Failed > 0, saved) || again, nil
}

// build builds what is to be built, if that can be told.
func (v *viewer) build(ctx context.Context, first bool) (*oneRun, event.BuildFinished, error) {
	r := &oneRun{c: &runCmd{runFlags{Pipeline: v.c.Pipeline, KeepGoing: v.c.KeepGoing}}, a: v.a, outIn: v.outIn,
		out: v.out, workspace: v.workspace, watches: &v.watches, planning: v.planning, costs: v.costs}
	if !first || v.json != nil {
		r.show = v.brief
		if v.json != nil {
			r.show = v.json
		}
	}
	if !v.chosen {
		steps, err := v.choose()
		if err != nil {
			v.watches.unplanned(v.a.load(v.workspace, v.c.Pipeline))
			return r, event.BuildFinished{}, err
		}
		v.steps, v.chosen = steps, true
	}
	r.c.Steps = v.steps
	defer r.close()
	res, err := r.attempt(ctx)
	v.planning, v.costs = r.planning, v.a.costs(v.c.Pipeline)
	return r, res.BuildFinished, err
}

// choose returns the steps to build: all but those that run on a device, and what needs these, unless they are asked
// for.
func (v *viewer) choose() ([]string, error) {
	if v.c.OnDevice {
		return v.c.Until, nil
	}
	p, _, err := v.a.plan(v.c.Pipeline, v.c.Until)
	if err != nil {
		return nil, err
	}
	return withoutDevice(p.Plan, v.c.Until)
}

func withoutDevice(p *plan.Plan, until []string) ([]string, error) {
	out := map[string]bool{} // instances, and their steps
	var keep []string
	for _, n := range p.Instances { // what an instance needs comes before it
		left := onDevice(n.At.Kind)
		for _, d := range n.Needs() {
			left = left || out[d.String()]
		}
		if left {
			out[n.At.String()], out[n.At.Step.String()] = true, true
			continue
		}
		if at := n.At.Step.String(); !slices.Contains(keep, at) {
			keep = append(keep, at)
		}
	}
	switch {
	case len(out) == 0:
		return until, nil
	case len(keep) == 0:
		return nil, givenError{usageError("all of it needs a device: say --run")}
	}
	return keep, nil
}

// watchSet is what a run looked at, and so what may change what the next one does.
type watchSet struct {
	mu    sync.Mutex
	files map[string]bool
	dirs  map[string]bool // whose entries count

	lastFiles, lastDirs map[string]bool // of the runs until now
}

func (l *watchSet) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files, l.dirs = map[string]bool{}, map[string]bool{}
}

// add notes a path, relative to the workspace or absolute.
func (l *watchSet) add(path string, dir bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if dir {
		l.dirs[path] = true
	} else {
		l.files[path] = true
	}
}

// plan notes what a plan was made from.
func (l *watchSet) plan(r plan.Reads) {
	for _, p := range slices.Concat(r.Files, r.Absent) {
		l.add(p, false)
	}
	for _, p := range r.Dirs {
		l.add(p, true)
	}
	for _, g := range r.Globs {
		for _, d := range g.Dirs {
			l.add(d, true)
		}
	}
}

// see notes what was looked at.
func (l *watchSet) see(all []state.Seen) {
	for _, s := range all {
		l.add(s.Path, s.Stamp.IsDir())
	}
}

// addAll notes everything that the run looked at that left the state file.
func (l *watchSet) addAll(f *state.File) {
	l.see(f.Reads)
	l.see(f.Inputs)
	for _, g := range f.Globs {
		l.see(g.Dirs)
	}
}

// unplanned notes what there is of a pipeline that cannot be planned: a file of a module may be what is wrong, or
// lacking.
func (l *watchSet) unplanned(p *config.Pipeline, _ hcl.Diagnostics) {
	l.plan(plan.Reads{Files: slices.Collect(maps.Keys(p.Files)), Dirs: p.Dirs, Absent: p.Absent})
}

// withoutTemporary returns the changed paths, but for files that came and went since the last run, as `sed -i` and
// editors make them. If there are only such files, it returns all.
func (l *watchSet) withoutTemporary(root string, changed []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(changed), func(p string) bool {
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return false
		}
		_, err = os.Lstat(p)
		rel = filepath.ToSlash(rel)
		return err != nil && !l.lastFiles[rel] && !l.lastDirs[rel] && !l.lastFiles[p] && !l.lastDirs[p]
	})
	if len(kept) == 0 {
		return changed
	}
	return kept
}

func (l *watchSet) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.files) + len(l.dirs)
}

// watch has the watcher watch what the last run looked at, and what any run would. One that failed has not come to
// the rest, which therefore stays watched. Nothing of it was looked at before since.
func (v *viewer) watch(failed bool, since time.Time) bool {
	l := &v.watches
	l.mu.Lock()
	defer l.mu.Unlock()
	if failed {
		maps.Copy(l.files, l.lastFiles)
		maps.Copy(l.dirs, l.lastDirs)
	}
	l.lastFiles, l.lastDirs = maps.Clone(l.files), maps.Clone(l.dirs)
	s := watch.Set{Root: v.workspace, Since: since}
	for p := range l.files {
		s.Files = append(s.Files, absolute(v.workspace, filepath.FromSlash(p)))
	}
	for p := range l.dirs {
		s.Dirs = append(s.Dirs, absolute(v.workspace, filepath.FromSlash(p)))
	}
	own := filepath.Join(v.workspace, workspace.Folder, v.c.Pipeline)
	s.Dirs = append(s.Dirs, filepath.Join(v.workspace, workspace.Folder), filepath.Join(v.workspace, config.Modules),
		filepath.Join(v.workspace, "toolchains"), own)
	s.Files = append(s.Files, own+".hcl", filepath.Join(v.workspace, toolchains.LockFile))
	if entries, err := os.ReadDir(own); err == nil {
		for _, e := range entries {
			s.Files = append(s.Files, filepath.Join(own, e.Name()))
		}
	}
	return v.w.Set(s)
}
