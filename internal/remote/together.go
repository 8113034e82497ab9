package remote

import (
	"context"
	"slices"
	"sync"

	"github.com/hexmage/hexmage/internal/digest"
)

// finder batches concurrent questions for missing blobs. Callers that arrive while findAtOnce calls run share the next
// call, so a batch grows with the server's latency.
type finder struct {
	c *Client

	mu      sync.Mutex
	asking  int // calls in progress
	waiting []*question
}

// question is the request of one caller.
type question struct {
	ds    []digest.Digest
	lacks map[digest.Digest]bool // may include digests of other callers
	err   error
	done  chan struct{} // closed after the answer
}

// findAtOnce is the largest number of calls in progress.
const findAtOnce = 4

// missing is like Client.missing, in a batch with other callers.
func (f *finder) missing(ctx context.Context, ds []digest.Digest) (map[digest.Digest]bool, error) {
	q := &question{ds: ds, done: make(chan struct{})}
	f.mu.Lock()
	f.waiting = append(f.waiting, q)
	if f.asking < findAtOnce {
		f.asking++
		// other callers may still wait when this context ends; closing the client ends the call
		go f.ask(context.WithoutCancel(ctx))
	}
	f.mu.Unlock()
	select {
	case <-q.done:
		return q.lacks, q.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (f *finder) ask(ctx context.Context) {
	for {
		f.mu.Lock()
		all := f.waiting
		f.waiting = nil
		if len(all) == 0 {
			f.asking--
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
		var ds []digest.Digest
		seen := map[digest.Digest]bool{}
		for _, q := range all {
			for _, d := range q.ds {
				if !seen[d] {
					seen[d] = true
					ds = append(ds, d)
				}
			}
		}
		lacks, err := f.c.missing(ctx, ds)
		for _, q := range all {
			q.lacks, q.err = lacks, err
			close(q.done)
		}
	}
}

// Limits for one request that reads several blobs.
const (
	readTogether = 200 // blobs
	// bytes: small enough for parallel messages, and to arrive within the timeout on a slow line
	readTogetherBytes = 256 << 10
)

// batches groups blobs that one message reads.
func (is *capabilities) batches(ds []digest.Digest) (all [][]digest.Digest) {
	most := min(is.Batch, readTogetherBytes)
	slices.SortFunc(ds, func(a, b digest.Digest) int { return int(a.Function()) - int(b.Function()) })
	begin, size := 0, int64(0)
	for i, d := range ds {
		n := d.Size() + perBlob
		if i > begin && (size+n > most || i-begin == readTogether || d.Function() != ds[begin].Function()) {
			all, begin, size = append(all, ds[begin:i]), i, 0
		}
		size += n
	}
	if begin < len(ds) {
		all = append(all, ds[begin:])
	}
	return all
}
