package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/statcache"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/steps"
)

// engineParts is the engine with devices.
type engineParts struct {
	*builder
	executor  execute.Executor
	lookups   int              // at once, ahead of what runs
	again     execute.Executor // the same without memory
	finish    func(again bool) // sends what is still to be sent
	device    *runner.Device
	devices   runner.Options // of device
	phones    int            // how many actions can run on devices at the same time
	simulated int            // and on simulated ones
}

// adbServer is where the user's own adb server listens, unless adb's variables say otherwise.
const adbServer = "127.0.0.1:5037"

// openEngine puts the engine together on the cache folder.
func (a *app) openEngine(ctx context.Context) (*engineParts, error) {
	network, address, err := a.adbAddress()
	if err != nil {
		return nil, err
	}
	listed, err := a.deviceFile()
	if err != nil {
		return nil, err
	}
	extra := map[string]string{fetch.EnvDownloads: a.places().Downloads()}
	if a.Offline {
		extra[fetch.EnvOffline] = "1"
	}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		if v := a.Env.Var(name); v != "" {
			extra[name] = v
		}
	}
	far, err := a.openRemote(ctx)
	if err != nil {
		return nil, err
	}
	here, err := a.openBuilder(ctx, a.interrupts, extra, a.private(), far.over())
	if err != nil {
		return nil, err
	}
	e := &engineParts{builder: here, lookups: far.atOnce(), finish: func(again bool) { far.finish(ctx, again) }}
	devices := runner.Options{
		Store: e.Blobs, Trees: e.Trees, Fn: e.Fn, Dir: e.Scratch, State: e.State.Runner(),
		Simulate: steps.SimulatePhone(a.Env.Self, "tool", "phone-init"),
		Server:   pool.Server{Network: network, Address: address}, Home: a.Env.Var("HOME"), SSH: a.ssh(),
		Phones: listed.Simulated,
	}
	if len(listed.Devices) > 0 {
		devices.Pool = pool.New(listed.Devices)
	}
	e.device, e.devices, e.simulated = runner.New(devices), devices, max(1, listed.Simulated)
	e.phones = max(e.simulated, len(listed.Devices))
	if a.Serial != "" {
		e.phones = 1
	}
	e.executor = e.cached(execute.Route(map[string]execute.Executor{action.ExecutorLocal: far.executor(here, e.Host),
		runner.Executor: e.device}))
	e.again = execute.Route(map[string]execute.Executor{action.ExecutorLocal: e.Other, runner.Executor: e.device})
	return e, nil
}

// options are what every build with this engine has in common.
func (e *engineParts) options(a *app) engine.Options { return e.withDevices(e.builder.options(a)) }

// withDevices has a build use devices, too.
func (e *engineParts) withDevices(o engine.Options) engine.Options {
	o.Executor, o.LookAhead = e.executor, e.lookups
	o.Pools[runner.Executor], o.Pools["simulated"] = e.phones, e.simulated
	return o
}

// close ends devices, and the engine.
func (e *engineParts) close() { e.end(false) }

// end is close; again says that the same build begins again with another engine.
func (e *engineParts) end(again bool) {
	e.finish(again)
	_ = e.device.Close()
	e.builder.close()
}

// buildRoots builds outputs of a plan for a command that is about something else. It is shown where somebody looks,
// or if show is true and a program does not read it; where it is not shown, only what failed is.
func (a *app) buildRoots(ctx context.Context, e *engineParts, p *planned, workspace string, roots []addrs.Output,
	show bool) (engine.Result, error) {
	var sink event.Sink = report.Lines(io.Discard, report.Options{})
	done := func() {}
	show = a.Live || show && !a.JSON
	if show {
		sink, done = a.display(nil)
	}
	failures := &failureSink{next: sink}
	o := e.options(a)
	o.Sink, o.Workspace, o.Roots = a.diagnosed(workspace, failures), workspace, roots
	o.Secrets, o.LogDir = a.secrets(workspace, p.Pipeline), a.logsOf(p.Pipeline)
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

// lookupOnly returns the options of an engine that looks results up and runs nothing, and the results of this cache,
// nil if there is no cache: none is made.
func (a *app) lookupOnly(ctx context.Context, workspace string) (engine.Options, store.Results, error) {
	far, err := a.openRemote(ctx)
	if err != nil {
		return engine.Options{}, nil, err
	}
	fn, err := a.digestFunction()
	if err != nil {
		return engine.Options{}, nil, err
	}
	o := engine.Options{Fn: fn, Workspace: workspace, State: string(a.places().State()), Jobs: a.Jobs,
		LookAhead: far.atOnce(), Fresh: a.Fresh.everything(),
		Hasher: statcache.Open(a.places().State().StatCache(fn), fn, time.Now).Hash}
	var results store.Results
	if _, err := os.Stat(a.places().Scratch()); err != nil {
		o.Blobs, results = far.lookups(memory.NewBlobs(), memory.NewResults())
		o.Executor = execute.Cached(execute.Route(nil), execute.CacheOptions{Results: results, Blobs: o.Blobs, Fn: fn})
		return o, nil, nil
	}
	blobs, own, err := a.stores()
	if err != nil {
		return o, nil, engineError(err)
	}
	o.Blobs, results = far.lookups(blobs, own)
	o.Executor = execute.Cached(execute.Route(nil), execute.CacheOptions{Results: results, Blobs: o.Blobs, Fn: fn,
		Installed: merkle.NewTrees(a.Cache).Has})
	return o, results, nil
}
