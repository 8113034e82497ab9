package gc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// CollectOptions are the limits for Collect.
type CollectOptions struct {
	MaxSize int64         // maximum size of the folder, in bytes on disk; 0: unlimited
	MaxAge  time.Duration // maximum time since the last use; 0: unlimited
	// Collect keeps all items whose last use was at or after this time, to the hour; zero: no such limit
	Since  time.Time
	DryRun bool      // report, but remove nothing
	Now    time.Time // time from which to count ages; zero: the current time
}

// Collected describes the items that Collect removed, or would have removed in a dry run.
type Collected struct {
	Groups []Group `json:"removed"`
	Freed  int64   `json:"freed_bytes"` // bytes on disk
	Before int64   `json:"bytes_before"`
	After  int64   `json:"bytes_after"`
	Broken int     `json:"broken_results"` // number of removed results that were corrupt or lacked a blob

	RemovedSeconds float64 `json:"removed_seconds"` // run time of the commands whose results were removed
	KeptSeconds    float64 `json:"kept_seconds"`    // run time of the commands whose results remain
}

// Collect removes items from the cache folder root. It first removes items that no build used for MaxAge. If the folder
// is still larger than MaxSize, it removes the least valuable items. When it removes a result, it also removes the
// result's blobs and unpacked trees, unless another result uses them. It always removes corrupt results, results with
// missing blobs, and folders of earlier hexmage versions. Other items that belong to no result stay until they are old
// or space is needed.
//
// Collect fails with ErrInUse if a build is running, unless DryRun is set. It removes a result before the items that
// belong to the result, so the cache works even after a crash or the end of ctx.
func Collect(ctx context.Context, root string, o CollectOptions) (Collected, error) {
	var done func()
	var err error
	if o.DryRun {
		done, err = LockShared(ctx, root, nil)
	} else {
		done, err = LockExclusive(ctx, root)
	}
	if err != nil {
		return Collected{}, err
	}
	defer done()
	s, err := readSurvey(ctx, root)
	if err != nil {
		return Collected{}, err
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	p := s.plan(o)
	if !o.DryRun {
		if err := p.carryOut(ctx); err != nil {
			return p.sum, fmt.Errorf("collect garbage: %w", err)
		}
		if err := s.root.Sweep(time.Hour); err != nil {
			return p.sum, fmt.Errorf("collect garbage: %w", err)
		}
	}
	return p.sum, nil
}

// checkpointAge is the age at which a checkpoint of an action is removed: a later run is unlikely to resume from it.
const checkpointAge = 14 * 24 * time.Hour

// plan holds the items that will be removed.
type plan struct {
	s      *survey
	ledger *ledger
	gone   map[*item]bool
	chosen []*item // the removed items, in order of removal
	sum    Collected
}

// newPlan returns a plan that removes only useless items.
func (s *survey) newPlan() *plan {
	p := &plan{s: s, ledger: newLedger(), gone: map[*item]bool{}}
	s.items(p.ledger.add)
	p.sum.Before = p.ledger.total
	for _, it := range s.others {
		if it.kind == layout.Obsolete {
			p.remove(it)
		}
	}
	for _, r := range s.results {
		if r.bad != nil {
			p.sum.Broken++
			p.remove(r.item)
		}
	}
	return p
}

func (s *survey) plan(o CollectOptions) *plan {
	p := s.newPlan()
	if o.MaxAge > 0 {
		oldest := o.Now.Add(-o.MaxAge)
		for _, r := range s.results {
			if r.used.Before(oldest) {
				p.drop(r, oldest)
			}
		}
		for _, c := range p.candidates(oldest) { // after the results, which then no longer hold their blobs
			if c.used.Before(oldest) {
				c.remove()
			}
		}
	}
	for _, it := range s.others {
		if it.kind == layout.Checkpoints && it.used.Before(o.Now.Add(-checkpointAge)) {
			p.remove(it)
		}
	}
	if o.MaxSize > 0 && p.ledger.total > o.MaxSize {
		p.shrink(o)
	}
	p.sum.After = p.ledger.total
	p.sum.Freed = p.sum.Before - p.sum.After
	p.sort()
	return p
}

// drop removes a result, and the items that only it needed. A blob that was used since the given time stays, because
// it has another use; a zero time means that none stays.
func (p *plan) drop(r *result, since time.Time) {
	if !p.remove(r.item) {
		return
	}
	r.release(func(b *blob) {
		if since.IsZero() || b.used.Before(since) {
			p.removeBlob(b)
		}
	}, func(u *unpacked) { p.remove(u.item) })
}

func (p *plan) removeBlob(b *blob) {
	p.remove(b.item)
	if b.exec != nil {
		p.remove(b.exec)
	}
}

func (p *plan) remove(it *item) bool {
	if p.gone[it] {
		return false
	}
	p.gone[it] = true
	p.ledger.remove(it)
	return true
}

// sort orders the items by removal and counts them.
func (p *plan) sort() {
	order := map[layout.Kind]int{}
	for i, k := range layout.Kinds() {
		order[k] = i
	}
	p.chosen = slices.SortedFunc(maps.Keys(p.gone), func(a, b *item) int {
		return cmp.Or(cmp.Compare(order[a.kind], order[b.kind]), strings.Compare(a.path, b.path))
	})
	p.sum.Groups = groups(func(f func(*item)) {
		for _, it := range p.chosen {
			f(it)
		}
	})
	p.sum.RemovedSeconds, p.sum.KeptSeconds = p.seconds(true), p.seconds(false)
}

// carryOut removes the chosen items. If it cannot remove an item, it continues with the items of the same kind. It
// keeps the kinds after that, because the item may refer to them.
func (p *plan) carryOut(ctx context.Context) error {
	trees := merkle.NewTrees(string(p.s.root))
	var first error
	failed := 0
	for i, it := range p.chosen {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if failed > 0 && p.chosen[i-1].kind != it.kind {
			break
		}
		var err error
		switch it.kind {
		case layout.Trees:
			err = trees.Remove(ctx, it.name)
		case layout.Results, layout.Blobs, layout.Executables:
			err = removeUnused(it)
		default:
			err = atomicfile.RemoveAll(it.path)
		}
		if err != nil {
			first = cmp.Or(first, err)
			failed++
		}
	}
	if failed > 1 {
		return fmt.Errorf("%w (and %d more)", first, failed-1)
	}
	return first
}

// removeUnused removes a file unless it was replaced since the survey. The lock prevents replacement. On file systems
// without locks, this check leaves the smallest possible window.
func removeUnused(it *item) error {
	st, err := os.Lstat(it.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	now, err := newItem(layout.Item{Kind: it.kind, Path: it.path, Digest: it.name, Info: st})
	if err != nil || len(now.inodes) != 1 || now.inodes[0].id != it.inodes[0].id {
		return err
	}
	if err := os.Remove(it.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
