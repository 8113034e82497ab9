package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/checkpoint"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/execute/worker"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/statcache"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// maxDownloads is how many actions download at the same time. They wait for servers, not for processors.
const maxDownloads = 8

// builder is what carries out plans on this machine: the stores of the cache folder, and executors for this machine's
// processors.
type builder struct {
	Fn      digest.Function
	Blobs   *store.HostFiles
	Results store.Results
	Trees   *merkle.Trees
	Stats   *statcache.Cache
	// what runs again, to compare, does so by the other one, in exec roots with other names: a command that writes
	// down where it ran is found
	Host, Other *local.Executor
	Scratch     string // folder of this process
	State       layout.StateDir

	flush func(context.Context) error
	alive []func()       // to be called when there are no children any more
	live  func()         // to be called at its end
	locks *execute.Locks // of actions
	inUse func()         // nothing is collected before it is called
}

// storesOver puts stores over those of the cache folder. strict says that actions are kept from what they do not
// declare.
type storesOver func(blobs store.Blobs, results store.Results, strict bool) (*store.HostFiles, store.Results)

// nameOlder prints one line when a new cache folder has folders of earlier versions beside it.
func (a *app) nameOlder() {
	if _, err := os.Lstat(a.Cache); err == nil {
		return
	}
	if old := a.places().Older(); len(old) > 0 {
		fmt.Fprintf(a.Env.Stderr, "hexmage: %s holds %s of an earlier version, which this version does not read: "+
			"`hexmage cache gc` frees the space\n", filepath.Dir(a.Cache), counted(len(old), "folder", "folders"))
	}
}

