package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// transientError is an error that a retry of the request may avoid.
type transientError struct {
	err   error
	after time.Duration // the server's Retry-After; 0: none
	slow  bool          // the received bytes do not count as progress
}

func (e *transientError) Error() string { return e.err.Error() }
func (e *transientError) Unwrap() error { return e.err }

// Unreachable reports whether the error means that the network or a server failed. The request itself is then valid,
// and a retry may succeed.
func Unreachable(err error) bool {
	return errors.As(err, new(*transientError)) || errors.As(err, new(*net.DNSError)) ||
		errors.As(err, new(*tls.CertificateVerificationError))
}

// OutOfReach wraps an error so that Unreachable returns true for it.
func OutOfReach(err error) error { return &transientError{err: err} }

const maxRedirects = 10

// connect creates the HTTP client of a download. It speaks HTTP/1.1: a download makes one request at a time, and some
// servers reset long streams of HTTP/2. The caller closes its idle connections.
func (d *download) connect() {
	rt := d.client.Transport
	if rt == nil {
		rt = &http.Transport{
			Proxy:                 d.client.Proxy,
			DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   30 * time.Second,
			ResponseHeaderTimeout: d.client.Stall,
			IdleConnTimeout:       time.Minute,
			DisableCompression:    true,
			ReadBufferSize:        64 << 10,
			TLSClientConfig:       d.client.TLS.Clone(),
		}
	}
	own := map[string]bool{}
	for _, raw := range d.source.URLs {
		if u, err := url.Parse(raw); err == nil {
			own[hostPort(u)] = true
		}
	}
	d.http = &http.Client{Transport: &transport{RoundTripper: rt, logins: d.client.Logins, own: own},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects {
				return fmt.Errorf("%w: more than %d redirects", ErrRefused, maxRedirects)
			}
			// Redirects may not lead from https to http, nor from a server to a file of this machine.
			if from, to := via[0].URL.Scheme, req.URL.Scheme; to != "https" && to != from {
				return fmt.Errorf("%w: unsafe redirect from %s to %s", ErrRefused, from, to)
			}
			d.hosts.Store(req.URL.Hostname(), true)
			req.Header.Del("Referer") // the previous address may hold a token
			return nil
		}}
}

// answer is a server's response with the requested bytes or the whole file.
type answer struct {
	*http.Response
	start, end int64 // end is exclusive; -1: unknown
	total      int64 // -1: unknown
	cancel     func()
}

func (a *answer) close() {
	a.cancel()
	_ = a.Body.Close()
}

func (a *answer) partial() bool { return a.StatusCode == http.StatusPartialContent }

// get requests the bytes from start up to end (-1: the end of the file), without a Range header for the whole file.
// With a validator the server sends the whole file if it changed.
func (d *download) get(ctx context.Context, addr string, start, end int64, validator string) (*answer, error) {
	a, err := d.ask(ctx, addr, start, end, validator)
	if err != nil {
		return nil, err
	}
	if err := d.place(a, start, end); err != nil {
		a.close()
		if errors.Is(err, ErrRefused) {
			err = &statusError{err, a.StatusCode}
		}
		return nil, err
	}
	return a, nil
}

func (d *download) ask(ctx context.Context, addr string, start, end int64, validator string) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, addr, nil)
	if err != nil {
		return nil, errors.New("invalid address")
	}
	req.Header.Set("User-Agent", cmp.Or(d.source.UserAgent, "hexmage"))
	req.Header.Set("Accept", cmp.Or(d.source.Accept, "*/*"))
	req.Header.Set("Accept-Encoding", "identity")
	if start > 0 || end >= 0 {
		to := ""
		if end >= 0 {
			to = strconv.FormatInt(end-1, 10)
		}
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%s", start, to))
		if validator != "" {
			req.Header.Set("If-Range", validator)
		}
	}
	d.requests.Add(1)
	own, cancel := context.WithCancel(ctx)
	resp, err := d.http.Do(req.WithContext(own))
	if err == nil {
		resp.Body = &pacedBody{ReadCloser: resp.Body, client: d.client, cancel: cancel}
		return &answer{Response: resp, total: -1, end: -1, cancel: cancel}, nil
	}
	cancel()
	var wrapped *url.Error
	if errors.As(err, &wrapped) { // its text has the whole address, which may hold a token
		err = wrapped.Err
	}
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(err, ErrRefused) || ctx.Err() != nil:
		return nil, err
	case errors.As(err, &dns) && dns.IsNotFound:
		return nil, fmt.Errorf("%w; check the network of this machine, or set HTTPS_PROXY if it needs a proxy", err)
	case errors.As(err, &cert):
		return nil, fmt.Errorf("%w; set SSL_CERT_FILE to a file with the certificate of the server or proxy", err)
	}
	return nil, transient(err)
}

// transient wraps a network error.
func transient(err error) error {
	if t := (*transientError)(nil); errors.As(err, &t) {
		return t
	}
	return &transientError{err: err}
}

