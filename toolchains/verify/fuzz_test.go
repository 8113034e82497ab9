package verify_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/toolchains/verify"
)

// FuzzELF reads files that say they are ELF: whatever is in their headers, the answer is a finding or none.
func FuzzELF(f *testing.F) {
	f.Add([]byte(elf(1, 164, 0x79, "")))
	f.Add([]byte(elf(2, 183, 0, "text")))
	s := elf(2, 62, 0, "")
	f.Add([]byte(s[:32] + "\xff\xff\xff\xff\xff\xff\xff\xff" + s[40:54] + "\x38\x00\xff\xff" + s[58:])) // a table at the end of all numbers
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		file := filepath.Join(dir, "a.so")
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		c := verify.Checks{ELF: []verify.ELF{{Pattern: "*.so", Machine: 183, Soname: true, NotNeeded: []string{"libc.so.6"}}}, BuildID: &verify.BuildID{Files: []string{"*.so"}}}
		if _, err := verify.Examine(t.Context(), dir, c); err != nil {
			t.Error(err)
		}
	})
}

// FuzzIdentity reads version files of SDKs that anybody may have written.
func FuzzIdentity(f *testing.F) {
	f.Add("sdk.yaml", []byte("version: 2.41.0\nbuild_id: 251128145156_191518\n"))
	f.Add("hexagon_sdk.json", []byte(`{"root":{"version":"6.4.0.2","tools":{"info":[{"name":"Hexagon Tools","version":"19.0.04","path":"tools/HEXAGON_Tools/19.0.04"}]}}}`))
	f.Add("source.properties", []byte("Pkg.Revision = 28.1.13356709\n"))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		if name != "sdk.yaml" && name != "hexagon_sdk.json" && name != "source.properties" {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := verify.Examine(t.Context(), dir, verify.Checks{Identity: true}); err != nil {
			t.Error(err)
		}
	})
}
