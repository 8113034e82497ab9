package fetch_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/fetch"
)

// serveTag is serve with an ETag of one's own.
func serveTag(w http.ResponseWriter, r *http.Request, b []byte, tag string) {
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}

// lossy drops the connection after n bytes.
type lossy struct {
	http.ResponseWriter
	n int
}

func (l *lossy) Write(b []byte) (int, error) {
	if len(b) > l.n {
		_, _ = l.ResponseWriter.Write(b[:l.n])
		l.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	l.n -= len(b)
	return l.ResponseWriter.Write(b)
}

// TestBrokenConnections covers servers that break a connection and answer the request for the rest in different ways.
func TestBrokenConnections(t *testing.T) {
	b := content(2_000_000)
	other := content(2_000_000)
	other[100_000] ^= 1
	other[1_700_000] ^= 1
	for name, c := range map[string]struct {
		handler func(n int32, w http.ResponseWriter, r *http.Request)
		change  func(*fetch.Source, *fetch.Client)
		want    error
		text    string
		drops   int32 // the first requests whose connections break
		max     int32 // requests at most; 0: any number
	}{
		"good": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) { serve(w, r, b) },
			max: 1},
		"good without a pin": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) { serve(w, r, b) },
			change: unpin, max: 1},
		"drops every connection": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			serve(&lossy{w, 60_000}, r, b)
		}},
		"ignores ranges": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) { _, _ = w.Write(b) },
			max: 1},
		"ignores ranges and drops": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(b)))
			if n < 3 {
				cut(w, 200, b, 1_500_000)
			}
			_, _ = w.Write(b)
		}, max: 4},
		"ignores ranges after the first": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n > 1 {
				r.Header.Del("Range")
			}
			serve(w, r, b)
		}, drops: 1, max: 6},
		"refuses ranges": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				http.Error(w, "no ranges", http.StatusForbidden)
				return
			}
			_, _ = w.Write(b)
		}, max: 1},
		"has a weak validator": {handler: func(_ int32, w http.ResponseWriter,
			r *http.Request) {
			serveTag(w, r, b, `W/"1"`)
		}, max: 1},
		"changes the file, with another tag": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				serveTag(w, r, other, `"old"`)
				return
			}
			serveTag(w, r, b, `"new"`)
		}, drops: 1},
		"changes the file, with another tag, without a pin": {handler: func(n int32, w http.ResponseWriter,
			r *http.Request) {
			if n == 1 {
				serveTag(w, r, other, `"old"`)
				return
			}
			serveTag(w, r, b, `"new"`)
		}, change: unpin, drops: 1},
		"ignores If-Range and changes the file": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-Range")
			if n == 1 {
				serveTag(w, r, other, `"old"`)
				return
			}
			serveTag(w, r, b, `"new"`)
		}, change: unpin, drops: 1},
		"changes the file all the time": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-Range")
			serveTag(w, r, b, fmt.Sprintf(`"%d"`, n))
		}, drops: 100, text: "changed during the download"},
		"changes the file in silence": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				serve(w, r, other)
				return
			}
			serve(w, r, b)
		}, drops: 1},
		"changed the file in silence, for good": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n > 1 {
				serve(w, r, other)
				return
			}
			serve(w, r, b)
		}, drops: 1, want: fetch.ErrMismatch, text: "sha256"},
		"changes the length": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-Range")
			if n == 2 {
				serve(w, r, b[:1_990_000])
				return
			}
			serve(w, r, b)
		}, change: unpin, drops: 1},
		"sends several ranges": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n > 1 && r.Header.Get("Range") != "" {
				w.Header().Set("Content-Type", "multipart/byteranges; boundary=x")
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 100000-199999/%d", len(b)))
				w.WriteHeader(206)
				return
			}
			serve(w, r, b)
		}, drops: 1, max: 6},
		"forgets the tag": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				serve(w, r, b)
				return
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
		}, drops: 1},
		"forgets the tag, without a pin": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				serve(w, r, other)
				return
			}
			r.Header.Del("If-Range")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
		}, change: unpin, drops: 1},
		"packs it": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("\x1f\x8b\x08 and so on"))
		}, change: unpin, want: fetch.ErrNotFile, text: "gzip"},
		"sends a page with a message": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!DOCTYPE html><html><head><title>Sign "+
				"in</title><style>a{}</style></head><body><script>x()</script><p>Accept the &lt;license&gt;\x1b[31m "+
				"first</p>")
		}, want: fetch.ErrNotFile, text: `an HTML page (text: "Sign in Accept the <license> [31m first")`},
		"sends JSON without a pin": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"status": 200, "error": {"code": "E42", "message": "license not accepted"}}`)
		}, change: func(s *fetch.Source, c *fetch.Client) { unpin(s, c); s.Archive = true }, want: fetch.ErrNotFile,
			text: `"message\": \"license not accepted`},
		"sends JSON where no archive is expected": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"error": "quota exceeded"}`)
		}, change: func(s *fetch.Source, _ *fetch.Client) { s.Archive, s.Size = false, 0 }, want: fetch.ErrNotFile,
			text: "quota exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					http.Error(w, "no", http.StatusForbidden)
					return
				}
				if n := n.Add(1); n <= c.drops {
					c.handler(n, &lossy{w, 600_000}, r)
				} else {
					c.handler(n, w, r)
				}
			}))
			defer srv.Close()
			s, cl := pinned(b, srv.URL+"/sdk.zip?token=secret"), client()
			cl.Retries = 8
			if c.change != nil {
				c.change(&s, &cl)
			}
			dest := filepath.Join(t.TempDir(), "sdk.zip")
			r, err := cl.Fetch(t.Context(), s, dest)
			if n := n.Load(); c.max > 0 && n > c.max {
				t.Errorf("%d requests, want %d at most", n, c.max)
			}
			if c.want != nil || c.text != "" {
				if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) ||
					strings.Contains(err.Error(), "secret") {
					t.Errorf("error %v, want %v and %q", err, c.want, c.text)
				}
				if left, _ := filepath.Glob(dest + "*"); err != nil && len(left) > 1 { // the lock stays
					t.Errorf("left behind: %v", left)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(dest); err != nil || !bytes.Equal(got, b) {
				t.Errorf("wrong content, %v", err)
			}
			if c.drops > 0 && r.Requests < 2 {
				t.Errorf("%d requests", r.Requests)
			}
			if sum := sha256.Sum256(b); r.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("result %+v", r)
			}
		})
	}
}

func unpin(s *fetch.Source, _ *fetch.Client) {
	s.Size, s.SHA256, s.SHA1, s.MD5, s.Archive = 0, "", "", "", false
}

// A zip that ends where the server says, and is not whole, is no zip: nothing else would tell before it is pinned.
func TestCutZipWithoutPin(t *testing.T) {
	var whole bytes.Buffer
	z := zip.NewWriter(&whole)
	w, err := z.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(content(50_000))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{whole.Len(), whole.Len() - 10, 30_000} {
		srv := httptest.NewServer(
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, whole.Bytes()[:n]) }))
		_, err := client().Fetch(t.Context(), fetch.Source{URLs: []string{srv.URL}, Archive: true},
			filepath.Join(t.TempDir(), "x"))
		srv.Close()
		if (err == nil) != (n == whole.Len()) {
			t.Errorf("%d of %d bytes: error %v", n, whole.Len(), err)
		}
	}
}

// HTTP/1.1 is spoken with a server that would take HTTP/2, too.
func TestHTTP1(t *testing.T) {
	b := content(1000)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			t.Errorf("protocol %s", r.Proto)
		}
		serve(w, r, b)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	c := client()
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	c.TLS = &tls.Config{RootCAs: pool}
	if _, err := c.Fetch(t.Context(), pinned(b, srv.URL), filepath.Join(t.TempDir(), "x")); err != nil {
		t.Error(err)
	}
}

// Secrets go to their host, and nowhere else.
func TestLogins(t *testing.T) {
	b := content(1000)
	const token = "Bearer s3cr3t-token"
	var mu sync.Mutex
	var leaks []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		for name, v := range r.Header {
			if strings.Contains(strings.Join(v, " "), "s3cr3t") || name == "Authorization" || name == "Referer" {
				leaks = append(leaks, name)
			}
		}
		serve(w, r, b)
	}))
	defer elsewhere.Close()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Token") != "s3cr3t-key" || r.Header.Get("Authorization") != token {
			w.WriteHeader(http.StatusUnauthorized)
			_, password, _ := r.BasicAuth()
			fmt.Fprintf(w, `{"message": "no such token: %s%s"}`, r.Header.Get("Authorization"), password)
			return
		}
		http.Redirect(w, r, elsewhere.URL+"/file?signed=abc", http.StatusFound)
	}))
	defer site.Close()
	host := strings.TrimPrefix(site.URL, "http://")
	c := client()
	c.Logins = []fetch.Login{{Host: host, Header: "X-Token", Value: "s3cr3t-key"},
		{Host: host, Header: "Authorization", Value: token},
		{Host: "127.0.0.1", Header: "Authorization", Value: "Basic not the first"}}
	if _, err := c.Fetch(t.Context(), pinned(b, site.URL+"/sdk.zip"), filepath.Join(t.TempDir(), "x")); err != nil {
		t.Error(err)
	}
	if len(leaks) > 0 {
		t.Errorf("another host was told %v", leaks)
	}
	c.Logins = c.Logins[1:]
	_, err := c.Fetch(t.Context(), pinned(b, site.URL+"/sdk.zip"), filepath.Join(t.TempDir(), "x"))
	if err == nil || strings.Contains(err.Error(), "s3cr3t") ||
		!strings.Contains(err.Error(), "no such token: (sensitive)") || !strings.Contains(err.Error(), "netrc") {
		t.Errorf("error %v", err)
	}
	c.Logins = []fetch.Login{fetch.BasicLogin(host, "ana", "s3cr3t word")}
	if _, err := c.Fetch(t.Context(), pinned(b, site.URL+"/sdk.zip"), filepath.Join(t.TempDir(), "x")); err == nil ||
		strings.Contains(err.Error(), "s3cr3t") ||
		!strings.Contains(err.Error(), "no such token: (sensitive)(sensitive)") {
		t.Errorf("a password that the server repeats: %v", err)
	}
}

func TestNetrc(t *testing.T) {
	logins, err := fetch.Netrc(strings.NewReader("# mine\nmachine a.example login me password p:1\nmachine\n " +
		"b.example\n password only\nmacdef init\n machine c.example login x\n\ndefault login any password any\n"))
	if err != nil || len(logins) != 2 {
		t.Fatalf("%+v, %v", logins, err)
	}
	if u, p, ok := fetch.Basic(logins, "A.example"); !ok || u != "me" || p != "p:1" {
		t.Errorf("%q %q %v", u, p, ok)
	}
	if _, p, ok := fetch.Basic(logins, "b.example"); !ok || p != "only" {
		t.Errorf("%q %v", p, ok)
	}
	if _, _, ok := fetch.Basic(logins, "c.example"); ok {
		t.Error("a macro was read")
	}
	if _, err := fetch.Netrc(strings.NewReader("machine a secret-word")); err == nil ||
		strings.Contains(err.Error(), "secret-word") {
		t.Errorf("error %v", err)
	}
}

func TestSidecars(t *testing.T) {
	b := content(100_000)
	sum := sha256.Sum256(b)
	right, wrong := hex.EncodeToString(sum[:]), strings.Repeat("0", 40)
	for name, c := range map[string]struct {
		files map[string]string
		want  error
	}{
		"none":    {},
		"right":   {files: map[string]string{".sha256": right + "  x.aar\n"}},
		"another": {files: map[string]string{".sha1": wrong}, want: fetch.ErrMismatch},
		"a page":  {files: map[string]string{".sha1": "<html>sign in</html>"}},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if text, ok := c.files[filepath.Ext(r.URL.Path)]; ok {
				fmt.Fprint(w, text)
				return
			}
			if !strings.HasSuffix(r.URL.Path, ".aar") {
				http.NotFound(w, r)
				return
			}
			serve(w, r, b)
		}))
		dest := filepath.Join(t.TempDir(), "x")
		_, err := client().Fetch(t.Context(),
			fetch.Source{URLs: []string{srv.URL + "/x.aar"}, Sidecars: []string{".sha256", ".sha1"}}, dest)
		srv.Close()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if _, err := os.Stat(dest); (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What one mirror sent is not asked of the next.
func TestMirrorsTogether(t *testing.T) {
	b := content(4_000_000)
	var sent atomic.Int64
	var sick atomic.Int32
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sick.Add(1) > 6 { // it goes away
			http.Error(w, "gone", http.StatusGone)
			return
		}
		serveTag(&lossy{&counting{w, &sent}, 250_000}, r, b, `"first"`)
	}))
	defer first.Close()
	second := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			serveTag(&counting{w, &sent}, r, b, `"second"`)
		}))
	defer second.Close()
	c := client()
	r, err := c.Fetch(t.Context(), pinned(b, first.URL, second.URL), filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	if r.URL != second.URL || r.Resumed < 1_000_000 || sent.Load() > 4_500_000 {
		t.Errorf("%+v, %d bytes were sent", r, sent.Load())
	}
}

// A proxy is used, and its password is told to nobody else.
func TestProxy(t *testing.T) {
	b := content(1000)
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Host != "sdk.invalid" || r.Header.Get("Proxy-Authorization") == "" {
			http.Error(w, "who are you", http.StatusProxyAuthRequired)
			return
		}
		serve(w, r, b)
	}))
	defer proxy.Close()
	host := strings.TrimPrefix(proxy.URL, "http://")
	for login, want := range map[string]error{"me:pr0xy-pass@": nil, "": fetch.ErrRefused} {
		u, err := url.Parse("http://" + login + host)
		if err != nil {
			t.Fatal(err)
		}
		c := client()
		c.Proxy = http.ProxyURL(u)
		_, err = c.Fetch(t.Context(), pinned(b, "http://sdk.invalid/x"), filepath.Join(t.TempDir(), "x"))
		if !errors.Is(err, want) || err != nil && !strings.Contains(err.Error(), "proxy") {
			t.Errorf("%q: error %v, want %v", login, err, want)
		}
	}
	u, err := url.Parse("http://me:pr0xy-pass@127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	c := client()
	c.Proxy, c.Retries = http.ProxyURL(u), 1
	if _, err := c.Fetch(t.Context(), pinned(b, "http://sdk.invalid/x"),
		filepath.Join(t.TempDir(), "x")); err == nil || strings.Contains(err.Error(), "pr0xy") {
		t.Errorf("error %v", err)
	}
}

// zipFile makes a zip of n files of size bytes each that do not compress.
func zipFile(t *testing.T, n, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range n {
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("sdk/d%d/f%d", i%7, i), Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		data := content(size)
		copy(data, strconv.Itoa(i))
		_, _ = w.Write(data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// picks selects members by name.
func picks(keep func(name string) bool) fetch.Pick {
	return func(ms []archive.Member) ([]archive.Member, error) {
		return slices.DeleteFunc(ms, func(m archive.Member) bool { return !keep(m.Name) }), nil
	}
}

func TestMembers(t *testing.T) {
	b := zipFile(t, 60, 400_000) // 24 MB
	keep := func(name string) bool { return strings.HasPrefix(name, "sdk/d3/") || name == "sdk/d0/f0" }
	kept := picks(keep)
	var sent atomic.Int64
	var requests atomic.Int32
	var mode atomic.Value
	mode.Store("")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		cw := &counting{ResponseWriter: w, n: &sent}
		switch mode.Load() {
		case "ignores ranges":
			_, _ = cw.Write(b)
		case "drops":
			serve(&lossy{cw, 300_000}, r, b)
		case "changes":
			r.Header.Del("If-Range")
			tag := `"a"`
			if n >= 4 {
				tag = `"b"`
			}
			serveTag(cw, r, b, tag)
		default:
			serve(cw, r, b)
		}
	}))
	defer srv.Close()
	s := fetch.Source{URLs: []string{srv.URL}}
	for _, m := range []string{"", "drops", "changes"} {
		t.Run(m, func(t *testing.T) {
			mode.Store(m)
			sent.Store(0)
			requests.Store(0)
			dest := filepath.Join(t.TempDir(), "x.zip")
			got, err := client().FetchMembers(t.Context(), s, kept, dest)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(dest); err != nil || info.Size() != int64(len(b)) || got != srv.URL ||
				m == "" && sent.Load() > 6_000_000 {
				t.Errorf("%v, from %s, %d bytes sent of %d, %v", info, got, sent.Load(), len(b), err)
			}
			z, err := zip.OpenReader(dest)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			read := 0
			for _, f := range z.File {
				if !keep(f.Name) {
					continue
				}
				r, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, r); err != nil { // checks the CRC
					t.Errorf("%s: %v", f.Name, err)
				}
				read++
			}
			if read != 10 {
				t.Errorf("%d members", read)
			}
			before := requests.Load()
			if _, err := client().FetchMembers(t.Context(), s, kept, dest); err != nil || requests.Load() != before {
				t.Errorf("again: %v, %d requests", err, requests.Load()-before)
			}
		})
	}
	mode.Store("ignores ranges")
	if _, err := client().FetchMembers(t.Context(), s, kept, filepath.Join(t.TempDir(), "x")); !errors.Is(err,
		fetch.ErrNoRanges) {
		t.Errorf("error %v, want %v", err, fetch.ErrNoRanges)
	}
	mode.Store("")
	if _, err := client().FetchMembers(t.Context(), s, picks(func(string) bool { return false }),
		filepath.Join(t.TempDir(), "x")); !errors.Is(err, fetch.ErrNotFile) {
		t.Errorf("error %v, want %v", err, fetch.ErrNotFile)
	}
}

// counting counts the bytes of bodies.
type counting struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.n.Add(int64(n))
	return n, err
}

func (c *counting) Flush() { c.ResponseWriter.(http.Flusher).Flush() }

func TestNetrcFile(t *testing.T) {
	dir := t.TempDir()
	if l, err := fetch.NetrcFile(filepath.Join(dir, "none")); err != nil || len(l) != 0 {
		t.Errorf("%v, %v", l, err)
	}
	file := filepath.Join(dir, "netrc")
	if err := os.WriteFile(file, []byte("machine a login b password c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := fetch.NetrcFile(file); err != nil || len(l) != 1 {
		t.Errorf("%v, %v", l, err)
	}
}

// TestMembersBegin: a part without its state does no harm.
func TestMembersBegin(t *testing.T) {
	b := zipFile(t, 20, 200_000)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, b) }))
	defer srv.Close()
	s, dest := fetch.Source{URLs: []string{srv.URL}}, filepath.Join(t.TempDir(), "x.zip")
	if err := os.WriteFile(dest+".part", content(5_000_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client().FetchMembers(t.Context(), s,
		picks(func(name string) bool { return strings.HasPrefix(name, "sdk/d3/") }), dest); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(dest)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	r, err := z.Open("sdk/d3/f3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // checks the CRC
		t.Error(err)
	}
	if left, _ := filepath.Glob(dest + ".part*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
