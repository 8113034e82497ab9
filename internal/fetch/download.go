package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// download is a file on its way. What has arrived is in part; part.json says which version of the file it is of.
type download struct {
	client   Client
	source   Source
	part     string
	requests int
}

// partInfo says what a part file is a part of.
type partInfo struct {
	URL       string `json:"url"`
	Validator string `json:"validator,omitempty"` // strong ETag or Last-Modified, for If-Range
	Digest    string `json:"digest,omitempty"`    // of the source: a part of another pin is of no use
}

func (s Source) digest() string { return s.SHA256 + "/" + s.SHA1 + "/" + s.MD5 }

func (d *download) info() (partInfo, bool) {
	var p partInfo
	b, err := os.ReadFile(d.part + ".json")
	return p, err == nil && json.Unmarshal(b, &p) == nil
}

func (d *download) setInfo(p partInfo) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(d.part+".json", b, 0o644)
}

func (d *download) forget() {
	_ = os.Remove(d.part)
	_ = os.Remove(d.part + ".json")
}

func (d *download) finish(dest string) error {
	if err := os.Rename(d.part, dest); err != nil {
		return err
	}
	_ = os.Remove(d.part + ".json")
	return nil
}

// from downloads from one address until the file is there, a permanent error, or too many tries without progress.
func (d *download) from(ctx context.Context, addr string) (*Result, error) {
	if isLocal(addr) {
		return d.copyLocal(ctx, addr)
	}
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the address is none of https, http and file")
	}
	resumed := d.usable(addr)
	fresh := resumed == 0
	for failures := 0; ; {
		before := d.have()
		r, err := d.attempt(ctx, addr)
		if err == nil {
			r.URL, r.Resumed, r.Requests = addr, resumed, d.requests
			return r, nil
		}
		if (errors.Is(err, ErrMismatch) || errors.Is(err, ErrNotFile)) && !fresh {
			// A part of an earlier run or of another mirror may be what is wrong: once more from the start.
			d.forget()
			fresh, resumed = true, 0
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var t *transientError
		if !errors.As(err, &t) {
			if errors.Is(err, ErrMismatch) || errors.Is(err, ErrNotFile) {
				d.forget()
			}
			return nil, err
		}
		if d.have() > before {
			failures = 0
		}
		if failures++; failures > d.client.Retries {
			return nil, fmt.Errorf("given up after %d tries without progress: %w", failures, t.err)
		}
		wait := min(d.client.Backoff<<(failures-1), time.Minute)
		if t.after > 0 {
			wait = min(t.after, 2*time.Minute)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// usable returns how many bytes of an earlier run can be gone on from; when none can, it removes them.
func (d *download) usable(addr string) int64 {
	p, ok := d.info()
	n := d.have()
	switch {
	case n == 0 || !ok || p.Digest != d.source.digest(), d.source.Size > 0 && n > d.source.Size:
	case p.Validator != "" && p.URL == addr, d.source.pinned(): // the digest tells whether the parts fit together
		return n
	}
	d.forget()
	return 0
}

func (d *download) have() int64 {
	info, err := os.Stat(d.part)
	if err != nil {
		return 0
	}
	return info.Size()
}

// copyLocal takes a file of this machine.
func (d *download) copyLocal(ctx context.Context, addr string) (*Result, error) {
	name := addr
	if strings.HasPrefix(addr, "file://") {
		u, err := url.Parse(addr)
		if err != nil || u.Host != "" && u.Host != "localhost" {
			return nil, errors.New("a file address has the form file:///path")
		}
		name = filepath.FromSlash(u.Path)
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	d.forget()
	out, err := os.Create(d.part)
	if err != nil {
		return nil, err
	}
	h := newSums(d.source)
	err = d.copy(ctx, out, h, in, func() {})
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = d.verify(h)
	}
	if err != nil {
		d.forget()
		return nil, err
	}
	r := h.result()
	r.URL = addr
	return r, nil
}

// copy moves bytes into the part file and the sums, within the limit of size; alive is called for every piece.
func (d *download) copy(ctx context.Context, out io.Writer, h *sums, in io.Reader, alive func()) error {
	limit := d.client.MaxSize
	if d.source.Size > 0 {
		limit = d.source.Size
	}
	buf := make([]byte, 256<<10)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			alive()
			if h.n+int64(n) > limit {
				return fmt.Errorf("%w: more than %d bytes came", ErrTooLarge, limit)
			}
			early := h.n < headSize
			_, _ = h.Write(buf[:n])
			if d.source.Archive && early && h.n >= headSize {
				if err := notArchive(h.head); err != nil {
					return err
				}
			}
			if _, err := out.Write(buf[:n]); err != nil {
				return err
			}
			d.client.Progress(h.n, d.source.Size)
		}
		if err == io.EOF {
			return ctx.Err()
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return &transientError{err: err}
		}
	}
}

func (d *download) verify(h *sums) error {
	if d.source.Archive {
		if err := notArchive(h.head); err != nil {
			return err
		}
	}
	return h.result().check(d.source)
}
