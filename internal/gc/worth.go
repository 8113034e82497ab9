package gc

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// What a collection for size drops first: docs/design/0035.
//
// A result is worth the time that its action took. It is the less likely to be wanted the longer nobody used it. So
// of what is left, that goes first which has the least price: seconds to have it again, for each byte that is freed,
// for each hour since its last use. Of the bytes that it would free no more count than are to be freed still: one
// large thing does not go where a small one is enough.

// What something is taken to cost of which nobody knows how long it took, in bytes a second.
const (
	fromNetwork = 10e6  // what came from elsewhere, or may have
	fromDisk    = 200e6 // what is on this machine a second time
)

// leastSeconds is what a result costs at least of which nobody knows how long it took: it may be the way to another
// one.
const leastSeconds = 1

// candidate is what can go by itself.
type candidate struct {
	*item
	seconds float64 // to have it again
	bytes   int64   // that it frees; of what others need, too, its part
	age     float64 // hours
	result  *result // or nil
	blob    *blob   // or nil

	price float64 // when it was last looked at
}

// priceFor is what the candidate costs where so many bytes are to be freed. It grows as that gets less.
func (c *candidate) priceFor(want int64) float64 {
	return c.seconds / (float64(min(c.bytes, want)) * c.age)
}

// shrink removes candidates, the cheapest first, until what stays has no more than the size. Then it puts back what
// there is room for, the dearest first: something large may have freed more than was wanted, and what others need
// frees nothing.
func (p *plan) shrink(size int64, o CollectOptions) {
	if p.ledger.total <= size {
		return
	}
	now := o.Now
	stays := func(c *candidate) bool { return !o.Since.IsZero() && !c.used.Before(o.Since.Add(-disk.UsedEvery)) }
	all := queue(slices.DeleteFunc(p.candidates(now), stays))
	for _, c := range all {
		c.price = c.priceFor(p.ledger.total - size)
	}
	heap.Init(&all)
	var gone []*candidate
	for len(all) > 0 && p.ledger.total > size {
		c := all[0]
		if price := c.priceFor(p.ledger.total - size); price > c.price {
			c.price = price
			heap.Fix(&all, 0)
			continue
		}
		heap.Pop(&all)
		gone = append(gone, c)
		for _, b := range p.removeCandidate(c) {
			left := p.candidate(b.item, nil, b, now)
			left.price = left.priceFor(max(1, p.ledger.total-size))
			if !stays(left) {
				heap.Push(&all, left)
			}
		}
	}
	for _, c := range slices.Backward(gone) {
		p.putBack(c, size)
	}
}

