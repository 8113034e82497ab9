package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hexmage/hexmage/cmd/hexmage/front"
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/dirpool"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/reaper"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/statcache"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
	"github.com/hexmage/hexmage/internal/store/memory"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/steps"
)

// engineParts is the engine put together: stores, executors, and what they leave to be closed.
type engineParts struct {
	fn          digest.Function
	blobs       *store.HostFiles
	results     store.Results
	trees       *merkle.Trees
	stats       *statcache.Cache
	alive       []func() // to be called when there are no children any more
	executor    execute.Caching
	again       execute.Executor // the same without memory
	roots       string           // folder that all exec roots are below
	flush       func(context.Context) error
	device      *runner.Device
	phones      int // how many actions can run on devices at the same time
	emulated    int // and on emulated ones
	host, other *local.Executor
	damage      *disk.DamageWatch
	reaper      *reaper.Reaper // nil until a command starts
	scratch     string         // folder of this process
	live        func()         // to be called at its end
	locks       *execute.Locks // of actions
	state       layout.StateDir
	inUse       func() // nothing is collected before it is called
}

// adbServer is where the user's own adb server listens, unless adb's variables say otherwise.
const adbServer = "127.0.0.1:5037"

// openEngine puts the engine together on the cache folder.
func (a *app) openEngine(ctx context.Context) (_ *engineParts, err error) {
	defer func() { err = a.writable(err) }()
	fn, err := a.DigestFunction()
	if err != nil {
		return nil, err
	}
	network, address, err := a.adbAddress()
	if err != nil {
		return nil, err
	}
	listed, err := a.deviceFile()
	if err != nil {
		return nil, err
	}
	// The watch begins first: what is found damaged after it was looked at what there is, this build finds out.
	damage, err := disk.WatchDamage(a.Cache)
	if err != nil {
		return nil, front.Engine(err)
	}
	if gc.Tidy(ctx, a.Cache, reaper.End) {
		fmt.Fprintln(a.Env.Stderr, "hexmage: the cache is of an earlier version: what it remembered of earlier runs and of their results is thrown away, so actions run once more; blobs, downloads and toolchains stay")
	}
	if err := a.settle(ctx); err != nil {
		return nil, err
	}
	if err := damage.Settled(); err != nil {
		return nil, front.Engine(err)
	}
	inUse, err := gc.Use(ctx, a.Cache, func() { fmt.Fprintln(a.Env.Stderr, "hexmage: waiting until the cache is collected") })
	if err != nil {
		return nil, err // also when interrupted
	}
	defer func() {
		if err != nil {
			inUse()
		}
	}()
	blobs, results, err := a.stores()
	if err != nil {
		return nil, front.Engine(err)
	}
	e := &engineParts{fn: fn, inUse: inUse, damage: damage, blobs: store.WithHostFiles(blobs), results: results, trees: merkle.NewTrees(a.Cache), state: a.Places().State()}
	e.stats = statcache.Open(e.state.StatCache(fn), fn, time.Now)
	e.stats.Keep = e.blobs.Keep
	if err := os.MkdirAll(string(e.state), 0o755); err != nil {
		return nil, front.Engine(err)
	}
	if e.scratch, e.live, err = a.Places().NewRun(); err != nil {
		return nil, front.Engine(err)
	}
	e.locks = execute.NewLocks(e.state.ActionsLock())
	begin := sync.OnceValues(func() (int, error) {
		held, err := e.locks.File()
		if err != nil {
			return 0, err
		}
		if e.reaper, err = reaper.New([]string{a.Env.Self, "tool", reaperTool}, e.scratch, held); err != nil {
			return 0, err
		}
		return e.reaper.Pid(), nil
	})
	extra := map[string]string{fetch.EnvDownloads: a.Places().Downloads()}
	if a.Offline {
		extra[fetch.EnvOffline] = "1"
	}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		if v := a.Env.Var(name); v != "" {
			extra[name] = v
		}
	}
	base, workspace, err := a.sandbox()
	if err != nil {
		return nil, err
	}
	folders := dirpool.New(a.Places().DirPool(), fn, store.Unmodified, disk.LastDamage(a.Cache))
	here := local.Options{
		Dir: e.scratch, Pool: folders, Store: e.blobs, Trees: e.trees, Fn: fn, Self: a.Env.Self, Extra: extra,
		Begin: begin, Base: base, Workspace: workspace, Private: a.private(),
	}
	if dir := a.Env.Var("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		here.Memory = filepath.Join(dir, "hexmage")
	}
	// What runs again, to compare, does so in exec roots with other names: a command that writes down where it ran is found.
	e.host, e.other = local.New(here), local.New(here)
	e.alive = []func(){a.interrupts.onKill(e.host.Kill), a.interrupts.onKill(e.other.Kill)}
	devices := runner.Options{
		Store: e.blobs, Trees: e.trees, Fn: fn, Dir: e.scratch, State: e.state.Runner(),
		Emulate: steps.EmulatePhone(a.Env.Self, "tool", "emulator-init"), Server: pool.Server{Network: network, Address: address}, Home: a.Env.Var("HOME"),
		Phones: listed.Emulated,
	}
	if len(listed.Devices) > 0 {
		devices.Pool = pool.New(devices.State, listed.Devices)
	}
	e.device, e.emulated = runner.New(devices), max(1, listed.Emulated)
	e.phones = max(e.emulated, len(listed.Devices))
	if a.Serial != "" {
		e.phones = 1
	}
	route := execute.Route(map[string]execute.Executor{action.ExecutorLocal: e.host, runner.Executor: e.device})
	e.again = execute.Route(map[string]execute.Executor{action.ExecutorLocal: e.other, runner.Executor: e.device})
	e.roots = a.Places().Scratch()
	cached := execute.Undamaged(execute.Cached(route, results, e.blobs, fn, e.trees.Has), e.blobs, damage)
	e.executor = execute.Exclusive(cached, e.locks, fn)
	e.flush = func(ctx context.Context) error {
		// Blobs first: a result must not outlive what it names.
		if err := blobs.Flush(ctx); err != nil {
			return err
		}
		return results.Flush(ctx)
	}
	return e, nil
}

