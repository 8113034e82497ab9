package sources_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

// sdkZip is an SDK of 12 MB of which few files are wanted.
func sdkZip(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	noise := rand.NewChaCha8([32]byte{7})
	for i := range 24 {
		big := make([]byte, 500_000)
		_, _ = noise.Read(big)
		for name, body := range map[string][]byte{fmt.Sprintf("Hexagon_SDK/6/docs/%d.pdf", i): big} {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = w.Write(body)
		}
		if i%8 == 0 {
			h := &zip.FileHeader{Name: fmt.Sprintf("Hexagon_SDK/6/tools/bin/t%d", i), Method: zip.Deflate}
			h.SetMode(0o755)
			w, err := z.CreateHeader(h)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(w, "#!/bin/sh\necho %d\n", i)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// server serves b and counts what it sends.
func server(t *testing.T, b []byte, ranges *atomic.Bool) (string, *atomic.Int64) {
	sent := &atomic.Int64{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ranges.Load() {
			r.Header.Del("Range")
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(counter{w, sent}, r, "", time.Time{}, bytes.NewReader(b))
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/sdk.zip", sent
}

type counter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.n.Add(int64(n))
	return n, err
}

func TestParts(t *testing.T) {
	b := sdkZip(t)
	ranges := &atomic.Bool{}
	ranges.Store(true)
	url, sent := server(t, b, ranges)
	s := sources.Spec{Kind: sources.KindArchive, Name: "hexagon 6", URLs: []string{url}, Parts: &sources.Parts{}, Layout: unpack.Layout{StripPrefix: "Hexagon_SDK/6", Only: []string{"tools/**"}}}
	o := sources.Options{Downloads: t.TempDir()}
	if err := sources.Fetch(t.Context(), s, filepath.Join(t.TempDir(), "x"), o); err == nil || !strings.Contains(err.Error(), "hexmage lock") {
		t.Errorf("not pinned: %v", err)
	}
	dir := t.TempDir()
	l, err := sources.Learn(t.Context(), s, filepath.Join(dir, "a"), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Tree) != 64 || l.SHA256 != "" || sent.Load() > 3_000_000 {
		t.Errorf("learned %+v, %d bytes of %d were sent", l, sent.Load(), len(b))
	}
	info, err := os.Stat(filepath.Join(dir, "a", "tools/bin/t16"))
	if err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a", "docs/1.pdf")); err == nil {
		t.Error("there is more than was asked for")
	}
	s.Tree = l.Tree
	before := sent.Load()
	offline := o
	offline.Offline = true
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "b"), offline); err != nil || sent.Load() != before {
		t.Errorf("what was got to learn its digest is there: %v", err)
	}
	offline.Downloads = t.TempDir()
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "n"), offline); !errors.Is(err, fetch.ErrOffline) {
		t.Errorf("offline: %v", err)
	}
	// A server that sends no parts sends all; the tree is the same.
	ranges.Store(false)
	o.Downloads = t.TempDir()
	var warned string
	o.Warn = func(text string) { warned += text }
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "d"), o); err != nil || !strings.Contains(warned, "the whole archive") {
		t.Errorf("%v, %q", err, warned)
	}
	// Another tree than the pinned one is refused, and so is a damaged member.
	ranges.Store(true)
	o.Downloads = t.TempDir()
	s.Tree = strings.Repeat("0", 64)
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "e"), o); !errors.Is(err, fetch.ErrMismatch) {
		t.Errorf("another tree: %v", err)
	}
	s.Tree = l.Tree
	at := bytes.Index(b, []byte("tools/bin/t16")) + len("tools/bin/t16") + 3
	b[at] ^= 0xff
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "f"), o); err == nil {
		t.Error("a damaged member: no error")
	}
	for _, name := range []string{"e", "f"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("there is a tree %s", name)
		}
	}
}

// TestHugeArchive: of an archive of more than 4 GiB, most of it not wanted, little is read.
func TestHugeArchive(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	const far = 5 << 30
	z.SetOffset(far) // a hole before it plays what is not wanted
	for _, name := range []string{"sdk/bin/a", "sdk/bin/b"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(bytes.Repeat([]byte(name), 1000))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "huge.zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at, piece := range map[int64][]byte{0: []byte("PK\x03\x04"), far: b.Bytes()} {
		if _, err := f.WriteAt(piece, at); err != nil {
			t.Fatal(err)
		}
	}
	sent := &atomic.Int64{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(counter{w, sent}, r, "", time.Time{}, f)
	}))
	defer srv.Close()
	s := sources.Spec{Kind: sources.KindArchive, Name: "huge", URLs: []string{srv.URL}, Parts: &sources.Parts{}, Layout: unpack.Layout{StripPrefix: "sdk", Only: []string{"bin/a"}}}
	out := filepath.Join(t.TempDir(), "tree")
	if _, err := sources.Learn(t.Context(), s, out, sources.Options{Downloads: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(out, "bin/a")); err != nil || len(got) != 9000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if sent.Load() > 2<<20 {
		t.Errorf("%d bytes were sent", sent.Load())
	}
}

