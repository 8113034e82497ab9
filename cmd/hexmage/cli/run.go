package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/trace"
)

// runCmd is `hexmage run PIPELINE [STEP…]`.
type runCmd struct {
	Pipeline  string    `arg:"" help:"Name of a file in pipelines/, without .hcl."`
	Steps     []string  `arg:"" optional:"" help:"Only these steps (KIND.NAME) and what they need."`
	KeepGoing bool      `short:"k" help:"After a failure, go on with what does not need it."`
	Out       string    `placeholder:"DIR" default:"out" help:"Outputs go to DIR/PIPELINE. Default: out."`
	Verify    stepsFlag `placeholder:"STEP" help:"Run every action (with =STEP those of that step) once more than needed, and compare the outputs bit by bit. The cache stays as it is."`
	Serial    string    `short:"s" placeholder:"SERIAL" help:"Run on this device, whatever the pipeline says: a serial, an address such as 192.168.1.7:5555, or a name of devices.hcl."`
	Trace     string    `placeholder:"FILE" help:"Write down when what ran, for ui.perfetto.dev or chrome://tracing."`
}

// Run builds the pipeline.
func (c *runCmd) Run(ctx context.Context, a *app) error {
	a.serial = c.Serial
	workspace, err := a.workspace(c.Pipeline)
	if err != nil {
		return err
	}
	r := &running{c: c, a: a, out: filepath.Join(absolute(a.dir, c.Out), c.Pipeline), workspace: workspace}
	if err := r.startTrace(); err != nil {
		return err
	}
	defer r.close()
	res, err := r.once(ctx)
	if r.over {
		return err
	}
	if err := outcome(ctx, res, err); err != nil {
		return err
	}
	if !a.JSON {
		if err := a.showOutputs(res.Outputs); err != nil {
			return err
		}
	}
	return r.verify.outcome()
}

// running is one `hexmage run`.
type running struct {
	c         *runCmd
	a         *app
	workspace string
	out       string
	machine   build.Machine
	memo      string // path of the memo; "" when none is of use

	engine   *engineParts
	survive  func()
	watching *watching
	trace    *trace.Tracer // nil: nothing is traced
	end      func()
	verify   *verifying
	over     bool // the error is what the command ends with: no build began

	show      event.Sink // of the build; nil: as usual
	look      *looked    // nil: nobody asks what is looked at
	unchanged bool       // there was nothing to do
}

// once builds: what changed since the last run, or all of it.
func (r *running) once(ctx context.Context) (build.Result, error) {
	res, err := r.recall(ctx)
	if errors.Is(err, build.ErrStale) {
		r.because(err)
		res, err = r.build(ctx)
	}
	res, err = r.heal(ctx, res, err)
	r.done()
	return res, err
}

// fewChanged is up to how many changed files are read without asking the stat cache, which has to be read for that.
const fewChanged = 64

// recall does without a plan, if what the last run left still holds; else it returns build.ErrStale.
func (r *running) recall(ctx context.Context) (build.Result, error) {
	c, a := r.c, r.a
	if a.Fresh.on || c.Verify.on {
		return build.Result{}, fmt.Errorf("as it was asked for: %w", build.ErrStale)
	}
	began := time.Now()
	fn, err := a.digestFunction()
	if err != nil {
		return r.not(err)
	}
	r.machine = a.machineNow(r.workspace, fn)
	r.memo = a.memoPath(request{Workspace: r.workspace, Pipeline: c.Pipeline, Profile: a.Profile, Out: r.out, Steps: c.Steps,
		EnvVars: a.envVars(), FlagVars: a.Set, Serial: a.serial}, fn)
	if records, err := disk.Damages(a.cache); err != nil || len(records) > 0 {
		return build.Result{}, fmt.Errorf("something in the cache was found damaged: %w", build.ErrStale)
	}
	end := r.phase("recall")
	last, err := build.Recall(r.memo, r.machine)
	end()
	if err != nil && !errors.Is(err, build.ErrStale) {
		err = fmt.Errorf("%w: %w", err, build.ErrStale)
	}
	if err != nil {
		return build.Result{}, err
	}
	if r.look != nil {
		if err := last.Look(r.look.add); err != nil {
			return build.Result{}, fmt.Errorf("%w: %w", err, build.ErrStale)
		}
	}
	o := build.Options{Fn: fn, State: filepath.Join(a.cache, "state"), Out: r.out, Prune: len(c.Steps) == 0, Memo: &build.Memo{Path: r.memo}}
	if last.Unchanged(o) {
		o.Sink, r.unchanged = r.watchers(), true
		return last.Finish(o, began), nil
	}
	if err := r.open(ctx); err != nil {
		return r.not(err)
	}
	boundHeap(last.Units())
	full := r.options()
	full.Memo = o.Memo
	if last.Changed() <= fewChanged {
		full.Hasher = r.engine.stats.Direct()
	}
	defer r.phase("build")()
	return last.Run(ctx, full)
}

