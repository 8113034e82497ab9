package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute/verify"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report/junit"
	"github.com/hexmage/hexmage/internal/runlog"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/state"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/trace"
)

// runCmd is `hexmage run PIPELINE [STEP…]`.
type runCmd struct{ runFlags }

// Help returns the examples of `hexmage run --help`.
func (*runCmd) Help() string {
	return `Writes the outputs to the folder out/<pipeline>. Runs only steps whose results are not in the cache.

Examples:

    hexmage run qwen3-aot-v79                               all steps
    hexmage run qwen3-aot-v79 module.aot.oppackage.llama    one step and its dependencies
    hexmage run qwen3-aot-v79 --var prompt="Who are you?"   all steps, with a new value for the variable prompt
    hexmage run qwen3-aot-v79 --profile device              all steps, with the real SDKs and on a phone
    hexmage run qwen3-aot-v79 --json | jq .event            the types of all events`
}

// Run builds the pipeline.
func (c *runCmd) Run(ctx context.Context, a *app) error {
	if c.Pipeline == "" {
		return a.which()
	}
	began := time.Now()
	a.Serial, a.events = c.Serial, true
	r := &oneRun{c: c, a: a}
	defer r.close()
	if err := r.startJUnit(); err != nil {
		return err
	}
	err := r.endJUnit(ctx, c.outcome(ctx, r))
	r.close()
	if r.executed > 0 {
		a.holdToLimit(ctx, r.limit, began)
	}
	return err
}

// outcome builds the pipeline and shows the result.
func (c *runCmd) outcome(ctx context.Context, r *oneRun) (err error) {
	a := r.a
	if err := a.checkPipeline(c.Pipeline); err != nil {
		return err
	}
	r.outIn, r.out = a.outFolder(c.Out, c.Pipeline)
	if err := r.startTrace(); err != nil {
		return err
	}
	res, err := r.attempt(ctx)
	r.executed = res.Executed
	if err := outcome(ctx, res, err); err != nil {
		return err
	}
	if err := a.showOutputs(res.Outputs); err != nil {
		return err
	}
	if len(res.Outputs)+len(c.Steps) == 0 && res.Executed > 0 && !a.JSON {
		if text := a.withoutOutputs(c.Pipeline); text != "" {
			a.say("%s", text)
		}
	}
	switch {
	case r.verify != nil && r.verify.verifier.Summary().Different > 0:
		return &exitError{Code: ExitFailed} // the report has the failures
	case res.ChecksFailed > 0:
		return &exitError{Code: ExitCheck} // the report has the failed checks
	}
	return nil
}

