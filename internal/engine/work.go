package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/secret"
	"github.com/hexmage/hexmage/internal/store"
)

// worker processes units: it computes the action, looks up its result, and has it executed. All goroutines of a build
// share one.
type worker struct {
	*assembler
	o        Options
	last     lastRuns
	printed  string // prefix of log file names
	values   func() (secret.Values, error)
	programs sync.Map // name and path list → *program
	listings sync.Map // *merkle.Dir → *listing: folders that count by the files that were read
}

// do processes one unit. Goroutines call it concurrently, each with its own unit.
func (w *worker) do(ctx context.Context, u *unit, say func(message)) outcome {
	if u.spec == nil {
		return w.expand(ctx, u)
	}
	a, root, literals, err := w.prepare(ctx, u)
	if err != nil {
		return w.broken(ctx, u, err)
	}
	key := a.Key(w.fn)
	req := u.request(a)
	req.Tree, req.DropCheckpoint = root, w.forced(u)
	req.Force = req.DropCheckpoint || !w.last.counts(u, key)
	req.Progress = throttled(func(done, total int64, text string) {
		say(message{u: u, progress: event.ActionProgress{ID: int(u.id), Done: done, Total: total, Unit: "bytes",
			Text: text}})
	})
	if w.o.LogDir != "" {
		u.printed = execute.NewOutputLog(filepath.Join(w.o.LogDir, w.printed+strconv.Itoa(int(u.id))))
		req.Printed = u.printed
		defer func() {
			u.printed.Remove()
			u.printed = nil
		}()
	}
	start, begun := time.Now(), false
	var secrets *secret.Set
	req.Start = func(r *execute.Request) error {
		if !begun { // otherwise it is a retry
			var err error
			if secrets, err = w.begin(ctx, u, say, literals); err != nil {
				return err
			}
			begun, start = true, time.Now()
			say(message{u: u, started: true})
		}
		r.Secrets = secrets
		return nil
	}
	res, tries, err := w.run(ctx, u, req)
	var late *execute.TimeoutError
	switch {
	case errors.Is(err, errMissed):
		return outcome{missed: true}
	case errors.As(err, &late) && ctx.Err() == nil: // it ran, and its output may show why it was slow
		f := w.failure(u, late.Error(), late.Result)
		f.Hints = append(f.Hints, "raise the `timeout` of the step, or find out why the command waits")
		return outcome{kind: event.Failed, key: key, took: time.Since(start), failure: f}
	case refused(err) && ctx.Err() == nil:
		f := w.failure(u, err.Error(), nil)
		f.Hints = append(f.Hints, remedy(err)...)
		return outcome{kind: event.Failed, key: key, took: time.Since(start), failure: f}
	case err != nil:
		return w.broken(ctx, u, err)
	}
	o := outcome{kind: event.Executed, key: key, took: time.Since(start), worker: res.Worker, memory: res.Memory}
	if res.Cached { // machine and memory are those of an earlier run
		o = outcome{kind: event.Cached, key: key, took: o.took}
	}
	o = w.finish(u, a, res, o)
	if o.kind == event.Executed && o.took > longAction {
		_ = w.flush(ctx, 1) // the flush at the end of the run reports the error again
	}
	if o.kind != event.Failed && begun {
		if err := w.last.end(u, key); err != nil {
			return w.broken(ctx, u, err)
		}
	}
	if tries > 1 && o.kind == event.Executed {
		o.warning = strings.TrimSpace(fmt.Sprintf("the action succeeded at attempt %d\n%s", tries, o.warning))
	}
	return o
}

// prepare computes the unit's action. It also returns the tree of its inputs, and their literal contents, which are not
// in the store yet.
func (w *worker) prepare(ctx context.Context, u *unit) (*action.Action, *merkle.Dir, map[digest.Digest][]byte, error) {
	root, entries, literals, err := w.root(ctx, u.instance, u.spec.Inputs)
	if err != nil {
		return nil, nil, nil, err
	}
	a := u.action()
	a.InputRoot, a.Directories = root.Encode(w.fn)
	return a, root, literals, w.complete(ctx, u, a, root, entries)
}

var errMissed = errors.New("cache miss of an action that cannot run yet")

// begin prepares the execution of a unit after a cache miss, and returns the secrets of its command.
func (w *worker) begin(ctx context.Context, u *unit, say func(message),
	literals map[digest.Digest][]byte) (*secret.Set, error) {
	if w.g.isAhead(u) {
		return nil, errMissed
	}
	if u.demand == nil {
		u.demand = demand(u, w.o.PeakMemory)
	}
	if !u.reserve(say) {
		return nil, errMissed
	}
	secrets, err := w.secrets(u)
	if err != nil {
		return nil, err
	}
	return secrets, errors.Join(w.keep(ctx, literals), w.last.begin(u))
}

