package inspect_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/fetch/fetchtest"
	"github.com/hexmage/hexmage/model/inspect"
)

const npmPackage, npmVersion = "@fugood/node-llama-linux-arm64-snapdragon", "1.7.15"

// npmLibraries returns a folder with what the package holds: libraries for the Hexagon that its vendor's compiler made. npm gets
// it, once for a user.
func npmLibraries(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("NOT TESTED: whether inspect is right on real Hexagon libraries. They come from npm, which this machine does not have; install Node.js to run this test.")
	}
	return fetchtest.Folder(t, "npm-node-llama-snapdragon-"+npmVersion, func(root string) error {
		tmp := t.TempDir()
		cmd := exec.CommandContext(t.Context(), npm, "pack", "--pack-destination", tmp, npmPackage+"@"+npmVersion)
		cmd.Dir = tmp
		if msg, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("npm pack: %w\n%s", err, msg)
		}
		packed, err := filepath.Glob(filepath.Join(tmp, "*.tgz"))
		if err != nil || len(packed) != 1 {
			return fmt.Errorf("npm pack made %v, %w", packed, err)
		}
		err = archive.Unpack(t.Context(), root, archive.Options{StripPrefix: "package"}, packed[0])
		return err
	})
}

// TestRealHexagonLibraries describes libraries for four Hexagon arches as the package's makers built them. What is expected was
// read with readelf.
func TestRealHexagonLibraries(t *testing.T) {
	dir := npmLibraries(t)
	compilers := []string{"QuIC LLVM Hexagon Clang version 19.0.04",
		"QuIC LLVM Hexagon Clang version Linker 19.0 (8a9b22540b266cb11eeb5d6949c19a64ef63bb20) LTO Enabled",
		"QuIC LLVM Hexagon Clang version LLVM 19.0.0 (02e8a0ebbec012d23d0e4363472bfda81b44012f)"}
	for arch, undefined := range map[string]int{"v73": 53, "v75": 53, "v79": 52, "v81": 53} {
		name := "libggml-htp-" + arch + ".so"
		flags := map[string]uint32{"v73": 0x73, "v75": 0x75, "v79": 0x79, "v81": 0x81}[arch]
		want := &inspect.ELF{Class: "ELFCLASS32", Machine: "EM_HEXAGON", Type: "ET_DYN", Flags: flags, Arch: arch, SOName: name,
			Needed: []string{"libc.so", "libgcc.so"}, Exported: 67, Undefined: undefined, PageAlign: 4096, Compilers: compilers}
		d := mustDescribe(t, filepath.Join(dir, name))
		if diff := cmp.Diff(want, d.ELF, cmpopts.EquateEmpty()); diff != "" || d.Format != "elf" {
			t.Errorf("%s: %s (-want +got):\n%s", name, d.Format, diff)
		}
	}
	d := mustDescribe(t, filepath.Join(dir, "index.node")) // what loads them, on the phone's other processor
	if e := d.ELF; e == nil || e.Machine != "EM_AARCH64" || e.Arch != "" || len(e.Needed) == 0 {
		t.Errorf("%+v", d)
	}
}
