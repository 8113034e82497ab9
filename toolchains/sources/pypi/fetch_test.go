package pypi_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/pin"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// wheel returns a wheel as build tools make one: a module and a RECORD. change edits the files after RECORD is written.
func wheel(t *testing.T, name, version string, change func(files map[string]string)) []byte {
	t.Helper()
	info := name + "-" + version + ".dist-info"
	files := map[string]string{name + ".py": "answer = 42\n" + strings.Repeat("# and more\n", 5000),
		info + "/METADATA": "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n", info + "/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
	record := ""
	names := []string{name + ".py", info + "/METADATA", info + "/WHEEL"}
	for _, n := range names {
		sum := sha256.Sum256([]byte(files[n]))
		record += fmt.Sprintf("%s,sha256=%s,%d\n", n, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[n]))
	}
	files[info+"/RECORD"] = record + info + "/RECORD,,\n"
	if change != nil {
		change(files)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, n := range append(names, info+"/RECORD") {
		w, err := z.CreateHeader(&zip.FileHeader{Name: n, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(files[n]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// index is a package index and its files, as PEP 503 and PEP 691 have them.
type index struct {
	*httptest.Server
	files  map[string][]byte // by name
	html   bool              // it knows PEP 503 only
	sums   map[string]string // said instead of the right ones
	login  string            // "user:password" that it wants
	at     string            // where its page says that files are; "" is here
	told   atomic.Bool       // somebody sent a login
	cut    atomic.Int32      // answers for a file that break off in the middle
	asked  atomic.Int32
	ranges atomic.Int32
}

func serve(t *testing.T, files map[string][]byte) *index {
	t.Helper()
	i := &index{files: files, sums: map[string]string{}}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.asked.Add(1)
	if r.Header.Get("Authorization") != "" {
		i.told.Store(true)
	}
	if user, password, _ := r.BasicAuth(); i.login != "" && user+":"+password != i.login {
		w.Header().Set("WWW-Authenticate", `Basic realm="packages"`)
		http.Error(w, "who are you", http.StatusUnauthorized)
		return
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/moved/"):
		http.Redirect(w, r, "/simple/"+strings.TrimPrefix(r.URL.Path, "/moved/"), http.StatusMovedPermanently)
	case strings.HasPrefix(r.URL.Path, "/simple/"):
		i.page(w, r, strings.Trim(strings.TrimPrefix(r.URL.Path, "/simple/"), "/"))
	case strings.HasPrefix(r.URL.Path, "/files/"):
		b, ok := i.files[strings.TrimPrefix(r.URL.Path, "/files/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Header.Get("Range") != "" {
			i.ranges.Add(1)
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(b)))
		if i.cut.Add(-1) >= 0 {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			_, _ = w.Write(b[:len(b)/2])
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	default:
		http.NotFound(w, r)
	}
}

func (i *index) page(w http.ResponseWriter, r *http.Request, project string) {
	json, page, n := "", "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" content=\"1.0\"><title>Links</title></head><body>\n", 0
	for name, b := range i.files {
		if pypi.Normalize(strings.SplitN(name, "-", 2)[0]) != project {
			continue
		}
		n++
		sum := fmt.Sprintf("%x", sha256.Sum256(b))
		if said, ok := i.sums[name]; ok {
			sum = said
		}
		if json != "" {
			json += ","
		}
		json += fmt.Sprintf(`{"filename":%q,"url":"%s/files/%s","hashes":{"sha256":%q},"size":%d,"yanked":false}`, name, cmp.Or(i.at, "../.."), name, sum, len(b))
		page += fmt.Sprintf("<a href=\"../../files/%s#sha256=%s\" data-requires-python=\"&gt;=3\">%s</a><br/>\n",
			name, sum, name)
	}
	switch {
	case n == 0:
		http.NotFound(w, r)
	case i.html || !strings.Contains(r.Header.Get("Accept"), "application/vnd.pypi.simple.v1+json"):
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(page + "</body></html>"))
	default:
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		_, _ = w.Write([]byte(`{"meta":{"api-version":"1.1"},"name":"` + project + `","files":[` + json + `]}`))
	}
}

// world is a catalog with one wheel, and a machine that names the index.
type world struct {
	*toolchains.Catalog
	lock *toolchains.Lock
	o    sources.Options
	said []string
}

func newWorld(t *testing.T, source string, env map[string]string) *world {
	t.Helper()
	c, diags := toolchains.Load(map[string][]byte{"ours.hcl": []byte(`
toolchain "demo" {
  default = "1.0"
  release "1.0" {
    source "pypi" {
      project = "Demo_Pkg"
` + source + `
    }
  }
}
`)})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	w := &world{Catalog: c, lock: &toolchains.Lock{}}
	w.o = sources.Options{Downloads: t.TempDir(), Backoff: time.Millisecond, Warn: func(text string) { w.said = append(w.said, text) }, Getenv: func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return map[string]string{"PIP_CONFIG_FILE": os.DevNull}[name]
	}}
	return w
}

func (w *world) update(t *testing.T) error {
	_, err := pin.Update(t.Context(), w.Catalog, w.lock, []toolchains.Request{{Name: "demo"}}, pin.Options{Options: w.o})
	return err
}

// fetch gets what is locked, with other downloads.
func (w *world) fetch(t *testing.T) (string, error) {
	ch, err := w.Choose(toolchains.Request{Name: "demo", Lock: w.lock})
	if err != nil {
		return "", err
	}
	out := filepath.Join(t.TempDir(), "tree")
	return out, sources.Fetch(t.Context(), ch.Spec, out, w.o)
}

const demo = "demo_pkg-1.0-py3-none-any.whl"

// TestIndex: a wheel is found in an index that the machine names, pinned by what the index says, fetched, and checked file by file; with either form of page.
func TestIndex(t *testing.T) {
	for _, html := range []bool{false, true} {
		body := wheel(t, "demo_pkg", "1.0", nil)
		srv := serve(t, map[string][]byte{demo: body, "demo_pkg-2.0-py3-none-any.whl": wheel(t, "demo_pkg", "2.0", nil), "demo_pkg-1.0.tar.gz": []byte("source")})
		srv.html = html
		w := newWorld(t, "", map[string]string{"PIP_INDEX_URL": srv.URL + "/nothing", "PIP_EXTRA_INDEX_URL": srv.URL + "/moved"})
		if err := w.update(t); err != nil {
			t.Fatal(err)
		}
		e := w.lock.Find("demo", "1.0", "pypi")
		if e == nil || e.File != demo || e.Size != int64(len(body)) || e.SHA256 != fmt.Sprintf("%x", sha256.Sum256(body)) || e.URL != "" || e.Trust != "" || len(e.Tree) != 64 {
			t.Fatalf("locked %+v", e)
		}
		text := string(w.lock.Encode())
		if again, diags := toolchains.ParseLock([]byte(text), "lock"); diags.HasErrors() || string(again.Encode()) != text || strings.Contains(text, "127.0.0.1") {
			t.Errorf("the lock: %v\n%s", diags, text)
		}
		// What was downloaded to be locked is there: nobody is asked.
		before := srv.asked.Load()
		w.o.Offline = true
		out, err := w.fetch(t)
		if b, _ := os.ReadFile(filepath.Join(out, "demo_pkg.py")); err != nil || !strings.HasPrefix(string(b), "answer = 42") || srv.asked.Load() != before {
			t.Errorf("fetch after lock: %v, %d requests", err, srv.asked.Load()-before)
		}
		w.o.Offline, w.o.Downloads = false, t.TempDir()
		if _, err := w.fetch(t); err != nil {
			t.Errorf("fetch: %v", err)
		}
		w.o.Offline, w.o.Downloads = true, t.TempDir()
		if _, err := w.fetch(t); !errors.Is(err, fetch.ErrOffline) {
			t.Errorf("offline: %v", err)
		}
	}
}

// TestSpecNamesNoHost: the spec, which is part of a key, has the wheel and no address, unless the catalog gives one.
func TestSpecNamesNoHost(t *testing.T) {
	srv := serve(t, map[string][]byte{demo: wheel(t, "demo_pkg", "1.0", nil)})
	w := newWorld(t, "", map[string]string{"PIP_INDEX_URL": srv.URL + "/simple"})
	if err := w.update(t); err != nil {
		t.Fatal(err)
	}
	ch, err := w.Choose(toolchains.Request{Name: "demo", Lock: w.lock})
	if err != nil || len(ch.Spec.URLs) != 0 || ch.Spec.Wheel == nil || ch.Spec.Wheel.File != demo || ch.Spec.Wheel.Index != "" {
		t.Errorf("spec %+v, %v", ch.Spec, err)
	}
	given := newWorld(t, `      index = "`+srv.URL+`/simple"`, nil)
	if err := given.update(t); err != nil {
		t.Errorf("an index that is given: %v", err)
	}
}

// TestTwoIndexes: the first index that has a file counts. A pinned file comes from the index that has it.
func TestTwoIndexes(t *testing.T) {
	first := serve(t, map[string][]byte{})
	second := serve(t, map[string][]byte{demo: wheel(t, "demo_pkg", "1.0", nil)})
	env := map[string]string{"PIP_INDEX_URL": first.URL + "/simple", "PIP_EXTRA_INDEX_URL": second.URL + "/simple"}
	w := newWorld(t, "", env)
	if err := w.update(t); err != nil {
		t.Fatalf("only the second has it: %v", err)
	}
	first.login = "ana:s3cret"
	if err := newWorld(t, "", env).update(t); err != nil {
		t.Errorf("the first shows nothing without a login: %v", err)
	}
	first.Close()
	if err := newWorld(t, "", env).update(t); !fetch.Unreachable(err) || !strings.Contains(err.Error(), "PIP_INDEX_URL") {
		t.Errorf("the first does not answer: %v", err)
	}
	w.o.Downloads = t.TempDir()
	if _, err := w.fetch(t); err != nil {
		t.Errorf("a pinned file, and the first does not answer: %v", err)
	}
}

// TestMachine: the certificates and the proxy of pip's configuration count for pages and files.
func TestMachine(t *testing.T) {
	srv := serve(t, map[string][]byte{demo: wheel(t, "demo_pkg", "1.0", nil)})
	tls := httptest.NewTLSServer(srv)
	t.Cleanup(tls.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(srv.URL, "http://")
	for name, x := range map[string]struct {
		env  map[string]string
		says string // "" is well
	}{
		"no certificates":        {map[string]string{"PIP_INDEX_URL": tls.URL + "/simple"}, "certificate"},
		"its certificates":       {map[string]string{"PIP_INDEX_URL": tls.URL + "/simple", "PIP_CERT": ca}, ""},
		"no such certificates":   {map[string]string{"PIP_INDEX_URL": tls.URL + "/simple", "PIP_CERT": ca + "x"}, "certificates in pip's configuration"},
		"a proxy":                {map[string]string{"PIP_INDEX_URL": "http://packages.invalid/simple", "PIP_PROXY": srv.URL}, ""},
		"a proxy without scheme": {map[string]string{"PIP_INDEX_URL": "http://packages.invalid/simple", "PIP_PROXY": address}, ""},
		"no proxy":               {map[string]string{"PIP_INDEX_URL": "http://packages.invalid/simple"}, "demo-pkg in the package index of PIP_INDEX_URL"},
		"no index":               {map[string]string{"PIP_NO_INDEX": "1"}, "pip's configuration disables all indexes (no-index)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := newWorld(t, "", x.env).update(t)
			if (err == nil) != (x.says == "") || err != nil && !strings.Contains(err.Error(), x.says) {
				t.Errorf("%v, want %q", err, x.says)
			}
		})
	}
}

// TestWrong: files that are not what the index, the lock or their own RECORD say.
func TestWrong(t *testing.T) {
	good := wheel(t, "demo_pkg", "1.0", nil)
	env := func(srv *index) map[string]string { return map[string]string{"PIP_INDEX_URL": srv.URL + "/simple"} }
	srv := serve(t, map[string][]byte{demo: good})
	srv.sums[demo] = strings.Repeat("0", 64)
	w := newWorld(t, "", env(srv))
	if err := w.update(t); !errors.Is(err, fetch.ErrMismatch) || len(w.lock.Entries) != 0 {
		t.Errorf("another digest than the index says: %v", err)
	}
	delete(srv.sums, demo)
	if err := w.update(t); err != nil {
		t.Fatal(err)
	}
	w.o.Downloads = t.TempDir()
	srv.files[demo] = wheel(t, "demo_pkg", "1.0", func(f map[string]string) { f["demo_pkg.py"] = "answer = 43\n" })
	if _, err := w.fetch(t); !errors.Is(err, fetch.ErrMismatch) || !strings.Contains(err.Error(), "PIP_INDEX_URL") {
		t.Errorf("replaced, as the index says itself: %v", err)
	}
	srv.sums[demo] = w.lock.Entries[0].SHA256
	if _, err := w.fetch(t); !errors.Is(err, fetch.ErrMismatch) {
		t.Errorf("replaced behind the index: %v", err)
	}
	delete(srv.sums, demo)
	w = newWorld(t, "", env(srv))
	srv.files[demo] = []byte("<!DOCTYPE html><html><body>Sign in</body></html>")
	if err := w.update(t); !errors.Is(err, fetch.ErrNotFile) {
		t.Errorf("a page: %v", err)
	}
	delete(srv.files, demo)
	if err := w.update(t); !errors.Is(err, pypi.ErrNotFound) || !strings.Contains(err.Error(), "PIP_INDEX_URL") {
		t.Errorf("no file: %v", err)
	}
	w = newWorld(t, `      tags = "cp311-cp311-manylinux_2_35_x86_64"`, env(srv))
	srv.files["demo_pkg-1.0-cp312-cp312-manylinux_2_17_x86_64.whl"] = good
	if err := w.update(t); !errors.Is(err, pypi.ErrNotFound) || !strings.Contains(err.Error(), "cp311-cp311-manylinux_2_35_x86_64") {
		t.Errorf("for another Python: %v", err)
	}
}

// TestResume: a download that breaks off is gone on with.
func TestResume(t *testing.T) {
	body := wheel(t, "demo_pkg", "1.0", nil)
	srv := serve(t, map[string][]byte{demo: body})
	srv.cut.Store(1)
	w := newWorld(t, "", map[string]string{"PIP_INDEX_URL": srv.URL + "/simple"})
	if err := w.update(t); err != nil || srv.ranges.Load() == 0 {
		t.Errorf("%v, %d requests for the rest", err, srv.ranges.Load())
	}
}

// TestLogin: an index that wants a login gets the one in its address, or that of its host in ~/.netrc; nobody else sees it.
func TestLogin(t *testing.T) {
	srv := serve(t, map[string][]byte{demo: wheel(t, "demo_pkg", "1.0", nil)})
	srv.login = "ana:s3cret"
	at := strings.TrimPrefix(srv.URL, "http://")
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "", map[string]string{"PIP_INDEX_URL": "http://ana:s3cret@" + at + "/simple"})
	if err := w.update(t); err != nil || strings.Contains(string(w.lock.Encode()), "s3cret") {
		t.Errorf("in the address: %v\n%s", err, w.lock.Encode())
	}
	w = newWorld(t, "", map[string]string{"PIP_INDEX_URL": srv.URL + "/simple"})
	w.o.Logins = []fetch.Login{fetch.BasicLogin(host, "ana", "s3cret")}
	if err := w.update(t); err != nil {
		t.Errorf("netrc: %v", err)
	}
	for _, url := range []string{srv.URL + "/simple", "http://ana:wr0ng@" + at + "/simple"} {
		err = newWorld(t, "", map[string]string{"PIP_INDEX_URL": url}).update(t)
		if !errors.Is(err, pypi.ErrLogin) || !strings.Contains(err.Error(), "~/.netrc") || !strings.Contains(err.Error(), "PIP_INDEX_URL") || strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), host) {
			t.Errorf("%s: %v", url, err)
		}
	}
	err = newWorld(t, "", map[string]string{"PIP_INDEX_URL": "http://ana:s3cret@packages.example/simple"}).update(t)
	if !errors.Is(err, pypi.ErrLogin) || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "https") {
		t.Errorf("a login for everybody to read: %v", err)
	}
	// What is on another port of the same host is another server's.
	other := serve(t, srv.files)
	srv.at = other.URL
	if err := newWorld(t, "", map[string]string{"PIP_INDEX_URL": "http://ana:s3cret@" + at + "/simple"}).update(t); err != nil || other.asked.Load() == 0 || other.told.Load() {
		t.Errorf("files on another port: %v, %d requests, told the login: %v", err, other.asked.Load(), other.told.Load())
	}
	// A server that does not answer is named by who names it.
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	err = newWorld(t, "", map[string]string{"PIP_INDEX_URL": gone.URL + "/simple"}).update(t)
	if !fetch.Unreachable(err) || strings.Contains(err.Error(), "127.0.0.1") || !strings.Contains(err.Error(), "PIP_INDEX_URL") {
		t.Errorf("no server: %v", err)
	}
}

// TestFolder: wheels in a folder of this machine need no index, whatever the name of the folder.
func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "räder%20[1]#2")
	err := os.Mkdir(dir, 0o755)
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, demo), wheel(t, "demo_pkg", "1.0", nil), 0o644)); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "", map[string]string{"PIP_FIND_LINKS": dir, "PIP_NO_INDEX": "1"})
	if err := w.update(t); err != nil || w.lock.Entries[0].Trust != toolchains.TrustOnFirstUse {
		t.Fatalf("%v, %+v", err, w.lock.Entries)
	}
	w.o.Downloads = t.TempDir()
	if _, err := w.fetch(t); err != nil {
		t.Error(err)
	}
}