// longAction is the duration from which an action's result is synced at once, not at the end of the run.
const longAction = 10 * time.Second

// forced reports whether the unit runs even if its result is cached.
func (w *worker) forced(u *unit) bool {
	return w.o.Force != nil && w.o.Force(u.instance.plan.At.Short())
}

// reportEvery is the minimum interval between progress reports: a tool may report each byte, and users do not need
// that.
const reportEvery = 50 * time.Millisecond

// throttled forwards progress at most once every reportEvery, and always the end.
func throttled(p execute.Progress) execute.Progress {
	var mu sync.Mutex
	var last time.Time
	return func(done, total int64, text string) {
		mu.Lock()
		now := time.Now()
		pass := now.Sub(last) >= reportEvery || total > 0 && done == total
		if pass {
			last = now
		}
		mu.Unlock()
		if pass {
			p(done, total, text)
		}
	}
}

// run executes the action and retries as often as the step allows: after transient infrastructure errors, and after
// exit codes that the step lists. The delay grows with each try. run also returns the number of tries.
func (w *worker) run(ctx context.Context, u *unit, a *execute.Request) (*action.Result, int, error) {
	pause := 250 * time.Millisecond
	for try := 1; ; try++ {
		res, err := w.o.Executor.Execute(ctx, a)
		a.DropCheckpoint = false // a checkpoint belongs to this run now
		if try > u.instance.plan.Retries || ctx.Err() != nil || !again(u.spec, res, err) {
			return res, try, err
		}
		a.Report(0, 0, fmt.Sprintf("failed; hexmage will retry (%d of %d)", try, u.instance.plan.Retries))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return res, try, context.Cause(ctx)
		}
		pause = min(2*pause, 10*time.Second)
	}
}

// refused reports whether the step's inputs cannot work: the step failed, not the engine or the machine.
func refused(err error) bool {
	var e *execute.Error
	return errors.As(err, &e) && e.Refused
}

// again reports whether a retry may help.
func again(s *action.Spec, res *action.Result, err error) bool {
	var e *execute.Error
	switch {
	case err == nil:
		return !res.Cached && slices.Contains(s.RetryExitCodes, res.ExitCode)
	case errors.As(err, new(*execute.TimeoutError)):
		return slices.Contains(s.RetryExitCodes, action.TimeoutExitCode)
	}
	return errors.As(err, &e) && e.Retryable
}

// action returns the unit's action without the digest of its inputs.
func (u *unit) action() *action.Action {
	s := u.spec
	a := &action.Action{
		Command:    action.Command{Args: s.Args, Env: s.Env, Platform: map[string]string{}},
		DoNotCache: s.NoCache, Limit: s.Timeout, OKExitCodes: s.OKExitCodes,
		LocalOnly: u.instance.plan.Cache == plan.CacheLocal || u.instance.plan.SideEffects,
	}
	for k, v := range s.Platform {
		if k != action.PropertyPool { // concurrency does not change results
			a.Command.Platform[k] = v
		}
	}
	if s.Stdin != "" {
		a.Command.Platform[action.PropertyStdin] = s.Stdin
	}
	for _, o := range s.Outputs {
		a.Command.Outputs = append(a.Command.Outputs, o.Path)
		if o.Varies != "" {
			if a.Varies == nil {
				a.Varies = map[string]string{}
			}
			a.Varies[o.Path] = o.Varies
		}
	}
	if a.Depfile = s.Depfile; s.Depfile != "" && !slices.Contains(a.Command.Outputs, s.Depfile) {
		a.Command.Outputs = append(a.Command.Outputs, s.Depfile)
	}
	return a
}

// secrets returns the values for the secret references of the unit's command.
func (w *worker) secrets(u *unit) (*secret.Set, error) {
	var env, files map[string]secret.Text
	for property, text := range u.spec.Platform {
		name, isEnv := strings.CutPrefix(property, action.PropertySecret)
		file, isFile := strings.CutPrefix(property, action.PropertySecretFile)
		if !isEnv && !isFile {
			continue
		}
		t, err := secret.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", property, err)
		}
		if env == nil {
			env, files = map[string]secret.Text{}, map[string]secret.Text{}
		}
		if isEnv {
			env[name] = t
		} else {
			files[file] = t
		}
	}
	if env == nil {
		return nil, nil
	}
	values, err := w.values()
	if err != nil {
		return nil, err
	}
	return secret.NewSet(env, files, values)
}

// request returns the request to execute the unit's action.
func (u *unit) request(a *action.Action) *execute.Request {
	return &execute.Request{Action: a, Step: u.instance.plan.At.Short(), Name: u.spec.Name}
}

