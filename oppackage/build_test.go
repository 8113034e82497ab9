package oppackage_test

import (
	"bytes"
	"debug/elf"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

func mtimes(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	times := map[string]time.Time{}
	err := filepath.WalkDir(filepath.Join(dir, "build"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".o") || strings.HasSuffix(path, ".so")) {
			var info fs.FileInfo
			info, err = d.Info()
			if err == nil {
				times[strings.TrimPrefix(path, dir+"/build/")] = info.ModTime()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return times
}

func TestMakeBuilds(t *testing.T) {
	base := t.TempDir()
	env, _ := sdktest.SDKs(t, filepath.Join(base, "toolchains"))
	dir := filepath.Join(base, "pkg")
	sdktest.Write(t, dir, sdktest.Package())
	makefile(t, dir)
	goals := []string{"htp_aarch64", "htp_v79", "-j2"}
	build := func(args ...string) []string {
		t.Helper()
		before := map[string]time.Time{}
		if _, err := os.Stat(filepath.Join(dir, "build")); err == nil {
			before = mtimes(t, dir)
		}
		if out, err := runMake(t, dir, env, append(args, goals...)...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var made []string
		for name, when := range mtimes(t, dir) {
			if !before[name].Equal(when) {
				made = append(made, name)
			}
		}
		slices.Sort(made)
		return made
	}
	all := build()
	if len(all) != 9 {
		t.Errorf("first build made %q", all)
	}
	for name, machine := range map[string]elf.Machine{"aarch64-android": elf.EM_AARCH64, "hexagon-v79": 164} {
		f, err := elf.Open(filepath.Join(dir, "build", name, "libQnnTestPackage.so"))
		if err != nil {
			t.Fatal(err)
		}
		if f.Machine != machine || f.Type != elf.ET_DYN {
			t.Errorf("%s: machine %v, type %v", name, f.Machine, f.Type)
		}
		f.Close()
	}
	const a, v = "aarch64-android/", "hexagon-v79/"
	libs := []string{a + "libQnnTestPackage.so", v + "libQnnTestPackage.so"}
	one := append([]string{a + "ops/Scale.o", v + "ops/Scale.o"}, libs...)
	slices.Sort(one)
	edit := func(name, text string) {
		t.Helper()
		sdktest.Write(t, dir, map[string]string{name: text})
	}
	check := func(what string, got, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("nothing to do", build(), nil)
	edit("src/ops/Scale.cpp", sdktest.Package()["src/ops/Scale.cpp"]+"// edited\n")
	check("an edited op", build(), one)
	edit("include/scale.h", "#pragma once\n#define FACTOR 4\n")
	check("an edited header", build(), one)
	check("other flags", build("HVX=-mhvx=v66"), filter(all, v))
	check("the flags before", build(), filter(all, v))

	// The SDK is replaced in place by files older than every object.
	id := filepath.Join(base, "toolchains/qairt/include/QNN/QnnSdkBuildId.h")
	text, err := os.ReadFile(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(id, bytes.Replace(text, []byte("2.4"), []byte("2.9"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(id, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	check("another SDK", build(), all)

	if err := os.Remove(filepath.Join(dir, "src/ops/Hvx.cpp")); err != nil {
		t.Fatal(err)
	}
	check("a source less", build(), libs)

	if out, err := runMake(t, dir, nil, "clean"); err != nil {
		t.Fatalf("clean: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "build")); err == nil {
		t.Error("clean left the build folder")
	}
}

func filter(names []string, prefix string) []string {
	var out []string
	for _, n := range names {
		if strings.HasPrefix(n, prefix) {
			out = append(out, n)
		}
	}
	return out
}

// TestSameObjects has make and the actions' lines make the same bytes in different places.
func TestSameObjects(t *testing.T) {
	base := t.TempDir()
	env, _ := sdktest.SDKs(t, filepath.Join(base, "toolchains"))
	dir := filepath.Join(base, "a folder of mine/pkg")
	sdktest.Write(t, dir, sdktest.Package())
	makefile(t, dir)
	targets := []string{"htp_aarch64", "htp_v79", "htp_x86"}
	host := "toolchains/hexagon/tools/HEXAGON_Tools/" + sdktest.ToolsVersion + "/Tools/libnative/bin/clang++"
	if out, err := runMake(t, dir, append(env, "X86_CXX="+filepath.Join(base, host)), targets...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sdktest.Write(t, filepath.Join(base, "steps/patch/ops.dir"), sdktest.Package())
	p := oppackage.Package{Name: "TestPackage", Dir: "steps/patch/ops.dir", Build: "steps/oppackage/t/build", Files: slices.Collect(maps.Keys(sdktest.Package()))}
	run := func(args []string, out string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(base, out)), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = base
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HEXMAGE_ROOT=" + base}, env...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, text)
		}
		made, err := os.ReadFile(filepath.Join(base, out))
		if err != nil {
			t.Fatal(err)
		}
		other, err := os.ReadFile(filepath.Join(dir, "build", strings.TrimPrefix(out, "steps/oppackage/t/build/")))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, other) {
			t.Errorf("%s: make and the action make different bytes", out)
		}
		if bytes.Contains(made, []byte(base)) {
			t.Errorf("%s says where it was made", out)
		}
	}
	roots := oppackage.ExecRoots(sdktest.ToolsVersion)
	roots.HostCXX = host
	for _, target := range targets {
		compiles, link := oppackage.Lines(arch(t, target), p, roots)
		for _, c := range compiles {
			run(c.Args, c.Object)
		}
		run(link.Args, link.Library)
	}
}
