package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
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

// Help has the examples of `hexmage run --help`.
func (*runCmd) Help() string {
	return `Outputs appear in out/PIPELINE. What was done before is not done again.

Examples:

    hexmage run qwen3-aot-v79                              everything
    hexmage run qwen3-aot-v79 module.aot.oppackage.llama   one step and what it needs
    hexmage run qwen3-aot-v79 --var prompt="Who are you?"
    hexmage run qwen3-aot-v79 --profile device             the real SDKs, a real phone
    hexmage run qwen3-aot-v79 --json | jq .event           for programs`
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

// outcome builds, and shows what came of it.
func (c *runCmd) outcome(ctx context.Context, r *oneRun) (err error) {
	a := r.a
	if r.workspace, err = a.workspace(c.Pipeline); err != nil {
		return err
	}
	r.outIn, r.out = a.outFolder(c.Out, c.Pipeline)
	if err := r.startTrace(); err != nil {
		return err
	}
	res, err := r.attempt(ctx)
	r.executed = res.Executed
	if r.over {
		return err
	}
	if err := outcome(ctx, res, err); err != nil {
		return err
	}
	if err := a.showOutputs(res.Outputs); err != nil {
		return err
	}
	if len(res.Outputs)+len(c.Steps) == 0 && res.Executed > 0 && !a.JSON {
		if text := a.withoutOutputs(c.Pipeline); text != "" {
			fmt.Fprintf(a.Env.Stderr, "hexmage: %s\n", text)
		}
	}
	if err := r.verify.outcome(); err != nil {
		return err
	}
	return checksError(res)
}

// outcome is the error with which a command ends after a build, or nil. What failed in the build, the report has
// told.
func outcome(ctx context.Context, res engine.Result, err error) error {
	exit := &exitError{Err: err}
	if res.Failed > 0 {
		exit.Err = nil
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{Code: ExitInterrupted, Err: errInterrupted}
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

// checksError is the error with which a run ends whose checks failed, or nil.
func checksError(res engine.Result) error {
	if res.ChecksFailed > 0 {
		return &exitError{Code: ExitCheck} // the report has said which
	}
	return nil
}

// oneRun is one `hexmage run`.
type oneRun struct {
	c         *runCmd
	a         *app
	workspace string
	outIn     string // no link may lead from here to out
	out       string
	fn        digest.Function
	stateFile string      // path of the request's
	last      *state.File // what it had; nil: nothing
	limit     int64       // the size that the cache may have; 0: any

	engine   *engineParts
	survive  func() // nil: a reader of the output that goes away ends the process
	watching *watching
	trace    *trace.Tracer // nil: nothing is traced
	end      func()
	verify   *verifying
	junit    *junit.Report // nil: nobody wants it
	over     bool          // the error is what the command ends with: no build began

	show      event.Sink          // of the build; nil: as usual
	watches   *watchSet           // nil: nobody asks what is looked at
	planning  *keptPlan           // of watch: the plan of the build before
	costs     func() runlog.Costs // of earlier runs
	executed  int                 // actions
	unchanged bool                // there was nothing to do
}

// maxCorruptRetries is how often a build begins again. Each time the store has quarantined at least one file; a disk
// that damages more than that needs more than hexmage.
const maxCorruptRetries = 10

// attempt builds, and builds again if a cached file was corrupt or missing. The store has quarantined the file, so
// the next lookup misses, and its action runs again. The engine is opened anew, as it remembers which blobs the store
// has.
func (r *oneRun) attempt(ctx context.Context) (engine.Result, error) {
	if err := engine.CheckOut(r.outIn, r.out); err != nil {
		return r.unable(usageError("%w", err))
	}
	defer r.done()
	r.survive = survivePipes()
	res, err := r.run(ctx)
	for range maxCorruptRetries {
		if r.over || ctx.Err() != nil || !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrNotFound) {
			return res, err
		}
		r.done()
		r.watching = nil
		r.a.sayAgain(err)
		r.shut(true)
		res, err = r.run(ctx)
	}
	if errors.Is(err, store.ErrCorrupt) {
		err = fmt.Errorf("%w: many cached files are corrupt: run `hexmage cache verify --repair` and check the disk",
			err)
	}
	return res, err
}

// run ends if the state file holds. Else it plans, and builds the whole plan.
func (r *oneRun) run(ctx context.Context) (engine.Result, error) {
	began := time.Now()
	if res, err := r.upToDate(began); err == nil {
		return res, nil
	} else if r.a.Verbose {
		fmt.Fprintf(r.a.Env.Stderr, "hexmage: planned: %v\n", err)
	}
	fn, err := r.settings(ctx)
	if err != nil {
		return r.unable(err)
	}
	if fn != r.fn {
		r.readState(fn)
	}
	return r.make(ctx, began)
}

// settings reads the user's settings and finds the remote. It returns the digest function, which is another one if
// the remote does not know the one that the workspace used.
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
	r.fn, r.stateFile = fn, r.a.stateFile(&r.c.runFlags, r.workspace, r.out, fn)
	r.last, _ = state.Read(r.stateFile) // a corrupt file is as good as none
}

// upToDate ends a run if all that the last run of the same request read and left is as it was. It opens neither the
// cache nor a remote and reads no settings. The error says why there is something to do.
func (r *oneRun) upToDate(began time.Time) (res engine.Result, err error) {
	fn, err := r.a.digestFunction()
	if err != nil {
		return res, err
	}
	r.readState(fn)
	switch {
	case r.a.Fresh.On || r.c.Verify.On:
		return res, errors.New("--fresh or --verify")
	case r.a.JSON || r.c.JUnit != "": // each action is reported
		return res, errors.New("every action is reported")
	case r.last == nil:
		return res, errors.New("no state file of an earlier run")
	}
	if err := r.last.Holds(r.a.machineOf(r.workspace, fn)); err != nil {
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
	r.a.tidyIdle()
	return engine.Unchanged(r.last, r.recorded(show), began), nil
}

// unable ends the command before a build began.
func (r *oneRun) unable(err error) (engine.Result, error) {
	r.over = true
	return engine.Result{}, err
}

// open puts the engine together, once.
func (r *oneRun) open(ctx context.Context) (err error) {
	if r.engine != nil {
		return nil
	}
	defer r.phase("open the cache")()
	r.engine, err = r.a.openEngine(ctx)
	return err
}

// watchers is where the build's events go.
func (r *oneRun) watchers() event.Sink {
	if r.watching == nil {
		r.watching = r.a.watch(&r.c.runFlags, r.show, r.costs)
		r.watching.Sink = r.a.diagnosed(r.workspace, r.recorded(r.watching.Sink))
		r.end = r.watching.end
	}
	return r.watching
}

// recorded returns a sink that passes events on to next, to the trace and to the JUnit report.
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

// options are those of a build, but for who is told of it.
func (r *oneRun) options(profile string) engine.Options {
	o := r.engine.withDevices(r.engine.runOptions(r.a, &r.c.runFlags, r.workspace, r.outIn, r.out))
	o.Took = func(step, name string) int64 {
		cost, _ := r.costs().Of(profile, step, name)
		return cost.Memory
	}
	o.Secrets = r.a.secrets(r.workspace, r.c.Pipeline)
	if r.trace != nil {
		o.Executor, o.Flush = r.trace.Executor(o.Executor), r.trace.Flush(o.Flush)
	}
	return o
}

// done ends what shows the build.
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
		return nil, &exitError{Code: ExitUsage, Err: err}
	}
	return out, nil
}

