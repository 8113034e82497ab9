package inspect_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/inspect"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestAgainstSections compares what is read by the program headers with what Go's own reader finds by the sections, in real
// libraries of a compiler, a linker and adb.
func TestAgainstSections(t *testing.T) {
	adb, _ := toolchaintest.ADB(t)
	files := []string{toolchaintest.Path(t, "busybox", "bin/busybox")}
	for _, pattern := range []string{filepath.Join(filepath.Dir(adb), "../lib/x86_64-linux-gnu/android/*.so*"),
		filepath.Join(toolchaintest.Root(t, "llvm"), "usr/lib/x86_64-linux-gnu/libz3*.so*")} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: nothing, %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		f, err := elf.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		want := inspect.ELF{Machine: f.Machine.String(), Type: f.Type.String()}
		want.Needed, _ = f.DynString(elf.DT_NEEDED)
		if so, _ := f.DynString(elf.DT_SONAME); len(so) > 0 {
			want.SOName = so[0]
		}
		symbols, _ := f.DynamicSymbols()
		for _, s := range symbols {
			switch bind := elf.ST_BIND(s.Info); {
			case s.Name == "" || bind == elf.STB_LOCAL:
			case s.Section != elf.SHN_UNDEF:
				want.Exported++
			case bind == elf.STB_GLOBAL:
				want.Undefined++
			}
		}
		f.Close()
		d, err := inspect.Describe(name)
		if err != nil {
			t.Fatal(err)
		}
		got := inspect.ELF{Machine: d.ELF.Machine, Type: d.ELF.Type, SOName: d.ELF.SOName, Exported: d.ELF.Exported, Undefined: d.ELF.Undefined}
		got.Needed = d.ELF.Needed
		if diff := cmp.Diff(want, got); diff != "" || len(d.ELF.Warnings) > 0 {
			t.Errorf("%s: %v (-want +got):\n%s", name, d.ELF.Warnings, diff)
		}
		if d.ELF.GNUID == "" && !strings.Contains(name, "busybox") {
			t.Errorf("%s: no build id of the linker", name)
		}
	}
}

// TestDamagedELF cuts and changes a real library: it is described as far as it goes, with a warning.
func TestDamagedELF(t *testing.T) {
	lib, id := libraries(t)
	whole, err := os.ReadFile(filepath.Join(lib, "aarch64-android", "libQnnHtp.so"))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	for name, c := range map[string]struct {
		edit func(b []byte) []byte
		fail bool
		warn string
	}{
		"cut in the header":      {edit: func(b []byte) []byte { return b[:40] }, fail: true},
		"class":                  {edit: func(b []byte) []byte { b[4] = 7; return b }, fail: true},
		"byte order":             {edit: func(b []byte) []byte { b[5] = 7; return b }, fail: true},
		"cut in the middle":      {edit: func(b []byte) []byte { return b[:len(b)/2] }, warn: "cut off"},
		"cut after the header":   {edit: func(b []byte) []byte { return b[:64] }, warn: "program headers"},
		"headers elsewhere":      {edit: func(b []byte) []byte { le.PutUint64(b[32:], 1<<62); return b }, warn: "program headers"},
		"headers without number": {edit: func(b []byte) []byte { le.PutUint16(b[56:], 65000); return b }, warn: "program headers"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lib.so")
			if err := os.WriteFile(path, c.edit(bytes.Clone(whole)), 0o644); err != nil {
				t.Fatal(err)
			}
			d, err := inspect.Describe(path)
			if c.fail {
				if err == nil {
					t.Errorf("no error: %+v", d.ELF)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d.ELF.Machine != "EM_AARCH64" || !strings.Contains(strings.Join(d.ELF.Warnings, "\n"), c.warn) {
				t.Errorf("%+v", d.ELF)
			}
		})
	}
	if !slices.Contains(mustDescribe(t, filepath.Join(lib, "aarch64-android", "libQnnHtp.so")).ELF.BuildIDs, id) {
		t.Error("no build id in the whole file")
	}
}

func mustDescribe(t *testing.T, path string) inspect.Description {
	t.Helper()
	d, err := inspect.Describe(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
