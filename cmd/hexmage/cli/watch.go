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
	Pipeline  string   `arg:"" help:"Pipeline: the name of a file in pipelines/ (without .hcl) or of a folder in pipelines/."`
	Until     []string `placeholder:"STEP" help:"Build only STEP and its dependencies. Write a step as KIND.NAME, and a step of a module as module.MODULE.KIND.NAME. May be repeated."`
	OnDevice  bool     `name:"run" help:"Also run the steps that need a device. Default: skip these steps."`
	Serial    string   `short:"s" placeholder:"SERIAL" help:"Use this device. SERIAL is a serial from 'hexmage device list', a name from devices.hcl, HOST:PORT, or ssh://USER@HOST for a Linux board. Default: the device that the pipeline names. Needs --run."`
	KeepGoing bool     `short:"k" help:"Continue with independent steps after a failure."`
	Out       string   `placeholder:"DIR" help:"Write outputs to DIR/<pipeline>. DIR may be a symlink. Default: out/, which must not be a symlink."`
	Poll      bool     `help:"Check files for changes at regular intervals. Some network file systems need this flag, because they report no changes."`
}

// Help returns the text of `hexmage watch --help`.
func (c *watchCmd) Help() string {
	return `Watches source files, pipeline files, toolchain definitions and the lock file. Prints one line for each
build. If you change a file during a build, the build starts again. If a build fails, the outputs of the last
successful build remain.

Examples:

    hexmage watch qwen3-aot-v79                                      all steps that need no device
    hexmage watch qwen3-aot-v79 --until module.aot.oppackage.llama   one step and its dependencies
    hexmage watch qwen3-aot-v79 --run                                all steps, including steps that need a device`
}

// errNewer is the cause of a stopped build whose sources were saved again.
var errNewer = errors.New("files were saved again during the build")

// notBuilt is the line after a save for which no build started.
const notBuilt = "not built; the outputs are those of the last successful build"

// maxStopped is the number of successive builds that a newer save may stop. The next one runs to its end, since a step
// may write to a watched folder.
const maxStopped = 5

// Run watches the files of a pipeline until the user interrupts it.
func (c *watchCmd) Run(ctx context.Context, a *app) error {
	a.events = true
	if a.Serial = c.Serial; c.Serial != "" && !c.OnDevice {
		return usageError("watch: --serial has an effect only with --run; add --run")
	}
	if _, err := selected(c.Until); err != nil {
		return err
	}
	if err := a.checkPipeline(c.Pipeline); err != nil {
		return err
	}
	v := &viewer{c: c, a: a}
	v.outIn, v.out = a.outFolder(c.Out, c.Pipeline)
	if err := engine.ValidateOutputDir(v.outIn, v.out); err != nil {
		return usageError("%w", err)
	}
	v.brief = report.NewBrief(a.Env.screen(), a.reportOptions())
	v.show = v.brief
	if a.JSON {
		v.show = report.JSON(a.Env.Stdout, time.Now)
	}
	v.w = watch.New(watch.Options{Poll: c.Poll,
		Note: func(text string) { a.say("%s", text) }})
	defer v.w.Close()
	return v.loop(ctx)
}

// viewer builds after each change.
type viewer struct {
	c          *watchCmd
	a          *app
	outIn, out string
	w          *watch.Watcher
	brief      *report.Brief // for people
	show       event.Sink

	steps    []string // steps to build; nil: all
	chosen   bool     // steps is valid until a pipeline file changes
	watches  watchSet
	stopped  int    // stopped builds in a row
	mistake  string // error printed for the last build, which did not start
	planning *keptPlan
	costs    func() runlog.Costs
}

func (v *viewer) loop(ctx context.Context) error {
	var changed []string
	started := false
	for first := true; ; first = false {
		saved := time.Now()
		if len(changed) > 0 {
			v.show.Send(event.FilesChanged{Paths: changed})
		}
		again, err := v.round(ctx, first, len(changed) > 0, saved)
		if err != nil {
			return err
		}
		if !again {
			if !started {
				v.show.Send(event.WatchStarted{Files: len(v.watches.paths), Polling: v.w.Polling()})
				started = true
			}
			debug.FreeOSMemory() // the next save may be hours away
			select {
			case <-v.w.Changed():
			case <-ctx.Done():
				return &exitError{Code: ExitInterrupted, Err: errInterrupted}
			}
		}
		if changed, err = v.w.Settle(ctx); err != nil {
			return &exitError{Code: ExitInterrupted, Err: errInterrupted}
		}
		changed = v.watches.withoutTemporary(v.a.here(), changed)
		for i, p := range changed {
			if rel, ok := below(v.a.here(), p); ok {
				changed[i] = rel
			}
			v.chosen = v.chosen && !strings.HasSuffix(p, ".hcl")
		}
	}
}

// done shows people the result of a build.
func (v *viewer) done(sum event.BuildFinished, saved time.Time, ended string) {
	if !v.a.JSON {
		v.brief.Done(sum, time.Since(saved), ended)
	}
}

