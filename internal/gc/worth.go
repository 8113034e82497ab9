package gc

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Speeds in bytes per second, for estimating the cost of items whose creation time is unknown.
const (
	fromNetwork = 10e6  // downloads, logs, results without a time
	fromDisk    = 200e6 // items with a second copy on this machine: inputs, unpacked trees
)

// leastSeconds is the minimum cost of a result with an unknown run time, since other results may depend on it.
const leastSeconds = 1

// candidate is an item that can be removed alone.
type candidate struct {
	*item
	remove  func()
	seconds float64 // cost to make it again
	bytes   int64   // freed bytes; shared bytes count in parts
}

// shrink removes candidates until the rest has at most o.MaxSize bytes. Docs/design/0003 has the order: the fewest
// seconds to make the item again, for each byte that it frees and for each hour since its last use. At most the bytes
// that are to be freed count: a large result stays if a small one is enough.
func (p *plan) shrink(o CollectOptions) {
	want := p.ledger.total - o.MaxSize
	score := func(c *candidate) float64 {
		age := max(o.Now.Sub(c.used), disk.UsedEvery).Hours()
		return c.seconds / (float64(min(c.bytes, want)) * age)
	}
	var since time.Time
	if !o.Since.IsZero() {
		since = o.Since.Add(-disk.UsedEvery)
	}
	all := p.candidates(since)
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(score(a), score(b)), a.used.Compare(b.used), strings.Compare(a.path, b.path))
	})
	for _, c := range all {
		if p.ledger.total <= o.MaxSize {
			return
		}
		if since.IsZero() || c.used.Before(since) {
			c.remove()
		}
	}
}

// candidates returns the results, and the items that no remaining result names. See drop for since.
func (p *plan) candidates(since time.Time) []*candidate {
	var all []*candidate
	add := func(it *item, bytes int64, seconds float64, remove func()) {
		if !p.gone[it] {
			all = append(all, &candidate{it, remove, seconds, max(1, bytes)})
		}
	}
	addItem := func(it *item, rate float64) {
		bytes := p.share(it)
		add(it, bytes, float64(bytes)/rate, func() { p.remove(it) })
	}
	folders := map[*folder]int64{}
	for _, r := range p.s.results {
		bytes := p.shareOfResult(r, folders)
		seconds := cmp.Or(r.took().Seconds(), max(leastSeconds, float64(bytes)/fromNetwork))
		add(r.item, bytes, seconds, func() { p.drop(r, since) })
	}
	for _, b := range p.s.blobs {
		if b.holds == 0 {
			bytes := p.shareOfBlob(b)
			add(b.item, bytes, float64(bytes)/fromDisk, func() { p.removeBlob(b) })
		}
	}
	for _, it := range p.s.copies {
		addItem(it, fromDisk)
	}
	for _, u := range p.s.trees {
		if u.holds == 0 {
			addItem(u.item, fromDisk)
		}
	}
	for _, it := range p.s.others {
		switch it.kind {
		case layout.Downloads, layout.Logs, layout.RunLogs, layout.Damaged:
			addItem(it, fromNetwork)
		case layout.Requests:
			addItem(it, fromDisk)
		case layout.Checkpoints: // first: no result depends on one
			add(it, p.share(it), 0, func() { p.remove(it) })
		}
	}
	return all
}

// shareOfResult returns the bytes of the result and of the items that it names. Bytes that several results need count
// for each in parts: thus results that free bytes only together are removed together. The sums are integers, so the
// order of addition does not matter. folders caches the bytes of folders.
func (p *plan) shareOfResult(r *result, folders map[*folder]int64) int64 {
	sum := p.share(r.item)
	for _, b := range r.blobs {
		sum += p.shareOfBlob(b)
	}
	for _, f := range r.folders {
		own, ok := folders[f]
		if !ok {
			for _, b := range f.blobs {
				own += p.shareOfBlob(b)
			}
			if f.tree != nil {
				own += p.share(f.tree.item) / int64(max(1, f.tree.holds))
			}
			folders[f] = own
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

// share returns the bytes of an item. The bytes of a file with several names count in parts.
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

// took returns how long the result's action ran, 0 if that is unknown.
func (r *result) took() time.Duration {
	if r.value == nil {
		return 0
	}
	return r.value.Duration
}

// seconds returns the run time of the commands of removed or remaining results. It skips results without a worker:
// these are the list of files that a command with a depfile read, and the command's own result has its time.
func (p *plan) seconds(gone bool) (sum float64) {
	for _, r := range p.s.results {
		if r.bad == nil && r.value.Worker != "" && p.gone[r.item] == gone {
			sum += r.took().Seconds()
		}
	}
	return sum
}
