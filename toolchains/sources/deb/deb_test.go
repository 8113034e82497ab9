package deb_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
)

// archive is a simulation for a distribution: a folder with package files, an index of what is served now, and an index as
// the system's old lists have it. A script plays apt-get on them.
type archive struct{ dir string }

const script = `#!/bin/sh
dir=%q
echo "$@" >> "$dir/calls"
conf= print= update= args=
while [ $# -gt 0 ]; do
	case $1 in
	-q) ;;
	-c) conf=$2; shift ;;
	--print-uris) print=1 ;;
	update) update=1 ;;
	indextargets) cat "$dir/targets"; exit 0 ;;
	download) ;;
	*) args="$args $1" ;;
	esac
	shift
done
index=$dir/own.index
case $conf in */system.conf) index=$dir/system.index ;; */apt-old/*) index=$dir/old.index ;; esac
[ -z "$update" ] || { [ -e "$dir/unreachable" ] && { cat "$dir/unreachable" >&2; exit 100; }; cp "$dir/served.index" "$dir/own.index"; exit 0; }
[ -e "$index" ] || { echo "E: Unable to locate package" >&2; exit 100; }
for a in $args; do
	name=${a%%%%=*} want=
	case $a in *=*) want=${a#*=} ;; esac
	line=$(grep "^$name " "$index" | head -1)
	[ -n "$line" ] || { echo "E: Unable to locate package $name" >&2; exit 100; }
	set -- $line
	[ -z "$want" ] || [ "$want" = "$2" ] || { echo "E: Version '$want' for '$name' was not found" >&2; exit 100; }
	if [ -n "$print" ]; then
		echo "'$(cat "$dir/base" 2>/dev/null || echo "file:$dir")/pool/$name-$2' ${name}_$(echo "$2" | sed 's/:/%%3a/')_amd64.deb $3 SHA256:$4"
	fi
done
`

func newArchive(t *testing.T) archive {
	t.Helper()
	a := archive{t.TempDir()}
	if err := os.Mkdir(filepath.Join(a.dir, "pool"), 0o755); err != nil {
		t.Fatal(err)
	}
	a.write(t, "apt-get", fmt.Sprintf(script, a.dir))
	if err := os.Chmod(filepath.Join(a.dir, "apt-get"), 0o755); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a archive) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// publish puts a package into the pool and returns its pin.
func (a archive) publish(t *testing.T, name, version string) deb.Package {
	t.Helper()
	body := "package " + name + " " + version
	a.write(t, "pool/"+name+"-"+version, body)
	sum := sha256.Sum256([]byte(body))
	return deb.Package{Name: name, Version: version, Arch: "amd64", Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])}
}

// index writes one of the indexes: "system", "own" or "served".
func (a archive) index(t *testing.T, which string, ps ...deb.Package) {
	t.Helper()
	var b strings.Builder
	for _, p := range ps {
		fmt.Fprintf(&b, "%s %s %d %s\n", p.Name, p.Version, p.Size, p.SHA256)
	}
	a.write(t, which+".index", b.String())
}

func (a archive) calls(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(a.dir, "calls"))
	if err != nil {
		return 0
	}
	return strings.Count(string(b), "\n")
}

func (a archive) client(t *testing.T) *deb.Client {
	return &deb.Client{Dir: t.TempDir(), AptGet: filepath.Join(a.dir, "apt-get"), System: true}
}

