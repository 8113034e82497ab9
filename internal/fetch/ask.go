package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// Ask finds out whether one of the addresses gives the file: it asks each in turn for its beginning, with the logins
// and on the ways of Fetch, until one answers as a server of the file would. Nothing is kept.
func (c Client) Ask(ctx context.Context, s Source) error {
	c = c.withDefaults()
	if len(s.URLs) == 0 {
		return errors.New("fetch: no address")
	}
	if c.Offline && !slices.ContainsFunc(s.URLs, isLocal) {
		return fmt.Errorf("fetch %s: %w", s.called(s.URLs[0]), ErrOffline)
	}
	d := &download{client: c, source: s}
	var errs []error
	for _, addr := range s.URLs {
		if c.Offline && !isLocal(addr) {
			continue
		}
		err := d.answers(ctx, addr)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		errs = append(errs, d.said(addr, err))
	}
	return errors.Join(errs...)
}

// answers asks one address, and once more where that failed for a reason that may pass.
func (d *download) answers(ctx context.Context, addr string) error {
	if isLocal(addr) {
		info, err := statLocal(addr)
		if err != nil {
			return err
		}
		return d.sizeFits(info.Size())
	}
	if err := remote(addr); err != nil {
		return err
	}
	err := d.begins(ctx, addr, d.source.HTTP1)
	if t := (*transientError)(nil); errors.As(err, &t) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(d.client.Backoff):
		}
		err = d.begins(ctx, addr, d.source.HTTP1 || d.broken2.Load())
	}
	return err
}

// asked is for how many bytes: enough to tell an archive from a page.
const asked = 512

func (d *download) begins(ctx context.Context, addr string, http1 bool) error {
	d.http1 = http1
	d.http = d.connect()
	defer d.http.CloseIdleConnections()
	a, err := d.get(ctx, addr, 0, asked, "")
	// some refuse what they do not know, and an empty file has no first byte
	if t := (*transientError)(nil); !errors.As(err, &t) && (errors.Is(err, ErrRefused) || errors.Is(err, errNoRanges)) {
		a, err = d.get(ctx, addr, 0, -1, "")
	}
	if err != nil {
		return err
	}
	defer a.close()
	if !d.source.Archive {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(a.Body, asked))
	if err != nil {
		return d.transient(err)
	}
	return notArchive(b)
}

// statLocal looks at a file of this machine.
func statLocal(addr string) (os.FileInfo, error) {
	name, err := localPath(addr)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	return info, err
}
