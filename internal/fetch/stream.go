package fetch

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// fill downloads the missing bytes. a is the open response for the first missing byte, or nil.
func (d *download) fill(ctx context.Context, addr string, p *part, a *answer) error {
	if a == nil {
		if p.Total >= 0 && p.done >= p.Total {
			return nil
		}
		var err error
		if a, err = d.get(ctx, addr, p.done, -1, p.Validator); err != nil {
			return err
		}
		if err := d.same(p, a); err != nil {
			a.close()
			return err
		}
	}
	defer a.close()
	return d.read(ctx, p, a)
}

// same returns an error unless the response belongs to the same version of the file as the part.
func (d *download) same(p *part, a *answer) error {
	now := validator(a.Header)
	switch {
	case a.partial() && p.Total >= 0 && a.total >= 0 && a.total != p.Total:
		return fmt.Errorf("%w: %d bytes instead of %d", errChanged, a.total, p.Total)
	case p.Validator != "" && now != "" && now != p.Validator:
		return errChanged
	case a.partial() && now == "" && strings.HasPrefix(p.Validator, `"`) && !d.source.pinned():
		return errNoRanges // nothing would detect a range of another version
	case a.partial() || p.done == 0:
		return nil
	}
	return errNoRanges // the whole file in place of a range
}

// read appends the response to the part.
func (d *download) read(ctx context.Context, p *part, a *answer) error {
	limit := d.limit(p.Total)
	buf := make([]byte, 256<<10)
	for {
		n, err := a.Body.Read(buf)
		before := p.done
		if before+int64(n) > limit {
			if d.source.Size == 0 && p.Total < 0 {
				return fmt.Errorf("%w: more than %d bytes, and the server does not state a size; set the size of "+
					"the source",
					ErrTooLarge, before)
			}
			return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, before)
		}
		if err := p.write(buf[:n]); err != nil {
			return err
		}
		if d.source.Archive && p.sums != nil && before < 512 && (p.done >= 512 || err == io.EOF) {
			if err := notArchive(p.sums.head); err != nil {
				return err
			}
		}
		d.client.Progress(p.done, max(p.Total, 0))
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
		case err != io.EOF:
			return transient(err)
		case p.done < p.Total:
			return &transientError{err: fmt.Errorf("the server closed the connection after %d of %d bytes", p.done,
				p.Total)}
		default:
			return nil
		}
	}
}
