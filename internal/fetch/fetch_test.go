package fetch_test

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/fetch"
)

// content is a file that starts like a zip and is no text.
func content(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	copy(b, "PK\x03\x04")
	return b
}

func pinned(b []byte, urls ...string) fetch.Source {
	s256, s1, m := sha256.Sum256(b), sha1.Sum(b), md5.Sum(b)
	return fetch.Source{URLs: urls, Size: int64(len(b)), SHA256: hex.EncodeToString(s256[:]),
		SHA1: hex.EncodeToString(s1[:]), MD5: hex.EncodeToString(m[:]), Archive: true}
}

func client() fetch.Client {
	return fetch.Client{Backoff: time.Millisecond, Stall: 2 * time.Second}
}

// serve answers like a good file server: ranges, ETag, Last-Modified.
func serve(w http.ResponseWriter, r *http.Request, b []byte) {
	w.Header().Set("ETag", `"v1"`)
	http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader(string(b)))
}

// cut sends the head of an answer of len(b) bytes and then drops the connection.
func cut(w http.ResponseWriter, status int, b []byte, n int) {
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b[:n])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func TestServers(t *testing.T) {
	b := content(300_000)
	page := []byte("<!DOCTYPE html><html><head><title>Sign in</title></head></html>")
	for name, c := range map[string]struct {
		handler func(n int32, w http.ResponseWriter, r *http.Request) // n counts requests from 1
		change  func(*fetch.Source, *fetch.Client)
		want    error  // nil: the file comes
		text    string // in the error
		max     int32  // requests at most
	}{
		"good": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) { serve(w, r, b) }, max: 1},
		"refuses HEAD": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			serve(w, r, b)
		}, max: 1},
		"drops every 100 kB": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			var from int
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
			w.Header().Set("ETag", `"v1"`)
			rest := b[from:]
			if from > 0 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(b)-1, len(b)))
			}
			if len(rest) > 100_000 {
				cut(w, map[bool]int{true: 206, false: 200}[from > 0], rest, 100_000)
			}
			w.WriteHeader(206)
			_, _ = w.Write(rest)
		}, max: 5},
		"ignores ranges": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				cut(w, 200, b, 100_000)
			}
			_, _ = w.Write(b)
		}, max: 3},
		"changes the file between": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				w.Header().Set("ETag", `"v0"`)
				cut(w, 200, append([]byte("PK\x03\x04old"), b...)[:len(b)], 100_000)
			}
			serve(w, r, b) // If-Range does not match, so all of it comes
		}, max: 3},
		"sends another range": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			switch n {
			case 1:
				cut(w, 200, b, 100_000)
			case 2:
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 5-%d/%d", len(b)-1, len(b)))
				w.WriteHeader(206)
				_, _ = w.Write(b[5:])
			default:
				serve(w, r, b)
			}
		}, max: 3},
		"busy at first": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n < 3 {
				http.Error(w, "busy", http.StatusServiceUnavailable)
				return
			}
			serve(w, r, b)
		}, max: 3},
		"always busy": {handler: func(_ int32, w http.ResponseWriter,
			r *http.Request) {
			http.Error(w, "busy", http.StatusBadGateway)
		},
			want: fetch.ErrRefused, text: "502", max: 5},
		"announces more than it is": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "400000")
			_, _ = w.Write(b)
		}, want: fetch.ErrMismatch, text: "announces 400000", max: 1},
		"sends more than it is": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush() // no Content-Length
			_, _ = w.Write(append(append([]byte{}, b...), b...))
		}, want: fetch.ErrTooLarge, max: 1},
		"ends early without a word": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = w.Write(b[:1000])
		}, want: nil, text: "closed the connection after 1000 of 300000", max: 8},
		"sends a page": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) { _, _ = w.Write(page) },
			want: fetch.ErrNotFile, text: "an HTML page", max: 1},
		"sends a JSON message": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(`{"error":"license"}`))
		},
			want: fetch.ErrNotFile, text: "a JSON message", max: 1},
		"sends a page when the size is not known": {handler: func(_ int32, w http.ResponseWriter,
			r *http.Request) {
			_, _ = w.Write(page)
		},
			change: func(s *fetch.Source, _ *fetch.Client) { s.Size, s.SHA256, s.SHA1, s.MD5 = 0, "", "", "" },
			want:   fetch.ErrNotFile, max: 1},
		"another file": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			other := append([]byte{}, b...)
			other[1000] ^= 1
			serve(w, r, other)
		}, want: fetch.ErrMismatch, text: "sha256", max: 1},
		"gone": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
			want: fetch.ErrRefused, text: "404", max: 1},
		"forbidden": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			http.Error(w, "accept the license", http.StatusForbidden)
		}, want: fetch.ErrRefused, text: "accept the license", max: 1},
		"wants a browser": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.UserAgent(), "Mozilla/") {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			serve(w, r, b)
		}, change: func(s *fetch.Source, _ *fetch.Client) { s.UserAgent = "Mozilla/5.0" }, max: 1},
		"redirects for ever": {handler: func(_ int32, w http.ResponseWriter,
			r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusFound)
		},
			want: fetch.ErrRefused, text: "redirects", max: 11},
		"too large without a pin": {handler: func(_ int32, w http.ResponseWriter, r *http.Request) { serve(w, r, b) },
			change: func(s *fetch.Source, c *fetch.Client) { *s = fetch.Source{URLs: s.URLs}; c.MaxSize = 1000 },
			want:   fetch.ErrTooLarge, max: 1},
		"stalls once": {handler: func(n int32, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				w.Header().Set("Content-Length", strconv.Itoa(len(b)))
				_, _ = w.Write(b[:5000])
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return
			}
			serve(w, r, b)
		}, change: func(_ *fetch.Source, c *fetch.Client) { c.Stall = 100 * time.Millisecond }, max: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int32
			srv := httptest.NewServer(
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.handler(n.Add(1), w, r) }))
			defer srv.Close()
			s, cl := pinned(b, srv.URL+"/sdk.zip?token=secret"), client()
			if c.change != nil {
				c.change(&s, &cl)
			}
			dest := filepath.Join(t.TempDir(), "sub", "sdk.zip")
			r, err := cl.Fetch(t.Context(), s, dest)
			if n := n.Load(); n > c.max {
				t.Errorf("%d requests, want %d at most", n, c.max)
			}
			if c.want != nil || c.text != "" {
				if err == nil {
					t.Fatalf("no error, result %+v", r)
				}
				if c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("error %v, want one that is %v", err, c.want)
				}
				if !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "secret") {
					t.Errorf("error %q: want %q in it, and no token", err, c.text)
				}
				if _, err := os.Stat(dest); err == nil {
					t.Error("there is a file at the destination")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(dest)
			if err != nil || string(got) != string(b) {
				t.Errorf("wrong content, %v", err)
			}
			if r.Size != int64(len(b)) || r.SHA256 != s.SHA256 {
				t.Errorf("result %+v", r)
			}
			if left, _ := filepath.Glob(dest + ".part*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// begun leaves n bytes or more of b at dest, as a run that was ended does.
func begun(t *testing.T, url string, b []byte, dest string, n int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := client()
	c.Transport = slowly{}
	c.Progress = func(done, _ int64) {
		if done >= n {
			cancel()
		}
	}
	if _, err := c.Fetch(ctx, pinned(b, url), dest); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want %v", err, context.Canceled)
	}
	if info, err := os.Stat(dest + ".part"); err != nil || info.Size() >= int64(len(b)) {
		t.Fatalf("%v, %v", info, err)
	}
}

// slowly is a network that brings a few bytes at a time.
type slowly struct{}

type slowBody struct{ io.ReadCloser }

func (s slowBody) Read(b []byte) (int, error) { return s.ReadCloser.Read(b[:min(len(b), 20_000)]) }

func (slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		resp.Body = slowBody{resp.Body}
	}
	return resp, err
}

