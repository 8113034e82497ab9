package phone_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// listing describes all files of a folder.
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
	good := phone.Image{Busybox: "/bin/true", Qemu: "/nowhere/qemu", SoC: phonetest.SM8750()}
	for _, c := range []struct {
		name   string
		change func(*phone.Image)
		want   string
	}{
		{"no SoC", func(m *phone.Image) { m.SoC.Model = "" }, "SM8750"},
		{"no arch", func(m *phone.Image) { m.SoC.Arch = "79" }, "v79"},
		{"a SoC that would forge a property", func(m *phone.Image) { m.SoC.Model = "SM\nro.x=y" }, "line ends"},
		{"no busybox", func(m *phone.Image) { m.Busybox = "/nowhere/busybox" }, "/nowhere/busybox"},
		{"qemu is not there", func(m *phone.Image) {}, "/nowhere/qemu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := good
			c.change(&m)
			m.Out = t.TempDir()
			err := phone.RunTool(t.Context(), m, tool.Env{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
		})
	}
}
