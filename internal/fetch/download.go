package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/atomicfile"
)

// download is the state of one Fetch or FetchMembers.
type download struct {
	client   Client
	source   Source
	path     string // of the part file
	http     *http.Client
	noRanges bool // the server ignores ranges or answers them incorrectly
	requests atomic.Int32
	hosts    sync.Map // targets of redirects
}

// Errors after which the method from restarts the download. Users see these errors only if all restarts fail.
var (
	errNoRanges = errors.New("the server does not support range requests")
	errChanged  = errors.New("the file on the server changed during the download")
)

const maxChanges = 3 // restarts because the file on the server changed

func (s Source) digest() string { return s.SHA256 + "/" + s.SHA1 + "/" + s.MD5 }

func (d *download) finish(dest string) error {
	if err := os.Rename(d.path, dest); err != nil {
		return err
	}
	removePart(d.path)
	return nil
}

// from downloads from one address until the file is complete, an error is permanent, or Retries are used up.
func (d *download) from(ctx context.Context, addr string) (r *Result, err error) {
	asked, err := address(addr)
	if err != nil {
		return nil, err
	}
	d.noRanges = false
	p := d.resume(addr)
	defer func() { p.close() }()
	resumed := p.bytes()
	restart := func() {
		p.close()
		p, resumed = nil, 0
		removePart(d.path)
	}
	again, changes := true, 0
	err = d.persist(ctx, func() int64 { return p.bytes() }, func() error {
		for ; ; restart() {
			before, requests := p.bytes(), d.requests.Load()
			var err error
			p, r, err = d.attempt(ctx, asked, p)
			switch {
			case errors.Is(err, errNoRanges) && !d.noRanges:
				d.noRanges = true
			case errors.Is(err, errChanged) && changes < maxChanges:
				changes++
			case (errors.Is(err, ErrMismatch) || errors.Is(err, ErrNotFile)) && again &&
				(resumed > 0 || before > 0 || d.requests.Load()-requests > 1):
				// The file consists of several responses, and one of them may be wrong: restart once.
				again = false
			default:
				return err
			}
		}
	})
	switch t := (*transientError)(nil); {
	case err == nil:
		r.URL, r.Resumed, r.Requests = addr, resumed, int(d.requests.Load())
		return r, nil
	case errors.As(err, &t):
	case errors.Is(err, ErrMismatch), errors.Is(err, ErrNotFile), errors.Is(err, ErrTooLarge),
		errors.Is(err, errChanged), errors.Is(err, errNoRanges):
		restart()
	}
	return nil, err
}

// address returns the address to request. It rejects schemes other than https, http and file.
func address(addr string) (string, error) {
	if isLocal(addr) {
		return localAddress(addr)
	}
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("unsupported address; use https, http or file")
	}
	return addr, nil
}

// localAddress returns the file address of a readable file of this machine.
func localAddress(addr string) (string, error) {
	if strings.HasPrefix(addr, "file://") {
		u, err := url.Parse(addr)
		if err != nil || u.Host != "" && u.Host != "localhost" {
			return "", errors.New("invalid file address; write file:///path")
		}
		addr = filepath.FromSlash(u.Path)
	}
	name, err := filepath.Abs(addr)
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("address names a folder, not a file")
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(name)}
	return u.String(), err
}