// outcome returns the command's error after a build, or nil. The report has already shown failures of the build.
func outcome(ctx context.Context, res engine.Result, err error) error {
	exit := &exitError{Err: err}
	if res.Failed > 0 {
		exit.Err = nil
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{Code: ExitInterrupted, Err: errInterrupted}
	case errors.As(err, new(*exitError)): // no build started
		return err
	case errors.As(err, new(*engine.InputError)):
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

// oneRun is one `hexmage run`.
type oneRun struct {
	c         *runCmd
	a         *app
	outIn     string // no link may lead from it to out
	out       string
	fn        digest.Function
	stateFile string      // path
	last      *state.File // content of the state file; nil: none
	limit     int64       // cache limit in bytes; 0: unlimited

	engine   *engineParts
	survive  func() // undoes survivePipes; nil: not in effect
	watching *watching
	trace    *trace.Tracer // nil: no trace
	end      func()
	verify   *verifying
	junit    *junit.Report // nil: no report

	show      event.Sink          // display of the build; nil: the default
	watches   *watchSet           // receives the inputs of the run; nil: not needed
	planning  *keptPlan           // of watch: the plan of the last build
	costs     func() runlog.Costs // of earlier runs
	executed  int                 // number of actions
	unchanged bool                // the run was up to date
}

// maxCorruptRetries is the largest number of restarts of a build. The store quarantines at least one file each time; a
// disk with more corrupt files needs repair.
const maxCorruptRetries = 10

// attempt builds, and restarts the build if a cached file was corrupt or missing. The store has quarantined the file,
// so the next lookup is a cache miss and the action runs again. attempt opens a new engine, since an engine remembers
// which blobs the store has.
func (r *oneRun) attempt(ctx context.Context) (engine.Result, error) {
	if err := engine.ValidateOutputDir(r.outIn, r.out); err != nil {
		return engine.Result{}, usageError("%w", err)
	}
	defer r.done()
	r.survive = survivePipes()
	res, err := r.run(ctx)
	for range maxCorruptRetries {
		if ctx.Err() != nil || !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrNotFound) {
			return res, err
		}
		r.done()
		r.watching = nil
		r.a.sayAgain(err)
		r.shut(true)
		res, err = r.run(ctx)
	}
	if errors.Is(err, store.ErrCorrupt) {
		err = fmt.Errorf("%w; many cached files are corrupt. Run `hexmage cache verify --repair`, and check the disk",
			err)
	}
	return res, err
}

// run ends if the state file holds. Otherwise it plans and builds the whole plan.
func (r *oneRun) run(ctx context.Context) (engine.Result, error) {
	began := time.Now()
	if res, err := r.upToDate(ctx, began); err == nil {
		return res, nil
	} else if r.a.Verbose {
		r.a.say("hexmage plans the whole pipeline: %v", err)
	}
	fn, err := r.settings(ctx)
	if err != nil {
		return engine.Result{}, err
	}
	if fn != r.fn {
		r.readState(fn)
	}
	return r.make(ctx, began)
}

// settings reads the user's settings and finds the remote. It returns the digest function, which changes if the remote
// does not support that of the workspace.
func (r *oneRun) settings(ctx context.Context) (fn digest.Function, err error) {
	if r.limit, err = r.a.maxSize(); err != nil {
		return fn, err
	}
	if _, err = r.a.openRemote(ctx); err != nil {
		return fn, err
	}
	return r.a.digestFunction()
}

// readState finds the request's state file.
func (r *oneRun) readState(fn digest.Function) {
	end := r.phase("read the state file")
	defer end()
	r.fn, r.stateFile = fn, r.a.stateFile(&r.c.runFlags, r.out, fn)
	r.last, _ = state.Read(r.stateFile) // a corrupt file counts as missing
}

// upToDate ends a run if all inputs and outputs of the last run of the request are unchanged. It opens neither the
// cache nor a remote, and reads no settings. The error is the reason why the run has work.
func (r *oneRun) upToDate(ctx context.Context, began time.Time) (res engine.Result, err error) {
	fn, err := r.a.digestFunction()
	if err != nil {
		return res, err
	}
	r.readState(fn)
	switch {
	case r.a.Force.On || r.c.Verify.On:
		return res, errors.New("--force or --verify")
	case r.a.JSON || r.c.JUnit != "": // these report each action
		return res, errors.New("--json and --junit report every action")
	case r.last == nil:
		return res, errors.New("the state file of the last run is missing")
	}
	if err := r.last.Holds(r.a.machineOf(fn)); err != nil {
		return res, err
	}
	if r.watches != nil {
		r.watches.addAll(r.last)
	}
	show := r.show
	if show == nil {
		show, r.end = r.a.shown(nil)
	}
	r.unchanged = true
	r.a.tidyIdle(ctx)
	return engine.Unchanged(r.last, r.recorded(show), began), nil
}

// open opens the engine, once.
func (r *oneRun) open(ctx context.Context) (err error) {
	if r.engine != nil {
		return nil
	}
	defer r.phase("open the cache")()
	r.engine, err = r.a.openEngine(ctx)
	return err
}

// watchers returns the sink for the build's events.
func (r *oneRun) watchers() event.Sink {
	if r.watching == nil {
		r.watching = r.a.watch(&r.c.runFlags, r.show, r.costs)
		r.watching.Sink = r.a.diagnosed(r.recorded(r.watching.Sink))
		r.end = r.watching.end
	}
	return r.watching
}

// recorded returns a sink that passes events on to next, the trace and the JUnit report.
func (r *oneRun) recorded(next event.Sink) event.Sink {
	all := sinks{next}
	if r.trace != nil {
		all = append(all, r.trace)
	}
	if r.junit != nil {
		all = append(all, r.junit)
	}
	return all
}

// options returns the options of a build without its sink.
func (r *oneRun) options(profile string) engine.Options {
	o := r.engine.options()
	o.KeepGoing, o.Prune, o.OutIn, o.Out = r.c.KeepGoing, len(r.c.Steps) == 0, r.outIn, r.out
	o.LogDir = r.a.logsOf(r.c.Pipeline)
	o.PeakMemory = func(step, name string) int64 {
		cost, _ := r.costs().Of(profile, step, name)
		return cost.Memory
	}
	o.Secrets = r.a.secrets(r.c.Pipeline)
	if r.trace != nil {
		o.Executor, o.Flush = r.trace.Executor(o.Executor), r.trace.Flush(o.Flush)
	}
	return o
}

// done ends the display of the build.
func (r *oneRun) done() {
	if r.end != nil {
		r.end()
		r.end = nil
	}
}

func (r *oneRun) close() {
	r.done()
	r.endTrace()
	r.shut(false)
	if r.survive != nil {
		r.survive()
		r.survive = nil
	}
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
		return nil, usageError("%w", err)
	}
	return out, nil
}

