package verify_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains/verify"
)

// elf returns the header of an ELF file, followed by text.
func elf(class byte, machine uint16, flags uint32, text string) string {
	h := make([]byte, 64)
	copy(h, "\x7fELF")
	h[4], h[5], h[6] = class, 1, 1
	le := binary.LittleEndian
	le.PutUint16(h[16:], 3)
	le.PutUint16(h[18:], machine)
	le.PutUint32(h[20:], 1) // version
	if class == 1 {
		le.PutUint32(h[36:], flags)
	} else {
		le.PutUint32(h[48:], flags)
	}
	return string(h) + text
}

const id, otherID = "v2.41.0.251128145156_191518", "v2.36.0.250627101419_123859"

func original() map[string]string {
	return map[string]string{
		"sdk.yaml":                                 "product: QAIRT\nversion: 2.41.0\nbuild_id: 251128145156_191518\n",
		"include/QnnSdkBuildId.h":                  `#define QNN_SDK_BUILD_ID "` + id + `"`,
		"lib/aarch64-android/libQnnHtp.so":         elf(2, 183, 0, "x\x00"+id+"\x00"),
		"lib/aarch64-android/libQnnSystem.so":      elf(2, 183, 0, "nothing"),
		"lib/hexagon-v79/unsigned/libQnnHtpV79.so": elf(1, 164, 0x79, strings.Repeat("y", 1<<20-70)+id+"\x00"),
		"bin/tool": "#!/bin/sh\necho tool version 22.1 in $WHERE\n",
		"tools/HEXAGON_Tools/19.0.04/Tools/bin/clang": "",
	}
}

func checks() verify.Checks {
	return verify.Checks{
		Layout: []string{"sdk.yaml", "lib/hexagon-v{arch}/unsigned/libQnnHtpV{arch}.so", "tools/HEXAGON_Tools/*/Tools/bin"},
		Arches: []string{"79"},
		ELF: []verify.ELF{{Pattern: "lib/aarch64-android/*.so", Machine: 183},
			{Pattern: "lib/hexagon-v*/**/*.so", Machine: 164, Flags: "folder"}},
		Identity: true, Version: "2.41.0.251128",
		BuildID: &verify.BuildID{Want: "v2.41.0.251128", Files: []string{"include/*.h", "lib/*/*.so", "lib/*/unsigned/*.so"}},
		Run:     []verify.Run{{Path: "bin/tool", Env: map[string]string{"WHERE": "${root}"}, Match: `version 2[0-9]\.`}},
	}
}

