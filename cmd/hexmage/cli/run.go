package cli

import (
	"bufio"
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

	"github.com/alecthomas/kong"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/elffile"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/trace"
	"github.com/hexmage/hexmage/internal/workspace"
)

// runCmd is `hexmage run PIPELINE [STEP…]`.
type runCmd struct {
	Pipeline  string    `arg:"" help:"A pipeline: the name of a file in pipelines/ without .hcl, or of a folder there."`
	Steps     []string  `arg:"" optional:"" help:"Only these steps (KIND.NAME, module.NAME.KIND.NAME) and what they need."`
	KeepGoing bool      `short:"k" help:"After a failure, go on with what does not need it."`
	Out       string    `placeholder:"DIR" help:"Outputs go to DIR/PIPELINE. Default: out. DIR may be a link; none is followed below it, and none to the default."`
	Verify    stepsFlag `placeholder:"STEP" help:"Run every action (with =STEP those of that step) once more than needed, and compare the outputs bit by bit. The cache stays as it is."`
	Serial    string    `short:"s" placeholder:"SERIAL" help:"Run on this device, whatever the pipeline says: a serial, an address such as 192.168.1.7:5555, or a name of devices.hcl."`
	Trace     string    `placeholder:"FILE" help:"Write down when what ran, for ui.perfetto.dev or chrome://tracing."`
}

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
	a.serial = c.Serial
	workspace, err := a.workspace(c.Pipeline)
	if err != nil {
		return err
	}
	r := &oneRun{c: c, a: a, workspace: workspace}
	r.outIn, r.out = a.outFolder(c.Out, c.Pipeline)
	if err := r.startTrace(); err != nil {
		return err
	}
	defer r.close()
	res, err := r.attempt(ctx)
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
	if err := r.verify.outcome(); err != nil {
		return err
	}
	if res.ChecksFailed > 0 {
		return &exitError{code: ExitCheck} // the report has said which
	}
	return nil
}

// outFolder says where a pipeline's outputs go, and from which folder on no link may lead there: from the working directory, or from
// the folder that --out names.
func (a *app) outFolder(named, pipeline string) (in, out string) {
	if named != "" {
		in = absolute(a.dir, named)
		return in, filepath.Join(in, pipeline)
	}
	return a.dir, filepath.Join(a.dir, "out", pipeline)
}

// oneRun is one `hexmage run`.
type oneRun struct {
	c         *runCmd
	a         *app
	workspace string
	outIn     string // no link may lead from here to out
	out       string
	machine   build.Machine
	snapshot  string // path of the snapshot; "" when none is of use

	engine   *engineParts
	survive  func()
	watching *watching
	trace    *trace.Tracer // nil: nothing is traced
	end      func()
	verify   *verifying
	over     bool // the error is what the command ends with: no build began

	show      event.Sink // of the build; nil: as usual
	watches   *watchSet  // nil: nobody asks what is looked at
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
		return r.unable(usage("%w", err))
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
		if !r.saidChanged(err) {
			fmt.Fprintf(r.a.env.Stderr, "hexmage: something in the cache was damaged and is dropped; building again (%v)\n", err)
		}
		r.shut()
		res, err = r.run(ctx, true)
	}
	if err = r.sound(err); errors.Is(err, store.ErrCorrupt) {
		err = fmt.Errorf("%w: much of the cache is damaged: run `hexmage cache verify --repair`, and look after the disk", err)
	}
	return res, err
}

// fewChanged is up to how many changed files are read without asking the stat cache, which has to be read for that.
const fewChanged = 64

