package fetch_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hexmage/hexmage/internal/fetch"
)

// TestSmall: a page comes into memory, with where it came from; what is wrong is said without the address where that
// has a name.
func TestSmall(t *testing.T) {
	var busy atomic.Int32
	busy.Store(1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/page":
			if busy.Add(-1) >= 0 {
				http.Error(w, "later", http.StatusServiceUnavailable)
				return
			}
			fmt.Fprint(w, "accepts "+r.Header.Get("Accept"))
		case "/large":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush() // nobody says how large it is
			fmt.Fprint(w, strings.Repeat("x", 101))
		case "/away":
			http.Redirect(w, r, "http://files.invalid/x", http.StatusFound)
		default:
			http.Error(w, "who are you", http.StatusUnauthorized)
		}
	}))
	defer srv.Close()
	c := client()
	b, at, err := c.Small(t.Context(), fetch.Source{URLs: []string{srv.URL + "/moved"}, Accept: "text/x"}, 100)
	if err != nil || string(b) != "accepts text/x" || at != srv.URL+"/page" {
		t.Errorf("%q from %s, %v", b, at, err)
	}
	if _, _, err = c.Small(t.Context(), fetch.Source{URLs: []string{srv.URL + "/large"}}, 100); !errors.Is(err,
		fetch.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	for _, path := range []string{"/private", "/away"} {
		_, _, err = c.Small(t.Context(), fetch.Source{URLs: []string{srv.URL + path}, Label: "the page"}, 100)
		if err == nil || strings.Contains(err.Error(), "127.0.0.1") ||
			strings.Contains(err.Error(), "files.invalid") || !strings.Contains(err.Error(), "fetch the page") {
			t.Errorf("%s: %v", path, err)
		}
		if (fetch.Status(err) == http.StatusUnauthorized) != (path == "/private") {
			t.Errorf("%s: status %d", path, fetch.Status(err))
		}
	}
	c.Offline = true
	if _, _, err = c.Small(t.Context(), fetch.Source{URLs: []string{srv.URL + "/page"}}, 100); !errors.Is(err,
		fetch.ErrOffline) {
		t.Errorf("offline: %v", err)
	}
	name := filepath.Join(t.TempDir(), "page")
	if err := os.WriteFile(name, []byte("here"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, _, err = c.Small(t.Context(), fetch.Source{URLs: []string{"file://" + name}}, 100); err != nil ||
		string(b) != "here" {
		t.Errorf("%q, %v", b, err)
	}
}
