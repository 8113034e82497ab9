package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/checkpoint"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/statcache"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/steps"
)

// engineParts has the parts that execute plans: stores of the cache folder and the remote, and executors for this
// machine, the remote and devices.
type engineParts struct {
	a     *app
	far   *farCache
	Fn    digest.Function
	Blobs *store.HostFiles
	Trees *merkle.Trees
	Stats *statcache.Cache
	Host  *local.Executor

	Scratch string // folder for temporary files of this process

	executor  execute.Executor
	again     execute.Executor // without cache lookups
	device    *runner.Device
	devices   runner.Options // of device
	phones    int            // parallel actions on devices
	simulated int            // parallel actions on simulated devices

	flush  func(context.Context) error
	alive  func()           // called after all children ended
	live   func()           // called at the end
	locks  *execute.Locks   // of actions
	inUse  func()           // releases the cache for collections
	finish func(again bool) // sends pending results
}

// adbServer is the default address of the user's adb server.
const adbServer = "127.0.0.1:5037"

// openEngine opens the engine on the cache folder. A second interrupt kills its children.
func (a *app) openEngine(ctx context.Context) (_ *engineParts, err error) {
	defer func() { err = a.writable(err) }()
	network, address, err := a.adbAddress()
	if err != nil {
		return nil, err
	}
	listed, err := a.deviceFile()
	if err != nil {
		return nil, err
	}
	far, err := a.openRemote(ctx)
	if err != nil {
		return nil, err
	}
	if err := local.Ready(); err != nil {
		return nil, engineError(err)
	}
	fn, err := a.digestFunction()
	if err != nil {
		return nil, err
	}
	a.nameOlder()
	gc.RemoveStale(ctx, a.Cache, a.endLeft(ctx, fn))
	inUse, err := a.useCache(ctx)
	if err != nil {
		return nil, err // also after an interrupt
	}
	defer func() {
		if err != nil {
			inUse()
		}
	}()
	base, workspace, err := a.sandbox()
	if err != nil {
		return nil, err
	}
	blobs, results, err := a.stores()
	if err != nil {
		return nil, engineError(err)
	}
	files, remembered := far.over(blobs, results, base != nil)
	state := a.places().State()
	e := &engineParts{a: a, far: far, Fn: fn, inUse: inUse, Blobs: files, Trees: merkle.NewTrees(a.Cache),
		Stats: statcache.Open(state.StatCache(fn), fn, time.Now), flush: blobs.Sync,
		locks: execute.NewLocks(state.ActionsLock()), finish: func(again bool) { far.finish(ctx, again) }}
	if err := os.MkdirAll(string(state), 0o755); err != nil {
		return nil, engineError(err)
	}
	if e.Scratch, e.live, err = a.places().NewRun(); err != nil {
		return nil, engineError(err)
	}
	here := local.Options{
		Dir: e.Scratch, Store: e.Blobs, Trees: e.Trees, Fn: fn, Self: a.Env.Self, Extra: a.downloadVars(),
		Checkpoints: checkpoint.New(a.places().Checkpoints(), fn),
		Tidy:        func(ctx context.Context) { gc.RemoveStaleRuns(ctx, a.Cache, a.endLeft(ctx, fn)) },
		Hold:        e.locks.File, Base: base, Workspace: workspace, Private: a.private(),
	}
	if dir := a.Env.Var("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		here.Memory = filepath.Join(dir, "hexmage")
	}
	e.Host = local.New(here)
	e.alive = a.interrupts.onKill(e.Host.Kill)
	e.devices = runner.Options{
		Store: e.Blobs, Trees: e.Trees, Fn: e.Fn, Dir: e.Scratch, State: state.Runner(),
		Simulate: steps.SimulatePhone(a.Env.Self, "tool", "phone-init"),
		Server:   pool.Server{Network: network, Address: address}, Home: a.Env.Var("HOME"), SSH: a.ssh(),
		Phones: listed.Simulated,
	}
	if len(listed.Devices) > 0 {
		e.devices.Pool = pool.New(listed.Devices)
	}
	e.device, e.simulated = runner.New(e.devices), max(1, listed.Simulated)
	e.phones = max(e.simulated, len(listed.Devices))
	if a.Serial != "" {
		e.phones = 1
	}
	route := func(here execute.Executor) execute.Executor {
		return execute.Route(map[string]execute.Executor{action.ExecutorLocal: here, runner.Executor: e.device})
	}
	e.executor = execute.Cached(route(far.executor(e, e.Host)), execute.CacheOptions{Results: remembered,
		Blobs: e.Blobs, Fn: fn, Installed: e.Trees.Has, Locks: e.locks})
	e.again = route(e.Host)
	return e, nil
}