func TestMirrorsAndResume(t *testing.T) {
	b := content(500_000)
	var ranges []string
	var mu sync.Mutex
	bad := httptest.NewServer(http.NotFoundHandler())
	defer bad.Close()
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		ranges = append(ranges, r.Header.Get("Range")+" "+r.Header.Get("If-Range"))
		mu.Unlock()
		serve(w, r, b)
	}))
	defer good.Close()
	dest := filepath.Join(t.TempDir(), "sdk.zip")
	s := pinned(b, bad.URL+"/x", good.URL+"/x")
	begun(t, good.URL+"/x", b, dest, 200_000)
	ranges = nil
	var last atomic.Int64
	c := client()
	c.Progress = func(done, total int64) {
		if total != int64(len(b)) || done < 200_000 {
			t.Errorf("progress %d of %d", done, total)
		}
		last.Store(done)
	}
	r, err := c.Fetch(t.Context(), s, dest)
	if err != nil {
		t.Fatal(err)
	}
	if r.Resumed < 200_000 || r.URL != good.URL+"/x" || last.Load() != int64(len(b)) {
		t.Errorf("result %+v, last progress %d", r, last.Load())
	}
	if want := fmt.Sprintf(`bytes=%d- "v1"`, r.Resumed); len(ranges) != 1 || ranges[0] != want {
		t.Errorf("requests %q, want one with %q", ranges, want)
	}
	// What is there needs no server, online or not.
	c.Offline = true
	if r, err := c.Fetch(t.Context(), s, dest); err != nil || r.URL != "" {
		t.Errorf("again: %+v, %v", r, err)
	}
	// A file that was damaged on disk is got again; a part that belongs to nothing is found out by the digest.
	if err := os.WriteFile(dest, append(b[:len(b)-1:len(b)-1], b[0]^1), 0o644); err != nil {
		t.Fatal(err)
	}
	other := append([]byte{}, b...)
	other[150_000] ^= 1
	begun(t, good.URL+"/x", b, dest+"2", 200_000)
	if err := os.Rename(dest+"2.part.state", dest+".part.state"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dest+".part", other[:250_000], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := client().Fetch(t.Context(), s, dest); err != nil {
		t.Errorf("a damaged file and a wrong part: %v", err)
	}
}

