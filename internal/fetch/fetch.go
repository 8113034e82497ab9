// Package fetch downloads files whose digests are known.
//
// It takes https, http and file addresses, tries mirrors in order, resumes where a connection or a process broke, and
// checks size and digests while it writes. A file appears at its place only when it is complete and correct.
// FetchMembers gets single members of a zip archive. The package does not unpack and does not choose what to
// download. It follows only given addresses and redirects.
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

// Source is what to download.
type Source struct {
	URLs []string // of the same file, tried in order

	Size   int64  // bytes; 0: unknown
	SHA256 string // hexadecimal, lower case. Fetch checks each digest that is given
	SHA1   string
	MD5    string

	Archive bool // the file must start like an archive; Fetch reports a text page as ErrNotFile

	// Sidecars are suffixes of the address (".sha256", ".sha1"). A server may have the file's digest there. Fetch
	// checks the first sidecar that exists.
	Sidecars []string

	UserAgent string // default "hexmage"; some servers refuse programs
	Accept    string // media types; "" accepts all
	Label     string // replaces the addresses in messages; "" shows the address
}

// Client downloads. The zero value works.
type Client struct {
	Offline   bool
	Transport http.RoundTripper // nil: a new http.Transport
	// retries of an address without progress between them; default 4
	Retries int
	Backoff time.Duration // before the first retry, doubled for each further one; default 1 s
	// idle timeout of a connection; default 60 s
	Stall time.Duration
	// bytes a second, measured over Stall, below which Fetch drops a connection; default 1 KiB
	Floor int64
	// largest size in bytes if the source has none; default 64 GiB
	MaxSize int64
	// largest size in bytes if the server states none either; default 4 GiB
	MaxUntold int64
	Logins    []Login                               // credentials of hosts
	TLS       *tls.Config                           // nil: the certificates of this machine
	Proxy     func(*http.Request) (*url.URL, error) // nil: the environment's

	// Progress receives the bytes on disk and the size (0: unknown). It must not block.
	Progress func(done, total int64)
	Waits    func() // called before Fetch waits for another process that downloads the file; may be nil
}

// Result describes a downloaded file.
type Result struct {
	Size     int64
	SHA256   string
	SHA1     string // "" unless the source has one
	MD5      string // "" unless the source has one
	URL      string // the address that served it; "" if the file existed already
	Resumed  int64  // bytes that an interrupted run had downloaded
	Requests int

	head []byte // the first bytes
}

// Errors of Fetch wrap one of these or a network error.
var (
	ErrOffline = errors.New("hexmage is offline and the file was not downloaded before: run once without " +
		"--offline, or give its address as a file:// URL")
	ErrMismatch = errors.New("wrong digest or size")
	ErrNotFile  = errors.New("the server sent a page instead of the file")
	ErrRefused  = errors.New("the server refused")
	ErrTooLarge = errors.New("the file is larger than expected")
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

// Fetch downloads the file to dest. It checks an existing file, and replaces it if it is wrong. An interrupted
// download stays beside dest as dest.part, and the next call resumes it. Several processes may use one dest.
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
		return errors.New("fetch: no address")
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

// there returns the result of an existing, correct file at dest, else nil. It removes a file with a wrong digest.
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
		return nil, os.Remove(dest)
	}
	return r, nil
}

// Check returns an error if the file differs from the size or the digests of the source.
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

// Environment variables of processes that download. They do not affect the content of a download.
const (
	EnvDownloads = "HEXMAGE_DOWNLOADS" // folder for downloads, so that a killed run resumes
	EnvOffline   = "HEXMAGE_OFFLINE"   // "1": use no network
	EnvMirrors   = "HEXMAGE_MIRRORS"   // see ParseMirrors; users set it too
	EnvNetrc     = "NETRC"             // file with logins of hosts; users set it too
)

// Machine holds the values of these variables.
type Machine struct {
	Downloads string // "": temporary
	Offline   bool
	Mirrors   []Mirror
	Logins    []Login
}

// MachineOf reads the variables, and the file with logins.
func MachineOf(getenv func(name string) string) (m Machine, err error) {
	m.Downloads, m.Offline = getenv(EnvDownloads), getenv(EnvOffline) == "1"
	if m.Mirrors, err = ParseMirrors(getenv(EnvMirrors)); err == nil {
		m.Logins, err = NetrcFile(getenv(EnvNetrc))
	}
	return m, err
}

// Mirror replaces the prefix From of an address by To.
type Mirror struct{ From, To string }

// ParseMirrors parses mirrors separated by spaces: "https://a/=https://b/c/".
func ParseMirrors(text string) ([]Mirror, error) {
	var ms []Mirror
	for _, word := range strings.Fields(text) {
		from, to, ok := strings.Cut(word, "=")
		if !ok || !strings.Contains(from, "://") || !strings.Contains(to, "://") {
			return nil, fmt.Errorf("invalid mirror %.80q: write https://from/=https://to/", word)
		}
		ms = append(ms, Mirror{from, to})
	}
	return ms, nil
}

// Rewrite applies the mirror with the longest matching From to addr.
func Rewrite(addr string, ms []Mirror) string {
	best := Mirror{}
	for _, m := range ms {
		if strings.HasPrefix(addr, m.From) && len(m.From) > len(best.From) {
			best = m
		}
	}
	return best.To + strings.TrimPrefix(addr, best.From)
}
