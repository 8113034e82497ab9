package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/cmd/hexmage/front"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute/verify"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report/junit"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/trace"
)

// runCmd is `hexmage run PIPELINE [STEP…]`.
type runCmd struct{ front.RunFlags }

// Help has the examples of `hexmage run --help`.
func (*runCmd) Help() string {
	return `Outputs appear in out/PIPELINE. What was done before is not done again.

Examples:

    hexmage run qwen3-aot-v79                              everything
    hexmage run qwen3-aot-v79 module.aot.oppackage.llama   one step and what it needs
    hexmage run qwen3-aot-v79 --var prompt="Who are you?"
    hexmage run qwen3-aot-v79 --profile device             the real SDKs, a real phone
    hexmage run plan.json                                  just what hexmage plan --out plan.json has said
    hexmage run qwen3-aot-v79 --json | jq .event           for programs`
}

// Run builds the pipeline.
func (c *runCmd) Run(ctx context.Context, a *app) error {
	if c.Pipeline == "" {
		return a.which(ctx)
	}
	began := time.Now()
	a.Serial, a.events = c.Serial, true
	if isSaved(c.Pipeline) {
		if err := a.takeSaved(ctx, &c.RunFlags); err != nil {
			return err
		}
	}
	workspace, err := a.Workspace(c.Pipeline)
	if err != nil {
		return err
	}
	r := &oneRun{c: c, a: a, workspace: workspace}
	r.outIn, r.out = a.OutFolder(c.Out, c.Pipeline)
	if err := r.startTrace(); err != nil {
		return err
	}
	defer r.close()
	if err := r.startJUnit(); err != nil {
		return err
	}
	limit, err := a.maxSize()
	if err != nil {
		return err
	}
	err = r.endJUnit(ctx, c.outcome(ctx, r))
	r.close()
	if r.executed > 0 {
		a.holdToLimit(ctx, limit, began)
	}
	return err
}

// outcome builds, and shows what came of it.
func (c *runCmd) outcome(ctx context.Context, r *oneRun) error {
	a := r.a
	res, err := r.attempt(ctx)
	r.executed = res.Executed
	if r.over {
		return err
	}
	if err := front.Outcome(ctx, res, err); err != nil {
		return err
	}
	if err := a.ShowOutputs(res.Outputs); err != nil {
		return err
	}
	if err := r.verify.outcome(); err != nil {
		return err
	}
	return front.Checked(res)
}

// oneRun is one `hexmage run`.
type oneRun struct {
	c         *runCmd
	a         *app
	workspace string
	outIn     string // no link may lead from here to out
	out       string
	previous  front.Last // nothing where no snapshot is of use

	engine   *engineParts
	survive  func()
	watching *front.Watching
	trace    *trace.Tracer // nil: nothing is traced
	end      func()
	verify   *verifying
	junit    *junit.Report // nil: nobody wants it
	over     bool          // the error is what the command ends with: no build began

	show      event.Sink // of the build; nil: as usual
	watches   *watchSet  // nil: nobody asks what is looked at
	executed  int        // actions
	unchanged bool       // there was nothing to do
}

// maxCorruptRetries is how often a build begins again because something in the cache was damaged. Each time at least one blob was
// found and dropped; a disk that damages more than that needs more than hexmage.
const maxCorruptRetries = 10

// attempt builds, and again where a build ended because a blob was damaged. The store has dropped it, so its action runs again. So it does where
// another process has dropped one that this build had found before, and has not made it anew yet. The engine is put together anew: what it knows to be
// in the store is no longer so.
func (r *oneRun) attempt(ctx context.Context) (build.Result, error) {
	if err := build.CheckOut(r.outIn, r.out); err != nil {
		return r.unable(front.Usage("%w", err))
	}
	defer r.done()
	res, err := r.run(ctx, false)
	for range maxCorruptRetries {
		err = r.sound(err)
		if r.over || ctx.Err() != nil || !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrNotFound) {
			return res, err
		}
		r.done()
		r.watching = nil
		r.a.sayAgain(err)
		r.shut(true)
		res, err = r.run(ctx, true)
	}
	if err = r.sound(err); errors.Is(err, store.ErrCorrupt) {
		err = fmt.Errorf("%w: much of the cache is damaged: run `hexmage cache verify --repair`, and look after the disk", err)
	}
	return res, err
}

