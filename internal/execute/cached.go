package execute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// Lookup is what an Executor that remembers results can do beside executing.
type Lookup interface {
	// Lookup returns the remembered result of the action, and true, if there is one that the action allows and
	// everything that it names is in the store; else nil and false, which is no error. It runs nothing. The Result is
	// the caller's.
	Lookup(ctx context.Context, a *Request) (*action.Result, bool, error)
}

// CachedExecutor is an Executor that remembers; Cached makes one.
type CachedExecutor struct {
	next      Executor
	results   store.Results
	blobs     store.Blobs
	fn        digest.Function
	installed func(root digest.Digest) bool

	mu    sync.Mutex
	whole map[digest.Digest]bool // roots of trees of which all parts were in the store
}

// Cached returns an Executor that has next execute actions and remembers the results of those that ended with exit
// code 0, or another that the action allows, and all their outputs in results, under keys made with fn. Looking up
// and executing are two methods, so that the caller knows which it was, and can ask for a run although a result is
// known: Execute always runs, Lookup never does.
//
// installed, if not nil, tells whether a whole tree stands unpacked somewhere (Trees.Has): the parts of such a tree
// are not looked for in the store one by one.
func Cached(next Executor, results store.Results, blobs store.Blobs, fn digest.Function, installed func(root digest.Digest) bool) *CachedExecutor {
	return &CachedExecutor{next: next, results: results, blobs: blobs, fn: fn, installed: installed, whole: map[digest.Digest]bool{}}
}

// Lookup implements Lookup. An action that must not be cached has no remembered result.
func (c *CachedExecutor) Lookup(ctx context.Context, a *Request) (*action.Result, bool, error) {
	switch {
	case a.DoNotCache:
		return nil, false, nil
	case a.Reads != nil:
		return c.lookupReads(ctx, a.Action)
	}
	return c.lookup(ctx, c.resultsOf(a.Action), a.Action)
}

// resultsOf are those that the action's result belongs to: those of this machine, if it is nobody else's.
func (c *CachedExecutor) resultsOf(a *action.Action) store.Results {
	if s, ok := c.results.(store.Shared); ok && a.LocalOnly {
		return s.Here()
	}
	return c.results
}

func (c *CachedExecutor) lookup(ctx context.Context, results store.Results, a *action.Action) (*action.Result, bool, error) {
	r, err := results.Get(ctx, a.Key(c.fn))
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, &Error{Op: "look for the action's result", Err: err}
	}
	// remembered for a step that allows the exit code; or by somebody who takes others for it
	if !a.Succeeded(r.ExitCode) || !hasOutputs(a, r) {
		return nil, false, nil
	}
	ok, err := c.complete(ctx, r)
	if err != nil {
		return nil, false, &Error{Op: "look for the action's outputs", Err: err}
	}
	if !ok {
		return nil, false, nil
	}
	return r, true, nil
}

