package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// Results combines the local results with the results of a remote.
type Results struct {
	next  store.Results
	blobs *Blobs
	c     *Client
	send  *sender // nil: no uploads

	mu     sync.Mutex
	missed map[digest.Digest]bool // keys that the remote had no result for
}

// NewResults returns the results of the local store next, combined with the results of the remote that blobs uses. If
// upload is true, Put also sends results to the remote in the background. Call Finish to wait for the uploads.
func NewResults(next store.Results, blobs *Blobs, upload bool) *Results {
	r := &Results{next: next, blobs: blobs, c: blobs.c, missed: map[digest.Digest]bool{}}
	if upload {
		r.send = newSender(blobs.c, blobs.next)
	}
	return r
}

// Here implements store.Shared.
func (r *Results) Here() store.Results { return r.next }

// Get implements store.Results. A result from the remote is a hit only if the remote also has every blob in the result.
func (r *Results) Get(ctx context.Context, key digest.Digest) (*action.Result, error) {
	own, err := r.next.Get(ctx, key)
	if !errors.Is(err, store.ErrNotFound) {
		return own, err
	}
	r.mu.Lock()
	missed := r.missed[key]
	r.mu.Unlock()
	if missed || r.c.Out() != nil {
		return nil, err
	}
	found, rerr := r.ask(ctx, key)
	switch {
	case rerr == nil:
		return found, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	r.mu.Lock()
	r.missed[key] = true
	r.mu.Unlock()
	return nil, err
}

// ask returns the remote's result for the key. Any error but the context's is a cache miss.
func (r *Results) ask(ctx context.Context, key digest.Digest) (*action.Result, error) {
	m, err := r.c.result(ctx, key)
	if err != nil {
		return nil, err
	}
	found, err := decode(ctx, r.blobs, m, key.Function())
	if err != nil {
		return nil, err
	}
	want, err := contents(ctx, r.blobs, found)
	if err != nil {
		return nil, err
	}
	missing, err := r.blobs.Missing(ctx, want)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("the server no longer has blob %s: %w", missing[0], store.ErrNotFound)
	}
	return found, err
}

// contents returns the digests of all blobs of a result, including the contents of its folders.
func contents(ctx context.Context, blobs store.Blobs, r *action.Result) (want []digest.Digest, err error) {
	for _, f := range r.Files {
		want = append(want, f.Digest)
	}
	for _, d := range r.Dirs {
		all, err := merkle.OutputBlobs(ctx, blobs, d)
		if err != nil {
			return nil, err
		}
		want = append(want, all...)
	}
	return want, nil
}

// Put implements store.Results.
func (r *Results) Put(ctx context.Context, key digest.Digest, result *action.Result,
	messages map[digest.Digest][]byte) error {
	if err := r.next.Put(ctx, key, result, messages); err != nil {
		return err
	}
	if r.send != nil && result.Varies == "" { // a result that depends on this machine is not shared
		r.send.add(key, result, messages)
	}
	return nil
}

// Messages implements store.Results.
func (r *Results) Messages(ctx context.Context, key digest.Digest) (map[digest.Digest][]byte, error) {
	return r.next.Messages(ctx, key)
}

// Finish waits for pending uploads, but not longer than UploadWait, and reports results that could not be sent. After
// Finish, Results sends nothing.
func (r *Results) Finish(ctx context.Context) {
	if r.send != nil {
		r.send.finish(ctx)
	}
}

// sender uploads results in the background. It batches pending results, since each call costs a round trip.
type sender struct {
	c     *Client
	blobs store.Blobs   // of this machine
	stop  chan struct{} // closed: start no more uploads
	all   sync.WaitGroup

	mu      sync.Mutex
	off     bool     // uploads are disabled
	queue   []parcel // pending uploads
	sending int      // goroutines that send
	left    int      // results that are not sent yet
}

// parcel is a result to upload.
type parcel struct {
	key       digest.Digest
	result    *action.Result // without its output text
	encode    *repb.ActionResult
	messages  map[digest.Digest][]byte
	namespace digest.Digest // digest of the message that is the server's key; zero: no namespace
}

const (
	sendAtOnce   = 4   // goroutines
	sendTogether = 100 // results
	putAtOnce    = 32  // parallel updates of results, after their blobs are uploaded: the API takes one result a call
)

func newSender(c *Client, blobs store.Blobs) *sender {
	return &sender{c: c, blobs: blobs, stop: make(chan struct{})}
}

