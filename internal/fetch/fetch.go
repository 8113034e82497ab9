// Package fetch downloads files whose digests are known.
//
// It accepts https, http and file URLs. It tries mirrors in order, resumes a download after a broken connection or a
// killed process, and verifies digests. A file appears at the destination only when it is complete and correct.
// FetchMembers downloads single members of a zip archive. The package does not unpack archives and does not choose
// files to download. It contacts only the given URLs and the targets of redirects.
package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Source describes the file to download.
type Source struct {
	URLs []string // URLs of the same file, tried in order

	Size   int64  // bytes; 0: unknown
	SHA256 string // lower-case hexadecimal; Fetch verifies each digest that is not ""
	SHA1   string
	MD5    string

	Archive bool // the file must be an archive; for a web page Fetch returns ErrNotFile

	// Sidecars are suffixes, such as ".sha256" or ".sha1". A server may have the file's digest at the URL with such a
	// suffix. Fetch verifies the first digest that exists.
	Sidecars []string

	UserAgent string // default "hexmage"; some servers reject unknown programs
	Accept    string // media types; "" accepts all
	Label     string // text for messages in place of the URL; "": the URL
}

// Client downloads files. The zero value is ready to use.
type Client struct {
	Offline   bool
	Transport http.RoundTripper // nil: a new http.Transport
	// maximum number of consecutive retries of a URL without progress; default 4
	Retries int
	Backoff time.Duration // delay before the first retry, doubled for each further retry; default 1 s
	// idle timeout of a connection; default 60 s
	Stall time.Duration
	// minimum speed in bytes per second, averaged over Stall; Fetch closes a slower connection; default 1 KiB
	Floor int64
	// maximum size in bytes if Source.Size is 0; default 64 GiB
	MaxSize int64
	// maximum size in bytes if Source.Size is 0 and the server also sends no size; default 4 GiB
	MaxUntold int64
	Logins    []Login                               // credentials for hosts
	TLS       *tls.Config                           // nil: the certificates of this machine
	Proxy     func(*http.Request) (*url.URL, error) // nil: the proxy from the environment

	// Progress receives the number of bytes on disk and the total size (0: unknown). It must return quickly.
	Progress func(done, total int64)
	Waits    func() // called before Fetch waits for another process that downloads the file; may be nil
}

// Result describes a downloaded file.
type Result struct {
	Size     int64
	SHA256   string
	SHA1     string // "" unless the source has this digest
	MD5      string // "" unless the source has this digest
	URL      string // URL of the download; "": the file already existed
	Resumed  int64  // number of bytes from an interrupted download
	Requests int

	head []byte // the first bytes
}

// Causes of errors. Each error of Fetch wraps one of these causes or a network error.
var (
	ErrOffline = errors.New("hexmage is offline, and the file is not in the store; run once without --offline, " +
		"or use a file:// URL")
	ErrMismatch = errors.New("wrong digest or size")
	ErrNotFile  = errors.New("unexpected content from the server")
	ErrRefused  = errors.New("request failed")
	ErrTooLarge = errors.New("file too large")
)

func (c Client) withDefaults() Client {
	if c.Retries <= 0 {
		c.Retries = 4
	}
	if c.Backoff <= 0 {
		c.Backoff = time.Second
	}
	if c.Stall <= 0 {
		c.Stall = time.Minute
	}
	if c.Floor <= 0 {
		c.Floor = 1 << 10
	}
	if c.MaxSize <= 0 {
		c.MaxSize = 64 << 30
	}
	if c.MaxUntold <= 0 {
		c.MaxUntold = 4 << 30
	}
	if c.Proxy == nil {
		c.Proxy = http.ProxyFromEnvironment
	}
	if c.Progress == nil {
		c.Progress = func(int64, int64) {}
	}
	return c
}

