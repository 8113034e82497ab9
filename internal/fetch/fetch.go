// Package fetch downloads files whose digests are known.
//
// It takes https, http and file addresses, tries mirrors in order, reads several ranges at once from servers that
// prove to honour them, goes on where a connection or a process broke, and checks size and digests while it writes. A
// file appears at its place only when all of it is there and right.
// The package does not unpack, does not choose what to download, and follows no address that it was not given or
// redirected to.
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
	URLs []string // the same file each, tried in order

	Size   int64  // bytes; 0: not known
	SHA256 string // hexadecimal, lower case; as are the others. All that are given are checked
	SHA1   string
	MD5    string

	Archive bool // the file must start as an archive does; a page of text is then recognised as such

	// Sidecars are what to put after the address for a file with its digest (".sha256", ".sha1"), as some
	// repositories have it. Those that are there are checked, the first one that is found.
	Sidecars []string

	UserAgent string // some servers refuse programs; "" is "hexmage"
	Accept    string // the forms of it that are understood; "" is all
	Label     string // what messages call its addresses; "" is the address itself
	HTTP1     bool   // some servers break HTTP/2 streams; where that is seen to happen, HTTP/1.1 follows by itself
}

// Client downloads. The zero value works.
type Client struct {
	Offline   bool
	Transport http.RoundTripper // nil: one of our own
	// tries after the first, per address and without progress between them; default 4
	Retries int
	Backoff time.Duration // before the first of them, doubled each time; default 1 s
	// without a byte for this long a connection is given up; default 60 s
	Stall time.Duration
	// bytes a second over Stall, below which it is given up too; default 1 KiB
	Floor int64
	// bytes of a file whose size the source does not say; default 64 GiB
	MaxSize int64
	// bytes of one whose size the server does not say either; default 4 GiB
	MaxUntold int64
	Streams   int                                   // requests at once for one file, at most; default 4
	Chunk     int64                                 // bytes of one of them; default 16 MiB
	Logins    []Login                               // what hosts want to know
	TLS       *tls.Config                           // nil: the machine's certificates
	Proxy     func(*http.Request) (*url.URL, error) // nil: what the environment says

	// Progress is called with the bytes that are there and the size (0: not known), from any goroutine. It must not
	// block.
	Progress func(done, total int64)
	Waits    func() // called when another process downloads the file, and is waited for; may be nil
}

// Result is what was downloaded.
type Result struct {
	Size     int64
	SHA256   string
	SHA1     string // "" unless the source has one
	MD5      string // likewise
	URL      string // where it came from; "" when it was there already
	Resumed  int64  // bytes of an earlier, broken run that were used
	Requests int
	Streams  int // requests at once, at most

	head []byte // the first bytes
}

// What went wrong. Errors of Fetch wrap one of these, or a network error.
var (
	ErrOffline = errors.New("hexmage is offline and the file was not downloaded before: run once without " +
		"--offline, or give its address as a file:// URL")
	ErrMismatch = errors.New("the file is not what its digest says")
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
	if c.Streams <= 0 {
		c.Streams = 4
	}
	if c.Proxy == nil {
		c.Proxy = http.ProxyFromEnvironment
	}
	if c.Chunk <= 0 {
		c.Chunk = 16 << 20
	}
	if c.Progress == nil {
		c.Progress = func(int64, int64) {}
	}
	return c
}

// Fetch makes dest hold the file. A file that is there already is checked, and downloaded again when it is not right.
// An unfinished download is kept beside dest, as dest.part, for the next try; several processes may ask for the same
// dest.
func (c Client) Fetch(ctx context.Context, s Source, dest string) (*Result, error) {
	c = c.withDefaults()
	r, err := c.there(s, dest)
	if r != nil || err != nil {
		return r, err
	}
	there := func() (bool, error) { // another process may get it meanwhile
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

// each takes the right to download to dest and, unless the file is there by then, tries one address after the other
// until one works.
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

// lock takes the right to download to dest.
func (c Client) lock(ctx context.Context, dest string) (func(), error) {
	if c.Waits != nil {
		wait := time.AfterFunc(500*time.Millisecond, c.Waits)
		defer wait.Stop()
	}
	return atomicfile.Lock(ctx, dest+".lock")
}

// there returns the result for a file that is at dest already; nil when there is none, or a wrong one, which it
// removes.
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

// Check says whether the file is what the source says it is.
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
		return fmt.Errorf("%w: it has %d bytes, expected are %d", ErrMismatch, r.Size, s.Size)
	}
	for _, sum := range []struct{ name, got, want string }{{"sha256", r.SHA256, s.SHA256}, {"sha1", r.SHA1, s.SHA1},
		{"md5", r.MD5, s.MD5}} {
		if sum.want != "" && sum.got != sum.want {
			return fmt.Errorf("%w: its %s is %s, expected is %s", ErrMismatch, sum.name, sum.got, sum.want)
		}
	}
	return nil
}

func isLocal(u string) bool { return strings.HasPrefix(u, "file://") || !strings.Contains(u, "://") }

// called is what messages call an address.
func (s Source) called(addr string) string {
	if s.Label != "" {
		return s.Label
	}
	return redact(addr)
}

// said puts what messages call the address before the error. Where that is no address, the error names no host
// either.
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

// addresses are of machines, as errors of connections name them.
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
		return "an address that is none"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Variables with which a process that downloads is told about its machine. None of them changes what is got.
const (
	EnvDownloads = "HEXMAGE_DOWNLOADS" // folder that keeps downloads, so that a killed run resumes
	EnvOffline   = "HEXMAGE_OFFLINE"   // "1": ask no network
	EnvMirrors   = "HEXMAGE_MIRRORS"   // also the user's own: what to ask in place of other addresses
	EnvNetrc     = "NETRC"             // likewise: file with logins of hosts
)

// Machine is what those variables say.
type Machine struct {
	Downloads string // "" keeps nothing
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

// Mirror says where to ask in place of addresses that begin with From: at To and the rest.
type Mirror struct{ From, To string }

// ParseMirrors reads mirrors as a variable holds them: "https://a/=https://b/c/", several with spaces between.
func ParseMirrors(text string) ([]Mirror, error) {
	var ms []Mirror
	for _, word := range strings.Fields(text) {
		from, to, ok := strings.Cut(word, "=")
		if !ok || !strings.Contains(from, "://") || !strings.Contains(to, "://") {
			return nil, fmt.Errorf("%.80q says no mirror: the form is https://from/=https://to/", word)
		}
		ms = append(ms, Mirror{from, to})
	}
	return ms, nil
}

// Rewrite returns the address to ask in place of addr: by the mirror with the longest From.
func Rewrite(addr string, ms []Mirror) string {
	best := Mirror{}
	for _, m := range ms {
		if strings.HasPrefix(addr, m.From) && len(m.From) > len(best.From) {
			best = m
		}
	}
	return best.To + strings.TrimPrefix(addr, best.From)
}