func TestPinned(t *testing.T) {
	a := newArchive(t)
	x, y := a.publish(t, "xx", "1:1.0-1"), a.publish(t, "yy", "2.0+dfsg~1")
	a.index(t, "system", x, y)
	c := a.client(t)
	r, err := c.Get(t.Context(), []deb.Package{y, x})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Files) != 2 || len(r.Warnings) != 0 {
		t.Fatalf("result %+v", r)
	}
	if b, err := os.ReadFile(r.Files[0]); err != nil || string(b) != "package yy 2.0+dfsg~1" {
		t.Errorf("%q, %v", b, err)
	}
	if n := a.calls(t); n != 1 {
		t.Errorf("apt-get was called %d times, want 1", n)
	}
	// What is there is not asked for again, online or not.
	before := a.calls(t)
	c.Offline = true
	if _, err := c.Get(t.Context(), []deb.Package{x}); err != nil || a.calls(t) != before {
		t.Errorf("again: %v, %d calls", err, a.calls(t)-before)
	}
	// A file that is damaged on disk is not used.
	if err := os.WriteFile(r.Files[1], []byte("package xx 1:1.0-2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), []deb.Package{x}); !errors.Is(err, fetch.ErrOffline) {
		t.Errorf("a damaged file, offline: %v", err)
	}
	c.Offline = false
	if _, err := c.Get(t.Context(), []deb.Package{x}); err != nil {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestNoSystemLists(t *testing.T) {
	a := newArchive(t)
	x := a.publish(t, "xx", "1.0-1")
	a.index(t, "served", x)
	if r, err := a.client(t).Get(t.Context(), []deb.Package{x}); err != nil || len(r.Warnings) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNoLongerServed(t *testing.T) {
	a := newArchive(t)
	oldX, oldY := a.publish(t, "xx", "1.0-1"), a.publish(t, "yy", "1.0-1")
	x, y := a.publish(t, "xx", "1.0-2"), a.publish(t, "yy", "1.0-2")
	for _, which := range []string{"pool/xx-1.0-1", "pool/yy-1.0-1"} {
		if err := os.Remove(filepath.Join(a.dir, which)); err != nil {
			t.Fatal(err)
		}
	}
	a.index(t, "served", x, y)
	for name, system := range map[string][]deb.Package{"lists are new": {x, y}, "lists are old": {oldX, oldY}, "no lists": nil} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(filepath.Join(a.dir, "own.index"))
			_ = os.Remove(filepath.Join(a.dir, "system.index"))
			if system != nil {
				a.index(t, "system", system...)
			}
			r, err := a.client(t).Get(t.Context(), []deb.Package{oldX, oldY})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]deb.Package{x, y}, r.Packages); d != "" {
				t.Errorf("packages (-want +got):\n%s", d)
			}
			if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "hexmage lock") || !strings.Contains(r.Warnings[0], "xx=1.0-2") {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	a := newArchive(t)
	x := a.publish(t, "xx", "1.0-1")
	a.index(t, "served", x)
	other := x
	other.SHA256 = strings.Repeat("0", 64)
	lying := x
	lying.SHA256 = strings.Repeat("1", 64) // an index that names a digest which the file does not have
	for name, c := range map[string]struct {
		want   []deb.Package
		change func(*deb.Client)
		is     error
		says   string
	}{
		"another digest under the same version": {want: []deb.Package{other}, says: "replaced the package without a new version"},
		"no such package":                       {want: []deb.Package{{Name: "zz"}}, is: deb.ErrNoPackage, says: "zz"},
		"none":                                  {says: "no packages"},
		"an option for a name":                  {want: []deb.Package{{Name: "-oDir=x"}}, says: "invalid Debian package"},
		"a version with a space":                {want: []deb.Package{{Name: "xx", Version: "1 -o"}}, says: "invalid Debian package"},
		"no client":                             {want: []deb.Package{x}, change: func(c *deb.Client) { c.AptGet = "/no/apt-get" }, is: deb.ErrNoClient, says: `source = "installed"`},
		"offline":                               {want: []deb.Package{x}, change: func(c *deb.Client) { c.Offline = true }, is: fetch.ErrOffline},
	} {
		t.Run(name, func(t *testing.T) {
			cl := a.client(t)
			if c.change != nil {
				c.change(cl)
			}
			_, err := cl.Get(t.Context(), c.want)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %v with %q", err, c.is, c.says)
			}
		})
	}
	a.index(t, "served", lying)
	_ = os.Remove(filepath.Join(a.dir, "own.index"))
	if _, err := a.client(t).Get(t.Context(), []deb.Package{{Name: "xx", Version: "1.0-1"}}); err == nil || !strings.Contains(err.Error(), "wrong digest or size") {
		t.Errorf("a file that is not what the index says: %v", err)
	}
	for says, away := range map[string]bool{
		"E: Failed to fetch http://deb.example/InRelease  Temporary failure resolving 'deb.example'":       true,
		"E: Failed to fetch http://deb.example/InRelease  Could not connect to deb.example:80 (192.0.2.1)": true,
		"E: Failed to fetch http://deb.example/InRelease  503  Service Unavailable [IP: 192.0.2.1 80]":     true,
		"E: The repository 'http://deb.example stable InRelease' is not signed.":                           false,
		"E: Failed to fetch http://deb.example/InRelease  404  Not Found [IP: 192.0.2.1 80]":               false,
		"E: Failed to fetch http://deb.example/pool/libx_1.502  Hash Sum mismatch":                         false,
	} {
		a.write(t, "unreachable", says+"\n")
		_ = os.Remove(filepath.Join(a.dir, "own.index"))
		_, err := a.client(t).Get(t.Context(), []deb.Package{x})
		if err == nil || !strings.Contains(err.Error(), "update the package lists") || fetch.Unreachable(err) != away {
			t.Errorf("%s: of the network: %v, want %v: %v", says, fetch.Unreachable(err), away, err)
		}
	}
}