// round builds once. told: the watcher reported changes; otherwise an unwatched file may have changed. It returns true
// if something may have changed during the build.
func (v *viewer) round(ctx context.Context, first, told bool, saved time.Time) (again bool, err error) {
	// An interrupt or a newer save may arrive during the build.
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
	v.watches.paths = map[string]bool{}
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
		v.done(sum, saved, errNewer.Error())
		return true, nil
	case sum.Failed > 0: // the report has the failures
		if !first && (told || v.brief.News()) {
			v.done(sum, saved, "")
		}
	case ended != nil:
		text := ""
		if !errors.As(ended, &exit) || exit.Err != nil {
			text = fmt.Sprintf("hexmage: %v\n", ended)
		}
		if told || text != v.mistake {
			fmt.Fprint(v.a.Env.Stderr, text)
		}
		if v.mistake = text; told {
			v.done(sum, saved, notBuilt)
		}
	case !first && (told && !r.unchanged || sum.Executed > 0):
		v.done(sum, saved, "")
	}
	if v.stopped = 0; ended == nil {
		v.mistake = ""
	}
	return v.watch(ended != nil || sum.Failed > 0, saved) || again, nil
}

// build builds the chosen steps.
func (v *viewer) build(ctx context.Context, first bool) (*oneRun, event.BuildFinished, error) {
	r := &oneRun{c: &runCmd{runFlags{Pipeline: v.c.Pipeline, KeepGoing: v.c.KeepGoing}}, a: v.a, outIn: v.outIn,
		out: v.out, watches: &v.watches, planning: v.planning, costs: v.costs}
	if !first || v.a.JSON {
		r.show = v.show
	}
	if !v.chosen {
		steps, err := v.choose()
		if err != nil {
			v.watches.unplanned(v.a.load(v.c.Pipeline))
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

// choose returns the steps to build. Unless the user asks for them, it leaves out steps that run on a device, and their
// dependents.
func (v *viewer) choose() ([]string, error) {
	if v.c.OnDevice {
		return v.c.Until, nil
	}
	p, err := v.a.plan(v.c.Pipeline, v.c.Until)
	if err != nil {
		return nil, err
	}
	return withoutDevice(p.Plan, v.c.Until)
}

func withoutDevice(p *plan.Plan, until []string) ([]string, error) {
	out := map[string]bool{} // instances and their steps
	var keep []string
	for _, n := range p.Instances { // dependencies come first
		left := n.At.Kind == kindRun
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
		return nil, givenError{usageError("all selected steps need a device; add --run")}
	}
	return keep, nil
}

// watchSet has the paths that a run read, which may affect the next run. Paths are relative to the workspace or
// absolute. The value reports whether a folder's entries count.
type watchSet struct {
	paths map[string]bool
	last  map[string]bool // of earlier runs
}

// add adds paths.
func (l *watchSet) add(paths []string, entries bool) {
	for _, p := range paths {
		l.paths[p] = l.paths[p] || entries
	}
}

// plan adds everything that planning read.
func (l *watchSet) plan(r plan.Reads) {
	l.add(slices.Concat(r.Files, r.Absent), false)
	l.add(r.Dirs, true)
	for _, g := range r.Globs {
		l.add(g.Dirs, true)
	}
}

// see adds paths from a state file.
func (l *watchSet) see(all []state.Seen) {
	for _, s := range all {
		l.add([]string{s.Path}, s.Stamp.IsDir())
	}
}

// addAll adds the paths of a run from its state file.
func (l *watchSet) addAll(f *state.File) {
	l.see(f.Reads)
	l.see(f.Inputs)
	for _, g := range f.Globs {
		l.see(g.Dirs)
	}
}

// unplanned adds the files of an invalid pipeline: a module's file may be wrong or missing.
func (l *watchSet) unplanned(p *config.Pipeline, _ hcl.Diagnostics) {
	l.plan(plan.Reads{Files: slices.Collect(maps.Keys(p.Files)), Dirs: p.Dirs, Absent: p.Absent})
}

// withoutTemporary returns the changed paths without files that appeared and disappeared since the last run: `sed -i`
// and editors create these. If there are only such files, it returns all.
func (l *watchSet) withoutTemporary(root string, changed []string) []string {
	kept := slices.DeleteFunc(slices.Clone(changed), func(p string) bool {
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return false
		}
		_, err = os.Lstat(p)
		_, known := l.last[filepath.ToSlash(rel)]
		_, absolute := l.last[p]
		return err != nil && !known && !absolute
	})
	if len(kept) == 0 {
		return changed
	}
	return kept
}

// watch sets the watcher to the inputs of the last run, and the files of any run. A failed run has not read everything,
// so its earlier paths stay. since is a time before the first read of a path. It returns true if a new path may have
// changed since then.
func (v *viewer) watch(failed bool, since time.Time) bool {
	l := &v.watches
	if failed {
		for p, entries := range l.last {
			l.add([]string{p}, entries)
		}
	}
	l.last = l.paths
	root := v.a.here()
	s := watch.Set{Root: root, Since: since}
	for p, entries := range l.paths {
		if at := absolute(root, filepath.FromSlash(p)); entries {
			s.Dirs = append(s.Dirs, at)
		} else {
			s.Files = append(s.Files, at)
		}
	}
	own := filepath.Join(root, workspace.Folder, v.c.Pipeline)
	s.Dirs = append(s.Dirs, filepath.Join(root, workspace.Folder), filepath.Join(root, config.Modules),
		filepath.Join(root, "toolchains"), own)
	s.Files = append(s.Files, own+".hcl", filepath.Join(root, toolchains.LockFile))
	if entries, err := os.ReadDir(own); err == nil {
		for _, e := range entries {
			s.Files = append(s.Files, filepath.Join(own, e.Name()))
		}
	}
	return v.w.Set(s)
}
