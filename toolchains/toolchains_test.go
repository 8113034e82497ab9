package toolchains_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
	"github.com/hexmage/hexmage/toolchains/verify"
)

var update = flag.Bool("update", false, "write the golden files")

func builtin(t testing.TB) (*toolchains.Catalog, *toolchains.Lock) {
	t.Helper()
	c, diags := toolchains.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c.Embedded = sdk.Embedded{World: sdktest.World}
	l, diags := toolchains.BuiltinLock()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return c, l
}

// TestSpecsForTests keeps the specs of toolchaintest what the catalog and the lock say.
func TestSpecsForTests(t *testing.T) {
	c, l := builtin(t)
	for _, name := range []string{"llvm", "qemu", "qemu@11.1", "adb", "busybox", "make", "ninja", "unzip", "lldb", "uv", "sshd", "zsh", "fish", "debootstrap", "linux_arm64", "qnnruntime", "htp_linux_arm64", "htp_host", "htp_host@2.4.0", "qemu_x86_64"} {
		request := toolchains.Request{Lock: l}
		request.Name, request.Version, _ = strings.Cut(name, "@")
		x86 := name == "qemu_x86_64" // of qemu's package, what hexmage has no use for and tests have
		if x86 {
			request.Name = "qemu"
		}
		if tc, _, err := c.Find(request.Name, ""); err == nil && tc.License != "" {
			request.Profile = "emulator"
		}
		ch, err := c.Choose(request)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("toolchaintest", "specs", name+".json")
		if program := "usr/bin/qemu-x86_64-static"; x86 {
			ch.Spec.Only, ch.Spec.Verify = []string{program}, verify.Checks{Layout: []string{program}}
		}
		want, err := tool.Encode(ch.Spec)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the catalog says (%v): run go test ./toolchains -run SpecsForTests -update", file, err)
		}
	}
}

// TestEveryRelease goes through all releases: each must be had in some way, or say how.
func TestEveryRelease(t *testing.T) {
	c, l := builtin(t)
	for _, tc := range c.Toolchains {
		if _, _, err := c.Find(tc.Name, ""); err != nil {
			t.Errorf("default release: %v", err)
		}
		for _, r := range tc.Releases {
			for _, run := range tc.Verify(r).Run {
				if strings.HasPrefix(path.Base(run.Path), "python") && slices.Contains(run.Args, "-c") && !slices.Contains(run.Args, "-B") {
					t.Errorf("%s %s: %s %q leaves bytecode in the tree, with the times of its sources: two installations differ", tc.Name, r.Version, run.Path, run.Args)
				}
			}
			for _, profile := range []string{"simulated", "device"} {
				ch, err := c.Choose(toolchains.Request{Name: tc.Name, Version: r.Version, Profile: profile, Lock: l})
				if err != nil {
					if !strings.Contains(err.Error(), "hexmage lock") && !errors.Is(err, toolchains.ErrNotAvailable) {
						t.Errorf("%s %s in profile %s: %v", tc.Name, r.Version, profile, err)
					}
					continue
				}
				if profile == "device" && ch.Source.Kind == "embedded" {
					t.Errorf("%s %s: profile device takes the simulation", tc.Name, r.Version)
				}
				pinned := ch.Spec.Pinned()
				if e := ch.Packages; e != nil { // an environment: by each of its wheels, and what it is made with
					pinned = len(e.Wheels) > 0 && e.UV.Spec.Pinned() && !slices.ContainsFunc(e.Wheels, func(w pypi.Wheel) bool { return len(w.SHA256) != 64 })
				}
				if !pinned {
					t.Errorf("%s %s in profile %s has no digest", tc.Name, r.Version, profile)
				}
			}
		}
	}
	for _, r := range sdk.Releases() {
		ch, err := c.Choose(toolchains.Request{Name: r.Name, Version: r.Version, Profile: "simulated", Lock: l})
		if err != nil || ch.Source.Kind != "embedded" || !ch.Spec.Pinned() {
			t.Errorf("simulation %s %s is not in the catalog: %v", r.Name, r.Version, err)
		}
	}
}