// place reads from the response's header which bytes of the file the response contains.
func (d *download) place(a *answer, start, end int64) error {
	switch code := a.StatusCode; {
	case code == http.StatusPartialContent:
		first, last, total, ok := contentRange(a.Header.Get("Content-Range"))
		if !ok || first != start || end >= 0 && last > end ||
			strings.HasPrefix(a.Header.Get("Content-Type"), "multipart/") {
			return fmt.Errorf("%w: unexpected Content-Range %.60q for a request from byte %d", errNoRanges,
				a.Header.Get("Content-Range"), start)
		}
		a.start, a.end, a.total = first, last, total
		return d.sizeFits(total)
	case code == http.StatusOK:
		a.end, a.total = a.ContentLength, a.ContentLength
		if enc := a.Header.Get("Content-Encoding"); !d.source.pinned() && d.packed(a, enc) {
			return fmt.Errorf("%w: the server compressed the content (Content-Encoding: %.20q), which hexmage did "+
				"not request; pin the file's sha256, or use another address", ErrNotFile, enc)
		}
		if err := d.sizeFits(a.ContentLength); err != nil {
			return d.refusal(a, err)
		}
		return nil
	case code == http.StatusRequestTimeout || code == http.StatusTooEarly || code == http.StatusTooManyRequests ||
		code >= 500 && code != http.StatusNotImplemented:
		return &transientError{err: fmt.Errorf("%w: %s%s", ErrRefused, a.Status, d.says(a.Body)),
			after: retryAfter(a.Header)}
	case code == http.StatusRequestedRangeNotSatisfiable:
		return fmt.Errorf("%w: %s", errNoRanges, a.Status)
	case code == http.StatusProxyAuthRequired:
		return fmt.Errorf("%w: %s%s; set the login of the proxy with HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT",
			ErrRefused, a.Status, d.says(a.Body))
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s%s; add a login to ~/.netrc, or name a variable with a token in a header "+
			"block of the source", ErrRefused, a.Status, d.says(a.Body))
	case code == http.StatusForbidden:
		return fmt.Errorf("%w: %s%s; check whether the file needs an account, an accepted license or another "+
			"user_agent", ErrRefused, a.Status, d.says(a.Body))
	case code == http.StatusNotFound || code == http.StatusGone:
		return fmt.Errorf("%w: %s%s; the file does not exist or was moved. Correct the address", ErrRefused,
			a.Status,
			d.says(a.Body))
	default:
		return fmt.Errorf("%w: %s%s", ErrRefused, a.Status, d.says(a.Body))
	}
}

// packed reports whether a response is a compressed form of the file. Some servers mark archives as encoded.
func (d *download) packed(a *answer, enc string) bool {
	if enc == "" || strings.EqualFold(enc, "identity") {
		return false
	}
	if a.Request == nil {
		return true
	}
	for _, suffix := range []string{".gz", ".tgz", ".zst", ".xz", ".bz2", ".br"} {
		if strings.HasSuffix(strings.ToLower(a.Request.URL.Path), suffix) {
			return false
		}
	}
	return true
}

func (d *download) says(r io.Reader) string { return scrub(snippet(r), d.client.Logins) }

// refusal reads a small response of a wrong size. If it is a page, refusal returns its message in place of err.
func (d *download) refusal(a *answer, err error) error {
	if !errors.Is(err, ErrMismatch) || a.ContentLength > 1<<20 {
		return err
	}
	b, _ := io.ReadAll(io.LimitReader(a.Body, 64<<10))
	if kind := pageKind(b); kind != "" {
		return fmt.Errorf("%w: %s%s", ErrNotFile, kind, scrub(quoted(message(b)), d.client.Logins))
	}
	return err
}

// sizeFits rejects a response by its announced size.
func (d *download) sizeFits(n int64) error {
	switch want := d.source.Size; {
	case n < 0:
	case want > 0 && n != want:
		return fmt.Errorf("%w: the server announces %d bytes instead of %d", ErrMismatch, n, want)
	case n > d.client.MaxSize:
		return fmt.Errorf("%w: the server announces %d bytes; the limit is %d", ErrTooLarge, n, d.client.MaxSize)
	}
	return nil
}

// validator returns a strong validator for If-Range: an ETag, else a date at least a minute before the response.
func validator(h http.Header) string {
	if tag := h.Get("ETag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil || h.Get("ETag") != "" {
		return ""
	}
	if date, err := http.ParseTime(h.Get("Date")); err != nil || date.Sub(modified) < time.Minute {
		return ""
	}
	return h.Get("Last-Modified")
}

// contentRange parses "bytes START-END/TOTAL". The returned end is exclusive; total is -1 if unknown.
func contentRange(s string) (start, end, total int64, ok bool) {
	n, err := fmt.Sscanf(s, "bytes %d-%d/%d", &start, &end, &total)
	if n == 2 && strings.HasSuffix(s, "/*") {
		total, err = -1, nil
	}
	ok = err == nil && start >= 0 && end >= start && end < 1<<63-1 && (total < 0 || end < total)
	return start, end + 1, total, ok
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