// finish checks a result and records its outputs.
func (w *worker) finish(u *unit, a *action.Action, res *action.Result, o outcome) outcome {
	if !a.Succeeded(res.ExitCode) {
		o.kind = event.Failed
		o.failure = w.failure(u, fmt.Sprintf("exit code %d", res.ExitCode), res)
		if res.ExitCode == action.UnableExitCode && len(a.Command.Args) > 0 && a.Command.Args[0] == action.ToolArg0 {
			o.failure.InfrastructureError = true
			o.err = fmt.Errorf("action %s %s could not run", u.instance.plan.At, u.spec.Name)
		}
		return o
	}
	o.out = make(made, len(res.Files)+len(res.Dirs))
	for _, f := range res.Files {
		o.out[f.Path] = merkle.Entry{File: &merkle.File{Digest: f.Digest, Executable: f.Executable}}
	}
	for _, d := range res.Dirs {
		o.out[d.Path] = merkle.Entry{Dir: merkle.Ref(d.Root)}
	}
	for _, want := range u.spec.Outputs {
		e, ok := o.out[want.Path]
		problem := ""
		switch {
		case !ok:
			problem = fmt.Sprintf("the command ended with exit code %d but did not write its output %s", res.ExitCode,
				want.Path)
		case want.Tree != (e.Dir != nil):
			problem = fmt.Sprintf("output %s must be a %s, but the command wrote a %s", want.Path,
				kindOf(want.Tree), kindOf(!want.Tree))
		}
		if problem != "" {
			o.kind = event.Failed
			o.failure = w.failure(u, problem, res)
			o.failure.Hints = append(o.failure.Hints,
				"correct the path in the `output` block, or make the command write "+
					"the file; paths are relative to the folder in which the command starts")
			return o
		}
	}
	if o.kind == event.Executed {
		o.warning = warnings(res.Stderr)
	}
	return o
}

func kindOf(isTree bool) string {
	if isTree {
		return "folder"
	}
	return "file"
}

// warnings returns the lines of a successful command that begin with "warning: ".
func warnings(stderr []byte) string {
	var found []string
	for _, line := range strings.Split(string(stderr), "\n") {
		if text, ok := strings.CutPrefix(line, "warning: "); ok && len(found) < 10 {
			found = append(found, text)
		}
	}
	return strings.Join(found, "\n")
}

// remedy returns the remedy of an error, if it has one.
func remedy(err error) []string {
	var e *execute.Error
	if errors.As(err, &e) && e.Remedy != "" {
		return []string{e.Remedy}
	}
	return nil
}

// broken returns the outcome of a unit that could not run. A unit that was stopped with the build has not failed.
func (w *worker) broken(ctx context.Context, u *unit, err error) outcome {
	if ctx.Err() != nil {
		return outcome{kind: event.NotRun}
	}
	f := w.failure(u, err.Error(), nil)
	f.InfrastructureError = true
	f.Hints = append(f.Hints, remedy(err)...)
	return outcome{kind: event.Failed, failure: f, err: err}
}

// expand plans an instance's specs from the trees and values it waited for.
func (w *worker) expand(ctx context.Context, u *unit) outcome {
	n := u.instance.plan
	if w.o.Resolver == nil {
		return w.broken(ctx, u, fmt.Errorf("%s: %s, but this build cannot plan more actions", n.At, n.Deferred))
	}
	known := plan.ResolvedInputs{Values: u.instance.values}
	var err error
	if n.Waits == plan.ForValues {
		known.Values, err = w.allValues(ctx, n.AwaitValues)
	} else {
		known.Listing, err = w.awaited(ctx, u.instance)
	}
	if err != nil {
		return w.broken(ctx, u, err)
	}
	more, err := w.o.Resolver.ExtendInstance(n.At, known)
	if err == nil && more.Waits != plan.ForNothing && more.Waits <= n.Waits {
		err = fmt.Errorf("%s still waits for values that are already known", n.At)
	}
	if err != nil {
		return outcome{kind: event.Failed, failure: w.failure(u, err.Error(), nil)}
	}
	return outcome{plan: more, values: known.Values}
}

