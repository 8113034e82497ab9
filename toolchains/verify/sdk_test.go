package verify_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// sdkTree is a release of the simulation, unpacked into a folder that is called as its version, and what the catalog says of it.
type sdkTree struct {
	t      *testing.T
	root   string
	checks verify.Checks
}

func unpacked(t *testing.T, name, version string) *sdkTree {
	t.Helper()
	release, err := sdk.Find(name, version)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := sdktest.Archive(&b, name, version); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.zip"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &sdkTree{t: t, root: filepath.Join(dir, release.Version)}
	if err := archive.Unpack(t.Context(), s.root, archive.Options{StripPrefix: release.Prefix}, filepath.Join(dir, "a.zip")); err != nil {
		t.Fatal(err)
	}
	c, diags := toolchains.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	tc, r, err := c.Find(name, release.Version)
	if err != nil {
		t.Fatal(err)
	}
	s.checks = tc.Verify(r)
	return s
}

func (s *sdkTree) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

func (s *sdkTree) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *sdkTree) read(name string) []byte {
	s.t.Helper()
	b, err := os.ReadFile(s.path(name))
	s.must(err)
	return b
}

func (s *sdkTree) write(name string, b []byte) {
	s.t.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	s.must(os.WriteFile(s.path(name), b, 0o755))
}

// link makes a shared library, or with program a program, with a real compiler. The libraries that it needs exist while it is linked only.
func (s *sdkTree) link(name, target, source string, flags []string, needs ...string) {
	s.t.Helper()
	clang := toolchaintest.Path(s.t, "llvm", "usr/bin/clang-22")
	lld := toolchaintest.Path(s.t, "llvm", "usr/bin/ld.lld-22")
	dir := s.t.TempDir()
	run := func(out, source string, args ...string) string {
		c, o := filepath.Join(dir, "a.c"), filepath.Join(dir, out)
		s.must(os.WriteFile(c, []byte(source), 0o644))
		args = append([]string{"--target=" + target, "-nostdlib", "-ffreestanding", "-fuse-ld=lld", "--ld-path=" + lld, "-o", o, c}, args...)
		if b, err := exec.CommandContext(s.t.Context(), clang, args...).CombinedOutput(); err != nil {
			s.t.Fatalf("clang %q: %v\n%s", args, err, b)
		}
		return o
	}
	for _, lib := range needs { // NAME or NAME=VERSION of a symbol
		lib, version, _ := strings.Cut(lib, "=")
		args := []string{"-shared", "-Wl,-soname," + lib}
		symbol := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return '_'
		}, lib)
		if version != "" {
			script := filepath.Join(dir, "script")
			s.must(os.WriteFile(script, []byte(version+" { global: *; };\n"), 0o644))
			args = append(args, "-Wl,--version-script="+script)
		}
		flags = append(flags, run(lib, "void "+symbol+"(void) {}\n", args...))
		source += "void " + symbol + "(void); void use_" + symbol + "(void) { " + symbol + "(); }\n"
	}
	b, err := os.ReadFile(run(filepath.Base(name), source, flags...))
	s.must(err)
	s.write(name, b)
}

func shared(name string, more ...string) []string {
	return append([]string{"-shared", "-Wl,-soname," + name}, more...)
}

const idSource = `__attribute__((used, retain, section(".rodata.id"))) const char id[] = "v2.41.0.251128000000_0";` + "\n"

