package verify_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// TestLibraries: a folder of libraries that is no SDK is held to the build of its backend, to the arch that its skels' names say, and to what each
// library says of itself.
func TestLibraries(t *testing.T) {
	sdk := unpacked(t, "qairt", "")
	const backend, system, stub, skel = "libQnnHtp.so", "libQnnSystem.so", "libQnnHtpV79Stub.so", "libQnnHtpV79Skel.so"
	from := map[string]string{backend: "lib/aarch64-android/", system: "lib/aarch64-android/", stub: "lib/aarch64-android/", skel: "lib/hexagon-v79/unsigned/"}
	read := func(name string) []byte {
		b, err := os.ReadFile(sdk.path(name))
		sdk.must(err)
		return b
	}
	own := "v2.41.0.251128"
	for name, x := range map[string]struct {
		change func(push func(name string, b []byte))
		says   string
	}{
		"whole": {func(func(string, []byte)) {}, ""},
		"a foreign stub": {func(push func(string, []byte)) {
			push(stub, bytes.ReplaceAll(read(from[stub]+stub), []byte("v2.41.0.251128"), []byte("v2.31.0.250130")))
		}, stub + ": found build id v2.31.0.250130"},
		"another's skel":  {func(push func(string, []byte)) { push(skel, read("lib/hexagon-v75/unsigned/libQnnHtpV75Skel.so")) }, skel + ": found code for Hexagon v75, want code for Hexagon v79"},
		"a renamed stub":  {func(push func(string, []byte)) { push(stub, read("lib/aarch64-android/libQnnHtpV75Stub.so")) }, stub + ": found a library that says it is libQnnHtpV75Stub.so"},
		"cut off":         {func(push func(string, []byte)) { b := read(from[backend] + backend); push(backend, b[:len(b)/2]) }, backend + ": found "},
		"a version alone": {func(push func(string, []byte)) { push("libGenie.so", elfWith("AISW_VERSION: 2.31.0")) }, "libGenie.so: found version 2.31.0, want version 2.41.0"},
	} {
		dir := t.TempDir()
		push := func(name string, b []byte) { sdk.must(os.WriteFile(filepath.Join(dir, name), b, 0o644)) }
		for name, folder := range from {
			push(name, read(folder+name))
		}
		x.change(push)
		checks, id := verify.Libraries(dir)
		if !strings.HasPrefix(id, own) && name != "cut off" {
			t.Errorf("%s: the build is %q", name, id)
		}
		err := verify.Tree(t.Context(), dir, checks)
		if x.says == "" && err != nil || x.says != "" && (err == nil || !strings.Contains(err.Error(), x.says)) {
			t.Errorf("%s: %v, want %q", name, err, x.says)
		}
	}
	if _, id := verify.Libraries(t.TempDir()); id != "" {
		t.Errorf("an empty folder is of build %q", id)
	}
}

func elfWith(text string) []byte { return []byte(elf(2, 183, 0, text+"\x00")) }

// TestForeignSystem: all that a library needs of another system is one problem.
func TestForeignSystem(t *testing.T) {
	checks := verify.Checks{ELF: []verify.ELF{{Pattern: "usr/lib/x86_64-linux-gnu/libz3.so.*", NotNeeded: []string{"libc.so.6", "libstdc++.so.6"}}}}
	r, err := verify.Examine(t.Context(), toolchaintest.Root(t, "llvm"), checks)
	if err != nil || len(r.Problems) != 1 {
		t.Fatalf("%+v, %v", r.Problems, err)
	}
	if found := r.Problems[0].Found; !strings.HasPrefix(found, "a library that needs ") || !strings.Contains(found, ", ") {
		t.Error(found)
	}
}

// TestHostLibrary: of a library for the host nothing is said of a device.
func TestHostLibrary(t *testing.T) {
	dir := tree(t, map[string]string{"libQnnHtp.so": elf(2, 62, 0, "v2.41.0.251128145156_1"), "libQnnIr.so": elf(2, 62, 0, "v2.31.0.250130145156_1")})
	checks, _ := verify.Libraries(dir)
	err := verify.Tree(t.Context(), dir, checks)
	if err == nil || !strings.Contains(err.Error(), "libQnnIr.so: found build id v2.31.0.250130145156_1") || !strings.Contains(err.Error(), "fails on the host") || strings.Contains(err.Error(), "fails on the device") {
		t.Error(err)
	}
}