func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTree(t *testing.T) {
	const hexagon, android = "lib/hexagon-v79/unsigned/libQnnHtpV79.so", "lib/aarch64-android/libQnnHtp.so"
	for name, c := range map[string]struct {
		change func(map[string]string, *verify.Checks)
		says   []string // file, found and wanted, in one line
	}{
		"good":             {},
		"file missing":     {func(f map[string]string, _ *verify.Checks) { delete(f, hexagon) }, []string{hexagon, "found nothing"}},
		"arch missing":     {func(_ map[string]string, c *verify.Checks) { c.Arches = append(c.Arches, "81") }, []string{"lib/hexagon-v81/unsigned/libQnnHtpV81.so", "found nothing"}},
		"wrong machine":    {func(f map[string]string, _ *verify.Checks) { f[android] = elf(2, 62, 0, id) }, []string{android, "ELF for x86-64", "ELF for AArch64"}},
		"wrong arch flags": {func(f map[string]string, _ *verify.Checks) { f[hexagon] = elf(1, 164, 0x75, id) }, []string{hexagon, "code for Hexagon v75", "Hexagon v79", "the folder of another arch"}},
		"no ELF":           {func(f map[string]string, _ *verify.Checks) { f[hexagon] = "<html>" }, []string{hexagon, "not an ELF file"}},
		"short ELF":        {func(f map[string]string, _ *verify.Checks) { f[hexagon] = "\x7fELF\x01\x01" }, []string{hexagon, "not an ELF file"}},
		"mixed build ids":  {func(f map[string]string, _ *verify.Checks) { f[hexagon] = elf(1, 164, 0x79, otherID) }, []string{hexagon, otherID, "mixed SDK"}},
		"two builds of one day": {func(f map[string]string, _ *verify.Checks) {
			f[hexagon] = elf(1, 164, 0x79, "v2.41.0.251128999999_2\x00")
		},
			[]string{hexagon, "v2.41.0.251128999999_2", id}},
		"no build id": {func(f map[string]string, _ *verify.Checks) {
			f["include/QnnSdkBuildId.h"], f[android], f[hexagon] = "", elf(2, 183, 0, ""), elf(1, 164, 0x79, "")
		}, []string{"no build id in these files"}},
		"another release": {func(f map[string]string, _ *verify.Checks) {
			f["sdk.yaml"] = strings.Replace(f["sdk.yaml"], "2.41.0", "2.42.0", 1)
		}, []string{"sdk.yaml", `"2.42.0.251128"`, `"2.41.0.251128"`, "change `version`"}},
		"another day": {func(f map[string]string, _ *verify.Checks) {
			f["sdk.yaml"] = "version: 2.41.0\nbuild_id: 251129145156\n"
		}, []string{"sdk.yaml", `"2.41.0.251129"`}},
		"no such line": {func(f map[string]string, _ *verify.Checks) { f["sdk.yaml"] = "hello" }, []string{"sdk.yaml: missing or invalid version"}},
		"tool fails": {func(f map[string]string, _ *verify.Checks) {
			f["bin/tool"] = "#!/bin/sh\necho libz3.so.4 is not there; exit 127"
		}, []string{"bin/tool", "exit status 127", "libz3.so.4"}},
		"old tool":    {func(f map[string]string, _ *verify.Checks) { f["bin/tool"] = "#!/bin/sh\necho tool version 14.0" }, []string{"bin/tool", "version 14.0"}},
		"bad pattern": {func(_ map[string]string, c *verify.Checks) { c.Layout = append(c.Layout, "[") }, []string{"pattern"}},
	} {
		t.Run(name, func(t *testing.T) {
			files, cs := original(), checks()
			if c.change != nil {
				c.change(files, &cs)
			}
			err := verify.Tree(t.Context(), tree(t, files), cs)
			if c.says == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("no problem was found")
			}
			var p *verify.Problem
			if !errors.As(err, &p) {
				t.Errorf("%v is no Problem", err)
			}
			found := false
			for _, line := range strings.Split(err.Error(), "\n") {
				all := true
				for _, s := range c.says {
					all = all && strings.Contains(line, s)
				}
				found = found || all
			}
			if !found {
				t.Errorf("%q: no line with all of %q", err, c.says)
			}
		})
	}
}

// TestCut: of a tree with some of an SDK's files, the checks of these files hold.
func TestCut(t *testing.T) {
	const hexagon, android = "lib/hexagon-v79/unsigned/libQnnHtpV79.so", "lib/aarch64-android/libQnnHtp.so"
	cut := func(prefixes ...string) verify.Checks {
		return checks().Cut(func(path string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(path, p) })
		})
	}
	for name, c := range map[string]struct {
		checks verify.Checks
		change func(map[string]string)
		says   string // "" is no problem
	}{
		"phone":           {cut("sdk.yaml", "lib/"), func(f map[string]string) { delete(f, "bin/tool") }, ""},
		"missing arch":    {cut("sdk.yaml", "lib/"), func(f map[string]string) { delete(f, hexagon) }, hexagon},
		"mixed":           {cut("lib/"), func(f map[string]string) { f[hexagon] = elf(1, 164, 0x79, otherID) }, otherID},
		"another release": {cut("sdk.yaml"), func(f map[string]string) { f["sdk.yaml"] = "version: 2.42.0\nbuild_id: 251128145156_191518\n" }, "2.42.0"},
		"no version file": {cut("bin/"), func(f map[string]string) { clear(f); f["bin/tool"] = original()["bin/tool"] }, ""},
		"old tool":        {cut("bin/"), func(f map[string]string) { f["bin/tool"] = "#!/bin/sh\necho version 14.0" }, "14.0"},
		"wrong machine":   {cut("sdk.yaml"), func(f map[string]string) { f[android] = elf(2, 62, 0, id) }, "x86-64"},
	} {
		files := original()
		c.change(files)
		err := verify.Tree(t.Context(), tree(t, files), c.checks)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
