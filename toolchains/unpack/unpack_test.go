package unpack_test

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/toolchains/unpack"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// sdk makes an archive of programs.
func sdk(t *testing.T, files map[string]string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "sdk.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for path, body := range files {
		h := &zip.FileHeader{Name: path}
		h.SetMode(0o755)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(body))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// quiet are options of one who listens to nothing.
func quiet() unpack.Options {
	return unpack.Options{Progress: func(int64, int64, string) {}}
}

func TestLayout(t *testing.T) {
	archive := sdk(t, map[string]string{"sdk/1/bin/tool": "#!/bin/sh\necho \"$LD_LIBRARY_PATH $1\"\n", "sdk/1/lib/liba.so.1": "elf", "sdk/1/doc/a": "a", "other": "x"})
	l := unpack.Layout{StripPrefix: "sdk/1", Only: []string{"bin/*", "lib/**"}, Links: map[string]string{"lib/liba.so": "liba.so.1", "lib/liba.so.1": "not taken: it is there"},
		Wraps: []unpack.Wrap{{Path: "run/tool", Program: "bin/tool", Libraries: []string{"lib"}}}, Verify: verify.Checks{Layout: []string{"lib/liba.so"}}}
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"sdk/1/bin/tool": true, "sdk/1/lib/": true, "sdk/1/lib/x/y": true, "sdk/1/doc/a": false, "bin/tool": false, "sdk/1": false} {
		if l.Takes(name) != want {
			t.Errorf("%s: taken %v", name, !want)
		}
	}
	out := filepath.Join(t.TempDir(), "tree")
	o := quiet()
	sum := ""
	o.Digest = func(s string) error {
		sum = s
		return nil
	}
	if err := l.Archives(t.Context(), out, o, archive); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(out, "lib/liba.so")); err != nil || string(got) != "elf" {
		t.Errorf("%q, %v", got, err)
	}
	for _, gone := range []string{"doc", "other"} {
		if _, err := os.Lstat(filepath.Join(out, gone)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", gone, err)
		}
	}
	// The script finds the tree, also through a link to itself.
	linked := filepath.Join(t.TempDir(), "tool")
	if err := os.Symlink(filepath.Join(out, "run/tool"), linked); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{filepath.Join(out, "run/tool"), linked} {
		said, err := exec.CommandContext(t.Context(), program, "hello").CombinedOutput()
		if err != nil || !strings.HasSuffix(string(said), " hello\n") || !strings.Contains(string(said), "/run/../lib") {
			t.Errorf("%s: %q, %v", program, said, err)
		}
	}
	// The digest is that of what came of the archive, whatever is added to it.
	bare := filepath.Join(t.TempDir(), "bare")
	if err := (unpack.Layout{StripPrefix: l.StripPrefix, Only: l.Only}).Archives(t.Context(), bare, quiet(), archive); err != nil {
		t.Fatal(err)
	}
	if got, err := unpack.Digest(t.Context(), bare); err != nil || got != sum || len(sum) != 64 {
		t.Errorf("%s, %v, want %s", got, err, sum)
	}
}

// TestRefused: a tree that does not pass is not there.
func TestRefused(t *testing.T) {
	archive := sdk(t, map[string]string{"bin/tool": "#!/bin/sh\n"})
	other := errors.New("another tree")
	for name, c := range map[string]struct {
		l       unpack.Layout
		digest  func(string) error
		archive string
		want    string
	}{
		"another tree":         {digest: func(string) error { return other }, want: "another tree"},
		"a link out":           {l: unpack.Layout{Links: map[string]string{"bin/x": "../../y"}}, want: "points out"},
		"an absolute link":     {l: unpack.Layout{Links: map[string]string{"bin/x": "/etc/passwd"}}, want: "points out"},
		"a wrap of nothing":    {l: unpack.Layout{Wraps: []unpack.Wrap{{Path: "x", Program: "bin/none"}}}, want: "bin/none"},
		"a wrap with a quote":  {l: unpack.Layout{Wraps: []unpack.Wrap{{Path: "x", Program: "bin/tool", Libraries: []string{"a\"b"}}}}, want: "special in a shell"},
		"not what it must be":  {l: unpack.Layout{Verify: verify.Checks{Layout: []string{"lib/a"}}}, want: "lib/a"},
		"wants the machine":    {archive: sdk(t, map[string]string{action.HostFile: "/root\n"}), want: "reserved file"},
		"no such prefix in it": {l: unpack.Layout{StripPrefix: "sdk"}, want: "strip_prefix"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := quiet()
			o.Digest = c.digest
			if c.archive == "" {
				c.archive = archive
			}
			if err := c.l.Archives(t.Context(), filepath.Join(dir, "tree"), o, c.archive); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	for _, l := range []unpack.Layout{{Links: map[string]string{"../x": "y"}}, {Links: map[string]string{"a//b": "y"}}, {Wraps: []unpack.Wrap{{Path: "a", Program: "/bin/sh"}}},
		{Wraps: []unpack.Wrap{{Path: "a", Program: "b", Libraries: []string{".."}}}}} {
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), "outside the tree") {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
