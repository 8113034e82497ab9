package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Blobs combines the local store (next) with the blobs of a remote. A blob counts as present if the remote has it. When
// a blob is first read, Blobs downloads it into next and checks the digest. Blobs implements store.Local if next does.
type Blobs struct {
	next store.Blobs
	c    *Client
	find *finder
	here func(digest.Digest) bool // reports blobs that the caller has elsewhere on this machine

	mu       sync.Mutex
	said     map[digest.Digest]bool     // blobs that the remote reported as present
	fetching map[digest.Digest]*fetched // downloads in progress
	lost     map[digest.Digest]error    // errors of blobs that the remote reported and did not send
}

// fetched is the outcome of a download, valid once done is closed.
type fetched struct {
	done chan struct{}
	err  error
}

// NewBlobs returns the blobs of the local store next, combined with the blobs of the remote. If the parameter here is
// not nil, it reports whether the caller has a blob elsewhere on this machine. Blobs does not request such blobs from
// the remote.
func NewBlobs(next store.Blobs, c *Client, here func(digest.Digest) bool) *Blobs {
	if here == nil {
		here = func(digest.Digest) bool { return false }
	}
	return &Blobs{next: next, c: c, find: &finder{c: c}, here: here, said: map[digest.Digest]bool{},
		fetching: map[digest.Digest]*fetched{}, lost: map[digest.Digest]error{}}
}

// Open implements store.Blobs.
func (b *Blobs) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	r, err := b.next.Open(ctx, d)
	if !errors.Is(err, store.ErrNotFound) {
		return r, err
	}
	if ferr := b.fetch(ctx, d); ferr != nil {
		return nil, missed(err, ferr)
	}
	return b.next.Open(ctx, d)
}

// missed combines the errors of this machine's store and of the download of a blob.
func missed(here, there error) error {
	var lost *LostError
	switch {
	case errors.As(there, &lost):
		return fmt.Errorf("%w: %w", lost, here)
	case errors.Is(there, store.ErrNotFound):
		return here
	}
	return there // of this machine's store or of the context
}

// Put implements store.Blobs. It stores the blob only on this machine.
func (b *Blobs) Put(ctx context.Context, d digest.Digest, r io.Reader) error {
	return b.next.Put(ctx, d, r)
}

// Missing implements store.Blobs.
func (b *Blobs) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
	missing, err := b.next.Missing(ctx, ds)
	if err != nil || len(missing) == 0 || b.c.Out() != nil {
		return missing, err
	}
	missing = slices.DeleteFunc(missing, b.here)
	var ask []digest.Digest
	b.mu.Lock()
	for _, d := range missing {
		if !b.said[d] && !b.c.lacks(d) {
			ask = append(ask, d)
		}
	}
	b.mu.Unlock()
	lacks := map[digest.Digest]bool{}
	if len(ask) > 0 {
		if lacks, err = b.find.missing(ctx, ask); err != nil {
			return missing, context.Cause(ctx)
		}
	}
	b.mu.Lock()
	for _, d := range ask {
		b.said[d] = !lacks[d]
	}
	defer b.mu.Unlock()
	return slices.DeleteFunc(missing, func(d digest.Digest) bool { return b.said[d] }), nil
}

// atOnce is the largest number of parallel downloads for one call.
const atOnce = 16

// Fetch implements store.Fetcher.
func (b *Blobs) Fetch(ctx context.Context, ds iter.Seq[digest.Digest]) {
	if b.c.Out() != nil {
		return
	}
	var want []digest.Digest
	b.mu.Lock()
	for d := range ds {
		if b.said[d] {
			want = append(want, d)
		}
	}
	b.mu.Unlock()
	missing, err := b.next.Missing(ctx, want)
	if missing = slices.DeleteFunc(missing, b.here); err == nil && len(missing) > 0 {
		_ = b.fetchAll(ctx, missing) // Open reports the error of a blob
	}
}

// fetchAll downloads missing blobs, small ones in batches.
func (b *Blobs) fetchAll(ctx context.Context, ds []digest.Digest) error {
	is, err := b.c.able(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return store.ErrNotFound
	}
	small, rest := b.claim(ds, is)
	var g errgroup.Group // no context that ends with the first error: another goroutine may wait for the next blob
	g.SetLimit(atOnce)
	for _, batch := range is.batches(slices.Collect(maps.Keys(small))) {
		g.Go(func() error { return b.fetchTogether(ctx, is, batch, small) })
	}
	for _, d := range rest {
		g.Go(func() error { return b.fetch(ctx, d) })
	}
	return g.Wait()
}

// claim reserves small blobs that no other goroutine downloads. rest are the other blobs.
func (b *Blobs) claim(ds []digest.Digest, is *capabilities) (mine map[digest.Digest]*fetched, rest []digest.Digest) {
	mine = map[digest.Digest]*fetched{}
	for _, d := range ds {
		if d.Size() == 0 || !is.small(d) || b.c.lacks(d) || b.here(d) {
			rest = append(rest, d)
			continue
		}
		b.mu.Lock()
		switch {
		case mine[d] != nil:
		case b.fetching[d] != nil:
			rest = append(rest, d)
		default:
			mine[d] = &fetched{done: make(chan struct{})}
			b.fetching[d] = mine[d]
		}
		b.mu.Unlock()
	}
	return mine, rest
}