func TestChoose(t *testing.T) {
	c, l := builtin(t)
	for name, x := range map[string]struct {
		q      toolchains.Request
		source string   // of the choice
		says   []string // in the error
	}{
		"open":                     {q: toolchains.Request{Name: "qairt", Profile: "simulated"}, source: "embedded"},
		"pinned archive":           {q: toolchains.Request{Name: "qairt", Version: "2.42.0.251225", Profile: "device"}, source: "archive"},
		"no digest":                {q: toolchains.Request{Name: "qairt", Version: "2.40.0.251030", Profile: "device"}, says: []string{"hexmage lock qairt 2.40.0.251030 --profile device"}},
		"locking":                  {q: toolchains.Request{Name: "qairt", Version: "2.40.0.251030", Profile: "device", Locking: true}, source: "archive"},
		"sha1 is a digest":         {q: toolchains.Request{Name: "ndk", Version: "r28b", Profile: "device"}, source: "archive"},
		"no simulation":            {q: toolchains.Request{Name: "qairt", Version: "2.44.0.260225", Profile: "simulated"}, says: []string{"hexmage does not simulate this release", "2.41.0.251128", "--profile device"}},
		"typing error":             {q: toolchains.Request{Name: "qiart"}, says: []string{`did you mean "qairt"`}},
		"unknown release":          {q: toolchains.Request{Name: "qairt", Version: "2.41.0.251129"}, says: []string{`did you mean "2.41.0.251128"`}},
		"beginning of one":         {q: toolchains.Request{Name: "qairt", Version: "2.41"}, says: []string{`(did you mean "2.41.0.251128"?); `}},
		"account":                  {q: toolchains.Request{Name: "hexagon", Version: "6.2.0.1", Profile: "device"}, says: []string{"qpm-cli --login", "HEXAGON_SDK_ROOT", "https://"}},
		"deb in every":             {q: toolchains.Request{Name: "llvm", Profile: "device"}, source: "deb"},
		"not of that kind":         {q: toolchains.Request{Name: "mllm", Source: "archive"}, says: []string{"which the catalog does not list"}},
		"installed, none":          {q: toolchains.Request{Name: "qemu", Source: "installed"}, says: []string{"qemu-aarch64-static", "PATH"}},
		"variable is not a folder": {q: toolchains.Request{Name: "qairt", Source: "installed", Machine: machine(map[string]string{"QNN_SDK_ROOT": "/no/such"})}, says: []string{"QNN_SDK_ROOT=/no/such: no such folder", "QAIRT_SDK_ROOT or QNN_SDK_ROOT"}},
	} {
		t.Run(name, func(t *testing.T) {
			x.q.Lock = l
			ch, err := c.Choose(x.q)
			if x.source != "" {
				if err != nil || ch.Source.Kind != x.source {
					t.Errorf("choice %+v, %v; want source %s", ch, err, x.source)
				}
				return
			}
			if err == nil {
				t.Fatalf("no error; source %s", ch.Source.Kind)
			}
			for _, s := range x.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error %q does not say %q", err, s)
				}
			}
		})
	}
}

func machine(env map[string]string) toolchains.Machine {
	return toolchains.Machine{Getenv: func(n string) string { return env[n] }, Home: "/nonexistent"}
}

