package sources_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

// Whatever a server does, there is the right tree afterwards, or none. Bad servers say that they have the file, and send
// something else at first, or always.
func TestServersAndTrees(t *testing.T) {
	good := sdkZip(t)
	other := bytes.Clone(good)
	other[len(other)/2] ^= 1
	sum := sha256.Sum256(good)
	want := ""
	for name, c := range map[string]struct {
		send func(n int32, w http.ResponseWriter, r *http.Request)
		ends bool // with the tree
	}{
		"good":              {func(_ int32, w http.ResponseWriter, r *http.Request) { file(w, r, good, `"1"`) }, true},
		"drops connections": {func(n int32, w http.ResponseWriter, r *http.Request) { file(&dropping{w, 700_000}, r, good, `"1"`) }, true},
		"ignores Range":     {func(_ int32, w http.ResponseWriter, r *http.Request) { _, _ = w.Write(good) }, true},
		"is changed, and says so": {func(n int32, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				w = &dropping{w, 700_000}
			}
			file(w, r, pick(n > 1, good, other), pick(n > 1, `"2"`, `"1"`))
		}, true},
		"is changed in silence": {func(n int32, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				w = &dropping{w, 7_000_000}
			}
			file(w, r, pick(n == 2, other, good), `"1"`)
		}, true},
		"another file, under its tag": {func(n int32, w http.ResponseWriter, r *http.Request) { file(w, r, other, `"1"`) }, false},
		"HTML with 200": {func(n int32, w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "<html><title>Sorry</title></html>")
		}, false},
		"announces too little": {func(n int32, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(good)-1000))
			_, _ = w.Write(good[:len(good)-1000])
		}, false},
		"announces too much": {func(n int32, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(good)+1000))
			_, _ = w.Write(good)
		}, false},
	} {
		for _, pinned := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, pinned %v", name, pinned), func(t *testing.T) {
				var n atomic.Int32
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodGet {
						http.Error(w, "no", http.StatusForbidden)
						return
					}
					c.send(n.Add(1), w, r)
				}))
				defer srv.Close()
				s := sources.Spec{Kind: sources.KindArchive, Name: "sdk", URLs: []string{srv.URL + "/sdk.zip"}, Layout: unpack.Layout{StripPrefix: "Hexagon_SDK/6"}}
				if pinned {
					s.SHA256, s.Size = hex.EncodeToString(sum[:]), int64(len(good))
				}
				out := filepath.Join(t.TempDir(), "tree")
				_, err := sources.Learn(t.Context(), s, out, sources.Options{Downloads: t.TempDir(), Backoff: time.Millisecond})
				if _, serr := os.Lstat(out); (serr == nil) != (err == nil) {
					t.Fatalf("error %v, and %v", err, serr)
				}
				if pinned && (err == nil) != c.ends {
					t.Errorf("error %v, want the tree: %v", err, c.ends)
				}
				if err != nil {
					return
				}
				got, err := unpack.Digest(t.Context(), out)
				if err != nil {
					t.Fatal(err)
				}
				if want == "" {
					want = got
				}
				if pinned && got != want {
					t.Errorf("tree %s, want %s", got, want)
				}
			})
		}
	}
}

func file(w http.ResponseWriter, r *http.Request, b []byte, tag string) {
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// dropping drops the connection after n bytes.
type dropping struct {
	http.ResponseWriter
	n int
}

func (d *dropping) Write(b []byte) (int, error) {
	if d.n -= len(b); d.n < 0 {
		panic(http.ErrAbortHandler)
	}
	return d.ResponseWriter.Write(b)
}