func TestSecretsAndMirrors(t *testing.T) {
	b, sum := zipOf(t, map[string]string{"a": "x"})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0ken" {
			http.Error(w, "who are you: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		_, _ = w.Write(b)
	}))
	defer srv.Close()
	s := sources.Spec{Kind: sources.KindArchive, Name: "sdk", URLs: []string{srv.URL + "/sdk.zip"}, SHA256: sum,
		Headers: []sources.Header{{Name: "Authorization", Variable: "vendor_token", Prefix: "Bearer "}}}
	o := sources.Options{Downloads: t.TempDir()}
	dir := t.TempDir()
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "a"), o); err == nil || !strings.Contains(err.Error(), "HEXMAGE_VAR_vendor_token") {
		t.Errorf("without the variable: %v", err)
	}
	o.Secret = func(string) (string, bool) { return "wr0ng-token", true }
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "a"), o); !errors.Is(err, fetch.ErrRefused) || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("with another: %v", err)
	}
	o.Secret = func(name string) (string, bool) { return "t0ken", name == "vendor_token" }
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "a"), o); err != nil {
		t.Error(err)
	}
	if doc, err := tool.Encode(s); err != nil || strings.Contains(string(doc), "t0ken") {
		t.Error("the spec has the secret")
	}
	o.Secret = nil // what is there needs none
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "b"), o); err != nil {
		t.Error(err)
	}
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mirror/sdks/sdk.zip" || r.Header.Get("Authorization") != "" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(b)
	}))
	defer open.Close()
	o = sources.Options{Downloads: t.TempDir()}
	var err error
	if o.Mirrors, err = fetch.ParseMirrors("https://vendor.example/=http://nowhere.invalid/ https://vendor.example/api/=" + open.URL + "/mirror/"); err != nil {
		t.Fatal(err)
	}
	s.URLs, s.Headers = []string{"https://vendor.example/api/sdks/sdk.zip"}, nil
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "c"), o); err != nil {
		t.Error(err)
	}
	if _, err := fetch.ParseMirrors("https://a"); err == nil {
		t.Error("half a mirror: no error")
	}
}

// vendorHome has clients of Qualcomm that write what they are told into a file, or give its archive.
func vendorHome(t *testing.T, archive []byte) qpm.Client {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "sdk.zip"), archive, 0o644); err != nil {
		t.Fatal(err)
	}
	client := "#!/bin/sh\ncase $1 in --license-activate) exit ;; esac\nwhile [ $# -gt 1 ]; do case $1 in --path) p=$2 ;; --version) v=$2 ;; esac; shift; done\n" +
		"case $p in /*) ;; *) echo '[Error] : qpm-cli: An unexpected error occurred'; exit 1 ;; esac\n" + // as Qualcomm's
		"mkdir -p \"$p/bin\" && echo version \"$v\" > \"$p/bin/tool\" && chmod +x \"$p/bin/tool\"\n"
	qsc := "#!/bin/sh\nwhile [ $# -gt 1 ]; do case $1 in --path) p=$2 ;; esac; shift; done\ncp \"$HOME/sdk.zip\" \"$p/v1.zip\"\n"
	for name, text := range map[string]string{"qpm-cli": client, "qsc-cli": qsc} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return qpm.Client{Home: home, Search: []string{home, "/usr/bin", "/bin"}, Logs: []string{}}
}

func TestVendor(t *testing.T) {
	b, sum := zipOf(t, map[string]string{"sdk/a": "x"})
	o := sources.Options{Downloads: t.TempDir(), Vendor: vendorHome(t, b)}
	dir := t.TempDir()
	s := sources.Spec{Kind: sources.KindVendor, Name: "hexagon 6", Vendor: &sources.Vendor{Client: "qpm", Product: qpm.Product{Name: "hexagonsdk6.x", Version: "6.2.0.1"}}}
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "a"), o); err == nil || !strings.Contains(err.Error(), "hexmage lock") {
		t.Errorf("not pinned: %v", err)
	}
	l, err := sources.Learn(t.Context(), s, filepath.Join(dir, "a"), o)
	if err != nil || len(l.Tree) != 64 {
		t.Fatalf("%+v, %v", l, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a/bin/tool")); err != nil || string(text) != "version 6.2.0.1\n" {
		t.Errorf("%q, %v", text, err)
	}
	s.Tree = l.Tree
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "b"), o); err != nil {
		t.Error(err)
	}
	s.Vendor.Version = "6.2.0.2" // another thing comes
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "c"), o); !errors.Is(err, fetch.ErrMismatch) {
		t.Errorf("error %v, want %v", err, fetch.ErrMismatch)
	}
	s = sources.Spec{Kind: sources.KindVendor, Name: "qairt 2", Layout: unpack.Layout{StripPrefix: "sdk"}, Vendor: &sources.Vendor{Client: "qsc", Product: qpm.Product{Name: "Runtime", Version: "2"}}}
	if l, err = sources.Learn(t.Context(), s, filepath.Join(dir, "d"), o); err != nil || l.SHA256 != sum || l.Size != int64(len(b)) {
		t.Fatalf("%+v, %v", l, err)
	}
	s.SHA256, s.Size = sum, l.Size
	o.Offline = true
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "e"), o); err != nil {
		t.Errorf("it is kept: %v", err)
	}
	o.Downloads = t.TempDir()
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "f"), o); !errors.Is(err, fetch.ErrOffline) {
		t.Errorf("error %v, want %v", err, fetch.ErrOffline)
	}
	o.Offline, s.SHA256 = false, hex.EncodeToString(make([]byte, sha256.Size))
	if err := sources.Fetch(t.Context(), s, filepath.Join(dir, "f"), o); !errors.Is(err, fetch.ErrMismatch) {
		t.Errorf("error %v, want %v", err, fetch.ErrMismatch)
	}
	for _, name := range []string{"c", "f"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("there is a tree %s", name)
		}
	}
}
