package front

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/store"
)

// Main is the program hexmage: it runs the command line, here where it can, else by the engine. It returns the exit code.
func Main(args []string, env Env, engine func() int) int {
	if code, done := Run(args[1:], env); done {
		return code
	}
	return engine()
}

// Run is `hexmage run` where the plan of the last run holds, and nothing is to be done or only what package front can do, with the exit code. done is
// false where that cannot be told, and for any other command: then the engine finds out what is to be done, or what is wrong.
func Run(args []string, env Env) (code int, done bool) {
	if !slices.Contains(args, "run") || env.Var(EnvCPUProfile) != "" || env.Var(EnvMemProfile) != "" || lowLimits() {
		return 0, false
	}
	TuneHeap(0)
	env.Stdout, env.Stderr = NewOutput(env.Stdout), NewOutput(env.Stderr)
	global, flags, ok := Parse(args)
	if !ok {
		return 0, false
	}
	a, err := NewApp(global, env)
	if err != nil {
		return 0, false
	}
	r, err := a.loadedRun(flags)
	if err != nil {
		return 0, false
	}
	if !r.loaded.Unchanged() {
		return r.carryOut()
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that went away is an error of writing, as in a build
	return Written(env, ExitWith(context.Background(), r.finish(), env, r.JSON)), true
}

// loadedRun is a run whose plan is that of the last one.
type loadedRun struct {
	*App
	c         RunFlags
	workspace string
	outIn     string // no link may lead from here to out
	out       string
	began     time.Time
	last      Last
	loaded    *build.Loaded
}

// errElsewhere says that a run is for the engine.
var errElsewhere = errors.New("it is for the engine")

// loadedRun returns the run that the flags ask for.
func (a *App) loadedRun(c RunFlags) (r *loadedRun, err error) {
	if a.Fresh.On || c.Verify.On || c.Trace != "" || c.JUnit != "" {
		return nil, errElsewhere
	}
	a.Serial = c.Serial
	r = &loadedRun{App: a, c: c, began: time.Now()}
	if r.workspace, err = a.Workspace(c.Pipeline); err != nil {
		return nil, err
	}
	r.outIn, r.out = a.OutFolder(c.Out, c.Pipeline)
	if err := build.CheckOut(r.outIn, r.out); err != nil {
		return nil, err
	}
	fn, err := a.DigestFunction()
	if err != nil {
		return nil, err
	}
	r.last = a.Last(&c, r.workspace, r.out, fn)
	r.loaded, err = a.Load(r.last, a.Options(r.last, &c, r.out), func(m build.Machine, o build.Options) (*build.Loaded, error) {
		return build.LoadTouched(context.Background(), m, o)
	})
	return r, err
}

// finish shows the run, in which there is nothing to do. It is not in the run log: no action was looked at.
func (r *loadedRun) finish() error {
	o := r.App.Options(r.last, &r.c, r.out)
	show, end := r.show(nil)
	o.Sink = show
	res := r.loaded.Finish(o, r.began)
	end()
	r.TidyIdle()
	if err := r.ShowOutputs(res.Outputs); err != nil {
		return err
	}
	return Checked(res)
}

// carryOut carries out what changed, if all of that needs no more than there is here.
func (r *loadedRun) carryOut() (code int, done bool) {
	if r.NamesRemote() || r.LimitDue() { // what others made may be what is wanted; and only the engine holds the cache to its limit
		return 0, false
	}
	in := NewInterrupts(func(text string) { fmt.Fprint(r.Env.Stderr, "\n", text) })
	r.Notify = in.Notify
	ctx, stop := in.Watch(context.Background())
	defer stop()
	defer SurvivePipes()()
	err := r.build(ctx, in)
	if err != nil && ctx.Err() == nil && beyond(err) {
		if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
			r.SayAgain(err)
		}
		return 0, false
	}
	return Written(r.Env, ExitWith(ctx, err, r.Env, r.JSON)), true
}

// beyond tells whether the engine begins again after such an error.
func beyond(err error) bool {
	for _, is := range []error{errElsewhere, build.ErrNotPlain, build.ErrStale, store.ErrCorrupt, store.ErrNotFound} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// build is carryOut between the first signal that is watched for and the last.
func (r *loadedRun) build(ctx context.Context, in *Interrupts) error {
	b, err := r.OpenBuilder(ctx, in, nil, nil, nil)
	switch {
	case ctx.Err() != nil && err != nil:
		return &ExitError{Code: ExitInterrupted, Err: ErrInterrupted}
	case err != nil:
		return errElsewhere // the engine finds it, too, and says so
	}
	defer b.Close()
	o := b.RunOptions(r.App, &r.c, r.workspace, r.outIn, r.out)
	o.Executor, o.Plain = b.Cached(execute.Route(map[string]execute.Executor{action.ExecutorLocal: b.Host})), true
	o.Snapshot = &build.Snapshot{Path: r.last.Snapshot}
	shown := func() {}
	explain := &explainer{app: r.App, workspace: r.workspace, open: func() event.Sink {
		w := r.Watch(r.workspace, &r.c, nil)
		shown = w.End
		return w
	}}
	o.Sink = explain
	res, err := r.loaded.Run(ctx, o)
	explain.end()
	shown()
	if err = Outcome(ctx, res, err); err != nil {
		return err
	}
	if err := r.ShowOutputs(res.Outputs); err != nil {
		return err
	}
	return Checked(res)
}

// SayAgain prints why a build begins again: a file changed while it was read, or a cached file is corrupt or missing.
func (a *App) SayAgain(err error) {
	if changed := (*store.ChangedError)(nil); errors.As(err, &changed) {
		fmt.Fprintf(a.Env.Stderr, "hexmage: %s was saved while it was read; building again\n", changed.Path)
		return
	}
	fmt.Fprintf(a.Env.Stderr, "hexmage: a cached file is corrupt or missing; building again (%v)\n", err)
}

// Outcome is the error with which a command ends after a build, or nil. What failed in the build, the report has told.
func Outcome(ctx context.Context, res build.Result, err error) error {
	exit := &ExitError{Err: err}
	if res.Failed > 0 {
		exit.Err = nil
	}
	switch {
	case ctx.Err() != nil:
		return &ExitError{Code: ExitInterrupted, Err: ErrInterrupted}
	case errors.As(err, new(*build.InputError)):
		exit.Code = ExitUsage
	case err != nil:
		exit.Code = ExitEngine
	case res.Failed > 0:
		exit.Code = ExitFailed
	default:
		return nil
	}
	return exit
}

// Checked returns the error for what came of the checks of a run.
func Checked(res build.Result) error {
	if res.ChecksFailed > 0 {
		return &ExitError{Code: ExitCheck} // the report has said which
	}
	return nil
}
