package pin_test

import (
	"archive/tar"
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/pin"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
)

// server serves files by name, and counts what it is asked.
type server struct {
	*httptest.Server
	files map[string][]byte
	asked atomic.Int32
}

func serve(t *testing.T, files map[string][]byte) *server {
	t.Helper()
	s := &server{files: files}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		b, ok := s.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(b))
	}))
	t.Cleanup(s.Close)
	return s
}

// archive is a small release: the simulation of the runtime's programs.
func archive(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := sdktest.Archive(&b, "mllm", ""); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func hexMD5(b []byte) string {
	s := md5.Sum(b)
	return hex.EncodeToString(s[:])
}

func load(t *testing.T, src string) *toolchains.Catalog {
	t.Helper()
	c, diags := toolchains.Load(map[string][]byte{"x.hcl": []byte(src)})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c.Embedded = sdk.Embedded{World: sdktest.World}
	return c
}

func ours(more string, urls ...string) string {
	return `
toolchain "ours" {
  default = "1"
  release "1" {
    source "archive" {
      urls         = ["` + strings.Join(urls, `", "`) + `"]
      strip_prefix = "mllm-simulated"
` + more + `
    }
  }
}
`
}

func options(t *testing.T, upgrade ...string) pin.Options {
	t.Helper()
	return pin.Options{Options: sources.Options{Downloads: filepath.Join(t.TempDir(), "downloads")},
		Upgrade: func(name string) bool { return strings.Contains(strings.Join(upgrade, " "), name) }}
}

func TestUpdate(t *testing.T) {
	b := archive(t)
	srv := serve(t, map[string][]byte{"/ours.zip": b})
	c := load(t, ours("", srv.URL+"/ours.zip"))
	reqs := []toolchains.Request{{Name: "ours", Profile: "device"}, {Name: "qairt", Version: "2.42.0.251225", Profile: "device"}, {Name: "qairt", Profile: "simulated"}}
	l := &toolchains.Lock{}
	if ps := pin.Check(c, l, reqs); len(ps) != 2 || ps[0].What != "missing" || !strings.Contains(ps[0].String(), "hexmage lock ours 1") || !strings.Contains(ps[1].Why, "simulated SDK") {
		t.Errorf("Check before: %v", ps)
	}
	o := options(t)
	changes, err := pin.Update(t.Context(), c, l, reqs, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 3 || !changes[0].Changed || !changes[0].FirstUse || !strings.Contains(changes[0].Text, sum(b)) || srv.asked.Load() != 1 {
		t.Errorf("changes %+v, %d requests", changes, srv.asked.Load())
	}
	if e := l.Find("ours", "1", "archive"); e == nil || e.SHA256 != sum(b) || e.Size != int64(len(b)) || len(e.Tree) != 64 || e.Trust != toolchains.TrustOnFirstUse || e.URL != srv.URL+"/ours.zip" {
		t.Errorf("entry %+v", e)
	}
	if e := l.Find("qairt", "2.42.0.251225", "archive"); e == nil || e.Size != 1543955191 || e.Trust != "" {
		t.Errorf("entry %+v: a known digest is pinned without a download", e)
	}
	if e := l.Find("qairt", "2.41.0.251128", "embedded"); e == nil || e.Size == 0 || len(e.SHA256) != 64 {
		t.Errorf("entry %+v: a simulation is pinned like a download", e)
	}
	if ps := pin.Check(c, l, reqs); len(ps) != 0 {
		t.Errorf("Check after: %v", ps)
	}
	text := string(l.Encode())
	if !strings.Contains(text, "# The publisher provides no digest") || !strings.Contains(text, `trust = "first use"`) || strings.Count(text, "trust") != 1 {
		t.Errorf("the lock does not say what is taken on trust:\n%s", text)
	}
	again, diags := toolchains.ParseLock([]byte(text), "lock")
	if diags.HasErrors() || string(again.Encode()) != text {
		t.Errorf("the lock changes when it is read and written: %v", diags)
	}
	// What was downloaded for the lock is there for the fetch.
	ch, err := c.Choose(toolchains.Request{Name: "ours", Profile: "device", Lock: l})
	if err != nil {
		t.Fatal(err)
	}
	o.Offline = true
	if err := sources.Fetch(t.Context(), ch.Spec, t.TempDir()+"/out", o.Options); err != nil {
		t.Errorf("fetch after lock, offline: %v", err)
	}
	// What is pinned is left alone, offline too: also when the server has something else by now.
	srv.files["/ours.zip"] = []byte("<html>busy</html>")
	before := srv.asked.Load()
	if changes, err = pin.Update(t.Context(), c, l, reqs, o); err != nil || changes[0].Changed || changes[1].Changed || changes[2].Changed || srv.asked.Load() != before {
		t.Errorf("again: %+v, %v, %d requests", changes, err, srv.asked.Load()-before)
	}
}

// TestUpgrade pins anew what is named, and nothing else; the lock's other lines stay as they were.
func TestUpgrade(t *testing.T) {
	b := archive(t)
	srv := serve(t, map[string][]byte{"/ours.zip": b})
	c := load(t, ours("", srv.URL+"/ours.zip"))
	reqs := []toolchains.Request{{Name: "ours", Profile: "device"}, {Name: "qairt", Version: "2.42.0.251225", Profile: "device"}}
	l := &toolchains.Lock{}
	if _, err := pin.Update(t.Context(), c, l, reqs, options(t)); err != nil {
		t.Fatal(err)
	}
	first := strings.Split(string(l.Encode()), "\n")
	newer := append(bytes.Clone(b), 0) // a comment's worth more: another archive of the same tree
	newer[len(newer)-3] = 1            // the length of the archive's comment
	srv.files["/ours.zip"] = newer
	changes, err := pin.Update(t.Context(), c, l, reqs, options(t, "ours"))
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 2 || !changes[0].Changed || !strings.Contains(changes[0].Text, "pinned again sha256 "+sum(newer)) || changes[1].Changed {
		t.Errorf("changes %+v", changes)
	}
	differ := 0
	second := strings.Split(string(l.Encode()), "\n")
	for i := range first {
		if i >= len(second) || first[i] != second[i] {
			differ++
		}
	}
	if len(first) != len(second) || differ != 2 { // size and sha256; the tree is the same
		t.Errorf("%d of %d lines differ:\n%s", differ, len(first), strings.Join(second, "\n"))
	}
}

// TestStale: entries that are not what the catalog has now are named, without a request.
func TestStale(t *testing.T) {
	srv := serve(t, nil)
	right, wrong := strings.Repeat("a", 64), strings.Repeat("b", 64)
	c := load(t, ours("      sha256 = \""+right+"\"", srv.URL+"/ours.zip")+`
toolchain "tool" {
  default = "1"
  release "1" {
    source "deb" {
      packages = ["make", "libfoo1"]
    }
  }
}
`)
	for name, x := range map[string]struct {
		e    toolchains.Locked
		q    toolchains.Request
		what string
		says []string
	}{
		"the catalog knows better":   {toolchains.Locked{Name: "ours", Version: "1", Source: "archive", SHA256: wrong}, toolchains.Request{Name: "ours", Profile: "device"}, "stale", []string{right, wrong, "hexmage lock --upgrade ours"}},
		"the simulation has changed": {toolchains.Locked{Name: "mllm", Version: "1", Source: "embedded", SHA256: wrong}, toolchains.Request{Name: "mllm"}, "stale", []string{"the simulated SDK has sha256", "hexmage lock mllm 1"}},
		"other packages":             {toolchains.Locked{Name: "tool", Version: "1", Source: "deb", Packages: []deb.Package{{Name: "make", SHA256: right}}}, toolchains.Request{Name: "tool"}, "stale", []string{"libfoo1", "run `hexmage lock`"}},
		"of another release":         {toolchains.Locked{Name: "tool", Version: "0", Source: "deb"}, toolchains.Request{Name: "tool"}, "missing", []string{"make, libfoo1"}},
		"no such release any more":   {toolchains.Locked{Name: "tool", Version: "0", Source: "deb"}, toolchains.Request{Name: "tool", Version: "0"}, "not available", []string{`no release "0"`}},
		"as the catalog has it":      {toolchains.Locked{Name: "ours", Version: "1", Source: "archive", SHA256: right}, toolchains.Request{Name: "ours", Profile: "device"}, "", nil},
		"pinned by the catalog only": {toolchains.Locked{Name: "x", Version: "1", Source: "archive", SHA256: right}, toolchains.Request{Name: "ours", Profile: "device"}, "", nil},
	} {
		ps := pin.Check(c, &toolchains.Lock{Entries: []*toolchains.Locked{&x.e}}, []toolchains.Request{x.q})
		if x.what == "" {
			if len(ps) != 0 {
				t.Errorf("%s: %v", name, ps)
			}
			continue
		}
		if len(ps) != 1 || ps[0].What != x.what {
			t.Errorf("%s: %v, want it %s", name, ps, x.what)
			continue
		}
		for _, s := range x.says {
			if !strings.Contains(ps[0].String(), s) {
				t.Errorf("%s: %s does not say %q", name, ps[0], s)
			}
		}
	}
	if srv.asked.Load() != 0 {
		t.Errorf("%d requests", srv.asked.Load())
	}
}

// TestAddressThatAnswered: the lock names the address that answered.
func TestAddressThatAnswered(t *testing.T) {
	srv := serve(t, map[string][]byte{"/a.zip": archive(t)})
	l := &toolchains.Lock{}
	req := []toolchains.Request{{Name: "ours", Profile: "device"}}
	if _, err := pin.Update(t.Context(), load(t, ours("", srv.URL+"/gone.zip", srv.URL+"/a.zip")), l, req,
		options(t)); err != nil {
		t.Fatal(err)
	}
	if e := l.Find("ours", "1", "archive"); e == nil || e.URL != srv.URL+"/a.zip" {
		t.Errorf("entry %+v, want that of the address that answered", e)
	}
}

// TestNothingIsPinned of what is not the thing: pages, archives that lack what the release must have.
func TestNothingIsPinned(t *testing.T) {
	srv := serve(t, map[string][]byte{"/page.zip": []byte("<!DOCTYPE html><html><body>Sign in</body></html>"), "/ours.zip": archive(t)})
	for name, src := range map[string]string{
		"a page":            ours("", srv.URL+"/page.zip"),
		"not there":         ours("", srv.URL+"/none.zip"),
		"not what it is":    strings.Replace(ours("", srv.URL+"/ours.zip"), "release \"1\"", "verify {\n    layout = [\"bin/nothing\"]\n  }\n  release \"1\"", 1),
		"with a false sha1": ours("      sha1 = \""+strings.Repeat("d", 40)+"\"", srv.URL+"/ours.zip"),
	} {
		l := &toolchains.Lock{}
		if _, err := pin.Update(t.Context(), load(t, src), l, []toolchains.Request{{Name: "ours", Profile: "device"}}, options(t)); err == nil || len(l.Entries) != 0 {
			t.Errorf("%s: %v, %d entries", name, err, len(l.Entries))
		}
	}
}

// TestVouched: an archive whose sha1 is published is no matter of trust.
func TestVouched(t *testing.T) {
	srv := serve(t, map[string][]byte{"/ours.zip": archive(t)})
	vouched := "      md5 = \"" + hexMD5(archive(t)) + "\""
	l := &toolchains.Lock{}
	changes, err := pin.Update(t.Context(), load(t, ours(vouched, srv.URL+"/ours.zip")), l, []toolchains.Request{{Name: "ours", Profile: "device"}}, options(t))
	if err != nil || changes[0].FirstUse || l.Entries[0].Trust != "" || len(l.Entries[0].SHA256) != 64 || len(l.Entries[0].Tree) != 64 {
		t.Errorf("changes %+v, entries %+v, %v", changes, l.Entries, err)
	}
}

// TestEnvironmentAfterItsPrograms: uv and an interpreter that the same call pins choose the packages of an environment,
// whatever the order of the requests.
func TestEnvironmentAfterItsPrograms(t *testing.T) {
	wheel := strings.Repeat("d", 64)
	uv := "#!/bin/sh\ncat <<'END'\n[[packages]]\nname = \"pip\"\n[[packages.wheels]]\n" +
		"url = \"https://files.example/pip-1.0-py3-none-any.whl\"\nhashes = { sha256 = \"" + wheel + "\" }\nEND\n"
	srv := serve(t, map[string][]byte{"/uv.tar": program(t, "bin/uv", uv), "/python.tar": program(t, "bin/python3", "#!/bin/sh\n")})
	release := func(name, version string) string {
		return "toolchain \"" + name + "\" {\n  default = \"" + version + "\"\n  release \"" + version + "\" {\n" +
			"    source \"archive\" {\n      urls = [\"" + srv.URL + "/" + name + ".tar\"]\n    }\n  }\n}\n"
	}
	c := load(t, release("uv", "1")+release("python", "3.14"))
	tools := toolchains.Request{Name: "tools", Version: "3.14", Own: &toolchains.Source{Kind: "python", Python: "3.14",
		Requirements: []string{"pip"}}}
	reqs := []toolchains.Request{tools, {Name: "uv", Profile: "device"}, {Name: "python", Version: "3.14", Profile: "device"}}
	l := &toolchains.Lock{}
	o := options(t)
	o.Lock = &toolchains.Lock{}
	changes, err := pin.Update(t.Context(), c, l, reqs, o)
	if err != nil {
		t.Fatal(err)
	}
	e := l.Find("tools", "3.14", "python")
	if len(changes) != 3 || e == nil || len(e.Wheels) != 1 || e.Wheels[0].SHA256 != wheel {
		t.Errorf("%+v, %+v", changes, e)
	}
	if ps := pin.Check(c, l, reqs); len(ps) != 0 {
		t.Errorf("Check after: %v", ps)
	}
}

// program is an archive with one program.
func program(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))})
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestParts pins the parts of a zip that several pipelines use, from the whole zip and on trust.
func TestParts(t *testing.T) {
	b := archive(t)
	tag := atomic.Value{}
	tag.Store("")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag.Load().(string)) // without one there are no ranges
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}))
	t.Cleanup(srv.Close)
	c := load(t, ours("      sha256 = \""+sum(b)+"\"", srv.URL+"/ours.zip"))
	request := func(only ...string) []toolchains.Request {
		return []toolchains.Request{{Name: "ours", Profile: "device", Only: only}}
	}
	l := &toolchains.Lock{}
	update := func(o pin.Options, reqs []toolchains.Request) pin.Change {
		t.Helper()
		changes, err := pin.Update(t.Context(), c, l, reqs, o)
		if err != nil || len(changes) != 1 {
			t.Fatal(changes, err)
		}
		text := string(l.Encode())
		again, diags := toolchains.ParseLock([]byte(text), "lock")
		if diags.HasErrors() || string(again.Encode()) != text {
			t.Errorf("the lock changes when it is read and written: %v\n%s", diags, text)
		}
		return changes[0]
	}
	choose := func(only ...string) *toolchains.Choice {
		t.Helper()
		q := request(only...)[0]
		q.Lock = l
		ch, err := c.Choose(q)
		if err != nil {
			t.Fatal(err)
		}
		return ch
	}
	whole, onTrust := options(t), options(t)
	whole.Whole, onTrust.Ranges = true, true

	update(options(t), request("**/*.h"))
	if ch := choose("**/*.h"); ch.Spec.Parts != nil || ch.Spec.SHA256 != sum(b) || ch.Spec.Tree != "" {
		t.Errorf("without digests of parts it is the whole zip: %+v", ch.Spec)
	}
	tag.Store(`"1"`)
	if ch := update(onTrust, request("**/*.h")); !ch.Changed || !ch.Ranges || ch.FirstUse {
		t.Errorf("on trust: %+v", ch)
	}
	trusted := choose("**/*.h")
	if !trusted.OnTrust || trusted.Spec.Parts == nil || trusted.Spec.Parts.Size == 0 || trusted.Spec.SHA256 != sum(b) {
		t.Errorf("on trust: %+v", trusted)
	}
	if ch := update(whole, request("**/*.h")); !ch.Changed || ch.Ranges {
		t.Errorf("compared with the whole zip: %+v", ch)
	}
	checked := choose("**/*.h")
	if checked.OnTrust || checked.Spec.Tree != trusted.Spec.Tree || *checked.Spec.Parts != *trusted.Spec.Parts {
		t.Errorf("compared with the whole zip: %+v, on trust it was %+v", checked.Spec, trusted.Spec)
	}
	if ch := update(whole, request("**/*.h")); ch.Changed {
		t.Errorf("again: %+v", ch)
	}
	update(whole, request("**/*.cpp"))
	if e := l.Find("ours", "1", "archive"); len(e.Parts) != 2 || e.Parts[0].Trust+e.Parts[1].Trust+e.Trust != "" || e.SHA256 != sum(b) {
		t.Errorf("parts of two pipelines: %+v", e)
	}
	if choose("**/*.h").Spec.Parts == nil || choose("**/*.cpp").Spec.Parts == nil || choose().Spec.Parts != nil {
		t.Error("one pipeline's part is lost, or one is taken for the whole zip")
	}
	anew := options(t, "ours")
	if update(anew, request("**/*.h")); len(l.Find("ours", "1", "archive").Parts) != 2 {
		t.Error("pinning the same zip anew loses parts")
	}
	for _, bad := range []string{"directory = ", "tree ", "only = ["} {
		text := strings.ReplaceAll(string(l.Encode()), bad, "x_"+bad)
		if _, diags := toolchains.ParseLock([]byte(text), "lock"); !diags.HasErrors() {
			t.Errorf("a lock without %s is taken:\n%s", bad, text)
		}
	}
}