// fetchTogether downloads blobs in one message and sets the outcome of each in mine. It returns the first error.
func (b *Blobs) fetchTogether(ctx context.Context, is *capabilities, ds []digest.Digest,
	mine map[digest.Digest]*fetched) (first error) {
	all, err := b.c.readTogether(ctx, is, ds)
	for _, d := range ds {
		f, from := mine[d], all[d]
		if err != nil {
			from.err = err
		}
		if f.err = from.err; f.err == nil {
			f.err = b.next.Put(ctx, d, bytes.NewReader(from.content))
		}
		f.err = b.judge(ctx, d, f.err, from.err != nil)
		if first == nil {
			first = f.err
		}
		b.mu.Lock()
		delete(b.fetching, d)
		b.mu.Unlock()
		close(f.done)
	}
	return first
}

// take downloads outputs of an action that the server just ran. Blobs that it once lacked are requested again.
func (b *Blobs) take(ctx context.Context, ds []digest.Digest) error {
	missing, err := b.next.Missing(ctx, ds)
	if err != nil {
		return err
	}
	missing = slices.DeleteFunc(missing, b.here)
	b.c.mu.Lock()
	for _, d := range missing {
		delete(b.c.absent, d)
	}
	b.c.mu.Unlock()
	return b.fetchAll(ctx, missing)
}

// fetch downloads the blob into next. Concurrent callers share one download. The error wraps store.ErrNotFound if the
// remote is the cause.
func (b *Blobs) fetch(ctx context.Context, d digest.Digest) error {
	for {
		if b.c.lacks(d) || b.here(d) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if err := b.lost[d]; err != nil { // the batch that downloaded it had no caller for this blob's error
				return err
			}
			return store.ErrNotFound
		}
		b.mu.Lock()
		f, others := b.fetching[d]
		if !others {
			f = &fetched{done: make(chan struct{})}
			b.fetching[d] = f
		}
		b.mu.Unlock()
		if !others {
			f.err = b.fetchNow(ctx, d)
			b.mu.Lock()
			delete(b.fetching, d)
			b.mu.Unlock()
			close(f.done)
			return f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if f.err == nil || errors.Is(f.err, store.ErrNotFound) {
			return f.err
		} // the other caller's context may have ended: try again
	}
}

func (b *Blobs) fetchNow(ctx context.Context, d digest.Digest) error {
	var err error
	if d.Size() == 0 { // servers need not know the empty blob
		err = b.next.Put(ctx, d, bytes.NewReader(nil))
		if err == nil || !errors.Is(err, store.ErrCorrupt) {
			return err
		}
	} else {
		from, to := io.Pipe()
		go func() { to.CloseWithError(b.c.read(ctx, d, to)) }()
		err = b.next.Put(ctx, d, &remoteReader{r: from})
		from.CloseWithError(errors.New("the store needs no more data"))
	}
	var theirs *remoteError
	return b.judge(ctx, d, err, errors.As(err, &theirs))
}

// judge returns the error of a download that ended with err. theirs: the remote caused err, not this machine's store.
func (b *Blobs) judge(ctx context.Context, d digest.Digest, err error, theirs bool) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !theirs && !errors.Is(err, store.ErrCorrupt):
		return err // such as a full disk
	}
	return b.lose(d, err)
}

// remoteError is an error of reading from the remote.
type remoteError struct{ error }

func (e *remoteError) Unwrap() error { return e.error }

// remoteReader marks errors of the remote, to distinguish them from errors of the store that reads.
type remoteReader struct{ r io.Reader }

func (r *remoteReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		err = &remoteError{err}
	}
	return n, err
}

// lacks reports whether the server failed to send the blob earlier.
func (c *Client) lacks(d digest.Digest) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.absent[d]
}

// lose records that the remote does not send the blob, and returns the error.
func (b *Blobs) lose(d digest.Digest, err error) (lost error) {
	defer func() {
		b.mu.Lock()
		b.lost[d] = lost
		b.mu.Unlock()
	}()
	b.mu.Lock()
	said := b.said[d]
	delete(b.said, d)
	b.mu.Unlock()
	b.c.mu.Lock()
	b.c.absent[d] = true
	b.c.mu.Unlock()
	if errors.Is(err, ErrDisabled) || !said && !errors.Is(err, store.ErrCorrupt) {
		if said {
			return &LostError{Name: b.c.o.Name, Digest: d, Err: fmt.Errorf("%w: %w", err, store.ErrNotFound)}
		}
		return store.ErrNotFound // the remote never reported it as present
	}
	why := reason(err, b.c.o)
	if errors.Is(err, store.ErrCorrupt) {
		why = errors.New("the content does not match its digest")
	}
	b.c.mu.Lock()
	b.c.lost++
	often := b.c.lost >= maxLost
	b.c.mu.Unlock()
	if often {
		_ = b.c.leave(fmt.Errorf("the server reported %d blobs as present but failed to send them: %w", maxLost, why))
	}
	return &LostError{Name: b.c.o.Name, Digest: d, Err: fmt.Errorf("%w: %w", why, store.ErrNotFound)}
}

// Link implements store.Local if the local store does.
func (b *Blobs) Link(ctx context.Context, d digest.Digest, path string, executable bool) error {
	l, ok := b.next.(store.Local)
	if !ok {
		return fmt.Errorf("link %s: %w", d, errors.ErrUnsupported)
	}
	err := l.Link(ctx, d, path, executable)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if ferr := b.fetch(ctx, d); ferr != nil {
		return missed(err, ferr)
	}
	return l.Link(ctx, d, path, executable)
}

// Adopt implements store.Local if the local store does.
func (b *Blobs) Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	l, ok := b.next.(store.Local)
	if !ok {
		return digest.Digest{}, fmt.Errorf("adopt %s: %w", path, errors.ErrUnsupported)
	}
	return l.Adopt(ctx, fn, path)
}

// Ref implements store.Local.
func (b *Blobs) Ref(d digest.Digest) (store.Ref, bool) {
	if l, ok := b.next.(store.Local); ok {
		return l.Ref(d)
	}
	return store.Ref{}, false
}