// Fetch downloads a file to dest. If dest exists, Fetch verifies the file, and downloads it again only if the check
// fails. Fetch keeps an interrupted download as dest.part, and the next call resumes it. Several processes may call
// Fetch with the same dest.
func (c Client) Fetch(ctx context.Context, s Source, dest string) (*Result, error) {
	c = c.withDefaults()
	r, err := c.there(s, dest)
	if r != nil || err != nil {
		return r, err
	}
	there := func() (bool, error) { // another process may have finished meanwhile
		r, err = c.there(s, dest)
		return r != nil, err
	}
	err = c.each(ctx, s, dest, there, func(d *download, addr string) error {
		if r, err = d.from(ctx, addr); err != nil {
			return err
		}
		return d.sidecar(ctx, addr)
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// each locks dest. Unless the file exists by then, it tries the addresses in order until one works.
func (c Client) each(ctx context.Context, s Source, dest string, there func() (bool, error),
	from func(d *download, addr string) error) error {
	if len(s.URLs) == 0 {
		return errors.New("fetch: missing address in the source")
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	unlock, err := c.lock(ctx, dest)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", s.called(s.URLs[0]), err)
	}
	defer unlock()
	if ok, err := there(); ok || err != nil {
		return err
	}
	if c.Offline && !slices.ContainsFunc(s.URLs, isLocal) {
		return fmt.Errorf("fetch %s: %w", s.called(s.URLs[0]), ErrOffline)
	}
	d := &download{client: c, source: s, path: dest + ".part"}
	d.connect()
	defer d.http.CloseIdleConnections()
	var errs []error
	for _, addr := range s.URLs {
		if c.Offline && !isLocal(addr) {
			continue
		}
		err := from(d, addr)
		if err == nil {
			return d.finish(dest)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		errs = append(errs, d.said(addr, err))
	}
	return errors.Join(errs...)
}

// lock waits for the exclusive lock of dest.
func (c Client) lock(ctx context.Context, dest string) (func(), error) {
	if c.Waits != nil {
		wait := time.AfterFunc(500*time.Millisecond, c.Waits)
		defer wait.Stop()
	}
	return atomicfile.Lock(ctx, dest+".lock")
}

// there returns the result of an existing, correct file at dest, else nil. It keeps a wrong file, which the download
// replaces: another process may have replaced it already.
func (c Client) there(s Source, dest string) (*Result, error) {
	if !s.pinned() {
		return nil, nil
	}
	if info, err := os.Stat(dest); err != nil || info.IsDir() || s.Size > 0 && info.Size() != s.Size {
		return nil, nil
	}
	r, err := sumFile(dest, s)
	if err != nil {
		return nil, err
	}
	if r.check(s) != nil {
		return nil, nil
	}
	return r, nil
}

// Check returns an error if the named file does not have the size and digests of the source.
func Check(name string, s Source) error {
	if !s.pinned() && s.Size == 0 && !s.Archive {
		return nil
	}
	r, err := sumFile(name, s)
	if err != nil {
		return err
	}
	return r.check(s)
}

func (s Source) pinned() bool { return s.SHA256 != "" || s.SHA1 != "" || s.MD5 != "" }

func (r *Result) check(s Source) error {
	if s.Size > 0 && r.Size != s.Size {
		return fmt.Errorf("%w: %d bytes instead of %d", ErrMismatch, r.Size, s.Size)
	}
	for _, sum := range []struct{ name, got, want string }{{"sha256", r.SHA256, s.SHA256}, {"sha1", r.SHA1, s.SHA1},
		{"md5", r.MD5, s.MD5}} {
		if sum.want != "" && sum.got != sum.want {
			return fmt.Errorf("%w: %s %s instead of %s", ErrMismatch, sum.name, sum.got, sum.want)
		}
	}
	return nil
}

func isLocal(u string) bool { return strings.HasPrefix(u, "file://") || !strings.Contains(u, "://") }

// called returns the name of an address in messages.
func (s Source) called(addr string) string {
	if s.Label != "" {
		return s.Label
	}
	return redact(addr)
}

// said prefixes the error with the name of the address. If the source has a label, said hides host names too.
func (d *download) said(addr string, err error) error {
	err = fmt.Errorf("fetch %s: %w", d.source.called(addr), err)
	if d.source.Label == "" {
		return err
	}
	text := err.Error()
	hide := func(host string) {
		if host != "" {
			text = strings.ReplaceAll(text, host, "the server")
		}
	}
	if u, perr := url.Parse(addr); perr == nil {
		hide(u.Hostname())
	}
	d.hosts.Range(func(host, _ any) bool { hide(host.(string)); return true })
	return &hiddenError{err, addresses.ReplaceAllString(text, "the server")}
}

// addresses matches IP addresses in errors of connections.
var addresses = lazyregexp.New(`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?|\[[0-9a-f:]*:[0-9a-f:.]*\](:\d+)?`)

// hiddenError is an error with another text.
type hiddenError struct {
	error
	text string
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.error }

// redact returns the address without a password or a query, which may hold a token.
func redact(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "an invalid address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Environment variables for processes that download. They do not change the content of downloaded files.
const (
	EnvDownloads = "HEXMAGE_DOWNLOADS" // folder in which interrupted downloads stay, to be resumed later
	EnvOffline   = "HEXMAGE_OFFLINE"   // "1": do not use the network
	EnvMirrors   = "HEXMAGE_MIRRORS"   // see ParseMirrors; users may set it
	EnvNetrc     = "NETRC"             // path of the .netrc file with logins; users may set it
)

// Machine holds the download settings of this machine, from the environment variables.
type Machine struct {
	Downloads string // "": a temporary folder
	Offline   bool
	Mirrors   []Mirror
	Logins    []Login
}

// MachineOf reads the download settings from environment variables, and the logins from the .netrc file.
func MachineOf(getenv func(name string) string) (m Machine, err error) {
	m.Downloads, m.Offline = getenv(EnvDownloads), getenv(EnvOffline) == "1"
	if m.Mirrors, err = ParseMirrors(getenv(EnvMirrors)); err == nil {
		m.Logins, err = NetrcFile(getenv(EnvNetrc))
	}
	return m, err
}

// Mirror replaces the prefix From of a URL with To.
type Mirror struct{ From, To string }

// ParseMirrors parses PREFIX=MIRROR pairs that are separated by spaces, such as "https://a/=https://b/c/".
func ParseMirrors(text string) ([]Mirror, error) {
	var ms []Mirror
	for _, word := range strings.Fields(text) {
		from, to, ok := strings.Cut(word, "=")
		if !ok || !strings.Contains(from, "://") || !strings.Contains(to, "://") {
			return nil, fmt.Errorf("invalid mirror %.80q; write https://from/=https://to/", word)
		}
		ms = append(ms, Mirror{from, to})
	}
	return ms, nil
}

// Rewrite applies the mirror with the longest matching From to a URL. Without a match, it returns addr unchanged.
func Rewrite(addr string, ms []Mirror) string {
	best := Mirror{}
	for _, m := range ms {
		if strings.HasPrefix(addr, m.From) && len(m.From) > len(best.From) {
			best = m
		}
	}
	return best.To + strings.TrimPrefix(addr, best.From)
}