// awaited lists the files of the trees that an instance waits for.
func (w *worker) awaited(ctx context.Context, n *instance) (action.Listing, error) {
	found := action.Listing{}
	for _, in := range n.plan.Await {
		e, err := w.entry(ctx, n, in, map[digest.Digest][]byte{})
		if err == nil && e.Dir == nil {
			err = fmt.Errorf("%s: not a folder", in.Path)
		}
		if err == nil {
			found[in.Path], err = w.list(ctx, e.Dir)
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// allValues reads the contents of value outputs.
func (w *worker) allValues(ctx context.Context, of []addrs.Output) (map[addrs.Output][]byte, error) {
	values := make(map[addrs.Output][]byte, len(of))
	for _, o := range of {
		b, err := w.value(ctx, o)
		if err != nil {
			return nil, err
		}
		values[o] = b
	}
	return values, nil
}

// list returns the slash paths of all files in the folder, sorted.
func (w *worker) list(ctx context.Context, d *merkle.Dir) ([]string, error) {
	whole, err := w.load(ctx, d)
	if err != nil {
		return nil, err
	}
	var files []string
	err = whole.Walk(func(p string, e merkle.Entry) error {
		if e.File != nil {
			files = append(files, p)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// maxValue is the largest size of a value output, in bytes.
const maxValue = 1 << 20

// value reads the content of a value output.
func (w *worker) value(ctx context.Context, o addrs.Output) ([]byte, error) {
	e, err := w.artifact(ctx, o)
	if err != nil {
		return nil, err
	}
	if e.File == nil {
		return nil, fmt.Errorf("%s: not a file", o)
	}
	if n := e.File.Digest.Size(); n > maxValue {
		return nil, fmt.Errorf("%s has %d bytes; the limit for a value is %d", o, n, maxValue)
	}
	return store.ReadBlob(ctx, w.blobs, e.File.Digest, maxValue)
}

// failure describes a failed action. The whole kept output goes to a log file, its end into the report.
func (w *worker) failure(u *unit, summary string, res *action.Result) *event.Failure {
	n := u.instance.plan
	f := &event.Failure{Summary: summary, Where: n.Where}
	if n.Source != "" {
		f.Source = strings.Split(n.Source, "\n")
	}
	if u.spec != nil {
		f.Command = u.spec.Args
	}
	if res == nil {
		return f
	}
	f.ExitCode = res.ExitCode
	all := []byte(printedNames(string(res.Stdout)+string(res.Stderr), u.spec.Inputs))
	f.Output = tail(all, 40)
	if n.Explains && w.o.Hints != nil {
		values := u.instance.values
		if values == nil && len(n.AwaitValues) > 0 { // an earlier build extended it
			// a few small files; without them the failure has no hints
			values, _ = w.allValues(context.Background(), n.AwaitValues)
		}
		f.Hints = w.o.Hints(n.At, plan.ResolvedInputs{Values: values}, u.spec.Name, all)
	}
	for _, h := range res.Hints {
		f.Hints = append(f.Hints, printedNames(h, u.spec.Inputs))
	}
	if w.o.LogDir != "" && len(all) > 0 {
		path := filepath.Join(w.o.LogDir, w.logName(n.At, u.spec.Name))
		if w.log(path, u, res) == nil {
			f.Log, f.LogCut = path, u.printed.Cut()
		}
	}
	return f
}

// log writes the whole output of the unit's command to a file, or the part that the result has.
func (w *worker) log(path string, u *unit, res *action.Result) error {
	if err := os.MkdirAll(w.o.LogDir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return errors.Join(u.printed.CopyTo(f, res), f.Close())
}

// logName returns a unique file name for an action: "exec.obj+src=2fa.c.log", "exec.all,check.log",
// "module.aot+v12,exec.all.log". Long names are cut and end with a part of their digest.
func (w *worker) logName(at addrs.Instance, spec string) string {
	var b strings.Builder
	if in := at.Module.Dir(); in != "" {
		b.WriteString(strings.ReplaceAll(strings.TrimPrefix(in, "steps/"), "/", ",") + ",")
	}
	b.WriteString(at.Kind)
	add := func(mark byte, s string) {
		b.WriteByte(mark)
		for i := range len(s) {
			if c := s[i]; c <= ' ' || c == 0x7f || strings.IndexByte(`/\"'[]=,:*?<>|`, c) >= 0 {
				fmt.Fprintf(&b, "=%02x", c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	add('.', at.Name)
	if at.Keyed {
		add('+', at.Key)
	}
	if spec != "" {
		add(',', spec)
	}
	name := b.String()
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:180], "") + "-" + w.fn.Bytes([]byte(name)).Hex()[:16]
	}
	return name + ".log"
}

// maxTail is the largest size of a failed action's output in a report, in bytes.
const maxTail = 16 << 10

// tail returns the last lines.
func tail(b []byte, lines int) string {
	s := strings.TrimRight(string(b), "\n")
	parts := strings.Split(s, "\n")
	if len(parts) > lines {
		s = fmt.Sprintf("… %d lines omitted …\n", len(parts)-lines) + strings.Join(parts[len(parts)-lines:], "\n")
	}
	if over := len(s) - maxTail; over > 0 {
		s = fmt.Sprintf("… %d bytes omitted …\n", over) + strings.ToValidUTF8(s[over:], "")
	}
	return s
}

// lost reports whether a blob that a result names is missing from the store.
func lost(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt)
}