// downloadVars returns the variables of actions that download.
func (a *app) downloadVars() map[string]string {
	vars := map[string]string{fetch.EnvDownloads: a.places().Downloads()}
	if a.Offline {
		vars[fetch.EnvOffline] = "1"
	}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		if v := a.Env.Var(name); v != "" {
			vars[name] = v
		}
	}
	return vars
}

// options returns the options of every build with this engine.
func (e *engineParts) options() engine.Options {
	state := e.a.places().State()
	return engine.Options{
		Blobs: e.Blobs, Hasher: e.Stats.Hash, Fn: e.Fn, Workspace: e.a.here(), Executor: e.executor,
		LookAhead: e.far.atOnce(), State: string(state), LogDir: state.Logs(), Flush: e.flush, Jobs: e.a.Jobs,
		// if memory is unknown, actions with a known need run one at a time
		Pools: map[string]int64{action.DownloadsPool: maxDownloads, engine.MemoryPool: max(1, totalMemory()),
			runner.Executor: int64(e.phones), "simulated": int64(e.simulated)},
	}
}

// close ends devices and writes caches for the next run. An error only costs time later. again reports that the build
// restarts with another engine.
func (e *engineParts) close(again bool) {
	e.finish(again)
	_ = errors.Join(e.device.Close(), e.Host.Close())
	e.alive()
	_ = e.Stats.Save()
	_ = os.RemoveAll(e.Scratch)
	e.live()
	_ = e.locks.Close()
	e.inUse()
}

// buildRoots builds outputs of a plan for a command with another purpose. It shows progress on a terminal, or if show
// is true and --json is not set; otherwise it shows failures only.
func (a *app) buildRoots(ctx context.Context, e *engineParts, p *planned, roots []addrs.Output,
	show bool) (engine.Result, error) {
	var sink event.Sink = sinks{}
	done := func() {}
	show = a.Live || show && !a.JSON
	if show {
		sink, done = a.display(nil)
	}
	failures := &failureSink{next: sink}
	o := e.options()
	o.Sink, o.Roots = a.diagnosed(failures), roots
	o.Secrets, o.LogDir = a.secrets(p.Pipeline), a.logsOf(p.Pipeline)
	p.extend(&o)
	res, err := engine.Run(ctx, p.Plan, o)
	done()
	if err = outcome(ctx, res, err); err != nil && !show {
		for _, f := range failures.seen {
			fmt.Fprint(a.Env.Stderr,
				ansi.Visible(fmt.Sprintf("hexmage: %s: %s\n%s\n", f.Step, f.Failure.Summary, f.Failure.Output), false))
			for _, h := range f.Failure.Hints {
				fmt.Fprintf(a.Env.Stderr, "hint: %s\n", h)
			}
		}
	}
	return res, err
}

// failureSink keeps failures for a command that shows only these.
type failureSink struct {
	next event.Sink
	seen []event.ActionFinished
}

// Send records failed actions, and forwards each event.
func (s *failureSink) Send(e event.Event) {
	if f, ok := e.(event.ActionFinished); ok && f.Failure != nil {
		s.seen = append(s.seen, f)
	}
	s.next.Send(e)
}

// lookupOnly returns engine options for cache lookups without execution, and the known results. It does not create a
// cache.
func (a *app) lookupOnly(ctx context.Context) (engine.Options, store.Results, error) {
	far, err := a.openRemote(ctx)
	if err != nil {
		return engine.Options{}, nil, err
	}
	fn, err := a.digestFunction()
	if err != nil {
		return engine.Options{}, nil, err
	}
	o := engine.Options{Fn: fn, Workspace: a.here(), State: string(a.places().State()), Jobs: a.Jobs,
		LookAhead: far.atOnce(),
		Hasher:    statcache.Open(a.places().State().StatCache(fn), fn, time.Now).Hash}
	blobs, own, err := a.knownStores()
	if err != nil {
		return o, nil, engineError(err)
	}
	var results store.Results
	o.Blobs, results = far.stores(blobs, own, false)
	o.Executor = execute.Cached(execute.Route(nil), execute.CacheOptions{Results: results, Blobs: o.Blobs, Fn: fn,
		Installed: merkle.NewTrees(a.Cache).Has})
	return o, results, nil
}
