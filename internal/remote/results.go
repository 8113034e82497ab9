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

// Results are those of this machine and of a remote.
type Results struct {
	next  store.Results
	blobs *Blobs
	c     *Client
	send  *sender // nil: what is put stays here

	mu     sync.Mutex
	missed map[digest.Digest]bool // keys that the remote had no result for
}

// NewResults returns the results of next and of the remote that blobs are of. With upload what is put goes there,
// too, beside what the caller does, until Finish.
func NewResults(next store.Results, blobs *Blobs, upload bool) *Results {
	r := &Results{next: next, blobs: blobs, c: blobs.c, missed: map[digest.Digest]bool{}}
	if upload {
		r.send = newSender(blobs.c, blobs.next)
	}
	return r
}

// Here implements store.Shared.
func (r *Results) Here() store.Results { return r.next }

// Get implements store.Results. What the remote has counts only if it is whole.
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

// ask returns what the remote has for the key. Any error but the context's means that there is nothing of use.
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
		err = fmt.Errorf("it no longer has %s: %w", missing[0], store.ErrNotFound)
	}
	return found, err
}

// contents are the digests of all that a result names, also by way of others.
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
	if r.send != nil && result.Varies == "" { // what this machine alone may make so is not for others
		r.send.add(key, result, messages)
	}
	return nil
}

// Messages implements store.Results.
func (r *Results) Messages(ctx context.Context, key digest.Digest) (map[digest.Digest][]byte, error) {
	return r.next.Messages(ctx, key)
}

// Finish waits until all is sent, for UploadWait at most, and says what is not. Nothing is sent after it.
func (r *Results) Finish(ctx context.Context) {
	if r.send != nil {
		r.send.finish(ctx)
	}
}

// sender sends results beside what else goes on: what waits goes together, as far as it may, since each call takes
// its time.
type sender struct {
	c     *Client
	blobs store.Blobs   // of this machine
	stop  chan struct{} // closed: nothing is begun any more
	all   sync.WaitGroup

	mu      sync.Mutex
	off     bool     // nothing is sent any more
	queue   []parcel // what waits
	sending int      // goroutines that send
	left    int      // results that are not sent yet
}

// parcel is a result that is to be sent.
type parcel struct {
	key      digest.Digest
	result   *action.Result // but for what it printed
	encode   *repb.ActionResult
	messages map[digest.Digest][]byte
	silo     digest.Digest // of a message that the server has it under; zero: it has it under the key
}

const (
	sendAtOnce   = 4   // goroutines
	sendTogether = 100 // results
	putAtOnce    = 32  // results of them whose content is there: the API takes one at a time
)

func newSender(c *Client, blobs store.Blobs) *sender {
	return &sender{c: c, blobs: blobs, stop: make(chan struct{})}
}

// add has the result sent. It returns at once, and keeps nothing of what is passed.
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
	if m := s.c.silo(key); m != nil {
		p.silo = key.Function().Bytes(m)
		p.messages[p.silo] = m
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

// take returns what is to be sent next, nothing when there is nothing more.
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
		err := s.send(context.Background(), next) // a client that is closed ends it
		var ours *ownError
		if err == nil || errors.As(err, &ours) || errors.Is(err, store.ErrNotFound) || s.c.Out() != nil {
			continue // what is no longer here nobody can send
		}
		s.mu.Lock()
		first := !s.off
		s.off, s.left = true, 0
		s.mu.Unlock()
		if first {
			s.c.o.Say(fmt.Sprintf("nothing more is sent to remote %s: %v", s.c.o.Name, reason(err, s.c.o)))
		}
	}
}

// send sends all that the results name, and what their keys were made of as far as the API wants it, and then the
// results.
func (s *sender) send(ctx context.Context, parcels []parcel) error {
	is, err := s.c.able(ctx)
	if err != nil {
		return err
	}
	if !is.Updates {
		return errors.New("it takes no results: ask who runs it, or set upload = \"never\"")
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
			return true // it is no longer here, or can never be there
		}
		for _, d := range want {
			wants[d] = true
		}
		return false
	})
	lacks, err := s.c.missing(ctx, slices.Collect(maps.Keys(wants)))
	if err != nil {
		return err
	}
	if err := s.c.write(ctx, from, slices.Collect(maps.Keys(lacks))); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(putAtOnce)
	for _, p := range parcels {
		g.Go(func() error { return s.c.update(ctx, p.key, p.encode) })
	}
	return g.Wait()
}

// contents are the digests of all that has to be there before the result.
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
	if want = append(want, p.key, command); !p.silo.IsZero() {
		want = append(want, p.silo)
	}
	return want, err
}

// sayAfter is how long nothing is said of what is still sent.
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
			s.c.o.Say(fmt.Sprintf("sending to remote %s; results to go: %d", s.c.o.Name, s.waiting()))
		case <-late.C:
			s.c.o.Say(fmt.Sprintf("not all is sent to remote %s: it takes longer than %v (upload_wait); results "+
				"left out: %d", s.c.o.Name, s.c.o.UploadWait, s.waiting()))
			return
		}
	}
}

func (s *sender) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}
