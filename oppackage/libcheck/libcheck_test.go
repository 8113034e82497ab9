package libcheck_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/libcheck"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

const source = `
#define EXPORT __attribute__((visibility("default")))
extern int imported(int); extern int maybe(int) __attribute__((weak));
static const char id[] = "v2.41.0.251128145156_191518";
EXPORT const char *PInterfaceProvider(void) { return id; }
EXPORT const char *op(void) { return "Scale"; }
EXPORT int large(int a) { return imported(a) + (maybe ? maybe(a) : 0); }
`

// library compiles the source for a clang target.
func library(t *testing.T, target string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--target=" + target, "-O1", "-fPIC", "-fvisibility=hidden", "-shared", "-nostdlib", "-fuse-ld=lld", "-Wl,-soname,libQnnP.so", "-o", "lib.so", "a.c"}, flags...)
	cmd := exec.Command(toolchaintest.Path(t, "llvm", "usr/bin/clang-22"), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "lib.so")
}

func arch(t *testing.T, target string) oppackage.Arch {
	t.Helper()
	a, err := sdktest.Targets(t).Select([]string{target})
	if err != nil {
		t.Fatal(err)
	}
	return a[0]
}

func TestCheck(t *testing.T) {
	const hexagon, arm = "hexagon-unknown-none-elf", "aarch64-linux-android30"
	good := libcheck.Want{Package: "P", BuildID: "v2.41.0.251128145156", Ops: []string{"Scale"}}
	for _, tt := range []struct {
		name, target, triple string
		flags                []string
		change               func(*libcheck.Want)
		want                 string // in the only problem; "" is none
	}{
		{"v79", "htp_v79", hexagon, []string{"-mv79"}, nil, ""},
		{"aarch64", "htp_aarch64", arm, []string{"-Wl,-z,max-page-size=16384"}, nil, ""},
		{"pages of 4 KiB", "htp_aarch64", arm, []string{"-Wl,-z,max-page-size=4096"}, nil, "aligned to 4096 bytes"},
		{"another arch", "htp_v79", hexagon, []string{"-mv75"}, nil, "wrong e_flags 0x75, but htp_v79 has 0x79"},
		{"another machine", "htp_v79", arm, nil, nil, "wrong machine AARCH64, but htp_v79 is QDSP6"},
		{"no provider", "htp_v79", hexagon, []string{"-mv79"}, func(w *libcheck.Want) { w.Provider = "Other" }, "missing symbol Other,"},
		{"another SDK", "htp_v79", hexagon, []string{"-mv79"}, func(w *libcheck.Want) { w.BuildID = "v2.31.0.250130000000_1" }, "instead of the SDK's v2.31.0.250130000000_1"},
		{"an op is missing", "htp_v79", hexagon, []string{"-mv79"}, func(w *libcheck.Want) { w.Ops = []string{"Scal"} }, "op Scal of"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := good
			w.Arch = arch(t, tt.target)
			if tt.change != nil {
				tt.change(&w)
			}
			r, err := libcheck.Check(library(t, tt.triple, tt.flags...), w)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" && len(r.Problems) > 0 || tt.want != "" && (len(r.Problems) != 1 || !strings.Contains(r.Problems[0], tt.want)) {
				t.Errorf("problems %q, want %q", r.Problems, tt.want)
			}
			if strings.Join(r.Exports, " ") != "PInterfaceProvider large op" || strings.Join(r.Imports, " ") != "imported" || strings.Join(r.Weak, " ") != "maybe" {
				t.Errorf("exports %q, imports %q, weak %q", r.Exports, r.Imports, r.Weak)
			}
			if r.Soname != "libQnnP.so" || r.Symbols[0].Name != "large" || r.Sections["code"] == 0 || !strings.Contains(r.Text(), "imports    imported\n") {
				t.Errorf("%+v\n%s", r, r.Text())
			}
		})
	}
}

func TestNoLibrary(t *testing.T) {
	whole, err := os.ReadFile(library(t, "hexagon-unknown-none-elf", "-mv79"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"empty": nil, "text": []byte("#!/bin/sh\n"), "cut": whole[:len(whole)/2], "header": whole[:52], "flags": append(bytes.Clone(whole[:32]), 0xff)} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := libcheck.Check(file, libcheck.Want{Arch: arch(t, "htp_v79"), Package: "P"}); err == nil && len(r.Problems) == 0 {
			t.Errorf("%s is a good library: %+v", name, r)
		}
	}
	if _, err := libcheck.Check(filepath.Join(dir, "none"), libcheck.Want{Arch: arch(t, "htp_v79"), Package: "P"}); err == nil {
		t.Error("no file is a library")
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte("\x7fELF\x01\x01\x01"))
	file := filepath.Join(f.TempDir(), "lib.so")
	arches, err := sdktest.Targets(f).Select([]string{"htp_v79"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := libcheck.Check(file, libcheck.Want{Arch: arches[0], Package: "P"}); err == nil {
			_ = r.Text()
		}
	})
}
