package phone_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// listing describes everything in a folder.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		fmt.Fprintln(&b, rel, fi.Mode())
		switch {
		case fi.Mode().IsRegular():
			content, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%d %.100q\n", len(content), content)
		case fi.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			fmt.Fprintln(&b, "->", target)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestImageIsDeterministic(t *testing.T) {
	t.Parallel()
	one, two := listing(t, phonetest.Image(t, nil)), listing(t, phonetest.Image(t, nil))
	if one != two {
		t.Error("two images of the same parts differ")
	}
	for _, want := range []string{"bin Lrwxrwxrwx\n-> system/bin", "system/bin/getprop -rwxr-xr-x", "system/bin/sh Lrwxrwxrwx\n-> busybox"} {
		if !strings.Contains(one, want) {
			t.Errorf("the image lacks %q", want)
		}
	}
	soc, err := phone.ReadSoC(phonetest.Image(t, nil))
	if err != nil || soc != phonetest.SM8750() {
		t.Errorf("SoC of the image: %+v, %v", soc, err)
	}
}

func TestImagesThatCannotBe(t *testing.T) {
	t.Parallel()
	good := phone.Image{Busybox: "/bin/true", QemuAArch64: "/bin/true", QemuHexagon: "/bin/true", SoC: phonetest.SM8750()}
	for _, c := range []struct {
		name   string
		change func(*phone.Image)
		want   string
	}{
		{"no SoC", func(m *phone.Image) { m.SoC.Model = "" }, "SM8750"},
		{"no arch", func(m *phone.Image) { m.SoC.Arch = "79" }, "v79"},
		{"a SoC that would forge a property", func(m *phone.Image) { m.SoC.Model = "SM\nro.x=y" }, "line ends"},
		{"no qemu", func(m *phone.Image) { m.QemuHexagon = "" }, "no host file"},
		{"qemu is not there", func(m *phone.Image) { m.QemuAArch64 = "/nowhere/qemu" }, "/nowhere/qemu"},
		{"a folder for a file", func(m *phone.Image) { m.FastRPCShell = "/" }, "not a regular file"},
		{"busybox that is none", func(m *phone.Image) {}, "applet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := good
			c.change(&m)
			err := phone.BuildImage(t.Context(), filepath.Join(t.TempDir(), "image"), m)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
		})
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := phone.BuildImage(t.Context(), full, good); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder that is not empty: %v", err)
	}
}

func TestImageMistakes(t *testing.T) {
	if _, stderr, code := tooltest.Run(t, phone.Tool, phone.RunTool, phone.Spec{Out: "x"}); code != 1 || !strings.Contains(stderr, "are needed") {
		t.Errorf("%d, %q", code, stderr)
	}
}