// run loads the plan, or makes it, and builds it: what changed, or after a build that found the cache damaged all of it.
func (r *oneRun) run(ctx context.Context, again bool) (build.Result, error) {
	began := time.Now()
	last, err := r.load()
	if r.over {
		return build.Result{}, err
	}
	if last != nil && !again && last.Unchanged(r.finished()) {
		o := r.finished()
		o.Sink, r.unchanged = r.watchers(), true
		return last.Finish(o, began), nil
	}
	if last != nil {
		if err := r.open(ctx); err != nil {
			return r.unable(err)
		}
		if r.snapshot != r.snapshotOf(disk.LastDamage(r.a.cache), r.engine.fn) { // what the snapshot has may have been made from it
			last, err = nil, errDamaged
		}
	}
	if last == nil {
		r.because(err)
		return r.make(ctx, began)
	}
	o := r.options(ctx)
	o.Snapshot, o.All = &build.Snapshot{Path: r.snapshot}, again
	if last.Changed() <= fewChanged {
		o.Hasher = r.engine.stats.Direct()
	}
	more := r.a.later(ctx, r.workspace, r.c.Pipeline, last.Fresh)
	o.Extender, o.Hints = more, more.Explain
	r.a.env.boundHeap(last.Units())
	end := r.phase("build")
	res, err := last.Run(ctx, o)
	end()
	if errors.Is(err, build.ErrStale) {
		r.because(err)
		return r.make(ctx, began)
	}
	return res, err
}

// errDamaged is why there is no plan where something in the cache was found damaged.
var errDamaged = fmt.Errorf("something in the cache was found damaged: %w", build.ErrStale)

// load returns the plan of the last run, if it still holds; else the error says why not.
func (r *oneRun) load() (*build.Loaded, error) {
	if r.a.Fresh.on || r.c.Verify.on {
		return nil, errors.New("as it was asked for")
	}
	fn, err := r.a.digestFunction()
	if err != nil {
		_, err = r.unable(err)
		return nil, err
	}
	r.machine = r.a.machineNow(r.workspace, fn)
	r.snapshot = r.snapshotOf(disk.LastDamage(r.a.cache), fn)
	if records, err := disk.Damages(r.a.cache); err != nil || len(records) > 0 {
		return nil, errDamaged
	}
	end := r.phase("load the snapshot")
	last, err := build.Load(r.snapshot, r.machine)
	end()
	if err == nil && r.watches != nil {
		err = last.EachRead(r.watches.add)
	}
	if err != nil {
		return nil, err
	}
	return last, nil
}

// finished are the options that tell what the last run left.
func (r *oneRun) finished() build.Options {
	return build.Options{Fn: r.machine.Fn, State: string(r.a.places().State()), Out: r.out, Prune: len(r.c.Steps) == 0, Snapshot: &build.Snapshot{Path: r.snapshot}}
}

// snapshotOf is where the snapshot is, if something in the cache was last found damaged at that time.
func (r *oneRun) snapshotOf(damaged time.Time, fn digest.Function) string {
	c, a := r.c, r.a
	return a.snapshotPath(request{Workspace: r.workspace, Pipeline: c.Pipeline, Profile: a.Profile, Out: r.out, Steps: c.Steps,
		SoCs: a.SoC, EnvVars: a.envVars(), FlagVars: a.Set, Serial: a.serial, Damaged: damaged.UTC()}, fn)
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
	fmt.Fprintf(r.a.env.Stderr, "hexmage: planned: %s\n", why)
}