// run loads the plan, or makes it, and builds it: what changed, or after a build that found the cache damaged all of it.
func (r *oneRun) run(ctx context.Context, again bool) (build.Result, error) {
	began := time.Now()
	if _, err := r.a.openRemote(ctx); err != nil { // which may have the workspace use another digest function
		return r.unable(err)
	}
	fn, err := r.a.DigestFunction()
	if err != nil {
		return r.unable(err)
	}
	last, err := r.load(fn)
	if last != nil && !again {
		if last.Unchanged() {
			o := r.a.Options(r.previous, &r.c.RunFlags, r.out)
			o.Sink, r.unchanged = r.watchers(), true
			o.Each = o.Each && r.watches == nil // a save is no reason to tell of all that it leaves as it is
			r.a.TidyIdle()
			return last.Finish(o, began), nil
		}
	}
	if last != nil {
		if err := r.open(ctx); err != nil {
			return r.unable(err)
		}
		if r.previous.Snapshot != r.now(fn).Snapshot { // what the snapshot has may have been made from what was found damaged since
			last, err = nil, front.ErrDamaged
		}
	}
	if last == nil {
		r.because(err)
		return r.make(ctx, began)
	}
	o := r.options(ctx)
	o.Sink = r.watchers()
	o.Snapshot, o.All = &build.Snapshot{Path: r.previous.Snapshot}, again
	o.Hasher = r.engine.Hasher(last.Changed())
	more := r.a.later(ctx, r.workspace, r.c.Pipeline, last.Fresh)
	o.Extender, o.Hints = more, more.Explain
	front.OneMore()
	end := r.phase("build")
	res, err := last.Run(ctx, o)
	end()
	if errors.Is(err, build.ErrStale) {
		r.because(err)
		return r.make(ctx, began)
	}
	return res, err
}

// load returns the plan of the last run, if it still holds; else the error says why not.
func (r *oneRun) load(fn digest.Function) (*build.Loaded, error) {
	if r.a.Fresh.On || r.c.Verify.On {
		return nil, errors.New("as it was asked for")
	}
	r.previous = r.now(fn)
	end := r.phase("load the snapshot")
	last, err := r.a.Load(r.previous, r.a.Options(r.previous, &r.c.RunFlags, r.out), build.Load)
	end()
	if err == nil && r.watches != nil {
		err = last.EachRead(r.watches.add)
	}
	if err != nil {
		return nil, err
	}
	return last, nil
}

// now is the last run, if nothing of the cache is found damaged from now on.
func (r *oneRun) now(fn digest.Function) front.Last {
	return r.a.Last(&r.c.RunFlags, r.workspace, r.out, fn)
}

// because says to those who asked for more why the pipeline is planned.
func (r *oneRun) because(err error) {
	if !r.a.Verbose {
		return
	}
	why := strings.ReplaceAll(err.Error(), ": "+build.ErrStale.Error(), "")
	if errors.Is(err, fs.ErrNotExist) {
		why = "there is no snapshot of an earlier run"
	}
	fmt.Fprintf(r.a.Env.Stderr, "hexmage: planned: %s\n", why)
}

// unable ends the command before a build began.
func (r *oneRun) unable(err error) (build.Result, error) {
	r.over = true
	return build.Result{}, err
}

// open puts the engine together, once.
func (r *oneRun) open(ctx context.Context) (err error) {
	if r.engine != nil {
		return nil
	}
	defer r.phase("open the cache")()
	if r.engine, err = r.a.openEngine(ctx); err == nil {
		r.survive = front.SurvivePipes()
	}
	return err
}

// watchers is where the build's events go.
func (r *oneRun) watchers() event.Sink {
	if r.watching == nil {
		r.watching = r.a.Watch(r.workspace, &r.c.RunFlags, r.show)
		if r.trace != nil {
			r.watching.Sink = front.Sinks{r.watching.Sink, r.trace}
		}
		if r.junit != nil {
			r.watching.Sink = front.Sinks{r.watching.Sink, r.junit}
		}
		r.watching.Sink = r.a.diagnosed(r.workspace, r.watching.Sink)
		r.end = r.watching.End
	}
	return r.watching
}

// options are those of a build, but for who is told of it.
func (r *oneRun) options(ctx context.Context) build.Options {
	o := r.engine.withDevices(r.engine.RunOptions(&r.a.App, &r.c.RunFlags, r.workspace, r.outIn, r.out))
	o.Secrets = r.a.secrets(ctx, r.workspace, r.c.Pipeline)
	if r.watches != nil {
		o.OnRead, o.Each = r.watches.add, false
	}
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
		return nil, &front.ExitError{Code: ExitUsage, Err: err}
	}
	return out, nil
}

// maxReadDigest is the size up to which a file that planning looked at is known by its content. A larger one is a program
// of the host, of which planning looked at the stat only.
const maxReadDigest = 4 << 20