// queue is a heap of candidates, the cheapest first. Of equal ones it is the oldest, and then the path decides, so
// that the same folder gives the same plan.
type queue []*candidate

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(cmp.Compare(a.price, b.price), a.used.Compare(b.used), strings.Compare(a.path, b.path)) < 0
}
func (q *queue) Push(c any) { *q = append(*q, c.(*candidate)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	c := (*q)[last]
	*q = (*q)[:last]
	return c
}

// candidate returns one, with what it costs, frees, and how old it is.
func (p *plan) candidate(it *item, r *result, b *blob, now time.Time) *candidate {
	c := &candidate{item: it, result: r, blob: b, age: max(now.Sub(it.used), disk.UsedEvery).Hours()}
	rate := fromDisk
	switch {
	case c.result != nil:
		c.bytes = max(1, p.shareOfResult(c.result))
		if c.seconds = c.result.took().Seconds(); c.seconds == 0 {
			c.seconds = max(leastSeconds, float64(c.bytes)/fromNetwork)
		}
		return c
	case c.blob != nil:
		c.bytes = p.shareOfBlob(c.blob)
	default:
		c.bytes = p.share(c.item)
		switch c.kind {
		case layout.Downloads, layout.Logs, layout.RunLogs, layout.Damaged:
			rate = fromNetwork
		}
	}
	c.bytes = max(1, c.bytes)
	if c.kind != layout.Checkpoints { // what those save is no result yet: they go before all else
		c.seconds = float64(c.bytes) / rate
	}
	return c
}

// shareOfResult is the bytes of the result and of all that it names. What several need counts in parts: so things go
// together that only together free anything. These are whole numbers, so that it is the same in whatever order it is
// added up.
func (p *plan) shareOfResult(r *result) int64 {
	sum := p.share(r.item)
	for _, b := range r.blobs {
		sum += p.shareOfBlob(b)
	}
	for _, f := range r.folders {
		own, ok := p.shares[f]
		if !ok {
			for _, b := range f.blobs {
				own += p.shareOfBlob(b)
			}
			if f.tree != nil {
				own += p.share(f.tree.item) / int64(max(1, f.tree.holds))
			}
			p.shares[f] = own
		}
		sum += own / int64(max(1, f.holds))
	}
	return sum
}

func (p *plan) shareOfBlob(b *blob) int64 {
	sum := p.share(b.item)
	if b.exec != nil {
		sum += p.share(b.exec)
	}
	return sum / int64(max(1, b.holds))
}

// share is the bytes of an item, of which those of files with several names count in parts.
func (p *plan) share(it *item) (sum int64) {
	for _, n := range it.inodes {
		names := 1
		if n.id.known() {
			names = max(1, p.ledger.names[n.id])
		}
		sum += n.bytes / int64(names)
	}
	return sum
}

// putBack keeps after all what was to go, with all that it needs, if there is room for it.
func (p *plan) putBack(c *candidate, size int64) {
	if p.ledger.total > size {
		return
	}
	var back []*item
	keep := func(it *item) {
		if p.keep(it) {
			back = append(back, it)
		}
	}
	keepBlob := func(b *blob) {
		keep(b.item)
		if b.exec != nil {
			keep(b.exec)
		}
	}
	keep(c.item)
	switch {
	case c.result != nil:
		c.result.hold()
		for _, b := range c.result.blobs {
			keepBlob(b)
		}
		for _, f := range c.result.folders {
			for _, b := range f.blobs {
				keepBlob(b)
			}
			if f.tree != nil {
				keep(f.tree.item)
			}
		}
	case c.blob != nil:
		keepBlob(c.blob)
	}
	if p.ledger.total <= size {
		return
	}
	if c.result != nil {
		c.result.release(func(*blob) {}, func(*unpacked) {})
	}
	for _, it := range back {
		p.remove(it)
	}
}

// took is how long the action ran whose result it is; 0 where nobody knows.
func (r *result) took() time.Duration {
	if r.value == nil {
		return 0
	}
	return r.value.Duration
}

// ran tells whether a command made the result. Under one that names no worker is only what a command once read: it is
// worth what that command is, whose own result is another one.
func (r *result) ran() bool { return r.bad == nil && r.value.Worker != "" }

// Made is a result that was dear.
type Made struct {
	Key     string   `json:"key"`
	Command []string `json:"command,omitempty"` // its arguments, where they are known
	Seconds float64  `json:"seconds"`           // that the command took
	Bytes   int64    `json:"bytes"`             // that would be free without it, and its part of what others need, too
}

// shown is how many results are named of those that go, and of those that stay.
const shown = 3

// seconds is how long the commands ran whose results stay, or go.
func (p *plan) seconds(gone bool) (sum float64) {
	for _, r := range p.s.results {
		if r.ran() && p.gone[r.item] == gone {
			sum += r.took().Seconds()
		}
	}
	return sum
}

// dearest are those of the results that stay, or go, that took the longest.
func (p *plan) dearest(gone bool) []Made {
	var all []*result
	for _, r := range p.s.results {
		if r.ran() && r.took() > 0 && p.gone[r.item] == gone {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *result) int {
		return cmp.Or(cmp.Compare(b.took(), a.took()), strings.Compare(a.path, b.path))
	})
	top := []Made{}
	for _, r := range all[:min(len(all), shown)] {
		top = append(top, Made{r.key.String(), p.s.args(r), r.took().Seconds(), p.shareOfResult(r)})
	}
	return top
}

// Smaller is what a smaller cache would lack of this one.
type Smaller struct {
	Bytes   int64   `json:"bytes"` // that it has
	Results int     `json:"lost_results"`
	Seconds float64 `json:"lost_seconds"` // that it takes to make those again
}

// smaller says so of three quarters, a half and a quarter of the present size. After it the plan is of no use.
func (p *plan) smaller(now time.Time) []Smaller {
	all := []Smaller{}
	for quarters := int64(3); quarters > 0; quarters-- {
		size := p.sum.Before / 4 * quarters
		if p.shrink(size, CollectOptions{Now: now}); p.ledger.total > size {
			break
		}
		lost := Smaller{Bytes: size, Seconds: p.seconds(true)}
		for _, r := range p.s.results {
			if p.gone[r.item] && r.ran() {
				lost.Results++
			}
		}
		all = append(all, lost)
	}
	return all
}