// add queues the result for upload. It returns at once and copies its arguments.
func (s *sender) add(key digest.Digest, r *action.Result, messages map[digest.Digest][]byte) {
	m, err := encode(r)
	if err != nil {
		return
	}
	p := parcel{key: key, encode: m, result: &action.Result{Files: slices.Clone(r.Files), Dirs: slices.Clone(r.Dirs)},
		messages: make(map[digest.Digest][]byte, len(messages))}
	for d, b := range messages {
		p.messages[d] = bytes.Clone(b)
	}
	if m := s.c.namespace(key); m != nil {
		p.namespace = key.Function().Bytes(m)
		p.messages[p.namespace] = m
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off {
		return
	}
	s.left++
	if s.queue = append(s.queue, p); s.sending < sendAtOnce {
		s.sending++
		s.all.Go(s.run)
	}
}

// take returns the next uploads, or nil if the queue is empty.
func (s *sender) take(sent int) []parcel {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = max(0, s.left-sent)
	n := min(len(s.queue), sendTogether)
	select {
	case <-s.stop:
		n = 0
	default:
	}
	if s.off || n == 0 {
		s.sending--
		return nil
	}
	next := slices.Clone(s.queue[:n])
	s.queue = slices.Delete(s.queue, 0, n)
	return next
}

func (s *sender) run() {
	for next := s.take(0); len(next) > 0; next = s.take(len(next)) {
		err := s.send(context.Background(), next) // closing the client ends it
		var ours *ownError
		if err == nil || errors.As(err, &ours) || errors.Is(err, store.ErrNotFound) || s.c.Out() != nil {
			continue // a blob was evicted from this machine
		}
		s.mu.Lock()
		first := !s.off
		s.off, s.left = true, 0
		s.mu.Unlock()
		if first {
			s.c.o.Say(fmt.Sprintf("hexmage stops uploads to remote %s: %v", s.c.o.Name, reason(err, s.c.o)))
		}
	}
}

// send uploads the results' blobs and the messages of their keys that the API requires, then the results.
func (s *sender) send(ctx context.Context, parcels []parcel) error {
	is, err := s.c.able(ctx)
	if err != nil {
		return err
	}
	if !is.Updates {
		return errors.New(`the server does not accept results; ask its administrator for access, or set upload = "never"`)
	}
	beside, wants := map[digest.Digest][]byte{}, map[digest.Digest]bool{}
	for _, p := range parcels {
		maps.Copy(beside, p.messages)
	}
	from := store.Overlay(s.blobs, beside)
	parcels = slices.DeleteFunc(parcels, func(p parcel) bool {
		want, err := p.contents(ctx, from)
		if err != nil || slices.ContainsFunc(want,
			func(d digest.Digest) bool { return is.Largest > 0 && d.Size() > is.Largest }) {
			return true // evicted, or larger than the server accepts
		}
		for _, d := range want {
			wants[d] = true
		}
		return false
	})
	if err := s.c.send(ctx, from, slices.Collect(maps.Keys(wants))); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(putAtOnce)
	for _, p := range parcels {
		g.Go(func() error { return s.c.update(ctx, p.key, p.encode) })
	}
	return g.Wait()
}

// contents returns the digests of all blobs that the server needs before the result.
func (p *parcel) contents(ctx context.Context, from store.Blobs) ([]digest.Digest, error) {
	want, err := contents(ctx, from, p.result)
	if err != nil {
		return nil, err
	}
	b, err := store.ReadBlob(ctx, from, p.key, maxMessage)
	if err != nil {
		return nil, err
	}
	_, command, err := action.DecodeAction(b, p.key.Function())
	if want = append(want, p.key, command); !p.namespace.IsZero() {
		want = append(want, p.namespace)
	}
	return want, err
}

// sayAfter is the delay before finish reports pending uploads.
const sayAfter = time.Second

func (s *sender) finish(ctx context.Context) {
	done := make(chan struct{})
	go func() { s.all.Wait(); close(done) }()
	defer close(s.stop)
	soon, late := time.NewTimer(sayAfter), time.NewTimer(s.c.o.UploadWait)
	defer soon.Stop()
	defer late.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			return
		case <-soon.C:
			s.c.o.Say(fmt.Sprintf("uploading results to remote %s: %d left", s.c.o.Name, s.waiting()))
		case <-late.C:
			s.c.o.Say(fmt.Sprintf("the upload to remote %s exceeded %v (upload_wait); results not sent: %d",
				s.c.o.Name, s.c.o.UploadWait, s.waiting()))
			return
		}
	}
}

func (s *sender) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}