// planReads returns everything that planning read, with stamps taken after planning. A path that changed, appeared or
// disappeared since planning began is racy.
func planReads(m state.Machine, workspace string, r plan.Reads, began time.Time) (*state.Planning, error) {
	f := &state.Planning{Workspace: workspace, Program: m.Program, CPULevel: m.CPULevel, Variables: map[string]string{}}
	for _, name := range r.Env {
		f.Variables[name] = m.Variable(name)
	}
	see := func(paths []string, absent bool) ([]state.Seen, error) {
		stamps, err := stat.Lstats(workspace, paths, 0)
		seen := make([]state.Seen, len(paths))
		for i, path := range paths {
			seen[i] = state.See(path, stamps[i], began)
			seen[i].Racy = seen[i].Racy || seen[i].Stamp.Exists() == absent
		}
		return seen, err
	}
	there, err := see(slices.Concat(r.Files, r.Dirs), false)
	absent, aerr := see(r.Absent, true)
	f.Reads, err = append(there, absent...), errors.Join(err, aerr)
	for _, g := range r.Globs {
		dirs, derr := see(g.Dirs, false)
		f.Globs = append(f.Globs, state.Glob{Dir: g.Dir, Patterns: g.Patterns, Found: g.Found, Dirs: dirs})
		err = errors.Join(err, derr)
	}
	return f, err
}

// choose returns a function that reports whether the flag selects a step of the plan or an instance of it. It returns
// nil if the flag selects none. An unknown name is an error.
func choose(f stepsFlag, flag string, p *plan.Plan) (func(step string) bool, error) {
	switch {
	case !f.On:
		return nil, nil
	case len(f.Steps) == 0:
		return func(string) bool { return true }, nil
	}
	chosen, err := selected(f.Steps)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, s := range chosen {
		found := false
		for _, n := range p.Instances {
			if s.Covers(n.At.Step) {
				found, wanted[n.At.Short()] = true, true
			}
		}
		if !found {
			near := p.Nearest(s)
			return nil, usageError("%s=%s: no such step in this run%s", flag, s.Short(),
				also(near != "", ". Did you mean "+near+"?"))
		}
	}
	return func(step string) bool { return wanted[step] }, nil
}

// shut closes the engine, if it is open.
func (r *oneRun) shut(again bool) {
	if r.engine != nil {
		r.engine.close(again)
		r.engine = nil
	}
}

// verifying adds the results of verification to a build's events. nil does nothing.
type verifying struct {
	next     event.Sink
	verifier *verify.Verifier
}

// startVerifying makes the engine verify the steps of the flag. It returns nil without the flag.
func startVerifying(f stepsFlag, e *engineParts, p *plan.Plan) (*verifying, error) {
	if !f.On {
		return nil, nil
	}
	chosen, err := choose(f, "--verify", p)
	if err != nil {
		return nil, err
	}
	v := verify.New(verify.Options{Next: e.executor, Again: e.again, Store: e.Blobs, Select: chosen})
	e.executor = v
	return &verifying{verifier: v}, nil
}

// wrap returns a sink that passes events on to next, with the results of verification.
func (v *verifying) wrap(next event.Sink) event.Sink {
	if v == nil {
		return next
	}
	v.next = next
	return v
}

func (v *verifying) Send(e event.Event) {
	if _, last := e.(event.BuildFinished); last {
		v.next.Send(v.verifier.Summary())
	}
	v.next.Send(e)
	if n, ok := e.(event.ActionFinished); ok {
		if found, ok := v.verifier.Take(n.Step, n.Name); ok {
			v.next.Send(found)
		}
	}
}

// startTrace starts the trace of --trace.
func (r *oneRun) startTrace() (err error) {
	if r.c.Trace == "" {
		return nil
	}
	at, err := r.a.place(absolute(r.a.WorkDir, r.c.Trace))
	if err != nil {
		return err
	}
	if r.trace, err = trace.Create(at, time.Now()); err != nil {
		return usageError("--trace %s: %w", r.c.Trace, err)
	}
	return nil
}

// startJUnit starts the report of --junit. It writes a file at once, so that a missing folder is an error before hours
// of work.
func (r *oneRun) startJUnit() error {
	if r.c.JUnit == "" {
		return nil
	}
	r.junit = junit.New()
	r.a.also = r.junit
	return r.writeJUnit()
}

// endJUnit writes the report with the run's error.
func (r *oneRun) endJUnit(ctx context.Context, err error) error {
	if r.junit == nil {
		return err
	}
	if end := ended(ctx, err); end.Message != "" {
		r.junit.Send(end)
	}
	if werr := r.writeJUnit(); werr != nil && err == nil {
		return engineError(werr)
	}
	return err
}

func (r *oneRun) writeJUnit() error {
	at, err := r.a.place(absolute(r.a.WorkDir, r.c.JUnit))
	if err != nil {
		return err
	}
	if isFolder(at) {
		return usageError("--junit %s is a folder; name a file, such as %s", r.c.JUnit,
			filepath.Join(r.c.JUnit, "junit.xml"))
	}
	var b bytes.Buffer
	if err := errors.Join(r.junit.Write(&b), atomicfile.PlaceFile(at, b.Bytes(), 0o644)); err != nil {
		return usageError("--junit %s: %w", r.c.JUnit, err)
	}
	return nil
}

// phase starts a phase of the run. The returned function ends it.
func (r *oneRun) phase(name string) func() {
	if r.trace == nil {
		return func() {}
	}
	return r.trace.Phase(name)
}

func (r *oneRun) endTrace() {
	if r.trace == nil {
		return
	}
	if err := r.trace.Close(); err != nil {
		r.a.say("%v", err)
	}
	r.trace = nil
}
