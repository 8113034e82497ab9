package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// fill gets the segments that are not complete, several at once when there are several. first is an answer that has
// been begun, for the segment at its start; nil when there is none.
func (d *download) fill(ctx context.Context, addr string, p *part, first *answer) error {
	var todo []*segment
	for _, s := range p.segs {
		if !s.complete() {
			todo = append(todo, s)
		}
	}
	if len(todo) == 0 {
		if first != nil {
			first.close()
		}
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &workers{d: d, addr: addr, p: p, todo: todo, cancel: cancel}
	n := min(d.client.Streams, len(todo))
	if len(p.segs) == 1 {
		n = 1
	}
	d.streams = max(d.streams, n)
	w.alive = n
	var wg sync.WaitGroup
	for range n {
		s, a := w.next(), first
		first = nil // it is for the lowest segment, which is taken first
		wg.Go(func() { w.work(ctx, s, a) })
	}
	wg.Wait()
	return w.err
}

// workers share what is to be done.
type workers struct {
	d      *download
	addr   string
	p      *part
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	todo  []*segment
	alive int
	err   error
}

// next takes a segment; the lowest first, so that the file can be hashed as it comes.
func (w *workers) next() *segment {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.todo) == 0 || w.err != nil {
		return nil
	}
	s := w.todo[0]
	w.todo = w.todo[1:]
	return s
}

// quit ends a worker that can't go on. While there are others its segment is theirs: many servers take few
// connections of one client. It tells whether the worker was the last one, whose error counts.
func (w *workers) quit(s *segment, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var t *transientError
	if w.alive > 1 && (errors.As(err, &t) || errors.Is(err, ErrRefused)) && w.err == nil && !w.d.downgrade() {
		w.alive--
		w.todo = append([]*segment{s}, w.todo...)
		return
	}
	if w.err == nil {
		w.err = err
		w.cancel(err)
	}
}

func (w *workers) work(ctx context.Context, s *segment, first *answer) {
	for ; s != nil; s = w.next() {
		err := w.segment(ctx, s, first)
		first = nil
		if err != nil {
			w.quit(s, err)
			return
		}
	}
}

// segment gets one segment whole. It tries again itself only while other workers go on: the last one's failures are
// counted by the caller, which also waits.
func (w *workers) segment(ctx context.Context, s *segment, first *answer) error {
	for failures := 0; ; {
		before := s.done.Load()
		err := w.d.stream(ctx, w.addr, w.p, s, first)
		first = nil
		var t *transientError
		if err == nil || ctx.Err() != nil || !errors.As(err, &t) || t.busy || t.slow {
			return err
		}
		w.mu.Lock()
		last := w.alive == 1
		w.mu.Unlock()
		if s.done.Load() > before {
			failures = 0
		} else {
			failures++
		}
		if last || failures > w.d.client.Retries || w.d.downgrade() {
			return err
		}
		if err := w.d.pause(ctx, failures, t.after); err != nil {
			return err
		}
	}
}

// stream makes one request for what is missing of a segment, if there is no answer yet, and reads it to its end.
func (d *download) stream(ctx context.Context, addr string, p *part, s *segment, a *answer) error {
	if s.complete() {
		return nil
	}
	from := s.start + s.done.Load()
	if d.source.Size > 0 && s.end < 0 && from >= d.source.Size {
		return nil
	}
	if a == nil {
		end := s.end
		if end == p.meta.Total || len(p.segs) == 1 {
			end = -1 // as simple a request as can be
		}
		var err error
		if a, err = d.get(ctx, addr, from, end, p.meta.Validator); err != nil {
			return err
		}
		if err := d.same(p, a, from); err != nil {
			a.close()
			return err
		}
	}
	defer a.close()
	return d.read(ctx, p, s, a)
}

// same tells whether an answer belongs to the same file as what is there.
func (d *download) same(p *part, a *answer, from int64) error {
	now := validator(a.Header)
	switch {
	case a.partial() && p.meta.Total >= 0 && a.total >= 0 && a.total != p.meta.Total:
		return fmt.Errorf("%w: it has %d bytes now, and had %d", errChanged, a.total, p.meta.Total)
	case p.meta.Validator != "" && now != "" && now != p.meta.Validator:
		return errChanged
	case a.partial() && now == "" && strings.HasPrefix(p.meta.Validator, `"`) && !d.source.pinned():
		return errNoRanges // of which file this is a piece, nobody would notice
	case a.partial() || from == 0:
		return nil
	}
	return errNoRanges // all of it, though a range was asked for
}

// read takes the bytes of an answer into the segment.
func (d *download) read(ctx context.Context, p *part, s *segment, a *answer) error {
	buf := make([]byte, 256<<10)
	for {
		at := s.start + s.done.Load()
		room := int64(len(buf))
		if s.end >= 0 {
			room = min(room, s.end-at)
		}
		if room == 0 {
			if len(p.segs) > 1 {
				return p.note(s)
			}
			room = 1 // more would be too much: see whether there is
		}
		n, err := a.Body.Read(buf[:room])
		if n > 0 {
			if at+int64(n) > d.limit(p.meta.Total) || s.end >= 0 && at+int64(n) > s.end {
				if d.source.Size == 0 && p.meta.Total < 0 {
					return fmt.Errorf("%w: more than %d bytes came, and the server does not say how many there are: "+
						"say it yourself (size)", ErrTooLarge, at)
				}
				return fmt.Errorf("%w: more than %d bytes came", ErrTooLarge, at)
			}
			if err := p.write(s, buf[:n]); err != nil {
				return err
			}
			if d.source.Archive && s.start == 0 && at < 512 && (at+int64(n) >= 512 || err == io.EOF) {
				if err := notArchive(p.begin()); err != nil {
					return err
				}
			}
			d.client.Progress(p.have.Load(), max(p.meta.Total, 0))
		}
		if err == nil && ctx.Err() == nil {
			continue
		}
		if nerr := p.note(s); nerr != nil {
			return nerr
		}
		if err == nil {
			return context.Cause(ctx)
		}
		at = s.start + s.done.Load()
		switch {
		case err != io.EOF:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return d.transient(err)
		case s.end < 0, at == s.end:
			return nil
		}
		return &transientError{err: fmt.Errorf("the server stopped after %d of %d bytes", at, s.end)}
	}
}
