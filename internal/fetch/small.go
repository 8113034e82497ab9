package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Small downloads a small file, such as an index, into memory from the first URL of the source. It fails if the file
// has more than limit bytes. It also returns the final URL after redirects.
func (c Client) Small(ctx context.Context, s Source, limit int64) (b []byte, at string, err error) {
	if len(s.URLs) == 0 {
		return nil, "", errors.New("fetch: missing address in the source")
	}
	addr := s.URLs[0]
	d := &download{client: c.withDefaults(), source: s}
	d.client.MaxSize = limit
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = d.said(addr, err)
		}
	}()
	if c.Offline && !isLocal(addr) {
		return nil, "", ErrOffline
	}
	asked, err := address(addr)
	if err != nil {
		return nil, "", err
	}
	d.connect()
	defer d.http.CloseIdleConnections()
	err = d.persist(ctx, noProgress, func() (err error) {
		b, at, err = d.small(ctx, asked, limit)
		return err
	})
	return b, at, err
}

func (d *download) small(ctx context.Context, addr string, limit int64) ([]byte, string, error) {
	a, err := d.get(ctx, addr, 0, -1, "")
	if err != nil {
		return nil, "", err
	}
	defer a.close()
	b, err := io.ReadAll(io.LimitReader(a.Body, limit+1))
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case err != nil:
		return nil, "", transient(err)
	case int64(len(b)) > limit:
		return nil, "", fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return b, a.Request.URL.String(), nil
}

// statusError is a refusal with its HTTP status code.
type statusError struct {
	error
	code int
}

func (e *statusError) Unwrap() error { return e.error }

// Status returns the HTTP status code from a server's error response, or 0 if err has another cause.
func Status(err error) int {
	if e := (*statusError)(nil); errors.As(err, &e) {
		return e.code
	}
	return 0
}