func TestOtherArch(t *testing.T) {
	a := newArchive(t)
	x := a.publish(t, "xx", "1.0-1")
	a.index(t, "system", x)
	pinned := x
	pinned.Arch, pinned.SHA256 = "arm64", strings.Repeat("0", 64)
	r, err := a.client(t).Get(t.Context(), []deb.Package{pinned})
	if err != nil || len(r.Warnings) != 1 || r.Packages[0].SHA256 != x.SHA256 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestForeign has packages for another machine: asked for by lists of their own, which leave those of this one alone.
func TestForeign(t *testing.T) {
	a := newArchive(t)
	x := a.publish(t, "xx", "1.0-1")
	a.index(t, "served", x)
	a.index(t, "system", a.publish(t, "xx", "0.9-1")) // what this machine has is for this machine
	c := a.client(t)
	c.Architecture = "arm64"
	for _, want := range []deb.Package{x, {Name: "xx"}} { // the pinned one when there are no lists yet
		r, err := c.Get(t.Context(), []deb.Package{want})
		if err != nil || len(r.Files) != 1 || r.Packages[0].Version != "1.0-1" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(c.Dir, "apt-arm64/apt.conf"))
	if err != nil || !strings.Contains(string(b), "APT::Architecture \"arm64\";\nAPT::Architectures { \"arm64\"; };\n") {
		t.Errorf("%v:\n%s", err, b)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "apt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lists of this machine: %v", err)
	}
	c.Architecture = "arm64\"; x"
	if _, err := c.Get(t.Context(), []deb.Package{{Name: "xx"}}); err == nil || !strings.Contains(err.Error(), "architecture") {
		t.Errorf("a name that is none: %v", err)
	}
}

// TestSuite has packages of another suite than this machine's: from the server that it has the distribution from, by lists of their own.
func TestSuite(t *testing.T) {
	a := newArchive(t)
	x := a.publish(t, "xx", "2.0-1")
	a.index(t, "served", x)
	a.index(t, "system", a.publish(t, "xx", "1.0-1")) // what this machine's suites have
	a.write(t, "targets", "main stable-security http://security.example/\nmain stable http://other.example/\nnon-free stable http://third.example/\n"+
		"main stable-updates http://deb.example/\nmain stable http://late.example/\n")
	c := a.client(t)
	c.Suite = "next-backports"
	for _, want := range []deb.Package{x, {Name: "xx"}} {
		r, err := c.Get(t.Context(), []deb.Package{want})
		if err != nil || len(r.Files) != 1 || r.Packages[0].Version != "2.0-1" || len(r.Warnings) != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	lists := filepath.Join(c.Dir, "apt-next-backports")
	list, err := os.ReadFile(filepath.Join(lists, "sources.list"))
	if err != nil || strings.Count(string(list), "\n") != 1 || !strings.HasSuffix(string(list), " http://deb.example/ next-backports main\n") {
		t.Errorf("%v: %s", err, list)
	}
	conf, err := os.ReadFile(filepath.Join(lists, "apt.conf"))
	if err != nil || !strings.HasSuffix(string(conf), fmt.Sprintf("Dir::Etc::sourcelist %q;\nDir::Etc::sourceparts \"-\";\n", filepath.Join(lists, "sources.list"))) {
		t.Errorf("%v:\n%s", err, conf)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "apt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lists of this machine's suites: %v", err)
	}

	c = a.client(t)
	c.Suite = "next backports"
	if _, err := c.Get(t.Context(), []deb.Package{{Name: "xx"}}); err == nil || !strings.Contains(err.Error(), "invalid suite") {
		t.Errorf("a name that is none: %v", err)
	}
	c.Suite = "next-backports"
	a.write(t, "unreachable", "E: The repository 'http://deb.example next-backports Release' does not have a Release file.\n")
	if err := os.Remove(filepath.Join(a.dir, "own.index")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), []deb.Package{{Name: "xx"}}); err == nil || !strings.Contains(err.Error(), "no suite next-backports, install the tool and write `source = \"installed\"`") {
		t.Errorf("a server without the suite: %v", err)
	}
	a.write(t, "targets", "main stable-security http://security.example/\n")
	if _, err := c.Get(t.Context(), []deb.Package{{Name: "xx"}}); !errors.Is(err, deb.ErrNoPackage) || !strings.Contains(err.Error(), "suite next-backports") {
		t.Errorf("no server: %v", err)
	}
}