// because says, to those who asked for more, why the pipeline is planned anew.
func (r *running) because(err error) {
	if r.a.Verbose {
		why := strings.ReplaceAll(err.Error(), ": "+build.ErrStale.Error(), "")
		if errors.Is(err, fs.ErrNotExist) {
			why = "there is no memo of an earlier run"
		}
		fmt.Fprintf(r.a.env.Stderr, "hexmage: planned: %s\n", why)
	}
}

// build plans the pipeline and builds it.
func (r *running) build(ctx context.Context) (build.Result, error) {
	began := time.Now()
	end := r.phase("plan")
	p, _, err := r.a.plan(r.c.Pipeline, r.c.Steps)
	end()
	if err != nil {
		return r.not(err)
	}
	if r.look != nil {
		r.look.plan(p.Reads)
	}
	if missing := p.Missing(); len(missing) > 0 {
		for _, m := range missing {
			fmt.Fprintf(r.a.env.Stderr, "missing: %s\n", m)
		}
		return r.not(usage("this machine lacks what the pipeline needs (profile %q); `hexmage plan` shows what would run", p.Profile))
	}
	if err := r.open(ctx); err != nil {
		return r.not(err)
	}
	if r.verify, err = startVerifying(r.c.Verify, r.engine, p); err != nil {
		return r.not(err)
	}
	boundHeap(len(p.Instances))
	o := r.options()
	if o.Fresh, err = r.a.Fresh.choose("--fresh", p); err != nil {
		return r.not(err)
	}
	r.watching.plan(p)
	o.Sink = r.verify.before(o.Sink)
	if r.memo != "" {
		o.Memo = r.a.remembering(r.memo, p.Reads, r.machine, began)
	}
	defer r.phase("build")()
	return build.Run(ctx, p, o)
}

// not ends the command before a build began.
func (r *running) not(err error) (build.Result, error) {
	r.over = true
	return build.Result{}, err
}

// open puts the engine together, once.
func (r *running) open(ctx context.Context) (err error) {
	if r.engine != nil {
		return nil
	}
	defer r.phase("open the cache")()
	if r.engine, err = r.a.openEngine(ctx); err == nil {
		r.survive = survivePipes()
	}
	return err
}

// watchers is where the build's events go.
func (r *running) watchers() event.Sink {
	if r.watching == nil {
		r.watching = r.a.watch(r.workspace, r.c.Pipeline, r.show)
		if r.trace != nil {
			r.watching.Sink = sinks{r.watching.Sink, r.trace}
		}
		r.watching.Sink = r.a.diagnosed(r.workspace, r.watching.Sink)
		r.end = r.watching.end
	}
	return r.watching
}

func (r *running) options() build.Options {
	o := r.engine.options(r.a)
	o.Sink, o.Workspace, o.KeepGoing, o.Prune, o.Out = r.watchers(), r.workspace, r.c.KeepGoing, len(r.c.Steps) == 0, r.out
	if r.look != nil {
		o.Look = r.look.add
	}
	if r.trace != nil {
		o.Executor, o.Flush = r.trace.Executor(o.Executor), r.trace.Flush(o.Flush)
	}
	return o
}

// done ends what shows the build.
func (r *running) done() {
	if r.end != nil {
		r.end()
		r.end = nil
	}
}

func (r *running) close() {
	r.done()
	r.endTrace()
	r.shut()
}

// display returns a sink for people, and a function to call at its end. left, if not nil, is how long the build will go on.
func (a *app) display(left func() (time.Duration, bool)) (event.Sink, func()) {
	o := a.reportOptions()
	o.Left = left
	d := report.Lines(a.env.Stderr, o)
	back := a.interrupts.tell(d.Note)
	return d, func() { back(); d.Close() }
}

// outcome is the error with which a command ends after a build, or nil. What failed in the build, the report has told.
func outcome(ctx context.Context, res build.Result, err error) error {
	exit := &exitError{err: err}
	if res.Failed > 0 {
		exit.err = nil
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{ExitInterrupted, errInterrupted}
	case errors.As(err, new(*build.InputError)):
		exit.code = ExitUsage
	case err != nil:
		exit.code = ExitEngine
	case res.Failed > 0:
		exit.code = ExitFailed
	default:
		return nil
	}
	return exit
}

// selected parses step addresses of the command line.
func selected(steps []string) ([]addrs.Step, error) {
	var out []addrs.Step
	var errs []error
	for _, s := range steps {
		st, err := addrs.ParseStep(s)
		out, errs = append(out, st), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &exitError{ExitUsage, err}
	}
	return out, nil
}
