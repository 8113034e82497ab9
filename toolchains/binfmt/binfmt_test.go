package binfmt_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/toolchains/binfmt"
)

// entry is what Debian's package of qemu has the kernel say of arm64's programs.
const entry = `enabled
interpreter /usr/libexec/qemu-binfmt/aarch64-binfmt-P
flags: POCF
offset 0
magic 7f454c460201010000000000000000000200b700
mask ffffffffffffff00fffffffffffffffffeffffff
`

func TestInterpreter(t *testing.T) {
	arm64 := binfmt.Program{Class: 2, Machine: 183}
	for name, c := range map[string]struct {
		status, text string
		of           binfmt.Program
		want         string
	}{
		"theirs":            {"enabled\n", entry, arm64, "/usr/libexec/qemu-binfmt/aarch64-binfmt-P"},
		"another machine":   {"enabled\n", entry, binfmt.Program{Class: 1, Machine: 164}, ""},
		"other bits":        {"enabled\n", entry, binfmt.Program{Class: 1, Machine: 183}, ""},
		"switched off":      {"enabled\n", "dis" + entry[2:], arm64, ""},
		"all switched off":  {"disabled\n", entry, arm64, ""},
		"opened when asked": {"enabled\n", "enabled\ninterpreter /q\nflags: \noffset 0\nmagic 7f454c460201010000000000000000000200b700\nmask ffffffffffffff00fffffffffffffffffeffffff\n", arm64, ""},
		"by its name":       {"enabled\n", "enabled\ninterpreter /q\nflags: F\nextension .arm\n", arm64, ""},
		"no magic":          {"enabled\n", "enabled\ninterpreter /q\nflags: F\nmagic zz\nmask zz\n", arm64, ""},
		"a short one":       {"enabled\n", "enabled\ninterpreter /q\nflags: F\nmagic 7f454c46\nmask ffffffff\n", arm64, ""},
		"nothing there":     {"enabled\n", "", arm64, ""},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"status": c.status, "qemu-aarch64": c.text} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.of.Interpreter(dir); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := arm64.Interpreter(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("not mounted: %q", got)
	}
}
