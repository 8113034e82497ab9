package remote

import (
	"context"
	"slices"
	"sync"

	"github.com/hexmage/hexmage/internal/digest"
)

// finder asks the server what it lacks for many who ask at the same moment: who comes while others wait for their
// answers waits for the next call with all who came meanwhile. So a call has the more to ask the farther the server
// is.
type finder struct {
	c *Client

	mu      sync.Mutex
	asking  int // calls on their way
	waiting []*question
}

// question is what one of them asks.
type question struct {
	ds    []digest.Digest
	lacks map[digest.Digest]bool // also of what others asked
	err   error
	done  chan struct{} // closed when it is answered
}

// findAtOnce is how many calls are on their way at the same time.
const findAtOnce = 4

// missing is Client.missing, together with others.
func (f *finder) missing(ctx context.Context, ds []digest.Digest) (map[digest.Digest]bool, error) {
	q := &question{ds: ds, done: make(chan struct{})}
	f.mu.Lock()
	f.waiting = append(f.waiting, q)
	if f.asking < findAtOnce {
		f.asking++
		// others may still want to know what this one no longer does; a client that is closed ends it
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

// The limits of what is read in one message.
const (
	readTogether = 200 // blobs
	// so that several messages are on their way, and written here, at once; and each arrives in time over a slow line
	readTogetherBytes = 256 << 10
)

// batches are blobs that are read together.
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
