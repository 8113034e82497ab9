package toolchains_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains"
)

// simulated unpacks the simulation of a release below dir and returns its root.
func simulated(t *testing.T, dir, name, version string) string {
	t.Helper()
	release, err := sdk.Find(name, version)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := sdktest.Archive(&b, name, version); err != nil {
		t.Fatal(err)
	}
	file, root := filepath.Join(t.TempDir(), "a.zip"), filepath.Join(dir, release.Version)
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := archive.Unpack(t.Context(), root, archive.Options{StripPrefix: release.Prefix}, file); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestCopies sets the variables that people have, in the ways that they have them.
func TestCopies(t *testing.T) {
	c, _ := builtin(t)
	dir := t.TempDir()
	ndk, qairt, old := simulated(t, dir, "ndk", ""), simulated(t, dir, "qairt", ""), simulated(t, dir, "qairt", "2.31.0.250130")
	for _, root := range []string{ndk, qairt, old} {
		sdktest.AsVendors(t, root)
	}
	r26 := filepath.Join(dir, "r26c")
	if err := os.Mkdir(r26, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r26, "source.properties"), []byte("Pkg.Revision = 26.2.11394342\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(ndk, link); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		sdk  string
		v    string // "" is the default release
		env  map[string]string
		host string   // where the copy is found; "" when none is
		says []string // parts of the error
	}{
		"one variable":                {sdk: "ndk", env: map[string]string{"ANDROID_NDK_HOME": ndk}, host: ndk},
		"three that agree, by a link": {sdk: "ndk", env: map[string]string{"ANDROID_NDK_HOME": ndk, "ANDROID_NDK_ROOT": link, "ANDROID_NDK_PATH": ndk + "/"}, host: link},
		"three that disagree":         {sdk: "ndk", env: map[string]string{"ANDROID_NDK_ROOT": r26, "ANDROID_NDK_HOME": ndk, "ANDROID_NDK_PATH": "/gone"}, host: ndk},
		"another release": {sdk: "ndk", env: map[string]string{"ANDROID_NDK_LATEST_HOME": r26},
			says: []string{"ANDROID_NDK_LATEST_HOME=" + r26 + " has ndk r26c (26.2.11394342), not ndk r28b", `version = "r26c"`}},
		"by its own name":    {sdk: "ndk", v: "26.2.11394342", env: map[string]string{"ANDROID_NDK_HOME": r26}, host: r26},
		"another SDK":        {sdk: "qairt", env: map[string]string{"QNN_SDK_ROOT": ndk}, says: []string{"has ndk 28.1.13356709", "not qairt 2.41.0.251128"}},
		"an old and a new":   {sdk: "qairt", env: map[string]string{"QNN_SDK_ROOT": old, "QAIRT_SDK_ROOT": qairt}, host: qairt},
		"only an old one":    {sdk: "qairt", env: map[string]string{"QNN_SDK_ROOT": old}, says: []string{"QNN_SDK_ROOT=" + old + " has qairt 2.31.0.250130, not qairt 2.41.0.251128", `version = "2.31.0.250130"`}},
		"no SDK":             {sdk: "qairt", env: map[string]string{"QNN_SDK_ROOT": dir}, says: []string{"QNN_SDK_ROOT: ", "not a known SDK"}},
		"a relative path":    {sdk: "qairt", env: map[string]string{"QNN_SDK_ROOT": "2.41.0.251128"}, host: qairt},
		"a usual place":      {sdk: "qairt", env: map[string]string{"HOME": dir}, host: filepath.Join(dir, "qairt/2.41.0.251128")},
		"a usual place, old": {sdk: "qairt", env: map[string]string{"HOME": dir, "QAIRT_SDK_ROOT": old}, host: filepath.Join(dir, "qairt/2.41.0.251128")},
	} {
		t.Run(name, func(t *testing.T) {
			m := toolchains.Machine{Getenv: func(n string) string { return x.env[n] }, Home: x.env["HOME"], Dir: dir}
			if x.env["HOME"] != "" {
				if err := os.Mkdir(filepath.Join(dir, "qairt"), 0o755); err != nil && !os.IsExist(err) {
					t.Fatal(err)
				}
				_ = os.Symlink(qairt, x.host)
			}
			ch, err := c.Choose(toolchains.Request{Name: x.sdk, Version: x.v, Source: "installed", Profile: "device", Machine: m})
			if (err == nil) != (x.host != "") {
				t.Fatalf("%+v, %v", ch, err)
			}
			if err != nil {
				for _, p := range x.says {
					if !strings.Contains(err.Error(), p) {
						t.Errorf("%v: want %q", err, p)
					}
				}
				return
			}
			if ch.Host != x.host {
				t.Errorf("found %s, want %s", ch.Host, x.host)
			}
		})
	}
}

// TestShims: what a version manager has in PATH is a script that runs one of the programs that it has installed, or says that there is none.
func TestShims(t *testing.T) {
	c, l := builtin(t)
	dir := t.TempDir()
	shim := filepath.Join(dir, "shims", "python3.10")
	program := func(path string) string {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program(shim)
	choose := func() (*toolchains.Choice, error) {
		return c.Choose(toolchains.Request{Name: "python", Version: "3.10", Source: "installed", Lock: l, Machine: toolchains.Machine{
			Getenv: func(string) string { return "" },
			LookPath: func(n string) (string, error) {
				if n == "python3.10" {
					return shim, nil
				}
				return "", os.ErrNotExist
			}}})
	}
	takes := func(want string) {
		t.Helper()
		if ch, err := choose(); err != nil || len(ch.Spec.Programs) != 1 || ch.Spec.Programs[0].Target != want {
			t.Errorf("%+v, %v; want %s", ch, err, want)
		}
	}
	takes(shim) // a folder that happens to be called so
	program(filepath.Join(dir, "versions/3.11.7/bin/python3.11"))
	if ch, err := choose(); err == nil {
		t.Errorf("a shim with nothing behind it is %+v", ch.Spec)
	}
	takes(program(filepath.Join(dir, "versions/3.10.9/bin/python3.10")))
	takes(program(filepath.Join(dir, "versions/3.10.13/bin/python3.10")))
}