// TestPartsOfFirstUse pins parts of a zip whose digest nobody publishes.
func TestPartsOfFirstUse(t *testing.T) {
	b := archive(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}))
	t.Cleanup(srv.Close)
	c := load(t, ours("", srv.URL+"/ours.zip"))
	whole, onTrust := options(t), options(t)
	whole.Whole, onTrust.Ranges = true, true
	l := &toolchains.Lock{}
	update := func(o pin.Options, only string) *toolchains.Locked {
		t.Helper()
		if _, err := pin.Update(t.Context(), c, l,
			[]toolchains.Request{{Name: "ours", Profile: "device", Only: []string{only}}}, o); err != nil {
			t.Fatal(err)
		}
		return l.Find("ours", "1", "archive")
	}
	if e := update(options(t), "**/*.h"); e.Trust != toolchains.TrustOnFirstUse || len(e.Parts) != 1 || e.Parts[0].Trust != "" {
		t.Errorf("the whole zip: %+v", e)
	}
	if e := update(whole, "**/*.cpp"); e.Trust != toolchains.TrustOnFirstUse || len(e.Parts) != 2 || e.SHA256 != sum(b) {
		t.Errorf("another part of it: %+v", e)
	}
	l = &toolchains.Lock{}
	if e := update(onTrust, "**/*.h"); e.SHA256 != "" || len(e.Parts) != 1 || e.Parts[0].Trust != toolchains.TrustRanges {
		t.Errorf("parts alone: %+v", e)
	}
	if _, err := c.Choose(toolchains.Request{Name: "ours", Profile: "device", Lock: l}); err == nil {
		t.Error("parts alone pin the whole zip")
	}
	if e := update(whole, "**/*.h"); e.SHA256 != sum(b) || len(e.Parts) != 1 || e.Parts[0].Trust != "" {
		t.Errorf("compared with the whole zip: %+v", e)
	}
}