// complete tells whether all that r names is in the store.
func (c *CachedExecutor) complete(ctx context.Context, r *action.Result) (bool, error) {
	want := make([]digest.Digest, 0, len(r.Files)+2*len(r.Dirs))
	for _, f := range r.Files {
		want = append(want, f.Digest)
	}
	for _, d := range r.Dirs {
		want = append(want, d.Root)
		if !d.Tree.IsZero() {
			want = append(want, d.Tree)
		}
	}
	if missing, err := c.blobs.Missing(ctx, want); err != nil || len(missing) > 0 {
		return false, err
	}
	for _, d := range r.Dirs {
		if ok, err := c.completeDir(ctx, d); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// completeDir looks for all parts of a tree, once for each process.
func (c *CachedExecutor) completeDir(ctx context.Context, d action.OutputDir) (bool, error) {
	if c.installed != nil && c.installed(d.Root) {
		return true, nil
	}
	c.mu.Lock()
	known := c.whole[d.Root]
	c.mu.Unlock()
	if known {
		return true, nil
	}
	dir, err := merkle.LoadOutput(ctx, c.blobs, d)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	root, messages := dir.Encode(d.Root.Function())
	if root != d.Root {
		return false, nil // the Tree message is of another folder: whoever stored this result lied
	}
	var want []digest.Digest
	for m := range messages {
		want = append(want, m)
	}
	err = dir.Walk(func(_ string, e merkle.Entry) error {
		if e.File != nil {
			want = append(want, e.File.Digest)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if missing, err := c.blobs.Missing(ctx, want); err != nil || len(missing) > 0 {
		return false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whole[d.Root] = true
	return true, nil
}

// maxBeside is how many bytes of messages are kept beside a result. Larger ones, such as the Directory of a link's
// 10,000 inputs, go to the store, where actions share them.
const maxBeside = 16 << 10

// Execute implements Executor. The encoded Action and Command and the Directories of its inputs are kept too, for
// explaining later what a key was made of: beside the result if they are small, as a file for each would cost more
// than a small command does; else in the store.
func (c *CachedExecutor) Execute(ctx context.Context, a *Request) (*action.Result, error) {
	e := a.Encode(c.fn)
	messages := make(map[digest.Digest][]byte, len(a.Directories)+2)
	maps.Copy(messages, a.Directories)
	messages[e.Key], messages[c.fn.Bytes(e.Command)] = e.Action, e.Command
	var g errgroup.Group
	beside := messages
	if !fitBeside(a.Action, messages) {
		beside = nil
		g.Go(func() error { return c.keep(ctx, messages) })
	}
	r, err := c.next.Execute(ctx, a)
	if perr := g.Wait(); err == nil {
		err = perr
	}
	if err != nil {
		return nil, err
	}
	// The command is done; what it did is worth remembering even if the build is being stopped.
	ctx = context.WithoutCancel(ctx)
	succeeded := a.Succeeded(r.ExitCode)
	switch {
	case succeeded && a.Reads != nil:
		return c.rememberReads(ctx, a.Action, r)
	case !succeeded || a.DoNotCache || !hasOutputs(a.Action, r):
		return r, c.keep(ctx, beside)
	}
	return c.put(ctx, c.resultsOf(a.Action), e.Key, r, beside)
}

// fitBeside tells whether the messages are to be kept beside the action's result.
func fitBeside(a *action.Action, messages map[digest.Digest][]byte) bool {
	return size(messages) <= maxBeside && !a.DoNotCache && a.Reads == nil
}

func size(messages map[digest.Digest][]byte) (n int) {
	for _, b := range messages {
		n += len(b)
	}
	return n
}

// keep puts messages into the store.
func (c *CachedExecutor) keep(ctx context.Context, messages map[digest.Digest][]byte) error {
	for d, b := range messages {
		if err := c.blobs.Put(ctx, d, bytes.NewReader(b)); err != nil {
			return &Error{Op: "store the action", Err: err}
		}
	}
	return nil
}

func (c *CachedExecutor) put(ctx context.Context, results store.Results, key digest.Digest, r *action.Result, messages map[digest.Digest][]byte) (*action.Result, error) {
	if err := results.Put(ctx, key, r, messages); err != nil {
		return nil, &Error{Op: "remember the action's result", Err: fmt.Errorf("%s: %w", key.Short(), err)}
	}
	return r, nil
}

// hasOutputs tells whether every output that the command names came of it.
func hasOutputs(a *action.Action, r *action.Result) bool {
	for i, p := range a.Command.Outputs {
		if i < len(r.Files) && r.Files[i].Path == p { // most often
			continue
		}
		if !slices.ContainsFunc(r.Files, func(f action.OutputFile) bool { return f.Path == p }) && !slices.ContainsFunc(r.Dirs, func(d action.OutputDir) bool { return d.Path == p }) {
			return false
		}
	}
	return true
}
