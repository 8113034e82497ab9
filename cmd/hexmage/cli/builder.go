package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute/checkpoint"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/execute/worker"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// maxDownloads is the number of parallel downloads. They wait for servers, not for processors.
const maxDownloads = 8

// nameOlder reports folders of earlier versions once, when the cache folder is new.
func (a *app) nameOlder() {
	if _, err := os.Lstat(a.Cache); err == nil {
		return
	}
	if old := a.places().Older(); len(old) > 0 {
		a.say("%s contains %s of an earlier version, which this version does not use; run `hexmage cache gc` to free "+
			"the space",
			filepath.Dir(a.Cache), report.Count(len(old), "folder"))
	}
}

// useCache prevents a collection of the cache until the returned function is called.
func (a *app) useCache(ctx context.Context) (func(), error) {
	return gc.LockShared(ctx, a.Cache, func() {
		a.say("waiting for another hexmage process to finish pruning the " +
			"cache")
	})
}

// tidyIdle removes stale scratch folders in an up-to-date run, like openEngine in others. A build may be killed after
// its work, and then every later run is up to date.
func (a *app) tidyIdle(ctx context.Context) {
	if runs, err := a.places().Runs(); err == nil && len(runs) > 0 {
		fn, err := a.digestFunction()
		if err != nil {
			return // the next run with work reports the error
		}
		gc.RemoveStale(ctx, a.Cache, a.endLeft(ctx, fn))
	}
}

// endLeft ends processes in the scratch folders of killed builds, and keeps checkpoints of their actions. A checkpoint
// that cannot be kept costs time only.
func (a *app) endLeft(ctx context.Context, fn digest.Function) func(dirs ...string) {
	return func(dirs ...string) {
		worker.End(dirs...)
		_ = checkpoint.New(a.places().Checkpoints(), fn).Rescue(ctx, dirs...)
	}
}

// stores opens the stores of the cache folder.
func (a *app) stores() (*disk.Blobs, *disk.Results, error) {
	blobs, err := disk.NewBlobs(a.Cache)
	if err != nil {
		return nil, nil, err
	}
	results, err := disk.NewResults(a.Cache)
	return blobs, results, err
}

// knownStores opens the stores of the cache folder, or returns empty ones if the cache is missing.
func (a *app) knownStores() (store.Blobs, store.Results, error) {
	if _, err := os.Stat(a.places().Scratch()); err != nil {
		return memory.NewBlobs(), memory.NewResults(), nil
	}
	return a.stores()
}

// sandbox returns the view of this machine for restricted actions, or nil if actions are not restricted. The second
// result is the folder in which a failed action may have looked for files.
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
			if base.Mounts() != nil { // else all other files are read-only
				open = ". Actions can change the mode and times of shared toolchains and of your other files"
			}
			a.say("hexmage copies inputs for actions instead of linking them (%v)%s", err, open)
		}
		return base, a.Root, nil
	case from != "": // requested by name
		return nil, "", usageError("%s: this machine does not support the strict sandbox: %w", from, err)
	}
	a.say("actions can read files that are not declared as inputs (sandbox level \"staged\"): %v", err)
	return nil, a.Root, nil
}

// writable adds the next step to the error of a read-only cache folder.
func (a *app) writable(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return engineError(fmt.Errorf("%w; make the cache folder %s writable, or set HEXMAGE_CACHE to another folder",
			err, a.Cache))
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return engineError(fmt.Errorf(
			"the cache path %s is a file or leads through a file; set HEXMAGE_CACHE to a folder", a.Cache))
	}
	return err
}
