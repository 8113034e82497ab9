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

// NewResults returns the results of next and of the remote that blobs are of. With upload what is put goes there, too, beside what the caller does, until Finish.
func NewResults(next store.Results, blobs *Blobs, upload bool) *Results {
	r := &Results{next: next, blobs: blobs, c: blobs.c, missed: map[digest.Digest]bool{}}
	if upload {
		r.send = newSender(blobs.c, blobs.next)
	}
	return r
}

// Here implements store.Shared.
func (r *Results) Here() store.Results { return r.next }

// Get implements store.Results. What the remote has counts only if it is whole. It is put into next when all that it names is here.
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
	case rerr == nil && r.c.o.Everything:
		return found, r.next.Put(ctx, key, found, nil)
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
func contents(ctx context.Context, blobs store.Blobs, r *action.Result) ([]digest.Digest, error) {
	want := map[digest.Digest]bool{}
	for _, f := range r.Files {
		want[f.Digest] = true
	}
	for _, d := range r.Dirs {
		dir, err := merkle.LoadOutput(ctx, blobs, d)
		if err != nil {
			return nil, err
		}
		root, messages := dir.Encode(d.Root.Function())
		if root != d.Root {
			return nil, fmt.Errorf("output %s: the tree is of another folder: %w", d.Path, errUnusable)
		}
		if !d.Tree.IsZero() {
			want[d.Tree] = true
		}
		for m := range messages {
			want[m] = true
		}
		if err := dir.Walk(func(_ string, e merkle.Entry) error {
			if e.File != nil {
				want[e.File.Digest] = true
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return slices.Collect(maps.Keys(want)), nil
}

// Put implements store.Results.
func (r *Results) Put(ctx context.Context, key digest.Digest, result *action.Result, messages map[digest.Digest][]byte) error {
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

// sender sends results beside what else goes on.
type sender struct {
	c     *Client
	blobs store.Blobs // of this machine
	slots chan struct{}
	stop  chan struct{} // closed: nothing is begun any more
	all   sync.WaitGroup

	mu   sync.Mutex
	off  bool // nothing is sent any more
	left int  // results that are not sent yet
}

// sendAtOnce is how many results are sent at the same time.
const sendAtOnce = 4

func newSender(c *Client, blobs store.Blobs) *sender {
	return &sender{c: c, blobs: blobs, slots: make(chan struct{}, sendAtOnce), stop: make(chan struct{})}
}

// add has the result sent. It returns at once, and keeps nothing of what is passed.
func (s *sender) add(key digest.Digest, r *action.Result, messages map[digest.Digest][]byte) {
	m, err := encode(r)
	if err != nil || s.count(1) {
		return
	}
	own := action.Result{Files: slices.Clone(r.Files), Dirs: slices.Clone(r.Dirs)}
	beside := make(map[digest.Digest][]byte, len(messages))
	for d, b := range messages {
		beside[d] = bytes.Clone(b)
	}
	s.all.Go(func() {
		defer s.count(-1)
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-s.stop:
			return
		}
		if s.count(0) {
			return
		}
		err := s.send(context.Background(), key, &own, m, beside) // a client that is closed ends it
		var ours *ownError
		if err == nil || errors.As(err, &ours) || errors.Is(err, store.ErrNotFound) || s.c.Out() != nil {
			return // what is no longer here nobody can send
		}
		s.mu.Lock()
		first := !s.off
		s.off = true
		s.mu.Unlock()
		if first {
			s.c.o.Say(fmt.Sprintf("nothing more is sent to remote %s: %v", s.c.o.Name, reason(err, s.c.o)))
		}
	})
}

// count adds to the number of results that wait, and tells whether nothing is sent any more.
func (s *sender) count(n int) (off bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off && n > 0 {
		return true
	}
	s.left += n
	return s.off
}

// send sends all that the result names, and what its key was made of as far as the API wants it, and then the result.
func (s *sender) send(ctx context.Context, key digest.Digest, r *action.Result, m *repb.ActionResult, beside map[digest.Digest][]byte) error {
	is, err := s.c.able(ctx)
	if err != nil {
		return err
	}
	if !is.updates {
		return errors.New("it takes no results: ask who runs it, or set upload = \"never\"")
	}
	from := store.Overlay(s.blobs, beside)
	want, err := contents(ctx, from, r)
	if err != nil {
		return &ownError{err}
	}
	b, err := store.ReadBlob(ctx, from, key, maxMessage)
	if err != nil {
		return &ownError{err}
	}
	_, command, err := action.DecodeAction(b, key.Function())
	if err != nil {
		return &ownError{err}
	}
	want = append(want, key, command)
	lacks, err := s.c.missing(ctx, want)
	if err != nil {
		return err
	}
	if err := s.c.write(ctx, from, slices.DeleteFunc(want, func(d digest.Digest) bool { return !lacks[d] })); err != nil {
		return err
	}
	return s.c.update(ctx, key, m)
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
			s.c.o.Say(fmt.Sprintf("not all is sent to remote %s: it takes longer than %v (upload_wait); results left out: %d", s.c.o.Name, s.c.o.UploadWait, s.waiting()))
			return
		}
	}
}

func (s *sender) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}
