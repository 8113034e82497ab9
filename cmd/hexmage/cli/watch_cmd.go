package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/watch"
)

// watchCmd is `hexmage watch PIPELINE`.
type watchCmd struct {
	Pipeline  string   `arg:"" help:"Name of a file in pipelines/, without .hcl."`
	Until     []string `placeholder:"STEP" help:"Only this step (KIND.NAME) and what it needs. May be repeated."`
	OnDevice  bool     `name:"run" help:"Also push to the device and run there, after each build. Without it, steps that run on a device are left out."`
	Serial    string   `short:"s" placeholder:"SERIAL" help:"With --run: on this device, as for hexmage run."`
	KeepGoing bool     `short:"k" help:"After a failure, go on with what does not need it."`
	Out       string   `placeholder:"DIR" default:"out" help:"Outputs go to DIR/PIPELINE. Default: out."`
	Poll      bool     `help:"Look at all files again and again, where the file system gives no events of changes."`
}

// Help is shown with --help.
func (c *watchCmd) Help() string {
	return `Builds the pipeline, and again whenever one of the files that it reads is saved: sources, pipeline files, toolchain data, the
lock file. Of each build one line is shown. A save while a build runs stops it and begins anew. After a failure the outputs stay as the
last good build left them.

Examples:
  hexmage watch qwen3-aot-v79                               the op package, the model, the context; not the device
  hexmage watch qwen3-aot-v79 --until oppackage.llama       the op package only
  hexmage watch qwen3-aot-v79 --run                         and run it, too`
}

// errNewer is why a build was stopped whose sources were saved once more.
var errNewer = errors.New("saved again while it was built")

// maxStopped is how often in a row a build is stopped for a newer save: then one is carried to its end, in case it is a step that
// writes to what is watched.
const maxStopped = 5

// Run watches until it is interrupted.
func (c *watchCmd) Run(ctx context.Context, a *app) error {
	if a.serial = c.Serial; c.Serial != "" && !c.OnDevice {
		return usage("watch: --serial chooses a device to run on: add --run")
	}
	workspace, err := a.workspace(c.Pipeline)
	if err != nil {
		return err
	}
	v := &viewer{c: c, a: a, workspace: workspace, out: filepath.Join(absolute(a.dir, c.Out), c.Pipeline)}
	v.brief = report.NewBrief(a.env.Stderr, a.reportOptions())
	if a.JSON {
		v.json = report.JSON(a.env.Stdout)
	}
	v.w = watch.New(watch.Options{Poll: c.Poll, Note: func(text string) { fmt.Fprintf(a.env.Stderr, "hexmage: %s\n", text) }})
	defer v.w.Close()
	return v.loop(ctx)
}

// viewer builds whenever something changed.
type viewer struct {
	c              *watchCmd
	a              *app
	workspace, out string
	w              *watch.Watcher
	brief          *report.Brief
	json           event.Sink // nil: for people

	steps   []string // what is built; nil: all
	chosen  bool     // steps is right, unless a pipeline file changes
	looked  looked
	stopped int // builds in a row
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
				v.send(event.WatchStarted{Files: v.looked.len(), Polling: v.w.Polling()})
				started = true
			}
			debug.FreeOSMemory() // it may be hours until the next save
			select {
			case <-v.w.Changed():
			case <-ctx.Done():
				return &exitError{ExitInterrupted, errInterrupted}
			}
		}
		if changed, err = v.w.Settle(ctx); err != nil {
			return &exitError{ExitInterrupted, errInterrupted}
		}
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

// round builds once, for changes that were told of, or because something may have changed that nobody watched until now. It returns
// true if something may have changed meanwhile.
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
	v.looked.clear()
	r, sum, ended := v.build(inner, first)
	close(over)
	again = <-newer
	cancel(nil)
	if ctx.Err() != nil {
		return false, &exitError{ExitInterrupted, errInterrupted}
	}
	switch {
	case errors.Is(ended, errNewer):
		v.stopped++
		if v.json == nil {
			v.brief.Done(sum, time.Since(saved), errNewer.Error())
		}
		return true, nil
	case ended != nil && !r.over:
		fmt.Fprintf(v.a.env.Stderr, "hexmage: %v\n", ended)
	case ended == nil && !first && v.json == nil && (told && !r.unchanged || sum.Executed > 0):
		v.brief.Done(sum, time.Since(saved), "")
	}
	v.stopped = 0
	return v.watch(ended != nil || sum.Failed > 0) || again, nil
}

// build builds what is to be built, if that can be told.
func (v *viewer) build(ctx context.Context, first bool) (*running, event.BuildFinished, error) {
	r := &running{c: &runCmd{Pipeline: v.c.Pipeline, KeepGoing: v.c.KeepGoing}, a: v.a, out: v.out, workspace: v.workspace, look: &v.looked}
	if !first || v.json != nil {
		r.show = v.brief
		if v.json != nil {
			r.show = v.json
		}
	}
	if !v.chosen {
		steps, err := v.choose()
		if err != nil {
			r.over = true
			var exit *exitError
			if !errors.As(err, &exit) || exit.err != nil {
				fmt.Fprintf(v.a.env.Stderr, "hexmage: %v\n", err)
			}
			return r, event.BuildFinished{}, err
		}
		v.steps, v.chosen = steps, true
	}
	r.c.Steps = v.steps
	defer r.close()
	res, err := r.once(ctx)
	return r, res.BuildFinished, err
}

// choose returns the steps to build: all but those that run on a device, and what needs these, unless they are asked for.
func (v *viewer) choose() ([]string, error) {
	if v.c.OnDevice {
		return v.c.Until, nil
	}
	p, _, err := v.a.plan(v.c.Pipeline, v.c.Until)
	if err != nil {
		return nil, err
	}
	return withoutDevice(p, v.c.Until)
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
		return nil, usage("all of it needs a device: say --run")
	}
	return keep, nil
}
