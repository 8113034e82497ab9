package execute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// CacheOptions are the settings of Cached.
type CacheOptions struct {
	Results store.Results
	Blobs   store.Blobs // store of all blobs of results
	Fn      digest.Function
	// Installed reports whether a complete tree is already unpacked on this machine (merkle.Trees.Has). If it is,
	// Cached does not check that the store has the files of the tree. nil: no tree is unpacked.
	Installed func(root digest.Digest) bool
	// Locks ensures that only one process at a time runs an action. A second process waits, and takes the result of the
	// first process. nil: several processes may run the same action.
	Locks *Locks
}

type cached struct {
	CacheOptions
	next Executor

	mu    sync.Mutex
	whole map[digest.Digest]bool // roots of trees whose parts were all in the store
}

// Cached returns an Executor that looks up the result of an action, and on a cache miss passes the action to next. It
// caches a result if the command wrote all outputs and returned 0 or another exit code that the action allows. A result
// from the cache has the field Cached set.
func Cached(next Executor, o CacheOptions) Executor {
	return &cached{CacheOptions: o, next: next, whole: map[digest.Digest]bool{}}
}

// errNotRemembered ends a request that only looks up.
var errNotRemembered = errors.New("no cached result")

// Lookup looks up the result of an action in the cache of the Executor x, without running anything. It returns nil and
// false if the cache lacks the result.
func Lookup(ctx context.Context, x Executor, a *Request) (*action.Result, bool, error) {
	own := *a
	own.Start = func(*Request) error { return errNotRemembered }
	r, err := x.Execute(ctx, &own)
	if errors.Is(err, errNotRemembered) {
		return nil, false, nil
	}
	return r, err == nil, err
}

// Execute implements Executor.
func (c *cached) Execute(ctx context.Context, a *Request) (*action.Result, error) {
	results := c.resultsOf(a.Action)
	if a.Force {
		results = hereOnly(c.Results) // only to see later whether another process remembers a new one
	}
	before, err := c.lookup(ctx, results, a.Action)
	if err != nil || before != nil && !a.Force {
		return before, err
	}
	if err := a.Begin(); err != nil {
		return nil, err
	}
	if a.DoNotCache || c.Locks == nil { // it runs each time, without a lock
		return c.run(ctx, a)
	}
	waited, unlock, err := c.Locks.lock(ctx, a, c.Fn)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if waited || !a.Force { // another process may have run it since the lookup
		r, err := c.lookup(ctx, hereOnly(c.Results), a.Action)
		if err != nil || r != nil && !reflect.DeepEqual(r, before) {
			return r, err
		}
	}
	return c.run(ctx, a)
}

// resultsOf returns the results that the action's belongs to: those of this machine, if it is LocalOnly.
func (c *cached) resultsOf(a *action.Action) store.Results {
	if a.LocalOnly {
		return hereOnly(c.Results)
	}
	return c.Results
}

// hereOnly returns the results of this machine.
func hereOnly(results store.Results) store.Results {
	if s, ok := results.(store.Shared); ok {
		return s.Here()
	}
	return results
}

// lookup returns the remembered result of the action, if the action allows it and everything that it names is in the
// store, or else nil.
func (c *cached) lookup(ctx context.Context, results store.Results, a *action.Action) (*action.Result, error) {
	switch {
	case a.DoNotCache:
		return nil, nil
	case a.Reads != nil:
		return c.lookupReads(ctx, results, a)
	}
	return c.get(ctx, results, a)
}

func (c *cached) get(ctx context.Context, results store.Results, a *action.Action) (*action.Result, error) {
	r, err := results.Get(ctx, a.Key(c.Fn))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Op: "look up the cached result", Err: err}
	}
	// Another step may allow this exit code; a shared cache may hold a result that lacks outputs.
	if !a.Succeeded(r.ExitCode) || !hasOutputs(a, r) {
		return nil, nil
	}
	ok, err := c.complete(ctx, r)
	if err != nil {
		return nil, &Error{Op: "look up the cached outputs", Err: err}
	}
	if !ok {
		return nil, nil
	}
	own := *r
	own.Cached = true
	return &own, nil
}

// complete tells whether all that r names is in the store.
func (c *cached) complete(ctx context.Context, r *action.Result) (bool, error) {
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
	if missing, err := c.Blobs.Missing(ctx, want); err != nil || len(missing) > 0 {
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
func (c *cached) completeDir(ctx context.Context, d action.OutputDir) (bool, error) {
	if c.Installed != nil && c.Installed(d.Root) {
		return true, nil
	}
	c.mu.Lock()
	known := c.whole[d.Root]
	c.mu.Unlock()
	if known {
		return true, nil
	}
	want, err := merkle.OutputBlobs(ctx, c.Blobs, d)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return false, nil // evicted, or the stored result is wrong
	}
	if err != nil {
		return false, err
	}
	if missing, err := c.Blobs.Missing(ctx, want); err != nil || len(missing) > 0 {
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

// run has the action executed and remembers its result. The encoded Action and Command and the Directories of its
// inputs are kept too, for explaining later what a key was made of: beside the result if they are small, as a file for
// each would cost more than a small command does; else in the store.
func (c *cached) run(ctx context.Context, a *Request) (*action.Result, error) {
	e := a.Encode(c.Fn)
	messages := make(map[digest.Digest][]byte, len(a.Directories)+2)
	maps.Copy(messages, a.Directories)
	messages[e.Key], messages[c.Fn.Bytes(e.Command)] = e.Action, e.Command
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
	// The command has ended: cache its result even if the build is being canceled.
	ctx = context.WithoutCancel(ctx)
	succeeded := a.Succeeded(r.ExitCode)
	switch {
	case succeeded && a.Reads != nil:
		return c.rememberReads(ctx, a.Action, r)
	case !succeeded || a.DoNotCache || !hasOutputs(a.Action, r):
		return r, c.keep(ctx, beside)
	}
	if err := c.put(ctx, c.resultsOf(a.Action), e.Key, r, beside); err != nil {
		return nil, err
	}
	return r, nil
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
func (c *cached) keep(ctx context.Context, messages map[digest.Digest][]byte) error {
	for d, b := range messages {
		if err := c.Blobs.Put(ctx, d, bytes.NewReader(b)); err != nil {
			return &Error{Op: "store the action", Err: err}
		}
	}
	return nil
}

func (c *cached) put(ctx context.Context, results store.Results, key digest.Digest, r *action.Result,
	messages map[digest.Digest][]byte) error {
	if err := results.Put(ctx, key, r, messages); err != nil {
		return &Error{Op: "cache the result", Err: fmt.Errorf("%s: %w", key.Short(), err)}
	}
	return nil
}

// hasOutputs tells whether every output that the command names came of it.
func hasOutputs(a *action.Action, r *action.Result) bool {
	for _, p := range a.Command.Outputs {
		if !slices.ContainsFunc(r.Files, func(f action.OutputFile) bool { return f.Path == p }) &&
			!slices.ContainsFunc(r.Dirs, func(d action.OutputDir) bool { return d.Path == p }) {
			return false
		}
	}
	return true
}
