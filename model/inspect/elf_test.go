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

// TestAgainstSections compares descriptions with what debug/elf finds in real libraries of a compiler, a linker and adb.
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

// TestDamagedELF cuts and changes a real library.
func TestDamagedELF(t *testing.T) {
	lib, id := libraries(t)
	whole, err := os.ReadFile(filepath.Join(lib, "aarch64-android", "libQnnHtp.so"))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	for name, c := range map[string]struct {
		edit func(b []byte) []byte
		want string
	}{
		"cut in the header":      {func(b []byte) []byte { return b[:40] }, "not an ELF file"},
		"class":                  {func(b []byte) []byte { b[4] = 7; return b }, "not an ELF file"},
		"byte order":             {func(b []byte) []byte { b[5] = 7; return b }, "not an ELF file"},
		"cut in the middle":      {func(b []byte) []byte { return b[:len(b)/2] }, "truncated"},
		"cut after the header":   {func(b []byte) []byte { return b[:64] }, "truncated"},
		"headers elsewhere":      {func(b []byte) []byte { le.PutUint64(b[32:], 1<<62); return b }, "not an ELF file"},
		"headers without number": {func(b []byte) []byte { le.PutUint16(b[56:], 65000); return b }, "not an ELF file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lib.so")
			if err := os.WriteFile(path, c.edit(bytes.Clone(whole)), 0o644); err != nil {
				t.Fatal(err)
			}
			if d, err := inspect.Describe(path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v", d.ELF, err)
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