// TestOtherRelease has what is pinned from the release in which it was pinned, on a machine with another one that has other versions: with its security fixes,
// and without a warning. What that has no more is taken from this machine's.
func TestOtherRelease(t *testing.T) {
	a := newArchive(t)
	x, gone := a.publish(t, "xx", "1.0-1"), a.publish(t, "yy", "1.0-1")
	if err := os.Remove(filepath.Join(a.dir, "pool", "yy-1.0-1")); err != nil {
		t.Fatal(err)
	}
	a.index(t, "served", a.publish(t, "xx", "2.0-1"), a.publish(t, "yy", "2.0-1"))
	a.index(t, "old", x)
	a.write(t, "targets", "main new http://deb.example/\nmain new-updates http://deb.example/\nmain new-security http://security.example/\n")
	c := a.client(t)
	c.Pinned = "old"
	if r, err := c.Get(t.Context(), []deb.Package{x}); err != nil || r.Packages[0].Version != "1.0-1" || len(r.Files) != 1 || len(r.Warnings) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	list, err := os.ReadFile(filepath.Join(c.Dir, "apt-old", "sources.list"))
	if err != nil || strings.Count(string(list), "\n") != 3 || !strings.Contains(string(list), " http://deb.example/ old-updates main\n") ||
		!strings.Contains(string(list), " http://security.example/ old-security main\n") {
		t.Errorf("%v: %s", err, list)
	}
	if r, err := c.Get(t.Context(), []deb.Package{gone}); err != nil || r.Packages[0].Version != "2.0-1" || len(r.Warnings) != 1 {
		t.Errorf("what neither has: %+v, %v", r, err)
	}
}

// TestMirrorList downloads from the servers of a mirror list, as images of continuous integration have it.
func TestMirrorList(t *testing.T) {
	a := newArchive(t)
	x := a.publish(t, "xx", "1.0-1")
	a.index(t, "system", x)
	a.write(t, "mirrors.txt", "# servers\nfile:///nowhere/\tpriority:1\nfile://"+a.dir+"/\tpriority:2\n")
	a.write(t, "base", "mirror+file:"+a.dir+"/mirrors.txt")
	if r, err := a.client(t).Get(t.Context(), []deb.Package{x}); err != nil || len(r.Files) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	a.write(t, "base", "tor+http://server")
	if _, err := a.client(t).Get(t.Context(), []deb.Package{x}); err == nil ||
		!strings.Contains(err.Error(), "use http, https, file or mirror+file") {
		t.Errorf("another way: %v", err)
	}
}

// TestDistribution asks the real distribution, with lists of our own, as on a machine without any.
func TestDistribution(t *testing.T) {
	if _, err := os.Stat("/etc/debian_version"); err != nil {
		t.Skip("this machine is no Debian or Ubuntu: there is no apt-get to ask")
	}
	c := &deb.Client{Dir: t.TempDir()}
	var seen bool
	c.Progress = func(_, _ int64, what string) { seen = seen || what == "package lists" }
	ps, err := c.Index(t.Context(), []deb.Package{{Name: "busybox-static"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 1 || ps[0].Version == "" || len(ps[0].SHA256) != 64 || ps[0].Size == 0 || !seen {
		t.Errorf("index %+v, lists updated %v", ps, seen)
	}
	r, err := c.Get(t.Context(), ps)
	if err != nil || len(r.Files) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func FuzzPrintURIs(f *testing.F) {
	f.Add("'http://h/x_1%3a2_amd64.deb' x_1%3a2_amd64.deb 10 SHA256:" + strings.Repeat("a", 64))
	f.Add("' x_1_a.deb 10 SHA256:")
	f.Add("'x' ../../etc_1_a.deb 10 SHA256:" + strings.Repeat("a", 64))
	f.Fuzz(func(t *testing.T, s string) {
		ps, err := deb.ParseURIs(s)
		if err != nil {
			return
		}
		for _, p := range ps {
			if strings.ContainsAny(p.Name, "/ ") || strings.ContainsAny(p.Version, "/ ") || len(p.SHA256) != 64 || p.Size < 0 {
				t.Errorf("%q gives %+v", s, p)
			}
		}
	})
}