// TestInstalled unpacks simulations as if people had installed them, and finds them by what they say they are.
func TestInstalled(t *testing.T) {
	c, l := builtin(t)
	dir := t.TempDir()
	roots := map[string]string{}
	for _, name := range []string{"qairt", "hexagon", "ndk"} {
		roots[name] = filepath.Join(dir, name)
		unpackSimulated(t, c, name, "", roots[name])
	}
	env := map[string]string{"QAIRT_SDK_ROOT": roots["qairt"], "HEXAGON_SDK_ROOT": roots["hexagon"], "ANDROID_NDK_ROOT": roots["ndk"]}
	// What the variables lead to is the simulations' own, as `hexmage env` prints them: that is no installed copy for who wants Qualcomm's.
	for name, root := range roots {
		for profile, refused := range map[string]bool{"device": true, "emulator": true, "simulated": false} {
			ch, err := c.Choose(toolchains.Request{Name: name, Source: "installed", Profile: profile, Lock: l, Machine: machine(env)})
			if refused != (err != nil) || refused && !strings.Contains(err.Error(), root+" is the simulated "+name) {
				t.Errorf("%s in profile %s: %+v, %v", name, profile, ch, err)
			}
		}
		sdktest.AsVendors(t, root)
	}
	for name, root := range roots {
		ch, err := c.Choose(toolchains.Request{Name: name, Profile: "device", Lock: l, Machine: machine(env)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if ch.Source.Kind != "installed" || ch.Host != root {
			t.Errorf("%s comes from %s %s, want the installed copy %s", name, ch.Source.Kind, ch.Host, root)
		}
		if name == "qairt" && ch.BuildID() != "v2.41.0.251128000000_0" || name == "hexagon" && ch.Found.ToolsVersion != "19.0.04" {
			t.Errorf("%s is taken for %+v", name, ch.Found)
		}
	}
	// Another release than the one that is asked for is passed over, and said so.
	ch, err := c.Choose(toolchains.Request{Name: "qairt", Version: "2.42.0.251225", Profile: "device", Lock: l, Machine: machine(env)})
	if err != nil || ch.Source.Kind != "archive" || len(ch.Notes) != 1 || !strings.Contains(ch.Notes[0], "has qairt 2.41.0.251128, not qairt 2.42.0.251225") {
		t.Errorf("choice %+v, %v", ch, err)
	}
	if _, err := c.Choose(toolchains.Request{Name: "qairt", Version: "2.42.0.251225", Source: "installed", Machine: machine(env)}); !errors.Is(err, toolchains.ErrNotAvailable) {
		t.Errorf("error %v, want %v", err, toolchains.ErrNotAvailable)
	}
}

// unpackSimulated fetches a simulation through the fetch tool, which verifies it.
func unpackSimulated(t testing.TB, c *toolchains.Catalog, name, version, out string) {
	t.Helper()
	_, l := builtin(t)
	ch, err := c.Choose(toolchains.Request{Name: name, Version: version, Profile: "simulated", Lock: l})
	if err != nil {
		t.Fatal(err)
	}
	b, err := ch.Archive()
	if err != nil {
		t.Fatal(err)
	}
	ch.Spec.File = filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(ch.Spec.File, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := sources.Fetch(t.Context(), ch.Spec, out, sources.Options{Downloads: t.TempDir(), Offline: true}); err != nil {
		t.Fatal(err)
	}
}

// TestSimulations unpacks and verifies every simulation release with the checks of the real one.
func TestSimulations(t *testing.T) {
	c, _ := builtin(t)
	for _, r := range sdk.Releases() {
		t.Run(r.Name+" "+r.Version, func(t *testing.T) {
			unpackSimulated(t, c, r.Name, r.Version, filepath.Join(t.TempDir(), "out"))
		})
	}
}

func TestOverride(t *testing.T) {
	c, diags := toolchains.Load(map[string][]byte{"toolchains/ours.hcl": []byte(`
toolchain "qairt" {
  default = "9.9.9.990101"
  release "9.9.9.990101" {
    source "archive" {
      urls   = ["https://files.example/q.zip"]
      sha256 = "` + strings.Repeat("a", 64) + `"
    }
  }
}
soc "SM8750" {
  arch      = "v81"
  soc_model = 1
}
soc "SM9999" {
  arch      = "v81"
  soc_model = 999
}`)})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	ch, err := c.Choose(toolchains.Request{Name: "qairt", Profile: "device"})
	if err != nil || ch.Release.Version != "9.9.9.990101" || len(ch.Spec.Verify.Layout) == 0 {
		t.Errorf("choice %+v, %v; want the workspace's release with the catalog's checks", ch, err)
	}
	if s, err := c.FindSoC("sm8750"); err != nil || s.SoCModel != 1 {
		t.Errorf("SoC %+v, %v; want the workspace's", s, err)
	}
	for name, src := range map[string]string{
		"digest":  `toolchain "x" { release "1" { source "archive" { urls = ["u"] sha256 = "abc" } } }`,
		"kind":    `toolchain "x" { release "1" { source "ftp" {} } }`,
		"no urls": "toolchain \"x\" {\n release \"1\" {\n source \"archive\" {}\n }\n}",
		"arch":    "soc \"x\" {\n arch = \"hexagon79\"\n soc_model = 1\n}",
		"syntax":  `toolchain "x" {`,

		"unknown block":                  "sock \"x\" {\n}",
		"unknown attribute":              "toolchain \"x\" {\n pages = \"y\"\n}",
		"unknown attribute of a release": "toolchain \"x\" {\n release \"1\" {\n tools_versoin = \"y\"\n}\n}",
	} {
		if _, diags := toolchains.Load(map[string][]byte{"bad.hcl": []byte(src)}); !diags.HasErrors() {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestLock(t *testing.T) {
	_, l := builtin(t)
	b := l.Encode()
	again, diags := toolchains.ParseLock(b, "x")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if d := cmp.Diff(l, again, cmpopts.IgnoreUnexported(toolchains.Lock{})); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
	file, err := os.ReadFile(toolchains.LockFile)
	if err != nil || !bytes.Equal(b, file) {
		t.Errorf("the embedded lock is not as Encode writes it: %v", err)
	}
	own := &toolchains.Lock{}
	own.Set(&toolchains.Locked{Name: "llvm", Version: "22", Source: "deb"})
	if got := own.Over(l); len(got.All()) != len(l.All()) || len(got.Find("llvm", "22", "deb").Packages) != 0 || got.Find("qemu", "7.2", "deb") == nil {
		t.Errorf("a workspace's lock over the embedded one: %+v", got)
	}
	for name, src := range map[string]string{
		"twice":         "locked \"a\" \"1\" {\n source = \"deb\"\n}\nlocked \"a\" \"1\" {\n source = \"deb\"\n}",
		"no digest":     "locked \"a\" \"1\" {\n source = \"archive\"\n sha256 = \"12\"\n}",
		"tree":          "locked \"a\" \"1\" {\n source = \"deb\"\n tree = \"12\"\n}",
		"package block": "locked \"a\" \"1\" {\n source = \"deb\"\n package \"p\" {\n }\n}",
		"no source":     "locked \"a\" \"1\" {\n}",
	} {
		if _, diags := toolchains.ParseLock([]byte(src), "x"); !diags.HasErrors() {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestLockLines: each line of packages and wheels is read strictly, and an error quotes the line.
func TestLockLines(t *testing.T) {
	sum := strings.Repeat("a", 64)
	parse := func(list string) (*toolchains.Locked, hcl.Diagnostics) {
		src := "locked \"x\" \"1\" {\n  source = \"deb\"\n  " + list + "\n}\n"
		l, diags := toolchains.ParseLock([]byte(src), "lock")
		if diags.HasErrors() {
			return nil, diags
		}
		return l.Entries[0], nil
	}
	e, diags := parse(`packages = ["libc++1.51 2:1.0~rc1-1+b2 amd64 12 ` + sum + `", "p0 1 all 0 ` + sum + `"]
  wheels = ["Ruamel.Yaml_x-1.0+cpu-py3-none-any.whl 0 ` + sum + `"]`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if d := cmp.Diff([]deb.Package{
		{Name: "libc++1.51", Version: "2:1.0~rc1-1+b2", Arch: "amd64", Size: 12, SHA256: sum},
		{Name: "p0", Version: "1", Arch: "all", SHA256: sum}}, e.Packages); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]pypi.Wheel{{Project: "ruamel-yaml-x", Version: "1.0+cpu",
		File: "Ruamel.Yaml_x-1.0+cpu-py3-none-any.whl", SHA256: sum}}, e.Wheels); d != "" {
		t.Error(d)
	}
	const file = "six-1.16.0-py3-none-any.whl"
	for _, x := range []struct{ list, line, says string }{
		{"packages", `make 4.3-4.1 amd64 12`, "write NAME VERSION ARCHITECTURE SIZE SHA256"},
		{"packages", `make 4.3-4.1 amd64 12 ` + sum + ` x`, "write NAME"},
		{"packages", `make  4.3-4.1 amd64 12 ` + sum, "write NAME"},
		{"packages", `make  amd64 12 ` + sum, "write NAME"},
		{"packages", `make\t4.3-4.1 amd64 12 ` + sum, "write NAME"},
		{"packages", ` make 4.3-4.1 amd64 12 ` + sum, "write NAME"},
		{"packages", ``, "write NAME"},
		{"packages", `make 4.3-4.1 amd64 12 ` + sum[1:], "invalid sha256"},
		{"packages", `make 4.3-4.1 amd64 12 ` + sum[1:] + "A", "invalid sha256"},
		{"packages", `make 4.3-4.1 amd64 12 ` + sum[1:] + `\n`, "write NAME"},
		{"packages", `make 4.3-4.1 amd64 -1 ` + sum, `invalid size "-1"`},
		{"packages", `make 4.3-4.1 amd64 +1 ` + sum, "invalid size"},
		{"packages", `make 4.3-4.1 amd64 01 ` + sum, "invalid size"},
		{"packages", `make 4.3-4.1 amd64 1e3 ` + sum, "invalid size"},
		{"packages", `make 4.3-4.1 amd64 9223372036854775808 ` + sum, "invalid size"},
		{"packages", `-oDir=x 4.3-4.1 amd64 12 ` + sum, `invalid Debian package: name "-oDir=x"`},
		{"packages", `../make 4.3-4.1 amd64 12 ` + sum, "package"},
		{"packages", `make 4.3/../1 amd64 12 ` + sum, "version"},
		{"packages", `make 4.3-4.1 ../x 12 ` + sum, "architecture"},
		{"packages", `make=1 4.3\u0000 amd64 12 ` + sum, "package"},
		{"packages", `good 1 all 1 ` + sum, "duplicate package good"},
		{"packages", strings.Repeat("make ", 20000), "write NAME"},
		{"wheels", file + ` ` + sum, "write FILE SIZE SHA256"},
		{"wheels", file + ` 12 ` + sum + ` `, "write FILE"},
		{"wheels", file + ` x ` + sum, `invalid size "x"`},
		{"wheels", file + ` 12 x`, `invalid sha256 "x"`},
		{"wheels", `six-1.16.0.tar.gz 12 ` + sum, `invalid wheel file name "six-1.16.0.tar.gz"`},
		{"wheels", `../` + file + ` 12 ` + sum, "invalid wheel file name"},
		{"wheels", `a/` + file + ` 12 ` + sum, "invalid wheel file name"},
		{"wheels", file + `\u0000 12 ` + sum, "invalid wheel file name"},
		{"wheels", `six_-1-py3-none-any.whl 12 ` + sum, "invalid Python package name"},
		{"wheels", `Good-2-py3-none-any.whl 1 ` + sum, "duplicate package good"},
	} {
		good := "good 1 all 1 " + sum
		if x.list == "wheels" {
			good = "good-1-py3-none-any.whl 1 " + sum
		}
		_, diags := parse(x.list + " = [\n    \"" + good + "\",\n    \"" + x.line + "\",\n  ]")
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, "x 1: "+x.list+": ") ||
			!strings.Contains(diags[0].Detail, x.says) ||
			!strings.Contains(diags[0].Detail, "run `hexmage lock` to write it again") || len(diags[0].Detail) > 600 ||
			diags[0].Subject == nil || diags[0].Subject.Start.Line != 1 {
			t.Errorf("%s %.200q: %.1000v, want %q", x.list, x.line, diags, x.says)
		}
	}
	for _, expr := range []string{`"` + file + `"`, `{}`, `["make ${1/0}"]`, `["${x}"]`, `[null]`, `[1]`, `[["x"]]`, `[for x in ["a"]: x]`,
		`concat([])`} {
		for _, list := range []string{"packages", "wheels"} {
			if _, diags := parse(list + " = " + expr); !diags.HasErrors() {
				t.Errorf("%s = %s: %v", list, expr, diags)
			}
		}
	}
}

// FuzzParseLock: a lock that is read is written so that it is read as the same.
func FuzzParseLock(f *testing.F) {
	b, err := os.ReadFile(toolchains.LockFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("locked \"a\" \"1\" {\n  source = \"archive\"\n  sha256 = \"" + strings.Repeat("a", 64) + "\"\n  tree = \"" + strings.Repeat("b", 64) + "\"\n  trust = \"first use\"\n}\n"))
	for _, list := range []string{`packages = ["p0 1 all 1 @"]`, `wheels = ["x-1!2-1a-py3-none-any.whl 0 @",]`,
		`packages = []`} {
		list = strings.ReplaceAll(list, "@", strings.Repeat("a", 64))
		f.Add([]byte("locked \"a\" \"1\" {\n  source = \"deb\"\n  " + list + "\n}\n"))
	}
	f.Add([]byte("locked \"a\" \"1\" {\n  source = \"qpm\"\n  tree = \"" + strings.Repeat("b", 64) + "\"\n}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, diags := toolchains.ParseLock(src, "lock")
		if diags.HasErrors() {
			return
		}
		text := l.Encode()
		again, diags := toolchains.ParseLock(text, "again")
		if diags.HasErrors() {
			t.Fatalf("%v\n%s", diags, text)
		}
		if !bytes.Equal(again.Encode(), text) {
			t.Errorf("not the same when written again:\n%s\n%s", text, again.Encode())
		}
	})
}

// TestEnvironment: an environment stands on the machine's interpreter where that fits, else on one that is downloaded; it is as large as its wheels, and
// without a lock of what it asks for it is none.
func TestEnvironment(t *testing.T) {
	c, l := builtin(t)
	own := &toolchains.Source{Kind: "python", Python: "3.13", Requirements: []string{"six==1.16.0"}}
	program := filepath.Join(t.TempDir(), "python3.13")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	none := toolchains.Machine{LookPath: func(string) (string, error) { return "", os.ErrNotExist }}
	has := toolchains.Machine{LookPath: func(name string) (string, error) {
		if name != "python3.13" {
			return "", os.ErrNotExist
		}
		return program, nil
	}}
	q := toolchains.Request{Name: "tools", Version: "3.13", Lock: l, Machine: none, Own: own}
	if _, err := c.Choose(q); err == nil || !strings.Contains(err.Error(), "hexmage lock") {
		t.Errorf("not locked: %v", err)
	}
	q.Locking = true
	ch, err := c.Choose(q)
	if err != nil {
		t.Fatal(err)
	}
	q.Locking, q.Lock = false, (&toolchains.Lock{Entries: []*toolchains.Locked{{Name: "tools", Version: "3.13", Source: "python", Asked: ch.Packages.Asked.Digest(),
		Wheels: []pypi.Wheel{{Project: "six", Version: "1.16.0", File: "six-1.16.0-py2.py3-none-any.whl", Size: 11053, SHA256: strings.Repeat("8", 64)}}}}}).Over(l)
	if ch, err = c.Choose(q); err != nil || ch.Packages.Interpreter.Source.Kind != "maven" || ch.Size() != 11053+17606939+25724411 {
		t.Errorf("no interpreter here: %+v, %v", ch, err)
	}
	q.Machine = has
	if ch, err = c.Choose(q); err != nil || ch.Packages.Interpreter.Source.Kind != "installed" || ch.Size() != 11053+17606939 {
		t.Fatalf("an interpreter here: %+v, %v", ch, err)
	}
	if ps := ch.Packages.Interpreter.Spec.Programs; len(ps) != 1 || ps[0].Target != program || !ps[0].Copy || !ps[0].Venv {
		t.Errorf("the interpreter is %+v", ps)
	}
	q.Own = &toolchains.Source{Kind: "python", Python: "3.13", Requirements: []string{"six"}}
	if _, err := c.Choose(q); err == nil || !strings.Contains(err.Error(), "do not match the requirements") {
		t.Errorf("other requirements: %v", err)
	}
	q.Own, q.Version = &toolchains.Source{Kind: "python", Python: "3.12"}, "3.12"
	if _, err := c.Choose(q); err == nil || !strings.Contains(err.Error(), "apt-get install python3.12") {
		t.Errorf("no such interpreter: %v", err)
	}
}

// TestFindShipped: an entry that is looked for alone is that of the whole lock of the shipped pipelines.
func TestFindShipped(t *testing.T) {
	whole, diags := toolchains.BuiltinLock()
	if diags.HasErrors() || len(whole.Entries) == 0 {
		t.Fatal(diags)
	}
	over := new(toolchains.Lock).OverShipped()
	for _, want := range whole.Entries {
		if got := over.Find(want.Name, want.Version, want.Source); !reflect.DeepEqual(got, want) {
			t.Errorf("%s %s from %s: %+v, want %+v", want.Name, want.Version, want.Source, got, want)
		}
	}
	if got := over.Find("adb", "no such", "deb"); got != nil {
		t.Errorf("%+v", got)
	}
}
