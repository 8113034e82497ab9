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
	"github.com/hexmage/hexmage/internal/store/disk"
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
	DearestRemoved []Made  `json:"dearest_removed"` // that took longest
	DearestKept    []Made  `json:"dearest_kept"`
}

// Collect removes what was not used for MaxAge; then, while the folder is larger than MaxSize, what is worth least of
// what is left: see shrink. A result goes with the blobs and the unpacked tree that no other result names. Results
// that cannot be used, as they are damaged or name what is not there, go at any age; so does what earlier versions of
// hexmage remembered. Nothing else does: what no result names stays, too, until it is old or the space is wanted, as
// the next build may use it again.
//
// It fails with ErrInUse while a build runs. Ended at any moment, by a crash or by ctx, it leaves a cache that works,
// as results go before what they name. A dry run is let in beside builds.
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

// plan is what will be removed.
type plan struct {
	s      *survey
	ledger *ledger
	shares map[*folder]int64 // see shareOfResult; of the present round
	gone   map[*item]bool
	chosen []*item // of gone, in the order in which they go
	sum    Collected
}

// newPlan returns a plan in which only goes what is of no use.
func (s *survey) newPlan() *plan {
	p := &plan{s: s, ledger: newLedger(), shares: map[*folder]int64{}, gone: map[*item]bool{}}
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
			p.drop(r)
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
				p.drop(r)
			}
		}
		for _, c := range p.candidates(o.Now) { // after the results: what only they named is a candidate now
			if c.used.Before(oldest) {
				p.removeCandidate(c)
			}
		}
	}
	for _, it := range s.others {
		if it.kind == layout.Checkpoints && it.used.Before(o.Now.Add(-checkpointAge)) {
			p.remove(it)
		}
	}
	if o.MaxSize > 0 {
		p.shrink(o.MaxSize, o)
	}
	p.sum.After = p.ledger.total
	p.sum.Freed = p.sum.Before - p.sum.After
	p.sort()
	return p
}

// candidates returns what can go by itself: results, and what none of those that stay names.
func (p *plan) candidates(now time.Time) []*candidate {
	var all []*candidate
	p.shares = map[*folder]int64{}
	add := func(it *item, r *result, b *blob) {
		if !p.gone[it] {
			all = append(all, p.candidate(it, r, b, now))
		}
	}
	for _, r := range p.s.results {
		add(r.item, r, nil)
	}
	for _, b := range p.s.blobs {
		if b.holds == 0 {
			add(b.item, nil, b)
		}
	}
	for _, it := range p.s.copies {
		add(it, nil, nil)
	}
	for _, u := range p.s.trees {
		if u.holds == 0 {
			add(u.item, nil, nil)
		}
	}
	for _, it := range p.s.others {
		switch it.kind {
		case layout.Downloads, layout.Logs, layout.RunLogs, layout.Requests, layout.Checkpoints, layout.Damaged:
			add(it, nil, nil)
		}
	}
	return all
}

// removeCandidate removes it, and returns what it left behind: see drop.
func (p *plan) removeCandidate(c *candidate) (left []*blob) {
	switch {
	case c.result != nil:
		return p.drop(c.result)
	case c.blob != nil:
		p.removeBlob(c.blob)
	default:
		p.remove(c.item)
	}
	return nil
}

// drop removes a result, and what only it needed. Its blobs are often younger than itself by the moment in which they
// were made durable; but one that was used long after it has another use, and is left behind.
func (p *plan) drop(r *result) (left []*blob) {
	if !p.remove(r.item) {
		return nil
	}
	late := r.used.Add(2 * disk.UsedEvery)
	r.release(func(b *blob) {
		if b.used.Before(late) {
			p.removeBlob(b)
		} else if !p.gone[b.item] {
			left = append(left, b)
		}
	}, func(u *unpacked) { p.remove(u.item) })
	return left
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

// keep is the inverse of remove.
func (p *plan) keep(it *item) bool {
	if !p.gone[it] {
		return false
	}
	delete(p.gone, it)
	p.ledger.add(it)
	return true
}

// sort puts what is to go into the order in which it goes, and counts it.
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
	p.sum.RemovedSeconds, p.sum.DearestRemoved = p.seconds(true), p.dearest(true)
	p.sum.KeptSeconds, p.sum.DearestKept = p.seconds(false), p.dearest(false)
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