// stores opens those of the cache folder.
func (a *app) stores() (*disk.Blobs, *disk.Results, error) {
	blobs, err := disk.NewBlobs(a.Cache)
	if err != nil {
		return nil, nil, err
	}
	results, err := disk.NewResults(a.Cache)
	return blobs, results, err
}

// settle deals with what was found damaged, by an earlier run or by `cache verify`, before anything in the cache is used.
func (a *app) settle(ctx context.Context) error {
	dropped, err := gc.Settle(ctx, a.Cache)
	if dropped > 0 {
		fmt.Fprintf(a.Env.Stderr, "hexmage: something in the cache was found damaged: results that may have been made from it are dropped (%d)\n", dropped)
	}
	if err != nil {
		return front.Engine(fmt.Errorf("deal with what was found damaged in the cache: %w", err))
	}
	return nil
}

// options are what every build with this engine has in common.
func (e *engineParts) options(a *app) build.Options {
	return build.Options{
		Executor: e.executor, Blobs: e.blobs, Results: e.results, Hasher: e.stats, Fn: e.fn,
		State: string(e.state), LogDir: e.state.Logs(), Flush: e.flush, Jobs: a.Jobs, Fresh: a.Fresh.Everything(),
		Pools: map[string]int{runner.Executor: e.phones, "emulated": e.emulated, "gpu": 1, "memory_gb": memoryGB()},
	}
}

// buildRoots builds outputs of a plan for a command that is about something else. It is shown where somebody looks, or if show is true and a
// program does not read it; where it is not shown, only what failed is.
func (a *app) buildRoots(ctx context.Context, e *engineParts, p *planned, workspace string, roots []addrs.Output, show bool) (build.Result, error) {
	var sink event.Sink = report.Lines(io.Discard, report.Options{})
	done := func() {}
	show = a.Live || show && !a.JSON
	if show {
		sink, done = a.Display(nil)
	}
	failures := &failureSink{next: sink}
	o := e.options(a)
	o.Sink, o.Workspace, o.Roots = a.diagnosed(workspace, failures), workspace, roots
	o.Secrets, o.LogDir = a.secrets(ctx, workspace, p.Pipeline), a.logsOf(workspace, p.Pipeline)
	p.extend(&o)
	res, err := build.Run(ctx, p.Plan, o)
	done()
	if err = outcome(ctx, res, err); err != nil && !show {
		for _, f := range failures.seen {
			fmt.Fprint(a.Env.Stderr, ansi.Visible(fmt.Sprintf("hexmage: %s: %s\n%s\n", f.Step, f.Failure.Summary, f.Failure.Output), false))
			for _, h := range f.Failure.Hints {
				fmt.Fprintf(a.Env.Stderr, "hint: %s\n", h)
			}
		}
	}
	return res, err
}

