package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// transientError is one that may be gone when the same request is made again.
type transientError struct {
	err   error
	after time.Duration // what the server asked to wait; 0: nothing
}

func (e *transientError) Error() string { return e.err.Error() }
func (e *transientError) Unwrap() error { return e.err }

const maxRedirects = 10

func (d *download) httpClient() *http.Client {
	rt := d.client.Transport
	if rt == nil {
		t := &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   30 * time.Second,
			ResponseHeaderTimeout: d.client.Stall,
			DisableCompression:    true,
			ForceAttemptHTTP2:     !d.source.HTTP1,
		}
		if d.source.HTTP1 {
			t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
		}
		rt = t
	}
	return &http.Client{Transport: rt, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("%w: more than %d redirects", ErrRefused, maxRedirects)
		}
		if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return fmt.Errorf("%w: it redirects from https to %s", ErrRefused, req.URL.Scheme)
		}
		return nil
	}}
}

// attempt makes one request, which goes on after what is there, and reads its answer to the end.
func (d *download) attempt(ctx context.Context, addr string) (*Result, error) {
	h := newSums(d.source)
	out, err := os.OpenFile(d.part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	// What is there has to go through the sums first.
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{out}, make([]byte, 1<<20)); err != nil {
		return nil, err
	}
	if h.n > 0 && h.n == d.source.Size {
		return h.result(), d.verify(h)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := d.request(ctx, addr, h.n)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if h, err = d.place(addr, resp, out, h); err != nil {
		return nil, err
	}
	if h.n > 0 && resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return h.result(), d.verify(h) // all of it was there
	}
	errStalled := fmt.Errorf("no byte came for %v", d.client.Stall)
	watch := time.AfterFunc(d.client.Stall, func() { cancel(errStalled) })
	defer watch.Stop()
	err = d.copy(ctx, out, h, resp.Body, func() { watch.Reset(d.client.Stall) })
	if errors.Is(context.Cause(ctx), errStalled) {
		return nil, &transientError{err: errStalled}
	}
	if err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	if d.source.Archive && h.n > 0 {
		if err := notArchive(h.head); err != nil {
			return nil, err
		}
	}
	if d.source.Size > h.n {
		return nil, &transientError{err: fmt.Errorf("the server stopped after %d of %d bytes", h.n, d.source.Size)}
	}
	return h.result(), d.verify(h)
}

func (d *download) request(ctx context.Context, addr string, from int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, addr, nil)
	if err != nil {
		return nil, err
	}
	agent := d.source.UserAgent
	if agent == "" {
		agent = "hexmage"
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", "*/*")
	req.Header.Set("Accept-Encoding", "identity")
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		if p, ok := d.info(); ok && p.URL == addr && p.Validator != "" {
			req.Header.Set("If-Range", p.Validator)
		}
	}
	d.requests++
	resp, err := d.httpClient().Do(req)
	if err != nil {
		if errors.Is(err, ErrRefused) || ctx.Err() != nil {
			return nil, err
		}
		var dns *net.DNSError
		if errors.As(err, &dns) && dns.IsNotFound {
			return nil, fmt.Errorf("%w: the machine has no network, or needs a proxy (HTTPS_PROXY)", err)
		}
		var cert *tls.CertificateVerificationError
		if errors.As(err, &cert) {
			return nil, err
		}
		return nil, &transientError{err: err}
	}
	return resp, nil
}

// place looks at the answer's head: whether it is the file, and from which byte on. It sets the part file and the sums
// to that byte.
func (d *download) place(addr string, resp *http.Response, out *os.File, h *sums) (*sums, error) {
	switch code := resp.StatusCode; {
	case code == http.StatusPartialContent:
		start, total, ok := contentRange(resp.Header.Get("Content-Range"))
		if !ok || start != h.n {
			d.restart(out)
			return nil, &transientError{err: fmt.Errorf("the server sent range %q, asked was from byte %d on", resp.Header.Get("Content-Range"), h.n)}
		}
		if err := d.sizeFits(total); err != nil {
			return nil, err
		}
		return h, nil
	case code == http.StatusOK:
		if err := d.sizeFits(resp.ContentLength); err != nil {
			return nil, err
		}
		// The server sends all of it: it knows no ranges, or the file has changed.
		if h.n > 0 {
			d.restart(out)
			h = newSums(d.source)
		}
		return h, d.setInfo(partInfo{URL: addr, Validator: validator(resp.Header), Digest: d.source.digest()})
	case code == http.StatusRequestedRangeNotSatisfiable:
		_, total, _ := contentRange(resp.Header.Get("Content-Range"))
		if total == h.n && h.n > 0 {
			return h, nil
		}
		d.restart(out)
		return nil, &transientError{err: errors.New("the server has fewer bytes than are here already")}
	case code == http.StatusRequestTimeout || code == http.StatusTooEarly || code == http.StatusTooManyRequests || code >= 500:
		return nil, &transientError{err: fmt.Errorf("%w: %s", ErrRefused, resp.Status), after: retryAfter(resp.Header)}
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return nil, fmt.Errorf("%w: %s: the file may need an account or an accepted licence, or the server does not like the User-Agent%s",
			ErrRefused, resp.Status, snippet(resp.Body))
	case code == http.StatusNotFound || code == http.StatusGone:
		return nil, fmt.Errorf("%w: %s: the address is wrong, or the file was withdrawn", ErrRefused, resp.Status)
	default:
		return nil, fmt.Errorf("%w: %s%s", ErrRefused, resp.Status, snippet(resp.Body))
	}
}

// sizeFits refuses an answer whose announced size can't be that of the file, before any of it is read.
func (d *download) sizeFits(n int64) error {
	switch want := d.source.Size; {
	case n < 0:
	case want > 0 && n != want && n < 64<<10 && d.source.Archive:
		return nil // small and wrong: likely a page with the reason, which is worth reading
	case want > 0 && n != want:
		return fmt.Errorf("%w: the server announces %d bytes, expected are %d", ErrMismatch, n, want)
	case n > d.client.MaxSize:
		return fmt.Errorf("%w: the server announces %d bytes", ErrTooLarge, n)
	}
	return nil
}

func (d *download) restart(out *os.File) {
	_ = out.Truncate(0)
	_, _ = out.Seek(0, io.SeekStart)
}

// validator returns what If-Range may hold: a strong ETag, else the date.
func validator(h http.Header) string {
	if tag := h.Get("ETag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	return h.Get("Last-Modified")
}

// contentRange reads "bytes START-END/TOTAL" or "bytes */TOTAL"; total is -1 when it is not said.
func contentRange(s string) (start, total int64, ok bool) {
	rest, found := strings.CutPrefix(s, "bytes ")
	span, size, slash := strings.Cut(rest, "/")
	if !found || !slash {
		return 0, -1, false
	}
	total = -1
	if size != "*" {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 0 {
			return 0, -1, false
		}
		total = n
	}
	if span == "*" {
		return 0, total, false
	}
	first, _, dash := strings.Cut(span, "-")
	start, err := strconv.ParseInt(first, 10, 64)
	return start, total, dash && err == nil && start >= 0
}

func retryAfter(h http.Header) time.Duration {
	s := h.Get("Retry-After")
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return time.Duration(min(n, 3600)) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// snippet returns ": " and the beginning of a refusal's text, for people.
func snippet(r io.Reader) string {
	b, _ := io.ReadAll(io.LimitReader(r, 300))
	text := strings.Join(strings.Fields(string(b)), " ")
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %.200q", text)
}