func TestOffline(t *testing.T) {
	srv := httptest.NewServer(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") }))
	defer srv.Close()
	b := content(1000)
	file := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	c := fetch.Client{Offline: true}
	dest := filepath.Join(t.TempDir(), "x")
	if _, err := c.Fetch(t.Context(), pinned(b, srv.URL), dest); !errors.Is(err, fetch.ErrOffline) ||
		!strings.Contains(err.Error(), "--offline") {
		t.Errorf("error %v, want %v", err, fetch.ErrOffline)
	}
	if _, err := c.Fetch(t.Context(), pinned(b, srv.URL, "file://"+file), dest); err != nil {
		t.Errorf("a file address: %v", err)
	}
}

func TestLocal(t *testing.T) {
	b := content(100_000)
	file := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	dest := filepath.Join(t.TempDir(), "x")
	if r, err := client().Fetch(t.Context(), pinned(b, "file://"+file), dest); err != nil || r.Size != 100_000 {
		t.Errorf("%+v, %v", r, err)
	}
	wrong := pinned(b, "file://"+file)
	wrong.SHA256 = strings.Repeat("0", 64)
	if _, err := client().Fetch(t.Context(), wrong, dest); !errors.Is(err, fetch.ErrMismatch) {
		t.Errorf("error %v, want %v", err, fetch.ErrMismatch)
	}
	index := filepath.Join(filepath.Dir(file), "index.html") // a name with a meaning to servers
	if err := os.WriteFile(index, b, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, addr := range map[string]string{"path": file, "index": "file://" + index, "empty": os.DevNull} {
		want := fetch.Source{URLs: []string{addr}}
		if name != "empty" {
			want = pinned(b, addr)
		}
		if r, err := client().Fetch(t.Context(), want, dest+name); err != nil || r.URL != addr {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for _, u := range []string{"file:///no/such", filepath.Dir(file), "ftp://host/x", "https:", "file://otherhost/x"} {
		if _, err := client().Fetch(t.Context(), pinned(b, u), dest+"2"); err == nil {
			t.Errorf("%s: no error", u)
		}
	}
	if err := fetch.Check(file, pinned(b)); err != nil {
		t.Errorf("Check: %v", err)
	}
	if err := fetch.Check(file, wrong); !errors.Is(err, fetch.ErrMismatch) {
		t.Errorf("Check of another: %v", err)
	}
}

func TestTogether(t *testing.T) {
	b := content(200_000)
	var n atomic.Int32
	srv := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n.Add(1); serve(w, r, b) }))
	defer srv.Close()
	dest := filepath.Join(t.TempDir(), "x")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := client().Fetch(t.Context(), pinned(b, srv.URL), dest); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n.Load() != 1 {
		t.Errorf("%d requests for one file, want 1", n.Load())
	}
}

func TestCanceled(t *testing.T) {
	b := content(200_000)
	ctx, cancel := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b[:100_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	dest := filepath.Join(t.TempDir(), "x")
	c := client()
	c.Progress = func(done, _ int64) {
		if done >= 50_000 {
			cancel()
		}
	}
	if _, err := c.Fetch(ctx, pinned(b, srv.URL), dest); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if info, err := os.Stat(dest + ".part"); err != nil || info.Size() == 0 {
		t.Errorf("what had come is not kept: %v", err)
	}
}

func TestNoDowngrade(t *testing.T) {
	plain := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Error("asked over http") }))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	c := client()
	c.Transport = secure.Client().Transport
	if _, err := c.Fetch(t.Context(), pinned(content(10), secure.URL),
		filepath.Join(t.TempDir(), "x")); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("error %v, want %v", err, fetch.ErrRefused)
	}
}

// A server leads nobody to a file of this machine, even one with the right content.
func TestNoRedirectToFile(t *testing.T) {
	b := content(10)
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.RedirectHandler("file://"+file, http.StatusFound))
	defer srv.Close()
	if _, err := client().Fetch(t.Context(), pinned(b, srv.URL),
		filepath.Join(t.TempDir(), "x")); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("error %v, want %v", err, fetch.ErrRefused)
	}
}