// persist calls f until it succeeds, its error is permanent, or Retries in a row made no progress, in bytes. It waits
// before it calls f again: exponentially longer for each failure without progress.
func (d *download) persist(ctx context.Context, progress func() int64, f func() error) error {
	for failures := 0; ; {
		before := progress()
		err := f()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var t *transientError
		if !errors.As(err, &t) {
			return err
		}
		wait := d.client.Backoff / 4
		if progress() > before && !t.slow {
			failures = 0
		} else if failures++; failures > d.client.Retries {
			return fmt.Errorf("no progress in %d attempts: %w", failures, t)
		} else {
			wait = min(d.client.Backoff<<min(failures-1, 16), time.Minute)
		}
		if t.after > 0 {
			wait = min(t.after, 2*time.Minute)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// noProgress is the progress of requests that start over after each failure.
func noProgress() int64 { return 0 }

// resume opens the part file of an earlier run. It returns nil, and removes the file, if this address cannot resume it.
func (d *download) resume(addr string) *part {
	p := oldPart(d.path)
	switch {
	case p == nil:
	case p.Digest == d.source.digest() &&
		(d.source.Size == 0 || p.Total < 0 || p.Total == d.source.Size) &&
		// a digest detects a mix of two versions, and lost bytes
		(p.Validator != "" && p.URL == addr && p.Boot != "" && p.Boot == atomicfile.Boot() || d.source.pinned()):
		return p
	default:
		p.close()
	}
	removePart(d.path)
	return nil
}

// attempt requests the missing bytes. It creates the part file if p is nil, and returns it.
func (d *download) attempt(ctx context.Context, addr string, p *part) (*part, *Result, error) {
	var first *answer
	if d.noRanges && p != nil { // a resume needs ranges
		p.close()
		p = nil
	}
	if p == nil {
		var err error
		if p, first, err = d.start(ctx, addr); err != nil {
			return p, nil, err
		}
	}
	if p.URL != addr { // a validator is valid for its own mirror only
		p.URL, p.Validator = "", ""
	}
	if p.sums == nil {
		if err := p.sum(d.source); err != nil {
			return p, nil, err
		}
	}
	if err := d.fill(ctx, addr, p, first); err != nil {
		return p, nil, err
	}
	if !d.source.pinned() {
		if err := p.data.Sync(); err != nil {
			return p, nil, err
		}
	}
	r := p.sums.result()
	return p, r, d.verify(r, p.data)
}

// start makes the first request and creates the part file.
func (d *download) start(ctx context.Context, addr string) (*part, *answer, error) {
	a, err := d.get(ctx, addr, 0, -1, "")
	if err != nil {
		return nil, nil, err
	}
	m := partMeta{URL: addr, Validator: validator(a.Header), Digest: d.source.digest(), Total: a.total}
	if m.Total < 0 && d.source.Size > 0 {
		m.Total = d.source.Size
	}
	p, err := newPart(d.path, m)
	if err != nil {
		a.close()
		return nil, nil, err
	}
	return p, a, nil
}

// limit returns the largest number of bytes to accept of a file with total bytes by the server; -1: unknown.
func (d *download) limit(total int64) int64 {
	switch {
	case d.source.Size > 0:
		return d.source.Size
	case total < 0:
		return min(d.client.MaxSize, d.client.MaxUntold)
	}
	return min(d.client.MaxSize, total)
}

// verify checks the complete file f.
func (d *download) verify(r *Result, f io.ReaderAt) error {
	if d.source.Archive {
		if err := notArchive(r.head); err != nil {
			return err
		}
	}
	if err := r.check(d.source); err != nil {
		if kind := pageKind(r.head); kind != "" && r.Size < 1<<20 {
			return fmt.Errorf("%w: %s%s", ErrNotFile, kind, scrub(quoted(message(r.head)), d.client.Logins))
		}
		return err
	}
	if d.source.Archive && !d.source.pinned() && strings.HasPrefix(string(r.head), "PK") {
		// Without a digest only the zip's directory shows a truncation.
		if _, err := archive.ListZip(f, r.Size, maxMembers); err != nil {
			return fmt.Errorf("%w: %w", ErrNotFile, err)
		}
	}
	return nil
}

// pacedBody is a response body that fails after Stall without a byte, or if fewer bytes than Floor arrive a second
// over Stall. Only time that a Read waits counts.
type pacedBody struct {
	io.ReadCloser
	client  Client
	cancel  func() // ends a blocked Read
	stalled atomic.Bool
	came    int64
	waited  time.Duration
}

func (p *pacedBody) Read(b []byte) (int, error) {
	watch := time.AfterFunc(p.client.Stall, func() {
		p.stalled.Store(true)
		p.cancel()
	})
	begin := time.Now()
	n, err := p.ReadCloser.Read(b)
	watch.Stop()
	p.came += int64(n)
	p.waited += time.Since(begin)
	switch {
	case err == io.EOF:
	case p.stalled.Load():
		err = &transientError{err: fmt.Errorf("no data for %v", p.client.Stall)}
	case p.waited >= p.client.Stall:
		if float64(p.came) < float64(p.client.Floor)*p.waited.Seconds() {
			err = &transientError{slow: true,
				err: fmt.Errorf("slow download: %d bytes in %v; the minimum is %d bytes per second", p.came,
					p.waited.Round(time.Second/10), p.client.Floor)}
		}
		p.came, p.waited = 0, 0
	}
	return n, err
}