// TestDamagedSDKs damages SDKs in the ways that people's get damaged. Each damage is named with the file, what is there,
// what should be, and what to do; and nothing else is said.
func TestDamagedSDKs(t *testing.T) {
	const skel, stub, arm = "lib/hexagon-v79/unsigned/libQnnHtpV79Skel.so", "lib/aarch64-android/libQnnHtpV79Stub.so", "lib/aarch64-android/libQnnHtp.so"
	for name, c := range map[string]struct {
		sdk    string
		damage func(s *sdkTree)
		says   [][]string // of each problem: parts of its line
	}{
		"none":        {sdk: "qairt", damage: func(*sdkTree) {}},
		"none of two": {sdk: "hexagon", damage: func(*sdkTree) {}},
		"none of ndk": {sdk: "ndk", damage: func(*sdkTree) {}},
		"real library": {sdk: "qairt", damage: func(s *sdkTree) {
			s.link(skel, "hexagon-unknown-none-elf", idSource, shared("libQnnHtpV79Skel.so", "-mv79"))
		}},
		"wrong arch": {"qairt", func(s *sdkTree) {
			s.link(skel, "hexagon-unknown-none-elf", idSource, shared("libQnnHtpV79Skel.so", "-mv75"))
		}, [][]string{{skel, "code for Hexagon v75", "code for Hexagon v79", "the folder of another arch"}}},
		"wrong machine": {"qairt", func(s *sdkTree) {
			s.link(arm, "x86_64-linux-gnu", idSource, shared("libQnnHtp.so"))
		}, [][]string{{arm, "ELF for x86-64", "ELF for AArch64", "fetch the toolchain again"}}},
		"another target's library": {"qairt", func(s *sdkTree) {
			s.link(arm, "aarch64-linux-gnu", idSource, shared("libQnnHtp.so"), "libc.so.6")
		}, [][]string{{arm, "needs libc.so.6", "the system of lib/aarch64-android"}}},
		"renamed library": {"qairt", func(s *sdkTree) {
			s.write(stub, s.read("lib/aarch64-android/libQnnHtpV75Stub.so"))
		}, [][]string{{stub, "soname libQnnHtpV75Stub.so", "want soname libQnnHtpV79Stub.so", "QNN loads libraries by these names"}}},
		"cut off": {"qairt", func(s *sdkTree) {
			s.link(skel, "hexagon-unknown-none-elf", idSource+"char big[100000] = {1};\n", shared("libQnnHtpV79Skel.so", "-mv79"))
			b := s.read(skel)
			s.write(skel, b[:len(b)/2])
		}, [][]string{{skel, "truncated or damaged file: the headers describe", "the file is incomplete"}}},
		"cut off in its header": {"qairt", func(s *sdkTree) { s.write(arm, s.read(arm)[:40]) }, [][]string{{arm, "not an ELF file", "AArch64"}}},
		"mixed build ids": {"qairt", func(s *sdkTree) {
			s.write(stub, unpacked(s.t, "qairt", "2.31.0.250130").read(stub))
		}, [][]string{{stub, "build id v2.31.0.250130", "build id v2.41.0.251128", "lib id mismatch"}}},
		"headers of another release": {"qairt", func(s *sdkTree) {
			const header = "include/QNN/QnnSdkBuildId.h"
			s.write(header, unpacked(s.t, "qairt", "2.31.0.250130").read(header))
		}, [][]string{{"QnnSdkBuildId.h", "v2.31.0.250130", "as in sdk.yaml", "get one complete release"}, {"QnnSdkBuildId.h", "v2.31.0.250130", "mixed SDK"}}},
		"missing skel": {"qairt", func(s *sdkTree) { s.must(os.Remove(s.path(skel))) }, [][]string{{skel, "found nothing", "fetch the toolchain again"}}},
		"an SDK in the SDK": {"qairt", func(s *sdkTree) {
			s.write("qairt/2.42.0.251225/sdk.yaml", []byte("version: 2.42.0\n"))
		}, [][]string{{"qairt/2.42.0.251225/sdk.yaml", "that no release has", "remove the addition"}}},
		"a pipe instead of a library": {"qairt", func(s *sdkTree) {
			s.must(os.Remove(s.path(arm)))
			if out, err := exec.Command("mkfifo", s.path(arm)).CombinedOutput(); err != nil {
				s.t.Fatalf("mkfifo: %v\n%s", err, out)
			}
		}, [][]string{{arm, "not a regular file", "an ELF file"}, {arm, "not a regular file", "a build id"}}},
		"everything at once": {"qairt", func(s *sdkTree) {
			s.must(os.Remove(s.path(skel)))
			s.must(os.Remove(s.path(stub)))
			s.write("2.42/sdk.yaml", nil)
			s.write(arm, []byte("<html>"))
		}, [][]string{{skel, "nothing"}, {stub, "nothing"}, {"2.42/sdk.yaml"}, {arm, "not an ELF"}}},
		"tools of another version": {"hexagon", func(s *sdkTree) {
			s.must(os.Rename(s.path("tools/HEXAGON_Tools/19.0.04"), s.path("tools/HEXAGON_Tools/8.8.06")))
		}, [][]string{{"19.0.04/Tools/bin/hexagon-clang++", "found nothing"}, {"19.0.04/Tools/libnative/include", "found nothing"}}},
		"JSON of another version": {"hexagon", func(s *sdkTree) {
			s.write("hexagon_sdk.json", bytes.ReplaceAll(s.read("hexagon_sdk.json"), []byte("19.0.04"), []byte("19.0.07")))
		}, [][]string{{"hexagon_sdk.json", `"19.0.07"`, `"19.0.04"`}}},
		"no version in the JSON": {"hexagon", func(s *sdkTree) {
			s.write("hexagon_sdk.json", bytes.Replace(s.read("hexagon_sdk.json"), []byte("\"version\": \"6.4.0.2\","), nil, 1))
			other := filepath.Join(filepath.Dir(s.root), "tree") // as in the store
			s.must(os.Rename(s.root, other))
			s.root = other
		}, nil},
		"another ndk": {"ndk", func(s *sdkTree) {
			s.write("source.properties", []byte("Pkg.Revision = 26.2.11394342\n"))
		}, [][]string{{"source.properties", `"26.2.11394342"`, `"28.1.13356709"`, "change `version`"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := unpacked(t, c.sdk, "")
			c.damage(s)
			r, err := verify.Examine(t.Context(), s.root, s.checks)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, p := range r.Problems {
				lines = append(lines, p.Error())
				if p.Remedy == "" || p.File == "" || p.Found == "" || p.Want == "" {
					t.Errorf("%+v says too little", p)
				}
			}
			for _, parts := range c.says {
				i := slices.IndexFunc(lines, func(l string) bool {
					return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(l, p) })
				})
				if i < 0 {
					t.Errorf("no line has all of %q", parts)
					continue
				}
				lines = slices.Delete(lines, i, i+1)
			}
			for _, l := range lines {
				t.Errorf("it also says: %s", l)
			}
			if c.says == nil && c.sdk == "qairt" && (r.Checked.ELF < 30 || r.Checked.BuildIDs < 10 || r.Checked.Paths < 20) {
				t.Errorf("next to nothing was checked: %+v", r.Checked)
			}
		})
	}
}
