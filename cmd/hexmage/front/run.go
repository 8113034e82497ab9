package front

import (
	"context"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/hexmage/hexmage/internal/build"
)

// Main is the program hexmage: it runs the command line, here where there is nothing to do, else by the engine. It returns the exit code.
func Main(args []string, env Env, engine func() int) int {
	if code, done := Run(args[1:], env); done {
		return code
	}
	return engine()
}

// Run is `hexmage run` where nothing is to be done, with the exit code. done is false where that cannot be told, and for any other command: then nothing
// was said or changed, and the engine finds out what is to be done, or what is wrong.
func Run(args []string, env Env) (code int, done bool) {
	if !slices.Contains(args, "run") || env.Var(EnvCPUProfile) != "" || env.Var(EnvMemProfile) != "" || lowLimits() {
		return 0, false
	}
	TuneHeap()
	env.Stdout, env.Stderr = NewOutput(env.Stdout), NewOutput(env.Stderr)
	global, flags, ok := Parse(args)
	if !ok {
		return 0, false
	}
	a, err := NewApp(global, env)
	if err != nil {
		return 0, false
	}
	r, err := a.unchanged(flags)
	if err != nil || r == nil {
		return 0, false
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that went away is an error of writing, as in a build
	return Written(env, ExitWith(context.Background(), r.finish(), env)), true
}

// unchanged is a run that has nothing to do.
type unchanged struct {
	*App
	c         RunFlags
	workspace string
	began     time.Time
	loaded    *build.Loaded
	o         build.Options
}

// unchanged returns the run that the flags ask for, if it has nothing to do; else nil or an error.
func (a *App) unchanged(c RunFlags) (*unchanged, error) {
	if a.Fresh.On || c.Verify.On || c.Trace != "" {
		return nil, nil
	}
	a.Serial = c.Serial
	workspace, err := a.Workspace(c.Pipeline)
	if err != nil {
		return nil, err
	}
	in, out := a.OutFolder(c.Out, c.Pipeline)
	if err := build.CheckOut(in, out); err != nil {
		return nil, err
	}
	r := &unchanged{App: a, c: c, workspace: workspace, began: time.Now()}
	fn, err := a.DigestFunction()
	if err != nil {
		return nil, err
	}
	last := a.Last(&c, workspace, out, fn)
	r.o = a.Options(last, &c, out)
	load := func(m build.Machine, o build.Options) (*build.Loaded, error) {
		return build.LoadUnchanged(context.Background(), m, o)
	}
	if r.loaded, err = a.Load(last, r.o, load); err != nil || r.loaded == nil {
		return nil, err
	}
	return r, nil
}

// finish shows the run.
func (r *unchanged) finish() error {
	w := r.Watch(r.workspace, r.c.Pipeline, nil)
	r.o.Sink = w
	res := r.loaded.Finish(r.o, r.began)
	w.End()
	if err := r.ShowOutputs(res.Outputs); err != nil {
		return err
	}
	return Checked(res)
}

// Checked returns the error for what came of the checks of a run.
func Checked(res build.Result) error {
	if res.ChecksFailed > 0 {
		return &ExitError{Code: ExitCheck} // the report has said which
	}
	return nil
}
