package oppackage_test

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"io"
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
	"github.com/hexmage/hexmage/toolchains/open"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// sdks unpacks the stand-ins under dir/toolchains as an exec root has them, and returns the environment for make.
func sdks(t *testing.T, dir string) []string {
	t.Helper()
	llvm := toolchaintest.Root(t, "llvm")
	env := []string{"HEXMAGE_LLVM=" + llvm}
	for name, variable := range map[string]string{"qairt": "QAIRT_SDK_ROOT", "hexagon": "HEXAGON_SDK_ROOT", "ndk": "ANDROID_NDK_ROOT"} {
		release, err := open.Find(name, "")
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := open.Archive(&b, name, release.Version); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		root := filepath.Join(dir, "toolchains", name)
		for _, f := range z.File {
			rel := strings.TrimPrefix(f.Name, release.Prefix+"/")
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(root, rel)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if f.Mode()&fs.ModeSymlink != 0 {
				err = os.Symlink(string(data), path)
			} else {
				err = os.WriteFile(path, data, f.Mode().Perm())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		env = append(env, variable+"="+root)
	}
	return env
}

// testPackage has an op that says where it was compiled: a path that leaks would show in the object.
func testPackage() map[string]string {
	return map[string]string{
		"include/scale.h":        "#pragma once\n#define FACTOR 3\n",
		"src/ops/Scale.cpp":      "#include \"HTP/core/tensor.h\"\n#include \"scale.h\"\nfloat scale(const Tensor &t) { return FACTOR * t.interface_scale(); }\nextern const char *const where = __FILE__;\n",
		"src/ops/Hvx.cpp":        "#ifndef REFERENCE_OP\n#include \"hvx_internal.h\"\n#endif\nint hvx(int a) { return a; }\n",
		"src/TestPackageIf.cpp":  "#include \"QnnSdkBuildId.h\"\nextern \"C\" QNN_API const char *testId() { return QNN_SDK_BUILD_ID; }\n",
		"src/ops/v79_asm/asm.S":  "\t.globl only_v79\nonly_v79:\n\tjumpr r31\n",
		"src/ops/v75_asm/asm.S":  "\tthis is no assembly\n",
		"src/ops/v79_asm/x.cpp":  "this is no source",
		"config/TestPackage.xml": "<x/>",
	}
}

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
	env := sdks(t, base)
	dir := filepath.Join(base, "pkg")
	write(t, dir, testPackage())
	makefile(t, dir)
	goals := []string{"htp_aarch64", "htp_v79", "-j2"}
	build := func(args ...string) []string {
		t.Helper()
		before := map[string]time.Time{}
		if _, err := os.Stat(filepath.Join(dir, "build")); err == nil {
			before = mtimes(t, dir)
		}
		if out, err := runMake(dir, env, append(args, goals...)...); err != nil {
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
		write(t, dir, map[string]string{name: text})
	}
	check := func(what string, got, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("nothing to do", build(), nil)
	edit("src/ops/Scale.cpp", testPackage()["src/ops/Scale.cpp"]+"// edited\n")
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

	if out, err := runMake(dir, nil, "clean"); err != nil {
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
	env := sdks(t, base)
	dir := filepath.Join(base, "a folder of mine/pkg")
	write(t, dir, testPackage())
	makefile(t, dir)
	targets := []string{"htp_aarch64", "htp_v79"}
	if out, err := runMake(dir, env, targets...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write(t, filepath.Join(base, "steps/patch/ops/dir"), testPackage())
	p := oppackage.Package{Name: "TestPackage", Dir: "steps/patch/ops/dir", Build: "steps/oppackage/t/build", Files: slices.Collect(maps.Keys(testPackage()))}
	release, err := os.ReadDir(filepath.Join(base, "toolchains/hexagon/tools/HEXAGON_Tools"))
	if err != nil || len(release) == 0 {
		t.Fatalf("no Hexagon tools: %v", err)
	}
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
	for _, target := range targets {
		compiles, link := oppackage.Lines(arch(t, target), p, oppackage.ExecRoots(release[len(release)-1].Name()))
		for _, c := range compiles {
			run(c.Args, c.Object)
		}
		run(link.Args, link.Library)
	}
}