// TestRegistry asks the index that this machine really has, for a wheel of 11 kB.
func TestRegistry(t *testing.T) {
	home, _ := os.UserHomeDir()
	env := map[string]string{}
	for _, name := range pypi.Variables() {
		env[name] = os.Getenv(name)
	}
	c, diags := toolchains.Load(map[string][]byte{"ours.hcl": []byte("toolchain \"six\" {\n  default = \"1.16.0\"\n  release \"1.16.0\" {\n    source \"pypi\" {\n      project = \"six\"\n    }\n  }\n}\n")})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	l := &toolchains.Lock{}
	logins, err := fetch.NetrcFile(filepath.Join(home, ".netrc"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = pin.Update(t.Context(), c, l, []toolchains.Request{{Name: "six"}}, pin.Options{Options: sources.Options{Downloads: t.TempDir(), Home: home, Logins: logins,
		Getenv: func(name string) string { return env[name] }}})
	if fetch.Unreachable(err) || errors.Is(err, pypi.ErrNotFound) || errors.Is(err, pypi.ErrLogin) {
		t.Skipf("not tried: this machine reaches no package index with six: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if e := l.Entries[0]; e.SHA256 != "8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254" ||
		e.File != "six-1.16.0-py2.py3-none-any.whl" {
		t.Errorf("locked %+v", e)
	}
}
