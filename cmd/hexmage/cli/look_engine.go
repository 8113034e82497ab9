package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/statcache"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// onlyLook is an engine that finds out what is known and runs nothing. Where there is no cache it makes none.
func (a *app) onlyLook(workspace string) (build.Options, error) {
	fn, err := a.digestFunction()
	if err != nil {
		return build.Options{}, err
	}
	o := build.Options{Fn: fn, Workspace: workspace, State: filepath.Join(a.cache, "state"), Jobs: a.Jobs, Fresh: a.Fresh.everything(),
		Hasher: statcache.Open(filepath.Join(a.cache, "state", "statcache-"+fn.String()), fn, time.Now)}
	if _, err := os.Stat(filepath.Join(a.cache, "tmp")); err != nil {
		o.Blobs = store.WithHostFiles(memory.NewBlobs())
		o.Executor = execute.Cached(nothing{}, memory.NewResults(), o.Blobs, fn, nil)
	} else {
		blobs, err := disk.NewBlobs(a.cache)
		if err != nil {
			return o, engine(err)
		}
		results, err := disk.NewResults(a.cache)
		if err != nil {
			return o, engine(err)
		}
		o.Results = results
		o.Blobs = store.WithHostFiles(blobs)
		damage, err := disk.WatchDamage(a.cache)
		if err != nil {
			return o, engine(err)
		}
		o.Executor = execute.Undamaged(execute.Cached(nothing{}, results, o.Blobs, fn, merkle.NewTrees(a.cache).Has), o.Blobs, damage)
	}
	return o, nil
}

// nothing is an Executor that executes nothing.
type nothing struct{}

// Execute implements execute.Executor.
func (nothing) Execute(context.Context, *action.Action) (*action.Result, error) {
	return nil, errors.New("nothing is executed here")
}