// make plans the pipeline and builds it.
func (r *oneRun) make(ctx context.Context, began time.Time) (build.Result, error) {
	end := r.phase("plan")
	p, _, err := r.a.plan(ctx, r.c.Pipeline, r.c.Steps)
	end()
	switch {
	case r.watches == nil:
	case err == nil:
		r.watches.plan(p.Reads)
	default:
		r.watches.unplanned(r.a.load(ctx, r.workspace, r.c.Pipeline))
	}
	if err != nil {
		return r.unable(err)
	}
	if missing := p.Missing(); len(missing) > 0 {
		for _, m := range missing {
			fmt.Fprintf(r.a.env.Stderr, "missing: %s\n", ansi.Visible(m, false))
		}
		return r.unable(usage("this machine lacks what the pipeline needs (profile %q); `hexmage plan` shows what would run", p.Profile))
	}
	if err := r.open(ctx); err != nil {
		return r.unable(err)
	}
	if r.verify, err = startVerifying(r.c.Verify, r.engine, p.Plan); err != nil {
		return r.unable(err)
	}
	r.a.env.boundHeap(len(p.Instances))
	o := r.options(ctx)
	if o.Fresh, err = r.a.Fresh.choose("--fresh", p.Plan); err != nil {
		return r.unable(err)
	}
	p.extend(&o)
	r.watching.plan(p.Plan)
	o.Sink = r.verify.wrap(o.Sink)
	if r.snapshot != "" {
		r.snapshot = r.snapshotOf(disk.LastDamage(r.a.cache), r.engine.fn)
		o.Snapshot = r.a.newSnapshot(r.snapshot, p, r.machine, began)
	}
	p.files, p.names, p.Reads.Texts = nil, nil, nil
	defer r.phase("build")()
	return build.Run(ctx, p.Plan, o)
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
		r.survive = survivePipes()
	}
	return err
}

// watchers is where the build's events go.
func (r *oneRun) watchers() event.Sink {
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

func (r *oneRun) options(ctx context.Context) build.Options {
	o := r.engine.options(r.a)
	o.Sink, o.Workspace, o.KeepGoing, o.Prune = r.watchers(), r.workspace, r.c.KeepGoing, len(r.c.Steps) == 0
	o.OutIn, o.Out = r.outIn, r.out
	o.Secrets, o.LogDir = r.a.secrets(ctx, r.workspace, r.c.Pipeline), r.a.logsOf(r.workspace, r.c.Pipeline)
	if r.watches != nil {
		o.OnRead = r.watches.add
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
	r.shut()
}

// display returns a sink for people, and a function to call at its end. left, if not nil, is how long the build will go on.
func (a *app) display(left func() (time.Duration, bool)) (event.Sink, func()) {
	o := a.reportOptions()
	o.Left = left
	d := report.Lines(a.env.screen(), o)
	back := a.interrupts.notify(d.Note)
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

// request is what `hexmage run` was asked for, as far as it decides which snapshot is of use (docs/design/0003).
type request struct {
	Workspace, Pipeline, Profile, Out string
	Steps                             []string
	SoCs                              []string
	EnvVars, FlagVars                 map[string]string
	Serial                            string
	Damaged                           time.Time // when something in the cache was last found damaged: what is of before may have been made from it
}

// snapshotPath is where the snapshot of a request is kept. The name is a digest: values of variables may be secret.
func (a *app) snapshotPath(r request, fn digest.Function) string {
	return filepath.Join(a.places().State().Snapshots(), fn.Bytes(fmt.Appendf(nil, "%#v", r)).Hex()[:32])
}

// binaryLookup is the Lookup that stands for hexmage itself: kinds and the shipped catalogue are part of it.
const binaryLookup = "the hexmage binary"

// machineNow answers what a plan of the workspace was made from.
func (a *app) machineNow(root string, fn digest.Function) build.Machine {
	return build.Machine{
		Workspace: root,
		Fn:        fn,
		Lookup:    func(name string) digest.Digest { return a.lookup(name, fn) },
		Digest: func(path string) (digest.Digest, error) {
			b, err := content(path)
			return fn.Bytes(b), err
		},
		Glob: func(dir string, patterns []string) (found, listed []string, err error) {
			g, err := workspace.Fileset(root, dir, patterns...)
			return g.Found, g.Dirs, err
		},
	}
}

// content is what planning may read at the path: a file's bytes, or the names in a folder.
func content(path string) ([]byte, error) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		entries, err := os.ReadDir(path)
		return []byte(namesOf(entries)), err
	}
	return os.ReadFile(path)
}

// lookup is the digest of a variable of the environment, or of what identifies this binary.
func (a *app) lookup(name string, fn digest.Function) digest.Digest {
	if name == binaryLookup {
		return fn.Bytes([]byte(identity(a.env.Self)))
	}
	for i := len(a.env.Vars) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(a.env.Vars[i], name+"="); ok {
			return fn.Bytes([]byte("=" + v))
		}
	}
	return fn.Bytes(nil)
}

