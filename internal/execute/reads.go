package execute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// For an action with a depfile, the cache lookup has two stages (see action.Reads). The result under the key of Broad
// has one output file, which lists read sets. A read set is the list of files that the command read in an earlier run.
// A read set and the current content of the files give the key of Narrow, under which the command's Result is stored.
// If a part is missing or corrupt, hexmage runs the action again.
const (
	maxReadSets = 8        // newest first; branches that are switched to and fro need a few
	maxReads    = 1 << 20  // paths of a set
	maxReadBlob = 64 << 20 // bytes
	maxDepfile  = 16 << 20 // bytes
	readsOutput = "reads"  // name of the output that the broad action's Result has
)

// lookupReads looks up the result by the sets of files that earlier runs of the action read.
func (c *cached) lookupReads(ctx context.Context, results store.Results, a *action.Action) (*action.Result, error) {
	sets, err := c.readSets(ctx, results, a.Reads.Broad())
	if err != nil {
		return nil, &Error{Op: "look up the files that earlier runs of the action read", Err: err}
	}
	for _, set := range sets {
		narrow, err := a.Reads.Narrow(ctx, set)
		if err != nil {
			continue // no set that this program would store; the next one may be better
		}
		if r, err := c.get(ctx, results, narrow); err != nil || r != nil {
			return r, err
		}
	}
	return nil, nil
}

// rememberReads checks the depfile, and caches the result under the files that it lists.
func (c *cached) rememberReads(ctx context.Context, a *action.Action, r *action.Result) (*action.Result, error) {
	name := a.Depfile
	i := slices.IndexFunc(r.Files, func(f action.OutputFile) bool { return f.Path == name })
	if i < 0 {
		return nil, &Error{Op: "read the depfile " + name, Refused: true,
			Err:    fmt.Errorf("the command ended with exit code %d but did not write the depfile", r.ExitCode),
			Remedy: "make the command write the depfile (gcc and clang: -MD -MF " + name + "), or remove `depfile`"}
	}
	text, err := store.ReadBlob(ctx, c.Blobs, r.Files[i].Digest, maxDepfile)
	if err != nil {
		return nil, &Error{Op: "read the depfile " + name, Err: err}
	}
	reads, err := a.Reads.Read(ctx, text, r.Root)
	if err != nil {
		return nil, err
	}
	if a.DoNotCache || !hasOutputs(a, r) {
		return r, nil
	}
	narrow, err := a.Reads.Narrow(ctx, reads)
	if err != nil {
		return nil, &Error{Op: "cache the result", Err: err}
	}
	broad, results := a.Reads.Broad(), c.resultsOf(a)
	sets, err := c.readSets(ctx, results, broad)
	if err != nil {
		return nil, &Error{Op: "look up the files that earlier runs of the action read", Err: err}
	}
	sets = slices.DeleteFunc(sets, func(s []string) bool { return slices.Equal(s, reads) })
	sets = append([][]string{reads}, sets...)
	sets = sets[:min(len(sets), maxReadSets)]
	blob := encodeReads(sets)
	for len(blob) > maxReadBlob { // one set is smaller: it is from a depfile
		sets = sets[:len(sets)-1]
		blob = encodeReads(sets)
	}
	at := c.Fn.Bytes(blob)
	if err := c.Blobs.Put(ctx, at, bytes.NewReader(blob)); err != nil {
		return nil, &Error{Op: "store the list of files that the action read", Err: err}
	}
	// The result first: a read set that leads to none is of no use.
	if err := c.remember(ctx, results, narrow, r); err != nil {
		return nil, err
	}
	if err := c.remember(ctx, results, broad,
		&action.Result{Files: []action.OutputFile{{Path: readsOutput, Digest: at}}, Duration: r.Duration}); err != nil {
		return nil, err
	}
	return r, nil
}

// remember is put for an action that never runs. What its key was made of is kept with it as far as it is small; else
// the Directories, which nothing but this action has, are not kept.
func (c *cached) remember(ctx context.Context, results store.Results, a *action.Action, r *action.Result) error {
	e := a.Encode(c.Fn)
	messages := map[digest.Digest][]byte{e.Key: e.Action, c.Fn.Bytes(e.Command): e.Command}
	all := maps.Clone(messages)
	maps.Copy(all, a.Directories)
	if size(all) > maxBeside {
		if err := c.keep(ctx, messages); err != nil {
			return err
		}
		all = nil
	}
	return c.put(ctx, results, e.Key, r, all)
}

// readSets returns the sets that are cached under the broad action's key. It returns none if the entry is missing or
// corrupt.
func (c *cached) readSets(ctx context.Context, results store.Results, broad *action.Action) ([][]string, error) {
	r, err := results.Get(ctx, broad.Key(c.Fn))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil || len(r.Files) != 1 || r.Files[0].Path != readsOutput ||
		r.Files[0].Digest.Size() > maxReadBlob {
		return nil, err
	}
	b, err := store.ReadBlob(ctx, c.Blobs, r.Files[0].Digest, maxReadBlob)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sets, err := decodeReads(b)
	if err != nil {
		return nil, nil // the blob is whole, but no read sets: another version's, or a lie; it is replaced
	}
	return sets, nil
}

// encodeReads ends each path and each set with a zero byte, which no path has.
func encodeReads(sets [][]string) (b []byte) {
	for _, set := range sets {
		for _, p := range set {
			b = append(append(b, p...), 0)
		}
		b = append(b, 0)
	}
	return b
}

func decodeReads(b []byte) (sets [][]string, err error) {
	for set := []string{}; len(b) > 0; {
		p, rest, ok := bytes.Cut(b, []byte{0})
		if !ok || len(sets) == maxReadSets || len(set) == maxReads {
			return nil, errors.New("malformed read sets")
		}
		if b = rest; len(p) > 0 {
			set = append(set, string(p))
			continue
		}
		sets, set = append(sets, set), []string{}
	}
	return sets, nil
}