// openBuilder puts it together on the cache folder. A second interrupt ends what its executors have started. extra
// and private are variables for some actions: see local.Options. over, if not nil, returns stores over those of the
// cache folder.
func (a *app) openBuilder(ctx context.Context, in *interrupts, extra map[string]string,
	private map[string]map[string]string, over storesOver) (_ *builder, err error) {
	defer func() { err = a.writable(err) }()
	if err := local.Ready(); err != nil {
		return nil, engineError(err)
	}
	fn, err := a.digestFunction()
	if err != nil {
		return nil, err
	}
	a.nameOlder()
	gc.Tidy(ctx, a.Cache, a.endLeft(ctx, fn))
	inUse, err := gc.Use(ctx, a.Cache, func() {
		fmt.Fprintln(a.Env.Stderr, "hexmage: waiting until the cache is "+
			"collected")
	})
	if err != nil {
		return nil, err // also when interrupted
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
	files, remembered := store.WithHostFiles(blobs), store.Results(results)
	if over != nil {
		files, remembered = over(blobs, results, base != nil)
	}
	e := &builder{
		Fn: fn, inUse: inUse, Blobs: files, Results: remembered, Trees: merkle.NewTrees(a.Cache),
		State: a.places().State(),
	}
	e.Stats = statcache.Open(e.State.StatCache(fn), fn, time.Now)
	if err := os.MkdirAll(string(e.State), 0o755); err != nil {
		return nil, engineError(err)
	}
	if e.Scratch, e.live, err = a.places().NewRun(); err != nil {
		return nil, engineError(err)
	}
	e.locks = execute.NewLocks(e.State.ActionsLock())
	here := local.Options{
		Dir: e.Scratch, Store: e.Blobs, Trees: e.Trees, Fn: fn, Self: a.Env.Self, Extra: extra,
		Checkpoints: checkpoint.New(a.places().Checkpoints(), fn),
		Tidy:        func(ctx context.Context) { gc.TidyRuns(ctx, a.Cache, a.endLeft(ctx, fn)) }, Hold: e.locks.File,
		Base: base, Workspace: workspace, Private: private,
	}
	if dir := a.Env.Var("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		here.Memory = filepath.Join(dir, "hexmage")
	}
	again := here // which does all from the start
	again.Checkpoints = nil
	e.Host, e.Other = local.New(here), local.New(again)
	e.alive = []func(){in.onKill(e.Host.Kill), in.onKill(e.Other.Kill)}
	e.flush = blobs.Sync
	return e, nil
}

// tidyIdle does in a run that finds nothing to do what openBuilder does in others: a build that was killed when all
// was done, while it removed its scratch folder, has left the rest of it, and no run may come that has something to
// do.
func (a *app) tidyIdle() {
	if runs, err := a.places().Runs(); err == nil && len(runs) > 0 {
		fn, err := a.digestFunction()
		if err != nil {
			return // the next run that has something to do says so
		}
		gc.Tidy(context.Background(), a.Cache, a.endLeft(context.Background(), fn))
	}
}

// endLeft ends what is still at work in scratch folders that killed builds left, and keeps what their actions can go
// on from. What cannot be kept is made anew.
func (a *app) endLeft(ctx context.Context, fn digest.Function) func(dirs ...string) {
	return func(dirs ...string) {
		worker.End(dirs...)
		_ = checkpoint.New(a.places().Checkpoints(), fn).Rescue(ctx, dirs...)
	}
}

// cached is the executor of a build whose actions next carries out: what is known is not done again, and what others
// do is waited for.
func (e *builder) cached(next execute.Executor) execute.Executor {
	return execute.Cached(next, execute.CacheOptions{Results: e.Results, Blobs: e.Blobs, Fn: e.Fn,
		Installed: e.Trees.Has, Locks: e.locks})
}

// options are what every build has in common, but for its executor.
func (e *builder) options(a *app) engine.Options {
	there := totalMemory()
	return engine.Options{
		Blobs: e.Blobs, Hasher: e.Stats.Hash, Fn: e.Fn,
		State: string(e.State), LogDir: e.State.Logs(), Flush: e.flush, Jobs: a.Jobs, Fresh: a.Fresh.everything(),
		// where nobody knows how much there is, steps that ask for it run one at a time
		Pools:  map[string]int{action.DownloadsPool: maxDownloads, engine.MemoryPool: int(max(1, there>>30))},
		Memory: there,
	}
}

// runOptions are those of `hexmage run`, but for its executor and who is told of it. No link may lead from outIn to
// out.
func (e *builder) runOptions(a *app, c *runFlags, workspace, outIn, out string) engine.Options {
	o := e.options(a)
	o.Workspace, o.KeepGoing, o.Prune = workspace, c.KeepGoing, len(c.Steps) == 0
	o.OutIn, o.Out, o.LogDir = outIn, out, a.logsOf(c.Pipeline)
	return o
}

// close writes what the next run can use. What fails here costs time later, nothing else.
func (e *builder) close() {
	_ = errors.Join(e.Host.Close(), e.Other.Close())
	for _, over := range e.alive {
		over()
	}
	_ = e.Stats.Save()
	_ = os.RemoveAll(e.Scratch)
	e.live()
	_ = e.locks.Close()
	e.inUse()
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

// sandbox returns what restricted actions may see of this machine, nil if they are not to be restricted, and the
// folder where an action that failed may have looked for files.
func (a *app) sandbox() (*sandbox.Base, string, error) {
	level, from, err := a.sandboxLevel()
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
				open = ", and are not kept from changing mode and times of your files elsewhere and of toolchains, " +
					"which they share"
			}
			fmt.Fprintf(a.Env.Stderr, "hexmage: actions get copies of their inputs%s: %v\n", open, err)
		}
		return base, a.Root, nil
	case from != "": // asked for by name
		return nil, "", usageError("%s: this machine can have no strict sandbox: %w", from, err)
	}
	fmt.Fprintf(a.Env.Stderr,
		"hexmage: actions are not kept from what they do not declare (sandbox \"staged\"): %v\n", err)
	return nil, a.Root, nil
}

// writable adds what to do to the error of a cache folder that cannot be written to.
func (a *app) writable(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return engineError(fmt.Errorf("%w: make the cache %s writable, or choose another folder with HEXMAGE_CACHE",
			err, a.Cache))
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return engineError(fmt.Errorf(
			"the cache %s, or what it is in, is a file: remove it, or choose a folder with HEXMAGE_CACHE", a.Cache))
	}
	return err
}