// identity tells builds of this program apart: by the id that the Go linker leaves, or else by what the file system says. The
// latter changes with every `go build`, also where it makes the same.
func identity(self string) string {
	const goBuildID = 4
	id := ""
	if f, err := os.Open(self); err == nil {
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			if e, err := elffile.Open(f, info.Size()); err == nil {
				_ = e.Notes(func(name string, kind uint32, desc []byte) { // notes that cannot be read are none
					if name == "Go" && kind == goBuildID {
						id = string(bytes.TrimRight(desc, "\x00"))
					}
				})
			}
		}
	}
	if id != "" {
		return id
	}
	s, err := stat.Lstat(self)
	return fmt.Sprint(s, err)
}

// maxReadDigest is the size up to which a file that planning looked at is known by its content. A larger one is a program
// of the host, of which planning looked at the stat only.
const maxReadDigest = 4 << 20

// newSnapshot says where the build leaves a snapshot and what the plan was made from; nil if it cannot be told whether a part of that changed since
// planning began.
func (a *app) newSnapshot(path string, p *planned, m build.Machine, began time.Time) *build.Snapshot {
	r := p.Reads
	keep := &build.Snapshot{Path: path, Lookups: []snapshot.Lookup{{Name: binaryLookup, Value: m.Lookup(binaryLookup)}}}
	for _, name := range r.Env {
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
			if read.Digest, err = m.Digest(absolute(m.Workspace, read.Path)); err != nil {
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

// stepsFlag is a flag such as --verify, for all steps, or --verify=STEP, which may be repeated.
type stepsFlag struct {
	on    bool
	steps []string // of the flag; none: all steps
}

func (f *stepsFlag) Decode(ctx *kong.DecodeContext) error {
	f.on = true
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		if s, ok := ctx.Scan.Pop().Value.(string); ok {
			f.steps = append(f.steps, s)
		}
	}
	return nil
}

// IsBool tells kong that the flag may stand without a value.
func (*stepsFlag) IsBool() bool { return true }

// everything tells of every step that the flag means it, if it names none; nil if it means none or some.
func (f stepsFlag) everything() func(step string) bool {
	if !f.on || len(f.steps) > 0 {
		return nil
	}
	return func(string) bool { return true }
}

// choose returns what tells of a step of the plan, or a copy of it, whether the flag means it; nil if it means none. What it names must be
// there.
func (f stepsFlag) choose(flag string, p *plan.Plan) (func(step string) bool, error) {
	if !f.on || len(f.steps) == 0 {
		return f.everything(), nil
	}
	chosen, err := selected(f.steps)
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
			return nil, usage("%s=%s: no such step is part of this run: did you mean %s?", flag, s.Short(), near)
		} else if !found {
			return nil, usage("%s=%s: no such step is part of this run", flag, s.Short())
		}
	}
	return func(step string) bool { return wanted[step] }, nil
}

// saidChanged says, if that is the error, that a file changed while the build read it.
func (r *oneRun) saidChanged(err error) bool {
	var changed *store.ChangedError
	if !errors.As(err, &changed) {
		return false
	}
	r.done() // what shows the build
	fmt.Fprintf(r.a.env.Stderr, "hexmage: %s was saved while it was read; building again\n", changed.Path)
	return true
}

// sound is the error of a build, or one if something was found damaged while it went on, by this process or another: results that it used
// may have been made from that.
func (r *oneRun) sound(err error) error {
	if err != nil || r.over || r.engine == nil {
		return err
	}
	found, err := r.engine.damage.Found()
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%s: %w", found[0].Hex(), store.ErrCorrupt)
	}
	return err
}

