package fetch_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/fetch"
)

// trickle sends b in pieces, one each pause.
func trickle(w http.ResponseWriter, r *http.Request, b []byte, piece int, pause time.Duration) {
	for len(b) > 0 && r.Context().Err() == nil {
		n := min(piece, len(b))
		_, _ = w.Write(b[:n])
		w.(http.Flusher).Flush()
		b = b[n:]
		time.Sleep(pause)
	}
}

// TestSlow: a server from which next to nothing comes is given up, though something comes all the time; and so is one
// that says next to nothing of why it refuses, of what is beside the file, or of a zip's directory.
func TestSlow(t *testing.T) {
	b := content(100_000)
	slow := func(w http.ResponseWriter, r *http.Request) { trickle(w, r, b, 1, 5*time.Millisecond) }
	for name, c := range map[string]struct {
		handler func(w http.ResponseWriter, r *http.Request)
		source  fetch.Source
		members bool
		text    string
	}{
		"the file": {handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(b)))
			slow(w, r)
		}, text: "the minimum is 2000 bytes per second"},
		"ranges of it": {handler: func(w http.ResponseWriter, r *http.Request) { serve(pacedWriter{w, r}, r, b) },
			text: "the minimum is 2000 bytes per second"},
		"a refusal": {handler: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			slow(w, r)
		}, text: "404"},
		"a file beside it": {handler: func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, ".sha256") {
				slow(w, r)
				return
			}
			serve(w, r, b)
		}, source: fetch.Source{Sidecars: []string{".sha256"}}, text: ".sha256"},
		"a directory": {handler: func(w http.ResponseWriter, r *http.Request) { serve(pacedWriter{w, r}, r, b) },
			members: true, text: "the minimum is 2000 bytes per second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(c.handler))
			defer srv.Close()
			cl := fetch.Client{Backoff: time.Millisecond, Stall: time.Second, Floor: 2000, Retries: 2}
			s := c.source
			s.URLs = []string{srv.URL + "/sdk.zip"}
			dest := filepath.Join(t.TempDir(), "sdk.zip")
			begin := time.Now()
			var err error
			if c.members {
				_, err = cl.FetchMembers(t.Context(), s, picks(func(string) bool { return true }), dest)
			} else {
				_, err = cl.Fetch(t.Context(), s, dest)
			}
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want %q", err, c.text)
			}
			if took := time.Since(begin); took > 30*time.Second { // all of it would take 500 s
				t.Errorf("given up after %v", took)
			}
			if _, err := os.Stat(dest); err == nil {
				t.Error("there is a file at the destination")
			}
		})
	}
}

// pacedWriter sends what is written a byte at a time.
type pacedWriter struct {
	http.ResponseWriter
	r *http.Request
}

func (p pacedWriter) Write(b []byte) (int, error) {
	trickle(p.ResponseWriter, p.r, b, 1, 5*time.Millisecond)
	return len(b), p.r.Context().Err()
}

// TestSlowEnough: what comes above the floor is taken, however long it takes; who asks may be slower than that.
func TestSlowEnough(t *testing.T) {
	b := content(30_000)
	srv := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { trickle(w, r, b, 1000, 30*time.Millisecond) }))
	defer srv.Close()
	cl := fetch.Client{Backoff: time.Millisecond, Stall: 300 * time.Millisecond, Floor: 1000,
		Progress: func(int64, int64) { time.Sleep(time.Millisecond) }}
	r, err := cl.Fetch(t.Context(), pinned(b, srv.URL), filepath.Join(t.TempDir(), "sdk.zip"))
	if err != nil || r.Requests != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestEndless: a body of which nobody says how long it is ends somewhere, and leaves nothing.
func TestEndless(t *testing.T) {
	var sent atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := content(64 << 10)
		for {
			n, err := w.Write(b)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	for name, s := range map[string]fetch.Source{"unpinned": {}, "pinned": {SHA256: strings.Repeat("0", 64)},
		"archive": {Archive: true}} {
		sent.Store(0)
		dir := t.TempDir()
		s.URLs = []string{srv.URL + "/sdk.zip"}
		cl := client()
		cl.MaxUntold = 3 << 20
		_, err := cl.Fetch(t.Context(), s, filepath.Join(dir, "sdk.zip"))
		if !errors.Is(err, fetch.ErrTooLarge) || !strings.Contains(err.Error(), "set the size of the source") {
			t.Errorf("%s: error %v", name, err)
		}
		if sent.Load() > 64<<20 {
			t.Errorf("%s: %d bytes were sent", name, sent.Load())
		}
		left, _ := os.ReadDir(dir)
		for _, f := range left {
			if info, err := f.Info(); err == nil && info.Size() > 1<<20 {
				t.Errorf("%s: left behind: %s, %d bytes", name, f.Name(), info.Size())
			}
		}
	}
	// A server that says how much there is may send more than that.
	b := content(5 << 20)
	told := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, b) }))
	defer told.Close()
	cl := client()
	cl.MaxUntold = 3 << 20
	if _, err := cl.Fetch(t.Context(), fetch.Source{URLs: []string{told.URL}},
		filepath.Join(t.TempDir(), "x")); err != nil {
		t.Error(err)
	}
}
