package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	actiondisk "github.com/hexmage/hexmage/internal/actioncache/disk"
	actionmemory "github.com/hexmage/hexmage/internal/actioncache/memory"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/cas"
	casdisk "github.com/hexmage/hexmage/internal/cas/disk"
	casmemory "github.com/hexmage/hexmage/internal/cas/memory"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/statcache"
)

// onlyLook is an engine that finds out what is known and runs nothing. Where there is no cache it makes none. It also returns
// what finds out what remembered actions were made of.
func (a *app) onlyLook(workspace string) (build.Options, explain.Messages, error) {
	fn, err := a.digestFunction()
	if err != nil {
		return build.Options{}, nil, err
	}
	var beside explain.Messages
	o := build.Options{Fn: fn, Workspace: workspace, State: filepath.Join(a.cache, "state"), Jobs: a.Jobs, Fresh: a.Fresh.everything(),
		Hasher: statcache.Open(filepath.Join(a.cache, "state", "statcache-"+fn.String()), fn, time.Now)}
	if _, err := os.Stat(filepath.Join(a.cache, "tmp")); err != nil {
		o.Sources = cas.WithSources(casmemory.New())
		o.Executor = execute.Cached(nothing{}, actionmemory.New(), o.Sources, fn, nil)
	} else {
		blobs, err := casdisk.New(a.cache)
		if err != nil {
			return o, nil, engine(err)
		}
		results, err := actiondisk.New(a.cache)
		if err != nil {
			return o, nil, engine(err)
		}
		beside = results.Messages
		o.Sources = cas.WithSources(blobs)
		damage, err := casdisk.WatchDamage(a.cache)
		if err != nil {
			return o, nil, engine(err)
		}
		o.Executor = execute.Undamaged(execute.Cached(nothing{}, results, o.Sources, fn, merkle.NewTrees(a.cache).Has), o.Sources, damage)
	}
	o.Store = o.Sources
	return o, beside, nil
}

// nothing is an Executor that executes nothing.
type nothing struct{}

// Execute implements execute.Executor.
func (nothing) Execute(context.Context, *action.Action) (*action.Result, error) {
	return nil, errors.New("nothing is executed here")
}
