package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/gitmodule"
	"github.com/hexmage/hexmage/toolchains/relock"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// gitModules finds modules of git repositories, for one reading of a workspace's pipeline.
type gitModules struct {
	a         *app
	workspace string

	lock  *toolchains.Lock
	inUse func()            // nothing is collected before it is called
	dirs  map[string]string // of the repositories that were found, by what is pinned
	line  *progressLine
}

// done ends the reading.
func (g *gitModules) done() {
	if g.inUse != nil {
		g.inUse()
	}
	if g.line != nil {
		g.line.end()
	}
}

// find returns the folder of a module, as the workspace's lock pins it.
func (g *gitModules) find(ctx context.Context, source string) (config.ModuleFolder, error) {
	src, err := gitmodule.Parse(source)
	if errors.As(err, new(gitmodule.SecretError)) {
		return config.ModuleFolder{}, &config.HiddenError{Err: err}
	}
	if err != nil {
		return config.ModuleFolder{}, err
	}
	store, err := g.open(ctx)
	if err != nil {
		return config.ModuleFolder{}, err
	}
	pin, err := g.pin(ctx, src, store)
	if err != nil {
		return config.ModuleFolder{}, err
	}
	key := src.URL + " " + pin.Commit + " " + pin.Tree
	dir, ok := g.dirs[key]
	if !ok {
		if dir, err = store.Open(ctx, src, pin); err != nil {
			return config.ModuleFolder{}, notGot(src, err)
		}
		g.dirs[key] = dir
	}
	return config.ModuleFolder{FS: rooted.FS(dir), Dir: src.Folder, Root: filepath.ToSlash(dir),
		ID: pin.Tree[:min(16, len(pin.Tree))]}, nil
}

// open prepares for what is the same for all modules.
func (g *gitModules) open(ctx context.Context) (gitmodule.Store, error) {
	a := g.a
	if g.lock == nil {
		var err error
		if g.inUse, err = gc.Use(ctx, a.Cache, func() {
			fmt.Fprintln(a.Env.Stderr, "hexmage: waiting until the "+
				"cache is collected")
		}); err != nil {
			return gitmodule.Store{}, a.writable(err)
		}
		if g.lock, err = a.ownLock(g.workspace); err != nil {
			return gitmodule.Store{}, fmt.Errorf("%s cannot be read", toolchains.LockFile) // printed by then
		}
		g.dirs, g.line = map[string]string{}, a.progressLine(a.Env.Terminal, progressLines)
	}
	o, err := a.lockOptions()
	if err != nil {
		return gitmodule.Store{}, err
	}
	return gitmodule.Store{
		Machine:  fetch.Machine{Downloads: o.Downloads, Offline: o.Offline, Mirrors: o.Mirrors, Logins: o.Logins},
		Progress: func(text string) { g.line.download(0, 0, text) }, Warn: o.Warn,
	}, nil
}

// pin returns what the lock says of a source; `hexmage lock` has it pinned, if it is not.
func (g *gitModules) pin(ctx context.Context, src gitmodule.Source, store gitmodule.Store) (gitmodule.Pin, error) {
	if p := g.a.pinning; p != nil {
		return p.pin(ctx, src, store)
	}
	if e := g.lock.Module(src.URL, src.Ref); e != nil {
		return gitmodule.Pin{Commit: e.Commit, Tree: e.Tree}, nil
	}
	var others []string
	for _, e := range g.lock.Modules {
		if e.URL == src.URL {
			others = append(others, fmt.Sprintf("ref %s (%s)", e.Ref, config.Where(e.Place)))
		}
	}
	if len(others) > 0 {
		return gitmodule.Pin{}, fmt.Errorf("the source asks for ref %s of %s, and %s pins %s: run `hexmage lock`, "+
			"which pins it, and commit the file",
			src.Ref, src.URL, toolchains.LockFile, strings.Join(others, ", "))
	}
	return gitmodule.Pin{}, fmt.Errorf("ref %s of %s is not pinned in %s: run `hexmage lock`, which pins it, and "+
		"commit the file", src.Ref, src.URL, toolchains.LockFile)
}

// notGot is the error for a repository that could not be got.
func notGot(src gitmodule.Source, err error) error {
	err = fmt.Errorf("%s: %w", src, err)
	if fetch.Unreachable(err) || errors.Is(err, git.ErrOffline) {
		return engineError(err)
	}
	return err
}

// modulePins pins modules of git repositories in a lock, while pipelines are read for `hexmage lock`.
type modulePins struct {
	lock    *toolchains.Lock
	upgrade []string // addresses of repositories whose refs are to be pinned anew
	changes []relock.Change
	called  map[[2]string]bool // addresses and refs
}

func (p *modulePins) pin(ctx context.Context, src gitmodule.Source, store gitmodule.Store) (gitmodule.Pin, error) {
	key := [2]string{src.URL, src.Ref}
	have := p.lock.Module(src.URL, src.Ref)
	change := relock.Change{Name: src.URL, Version: src.Ref, Source: "git", Text: "as before"}
	if have == nil || !p.called[key] && slices.Contains(p.upgrade, src.URL) {
		pin, err := store.Learn(ctx, src)
		if err != nil {
			return pin, notGot(src, err)
		}
		e := &toolchains.LockedModule{URL: src.URL, Ref: src.Ref, Commit: pin.Commit, Tree: pin.Tree}
		if have == nil || have.Commit != e.Commit || have.Tree != e.Tree {
			verb := "pinned"
			if have != nil {
				verb = "pinned anew"
			}
			change.Changed, change.Text = true, fmt.Sprintf("%s commit %s, tree %s", verb, e.Commit, e.Tree)
			p.lock.SetModule(e)
		}
		have = e
	}
	if !p.called[key] {
		p.called[key] = true
		p.changes = append(p.changes, change)
	}
	return gitmodule.Pin{Commit: have.Commit, Tree: have.Tree}, nil
}

// calls tells whether a pipeline that was read calls modules of the repository.
func (p *modulePins) calls(url string) bool {
	return slices.ContainsFunc(p.changes, func(ch relock.Change) bool { return ch.Name == url })
}

// forget takes out of the lock what no pipeline calls any more.
func (p *modulePins) forget() {
	p.lock.Modules = slices.DeleteFunc(p.lock.Modules, func(e *toolchains.LockedModule) bool {
		gone := !p.called[[2]string{e.URL, e.Ref}]
		if gone {
			p.changes = append(p.changes,
				relock.Change{Name: e.URL, Version: e.Ref, Source: "git", Text: "taken out: no pipeline calls it",
					Changed: true})
		}
		return gone
	})
}
