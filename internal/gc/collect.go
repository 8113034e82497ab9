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

	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// CollectOptions say what may stay.
type CollectOptions struct {
	MaxSize int64         // bytes on the disk of the whole folder; 0: as many as there are
	MaxAge  time.Duration // since the last use; 0: any
	// what was used since then stays, whatever it is worth; zero: no time counts so. When something was used is known
	// to the hour
	Since  time.Time
	DryRun bool      // only say what would go
	Now    time.Time // what ages are counted from; zero: the time it is
}

// Collected is what a collection removed, or would.
type Collected struct {
	Groups []Group `json:"removed"`
	Freed  int64   `json:"freed_bytes"` // on the disk
	Before int64   `json:"bytes_before"`
	After  int64   `json:"bytes_after"`
	Broken int     `json:"broken_results"` // of the results, those that could not have been used

	RemovedSeconds float64 `json:"removed_seconds"` // that the commands took whose results went
	KeptSeconds    float64 `json:"kept_seconds"`    // and those whose results stayed
}

// Collect removes the items that were not used for MaxAge. While the folder is larger than MaxSize, it then removes
// the items that are worth least: see shrink. A result goes with the blobs and the unpacked trees that no other result
// names. Results that are corrupt or name a missing blob go at any age, and so do folders of earlier versions of
// hexmage. Other items that no result names stay until they are old or the space is wanted: the next build may use
// them.
//
// It fails with ErrInUse while a build runs. A dry run may run beside builds. If a crash or ctx ends it, the cache
// still works: a result goes before the items that it names.
func Collect(ctx context.Context, root string, o CollectOptions) (Collected, error) {
	var done func()
	var err error
	if o.DryRun {
		done, err = Use(ctx, root, nil)
	} else {
		done, err = UseAlone(ctx, root)
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

// checkpointAge is after which time nobody is expected to go on with what an action left.
const checkpointAge = 14 * 24 * time.Hour

// plan holds the items that will be removed.
type plan struct {
	s      *survey
	ledger *ledger
	gone   map[*item]bool
	chosen []*item // of gone, in the order in which they go
	sum    Collected
}

// newPlan returns a plan that removes only items without use.
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
		for _, c := range p.candidates(oldest) { // after the results, which no longer hold their blobs
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

// sort puts the items into the order in which they are removed, and counts them.
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

func (p *plan) carryOut(ctx context.Context) error {
	trees := merkle.NewTrees(string(p.s.root))
	for _, it := range p.chosen {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		var err error
		switch it.kind {
		case layout.Trees:
			err = trees.Remove(ctx, it.name)
		case layout.Results, layout.Blobs, layout.Executables:
			err = removeUnused(it)
		default:
			err = os.RemoveAll(it.path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeUnused removes a file, unless it was replaced since it was looked at. That cannot be while the lock is held
// by all who should; where locks do not work, it keeps a mistake to the smallest window there is.
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