// failureSink keeps failures for a command that shows nothing else of a build.
type failureSink struct {
	next event.Sink
	seen []event.ActionFinished
}

// Send passes the event on.
func (s *failureSink) Send(e event.Event) {
	if f, ok := e.(event.ActionFinished); ok && f.Failure != nil {
		s.seen = append(s.seen, f)
	}
	s.next.Send(e)
}

// close ends devices and writes what the next run can use. What fails here costs time later, nothing else.
func (e *engineParts) close() {
	_ = e.device.Close()
	if e.reaper != nil { // no command runs any more
		e.reaper.Stop()
		defer e.reaper.Wait()
	}
	_ = errors.Join(e.host.Close(), e.other.Close())
	for _, over := range e.alive {
		over()
	}
	_ = e.stats.Save()
	_ = os.RemoveAll(e.scratch)
	e.live()
	_ = e.locks.Close()
	e.inUse()
}

// lookupOnly is an engine that finds out what is known and runs nothing. Where there is no cache it makes none.
func (a *app) lookupOnly(workspace string) (build.Options, error) {
	fn, err := a.DigestFunction()
	if err != nil {
		return build.Options{}, err
	}
	o := build.Options{Fn: fn, Workspace: workspace, State: string(a.Places().State()), Jobs: a.Jobs, Fresh: a.Fresh.Everything(),
		Hasher: statcache.Open(a.Places().State().StatCache(fn), fn, time.Now)}
	if _, err := os.Stat(a.Places().Scratch()); err != nil {
		o.Blobs = store.WithHostFiles(memory.NewBlobs())
		o.Executor = execute.Cached(execute.Route(nil), memory.NewResults(), o.Blobs, fn, nil)
	} else {
		damage, err := disk.WatchDamage(a.Cache)
		if err != nil {
			return o, front.Engine(err)
		}
		blobs, results, err := a.stores()
		if err != nil {
			return o, front.Engine(err)
		}
		o.Results = results
		o.Blobs = store.WithHostFiles(blobs)
		o.Executor = execute.Undamaged(execute.Cached(execute.Route(nil), results, o.Blobs, fn, merkle.NewTrees(a.Cache).Has), o.Blobs, damage)
	}
	return o, nil
}

// sandbox returns what restricted actions may see of this machine, nil if they are not to be restricted, and the folder
// where an action that failed may have looked for files.
func (a *app) sandbox() (*sandbox.Base, string, error) {
	level, from, err := a.SandboxLevel()
	if err != nil {
		return nil, "", err
	}
	switch level {
	case sandbox.Off:
		return nil, "", nil
	case sandbox.Staged:
		return nil, a.Root, nil
	}
	base, err := sandbox.Open()
	switch {
	case err == nil:
		if err := base.Unsupervised(); err != nil {
			open := ""
			if base.Mounts() != nil { // else all that is not theirs is read-only
				open = ", and are not kept from changing mode and times of your files elsewhere and of toolchains, which they share"
			}
			fmt.Fprintf(a.Env.Stderr, "hexmage: actions get copies of their inputs%s: %v\n", open, err)
		}
		return base, a.Root, nil
	case from != "": // asked for by name
		return nil, "", front.Usage("%s: this machine can have no strict sandbox: %w", from, err)
	}
	fmt.Fprintf(a.Env.Stderr, "hexmage: actions are not kept from what they do not declare (sandbox \"staged\"): %v\n", err)
	return nil, a.Root, nil
}

// memoryGB is this machine's memory: the pool memory_gb. Where it cannot be told, steps that ask for memory run one at a
// time.
func memoryGB() int {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 1
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if rest, ok := strings.CutPrefix(s.Text(), "MemTotal:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err == nil {
				return max(1, kb>>20)
			}
		}
	}
	return 1
}

// writable adds what to do to the error of a cache folder that cannot be written to.
func (a *app) writable(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return front.Engine(fmt.Errorf("%w: make the cache %s writable, or choose another folder with HEXMAGE_CACHE", err, a.Cache))
	}
	return err
}