// shut ends the engine, if there is one.
func (r *oneRun) shut() {
	if r.engine != nil {
		r.survive()
		r.engine.close()
		r.engine = nil
	}
}

// verifying puts what verification found among a build's events. A nil one stands for a build that does not verify.
type verifying struct {
	next     event.Sink
	verifier *execute.Verifier
}

// startVerifying makes the engine verify the steps that the flag names. It returns nil when the flag was not given.
func startVerifying(f stepsFlag, e *engineParts, p *plan.Plan) (*verifying, error) {
	if !f.on {
		return nil, nil
	}
	chosen, err := f.choose("--verify", p)
	if err != nil {
		return nil, err
	}
	o := execute.VerifyOptions{Next: e.executor, Again: e.again, Store: e.blobs, Roots: e.roots}
	if len(f.steps) > 0 {
		o.Select = chosen
	}
	v := execute.Verify(o)
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
		return &exitError{code: ExitFailed} // the report has said it
	}
	return nil
}

// startTrace begins the trace that --trace asks for.
func (r *oneRun) startTrace() (err error) {
	if r.c.Trace == "" {
		return nil
	}
	at, err := r.a.place(absolute(r.a.dir, r.c.Trace))
	if err != nil {
		return err
	}
	if r.trace, err = trace.Create(at, time.Now()); err != nil {
		return usage("--trace %s: %w", r.c.Trace, err)
	}
	return nil
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
		fmt.Fprintln(r.a.env.Stderr, "hexmage:", err)
	}
	r.trace = nil
}

// maxParts is how many parts of one output are listed. Of more, a line says how many there are and where.
const maxParts = 8

// showOutputs prints the tables among the outputs, and where the others are.
func (a *app) showOutputs(outs []event.OutputReady) error {
	var text strings.Builder
	w := bufio.NewWriter(&text)
	for i, n := range parts(outs) {
		switch {
		case n == 0:
			outs[i].Name = "" // it is one of those that the first stands for
		case n > maxParts:
			name, _, _ := strings.Cut(outs[i].Name, ".")
			outs[i].Name = name + ".*"
			outs[i].Path = fmt.Sprintf("%s (%d outputs)", filepath.Join(filepath.Dir(outs[i].Path), name+".*"), n)
		}
	}
	wide := 0
	for _, o := range outs {
		wide = max(wide, len(o.Name))
	}
	for _, o := range outs {
		switch {
		case o.Name == "":
		case o.Show == "table":
			if err := showTable(w, o); err != nil {
				return err
			}
		default:
			rel, err := filepath.Rel(a.env.Dir, o.Path)
			if err != nil {
				rel = o.Path
			}
			fmt.Fprintf(w, "  %-*s  %s\n", wide, o.Name, rel)
		}
	}
	_ = w.Flush() // into memory
	fmt.Fprint(a.env.Stdout, ansi.Visible(text.String(), false))
	return nil
}

// parts returns for each output how many lines it stands for: 1 for itself, more for the first of many parts of one
// output of the pipeline, 0 for the others of these.
func parts(outs []event.OutputReady) []int {
	n := make([]int, len(outs))
	for i := 0; i < len(outs); {
		name, _, part := strings.Cut(outs[i].Name, ".")
		end := i + 1
		for part && outs[i].Show == "" && end < len(outs) && outs[end].Show == "" && strings.HasPrefix(outs[end].Name, name+".") {
			end++
		}
		if n[i] = end - i; n[i] <= maxParts {
			for k := i; k < end; k++ {
				n[k] = 1
			}
		}
		i = end
	}
	return n
}

func showTable(w *bufio.Writer, o event.OutputReady) error {
	b, err := os.ReadFile(o.Path)
	if err != nil {
		return engine(err)
	}
	t, err := report.ParseTable(b)
	if err != nil {
		return engine(fmt.Errorf("output %q: %w", o.Name, err))
	}
	t.Write(w)
	return nil
}
