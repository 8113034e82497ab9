package gc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Settle deals with damage that is on record, whoever found it; where there is none it costs next to nothing. Files that were found
// damaged and are still in their place are moved away, so that nothing reads them. Then what may have been made from damage goes:
// results, snapshots, folders of inputs that are kept laid out. It returns how many results that were.
//
// The second part must be alone. While a build runs, the records stay as they are: the build may be about to remember what it makes of a
// damaged file. Whoever looks results up meanwhile leaves out those that rest on what is on record (execute.Undamaged).
func Settle(ctx context.Context, root string) (dropped int, err error) {
	records, err := disk.Damages(root)
	if err != nil || len(records) == 0 {
		return 0, err
	}
	done, err := UseAlone(ctx, root)
	alone := err == nil
	if errors.Is(err, ErrInUse) {
		done, err = Use(ctx, root, nil)
	}
	if err != nil {
		return 0, err
	}
	defer done()
	return settle(ctx, root, alone)
}

func settle(ctx context.Context, root string, alone bool) (dropped int, err error) {
	records, err := disk.Damages(root)
	if err != nil || len(records) == 0 {
		return 0, err
	}
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		return 0, err
	}
	v := newVerifier(newSurvey(root), VerifyOptions{Repair: true})
	v.repair = blobs
	for _, d := range records {
		if err := v.outOfTheWay(ctx, d); err != nil {
			return 0, err
		}
	}
	if !alone {
		return 0, nil
	}
	if v.s, err = readSurvey(ctx, root); err != nil {
		return 0, err
	}
	err = v.suspects(ctx)
	return v.found.Suspect, err
}

// outOfTheWay sees to it that nothing reads what was found damaged. What is in its place may have been made anew since.
func (v *verifier) outOfTheWay(ctx context.Context, d disk.Damage) error {
	switch d.Place {
	case disk.Executable: // nobody misses it
		if err := os.Remove(v.s.root.File(layout.Executables, d.Of)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	case disk.Unpacked:
		trees := merkle.NewTrees(string(v.s.root))
		dir, ok := trees.Find(d.Of)
		if !ok {
			return nil
		}
		text, err := v.tree(ctx, &unpacked{item: &item{path: dir}, name: d.Of})
		if err == nil && text != "" {
			err = trees.Remove(ctx, d.Of)
		}
		return err
	default:
		_, err := v.blobAway(ctx, d.Of)
		return err
	}
	return nil
}

// suspects reports results that may be wrong, and drops them, with those that were found damaged. A command that read a damaged file made outputs that are whole and wrong. So a result is
// suspect if its inputs hold a blob or a tree that was found damaged, now or since the last repair; and if nobody knows its inputs any
// more. Results made from wrong outputs are right: their keys are of these outputs, which nothing asks for once the suspect one is gone.
func (v *verifier) suspects(ctx context.Context) error {
	records, err := disk.Damages(string(v.s.root))
	if err != nil {
		return err
	}
	for _, d := range records {
		v.damaged[d.Of] = true
	}
	if len(v.damaged) == 0 {
		return nil
	}
	var search merkle.Search
	for _, r := range v.s.results {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if r.bad != nil {
			continue
		}
		why := v.s.reason(ctx, r, &search, v.damaged)
		if why == "" {
			continue
		}
		v.found.Suspect++
		if err := v.add(Problem{Kind: layout.Results, Path: r.path, Text: why}, drop(r)); err != nil {
			return err
		}
	}
	if !v.o.Repair {
		return nil
	}
	// A snapshot would have the next run believe that nothing is to be done, and what was moved away would stay away. A folder that is kept
	// has links to files, which a damaged one does not leave by being moved away.
	for _, dir := range []string{v.s.root.State().Snapshots(), v.s.root.DirPool()} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("forget what may be wrong: %w", err)
		}
	}
	// No crash may take back what was done and leave the word that it was done.
	if err := atomicfile.SyncTree(string(v.s.root)); err != nil {
		return err
	}
	for _, d := range records {
		if err := d.Settle(); err != nil {
			return err
		}
	}
	return nil
}

// reason says why the result may be wrong, "" if it is not.
func (s *survey) reason(ctx context.Context, r *result, search *merkle.Search, damaged map[digest.Digest]bool) string {
	const unknown = "something in the cache was damaged, and nobody knows whether this was made from it"
	hit, err := s.inputs(ctx, r, search, func(d digest.Digest) bool { return damaged[d.Unsized()] })
	switch {
	case hit:
		return "it was made from something that was found damaged, and may be wrong"
	case err != nil:
		return unknown
	}
	return ""
}

// inputs looks through all that the result was made from, as far as that is known: else it fails.
func (s *survey) inputs(ctx context.Context, r *result, search *merkle.Search, found func(digest.Digest) bool) (bool, error) {
	a, _, blobs, err := s.load(ctx, r)
	if err != nil {
		return false, err
	}
	return search.In(ctx, blobs, a.InputRoot, found)
}