// planReads returns what a plan was made from, with stamps from after planning. A path that changed, appeared or went
// away since planning began is racy.
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

// choose returns what tells of a step of the plan, or a copy of it, whether the flag means it; nil if it means none.
// What it names must be there.
func choose(f stepsFlag, flag string, p *plan.Plan) (func(step string) bool, error) {
	if !f.On || len(f.Steps) == 0 {
		return f.everything(), nil
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
		if near := p.Nearest(s); !found && near != "" {
			return nil, usageError("%s=%s: no such step is part of this run: did you mean %s?", flag, s.Short(), near)
		} else if !found {
			return nil, usageError("%s=%s: no such step is part of this run", flag, s.Short())
		}
	}
	return func(step string) bool { return wanted[step] }, nil
}

// shut ends the engine, if there is one.
func (r *oneRun) shut(again bool) {
	if r.engine != nil {
		r.engine.end(again)
		r.engine = nil
	}
}

// verifying puts what verification found among a build's events. A nil one stands for a build that does not verify.
type verifying struct {
	next     event.Sink
	verifier *verify.Verifier
}

// startVerifying makes the engine verify the steps that the flag names. It returns nil when the flag was not given.
func startVerifying(f stepsFlag, e *engineParts, p *plan.Plan) (*verifying, error) {
	if !f.On {
		return nil, nil
	}
	chosen, err := choose(f, "--verify", p)
	if err != nil {
		return nil, err
	}
	o := verify.Options{Next: e.executor, Again: e.again, Store: e.Blobs}
	if len(f.Steps) > 0 {
		o.Select = chosen
	}
	v := verify.New(o)
	e.executor = v
	return &verifying{verifier: v}, nil
}

// wrap returns a sink that passes events on to next, with those about verification in between.
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

// outcome is the error for what the verification found: exit code 1 and nothing more to say.
func (v *verifying) outcome() error {
	if v != nil && v.verifier.Summary().Different > 0 {
		return &exitError{Code: ExitFailed} // the report has said it
	}
	return nil
}

// startTrace begins the trace that --trace asks for.
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

// startJUnit begins the report that --junit asks for. It is written at once, too: a folder that is not there is found
// out before hours of work.
func (r *oneRun) startJUnit() error {
	if r.c.JUnit == "" {
		return nil
	}
	r.junit = junit.New()
	r.a.also = r.junit
	if err := r.writeJUnit(); err != nil {
		return usageError("--junit %s: %w", r.c.JUnit, err)
	}
	return nil
}

// endJUnit writes the report, with what the run ended with.
func (r *oneRun) endJUnit(ctx context.Context, err error) error {
	if r.junit == nil {
		return err
	}
	if end := ended(ctx, err); end.Message != "" {
		r.junit.Send(end)
	}
	if werr := r.writeJUnit(); werr != nil && err == nil {
		return engineError(fmt.Errorf("--junit %s: %w", r.c.JUnit, werr))
	}
	return err
}

func (r *oneRun) writeJUnit() error {
	at, err := r.a.place(absolute(r.a.WorkDir, r.c.JUnit))
	if err != nil {
		return err
	}
	if info, err := os.Stat(at); err == nil && info.IsDir() {
		return errors.New("this is a folder: name a file in it, such as " + filepath.Join(r.c.JUnit, "junit.xml"))
	}
	var b bytes.Buffer
	if err := r.junit.Write(&b); err != nil {
		return err
	}
	return atomicfile.PlaceFile(at, b.Bytes(), 0o644)
}

// phase begins a phase of the run; what it returns ends it.
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
		fmt.Fprintln(r.a.Env.Stderr, "hexmage:", err)
	}
	r.trace = nil
}
