package fetch_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hexmage/hexmage/internal/fetch"
)

// TestAsk: what Fetch would get is there, what it would be refused is not, and all that is sent for it is a few bytes.
func TestAsk(t *testing.T) {
	b := content(1 << 20)
	var busy atomic.Int64
	var sent atomic.Pointer[atomic.Int64] // of this case: the handler of the one before may still be writing
	sent.Store(new(atomic.Int64))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = &tally{w, sent.Load()}
		switch r.URL.Path {
		case "/file":
			serve(w, r, b)
		case "/deaf": // to ranges
			w.Header().Set("Content-Length", "1048576")
			_, _ = w.Write(b[:600])
		case "/strict": // refuses them
			if r.Header.Get("Range") != "" {
				http.Error(w, "no", http.StatusNotImplemented)
				return
			}
			serve(w, r, b)
		case "/private":
			if r.Header.Get("Authorization") != "Bearer t" {
				http.Error(w, "who are you", http.StatusUnauthorized)
				return
			}
			serve(w, r, b)
		case "/busy":
			if busy.Add(1) == 1 {
				http.Error(w, "later", http.StatusServiceUnavailable)
				return
			}
			serve(w, r, b)
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<!DOCTYPE html><html><title>Log in</title></html>"))
		case "/other":
			serve(w, r, b[:1000])
		case "/empty":
			serve(w, r, nil)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	login := []fetch.Login{{Host: strings.TrimPrefix(srv.URL, "http://"), Header: "Authorization", Value: "Bearer t"}}
	unpinned := fetch.Source{Archive: true}
	for _, c := range []struct {
		urls   []string
		source fetch.Source
		client fetch.Client
		want   string // of the error; "": there is none
		is     error
	}{
		{urls: []string{"/file"}},
		{urls: []string{"/deaf"}},
		{urls: []string{"/strict"}},
		{urls: []string{"/busy"}},
		{urls: []string{"/nosuch", "/file"}},
		{urls: []string{"file://" + file}},
		{urls: []string{"file://" + file}, client: fetch.Client{Offline: true}},
		{urls: []string{"/file", "file://" + file}, client: fetch.Client{Offline: true}},
		{urls: []string{"/empty"}, source: fetch.Source{SHA256: strings.Repeat("0", 64)}},
		{urls: []string{"/private"}, client: fetch.Client{Logins: login}},
		{urls: []string{"/private"}, want: "it wants a login", is: fetch.ErrRefused},
		{urls: []string{"/nosuch"}, want: "404 Not Found: the address is wrong", is: fetch.ErrRefused},
		{urls: []string{"/other"}, want: "1000 bytes, expected are 1048576", is: fetch.ErrMismatch},
		{urls: []string{"/page"}, source: unpinned, want: "Log in", is: fetch.ErrNotFile},
		{urls: []string{"/file"}, client: fetch.Client{Offline: true}, is: fetch.ErrOffline},
		{urls: []string{"file://" + file + ".gone"}, is: os.ErrNotExist},
		{urls: []string{"file://" + t.TempDir()}, want: "it is a folder"},
		{urls: []string{"ftp://127.0.0.1/x"}, want: "none of https, http and file"},
		{urls: nil, want: "no address"},
	} {
		s := c.source
		if s.SHA256 == "" && !s.Archive {
			s = pinned(b)
		}
		for _, u := range c.urls {
			if strings.HasPrefix(u, "/") {
				u = srv.URL + u
			}
			s.URLs = append(s.URLs, u)
		}
		of := client()
		of.Offline, of.Logins = c.client.Offline, c.client.Logins
		sent.Store(new(atomic.Int64))
		err := of.Ask(t.Context(), s)
		if failed := c.want != "" || c.is != nil; failed != (err != nil) ||
			err != nil && !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%q: %v", c.urls, err)
		}
		if n := sent.Load().Load(); n > 64<<10 && c.urls[0] != "/strict" {
			t.Errorf("%q: %d bytes were sent", c.urls, n)
		}
	}
}

// tally counts what a handler writes.
type tally struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *tally) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}
