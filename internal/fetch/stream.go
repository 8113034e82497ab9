package fetch

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// fill downloads the missing bytes with one request a segment. first is the open response for the first missing byte,
// or nil.
func (d *download) fill(ctx context.Context, addr string, p *part, first *answer) error {
	for {
		at, end, ok := p.next()
		if !ok || end < 0 && d.source.Size > 0 && at >= d.source.Size {
			if first != nil {
				first.close()
			}
			return nil
		}
		if err := d.stream(ctx, addr, p, first); err != nil || end < 0 {
			return err
		}
		first = nil
	}
}

// stream reads the rest of a segment from the open response a, or from a new request if a is nil.
func (d *download) stream(ctx context.Context, addr string, p *part, a *answer) error {
	at, end, _ := p.next()
	upTo := end
	if end == p.meta.Total {
		upTo = -1 // the simplest request
	}
	if a == nil {
		var err error
		if a, err = d.get(ctx, addr, at, upTo, p.meta.Validator); err != nil {
			return err
		}
		if err := d.same(p, a, at); err != nil {
			a.close()
			return err
		}
	}
	defer a.close()
	return d.read(ctx, p, end, a)
}

// same returns an error unless the response belongs to the same version of the file as the part.
func (d *download) same(p *part, a *answer, from int64) error {
	now := validator(a.Header)
	switch {
	case a.partial() && p.meta.Total >= 0 && a.total >= 0 && a.total != p.meta.Total:
		return fmt.Errorf("%w: %d bytes instead of %d", errChanged, a.total, p.meta.Total)
	case p.meta.Validator != "" && now != "" && now != p.meta.Validator:
		return errChanged
	case a.partial() && now == "" && strings.HasPrefix(p.meta.Validator, `"`) && !d.source.pinned():
		return errNoRanges // nothing would detect a range of another version
	case a.partial() || from == 0:
		return nil
	}
	return errNoRanges // the whole file in place of a range
}

// read writes the response to the segment that ends at end.
func (d *download) read(ctx context.Context, p *part, end int64, a *answer) error {
	at, _, _ := p.next()
	buf := make([]byte, 256<<10)
	for {
		room := int64(len(buf))
		if end >= 0 {
			room = min(room, end-at)
		}
		if room == 0 {
			if end < p.meta.Total {
				return p.note()
			}
			room = 1 // the server must not send more
		}
		n, err := a.Body.Read(buf[:room])
		if n > 0 {
			if at+int64(n) > d.limit(p.meta.Total) || end >= 0 && at+int64(n) > end {
				if d.source.Size == 0 && p.meta.Total < 0 {
					return fmt.Errorf("%w: more than %d bytes, and the server states no size: set the source's size",
						ErrTooLarge, at)
				}
				return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, at)
			}
			if err := p.write(buf[:n]); err != nil {
				return err
			}
			before := at
			at += int64(n)
			if d.source.Archive && p.sums != nil && before < 512 && (at >= 512 || err == io.EOF) {
				if err := notArchive(p.sums.head); err != nil {
					return err
				}
			}
			d.client.Progress(p.done, max(p.meta.Total, 0))
		}
		if err == nil && ctx.Err() == nil {
			continue
		}
		if nerr := p.note(); nerr != nil {
			return nerr
		}
		if err == nil {
			return context.Cause(ctx)
		}
		switch {
		case err != io.EOF:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return transient(err)
		case end < 0, at == end:
			return nil
		}
		return &transientError{err: fmt.Errorf("the server stopped after %d of %d bytes", at, end)}
	}
}
