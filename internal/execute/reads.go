package execute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Actions with a depfile are remembered in two steps (action.Reads). Under the key of the broad action is a Result
// with one output file: the read sets, each the paths that the command once read. A set with the contents of today
// makes the narrow action, under whose key the Result proper is. Anything that is damaged or gone on the way only
// means that the action runs again.
const (
	maxReadSets = 8        // newest first; branches that are switched to and fro need a few
	maxReads    = 1 << 20  // paths of a set
	maxReadBlob = 64 << 20 // bytes
	maxDepfile  = 16 << 20 // bytes
	readsOutput = "reads"  // name of the output that the broad action's Result has
)

// lookupReads looks for the result by what the action read when it ran before.
func (c *cached) lookupReads(ctx context.Context, results store.Results, a *action.Action) (*action.Result, error) {
	sets, err := c.readSets(ctx, results, a.Reads.Broad())
	if err != nil {
		return nil, &Error{Op: "look for what the action read", Err: err}
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

// rememberReads checks what the command says that it read, and remembers its result by that.
func (c *cached) rememberReads(ctx context.Context, a *action.Action, r *action.Result) (*action.Result, error) {
	name := a.Depfile
	i := slices.IndexFunc(r.Files, func(f action.OutputFile) bool { return f.Path == name })
	if i < 0 {
		return nil, &Error{Op: "read the depfile " + name, Refused: true,
			Err:    fmt.Errorf("the command ended with exit code %d but did not write it", r.ExitCode),
			Remedy: "make the command write it (gcc and clang: -MD -MF " + name + "), or leave `depfile` out"}
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
		return nil, &Error{Op: "remember the action's result", Err: err}
	}
	broad, results := a.Reads.Broad(), c.resultsOf(a)
	sets, err := c.readSets(ctx, results, broad)
	if err != nil {
		return nil, &Error{Op: "look for what the action read", Err: err}
	}
	sets = slices.DeleteFunc(sets, func(s []string) bool { return slices.Equal(s, reads) })
	sets = append([][]string{reads}, sets...)
	blob := encodeReads(sets[:min(len(sets), maxReadSets)])
	at := c.Fn.Bytes(blob)
	if err := c.Blobs.Put(ctx, at, bytes.NewReader(blob)); err != nil {
		return nil, &Error{Op: "store what the action read", Err: err}
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

// readSets returns what is remembered under the broad action's key; nothing when it is not there or damaged.
func (c *cached) readSets(ctx context.Context, results store.Results, broad *action.Action) ([][]string, error) {
	r, err := results.Get(ctx, broad.Key(c.Fn))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil || len(r.Files) != 1 || r.Files[0].Path != readsOutput {
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

// encodeReads writes a message with each set as field 1: a message with each path as field 1.
func encodeReads(sets [][]string) []byte {
	var b []byte
	for _, set := range sets {
		var m []byte
		for _, p := range set {
			m = protowire.AppendTag(m, 1, protowire.BytesType)
			m = protowire.AppendString(m, p)
		}
		b = protowire.AppendTag(b, 1, protowire.BytesType)
		b = protowire.AppendBytes(b, m)
	}
	return b
}

func decodeReads(b []byte) ([][]string, error) {
	var sets [][]string
	err := action.EachField(b, func(num protowire.Number, _ uint64, m []byte) error {
		if num != 1 || len(sets) == maxReadSets {
			return errors.New("these are no read sets")
		}
		set := []string{}
		err := action.EachField(m, func(num protowire.Number, _ uint64, m []byte) error {
			if num != 1 || len(m) == 0 || len(set) == maxReads {
				return errors.New("these are no read sets")
			}
			set = append(set, string(m))
			return nil
		})
		sets = append(sets, set)
		return err
	})
	return sets, err
}