// newSnapshot says where the build leaves a snapshot and what the plan was made from; nil if it cannot be told whether a part of that changed since
// planning began.
func newSnapshot(at front.Last, p *planned, began time.Time) *build.Snapshot {
	r, m := p.Reads, at.Machine
	keep := &build.Snapshot{Path: at.Snapshot}
	for _, name := range append([]string{front.BinaryLookup, front.CPULevelLookup}, r.Env...) {
		keep.Lookups = append(keep.Lookups, snapshot.Lookup{Name: name, Value: m.Lookup(name)})
	}
	for _, paths := range [][]string{r.Files, r.Dirs, r.Absent} {
		for _, p := range paths {
			keep.Reads = append(keep.Reads, snapshot.Read{Path: p})
		}
	}
	listed := len(keep.Reads)
	for _, g := range r.Globs {
		kept := snapshot.Glob{Dir: g.Dir, Patterns: g.Patterns, Found: g.Found}
		for _, d := range g.Dirs {
			kept.Dirs = append(kept.Dirs, len(keep.Reads))
			keep.Reads = append(keep.Reads, snapshot.Read{Path: d})
		}
		keep.Globs = append(keep.Globs, kept)
	}
	paths := make([]string, len(keep.Reads))
	for i, read := range keep.Reads {
		paths[i] = read.Path
	}
	stamps, err := stat.Lstats(m.Workspace, paths, 0)
	if err != nil {
		return nil
	}
	for i := range keep.Reads {
		read := &keep.Reads[i]
		read.Stamp = stamps[i]
		if read.Stamp.Exists() == slices.Contains(r.Absent, read.Path) {
			return nil
		}
		switch read.Young = read.Stamp.Racy(began); {
		case read.Young && i >= listed: // what the Glob found tells
		case read.Young:
			known, ok := p.content(read.Path, read.Stamp)
			if !ok {
				return nil
			}
			read.Digest = m.Fn.Bytes(known)
		case read.Stamp.IsRegular() && read.Stamp.Size <= maxReadDigest, p.names[read.Path] != "":
			if read.Digest, err = m.Digest(front.Absolute(m.Workspace, read.Path)); err != nil {
				return nil
			}
		}
	}
	return keep
}

// content is what planning read at the path, and whether that is known.
func (p *planned) content(path string, is stat.Stamp) ([]byte, bool) {
	if is.IsRegular() {
		if f := p.files[path]; f != nil {
			return f.Bytes, true
		}
		text := p.Reads.Texts[path]
		return []byte(text), text != ""
	}
	names := p.names[path]
	return []byte(names), names != "" && is.IsDir()
}

// choose returns what tells of a step of the plan, or a copy of it, whether the flag means it; nil if it means none. What it names must be
// there.
func choose(f front.StepsFlag, flag string, p *plan.Plan) (func(step string) bool, error) {
	if !f.On || len(f.Steps) == 0 {
		return f.Everything(), nil
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
			return nil, front.Usage("%s=%s: no such step is part of this run: did you mean %s?", flag, s.Short(), near)
		} else if !found {
			return nil, front.Usage("%s=%s: no such step is part of this run", flag, s.Short())
		}
	}
	return func(step string) bool { return wanted[step] }, nil
}

// sound is the error of a build, or one if something was found damaged while it went on.
func (r *oneRun) sound(err error) error {
	if r.over || r.engine == nil {
		return err
	}
	return r.engine.Sound(err)
}

// shut ends the engine, if there is one.
func (r *oneRun) shut(again bool) {
	if r.engine != nil {
		r.survive()
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
func startVerifying(f front.StepsFlag, e *engineParts, p *plan.Plan) (*verifying, error) {
	if !f.On {
		return nil, nil
	}
	chosen, err := choose(f, "--verify", p)
	if err != nil {
		return nil, err
	}
	o := verify.Options{Next: e.executor, Again: e.again, Store: e.Blobs, Roots: e.Roots}
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
		return &front.ExitError{Code: ExitFailed} // the report has said it
	}
	return nil
}

// startTrace begins the trace that --trace asks for.
func (r *oneRun) startTrace() (err error) {
	if r.c.Trace == "" {
		return nil
	}
	at, err := r.a.place(front.Absolute(r.a.WorkDir, r.c.Trace))
	if err != nil {
		return err
	}
	if r.trace, err = trace.Create(at, time.Now()); err != nil {
		return front.Usage("--trace %s: %w", r.c.Trace, err)
	}
	return nil
}

// startJUnit begins the report that --junit asks for. It is written at once, too: a folder that is not there is found out before hours of work.
func (r *oneRun) startJUnit() error {
	if r.c.JUnit == "" {
		return nil
	}
	r.junit = junit.New()
	r.a.also = r.junit
	if err := r.writeJUnit(); err != nil {
		return front.Usage("--junit %s: %w", r.c.JUnit, err)
	}
	return nil
}

// endJUnit writes the report, with what the run ended with.
func (r *oneRun) endJUnit(ctx context.Context, err error) error {
	if r.junit == nil {
		return err
	}
	if end := front.Ended(ctx, err); end.Message != "" {
		r.junit.Send(end)
	}
	if werr := r.writeJUnit(); werr != nil && err == nil {
		return front.Engine(fmt.Errorf("--junit %s: %w", r.c.JUnit, werr))
	}
	return err
}

func (r *oneRun) writeJUnit() error {
	at, err := r.a.place(front.Absolute(r.a.WorkDir, r.c.JUnit))
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
