package example_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// sdks are the unpacked simulations, all below one folder.
type sdks struct{ root, qairt, hexagon, ndk string }

// install unpacks the simulation SDKs; qairt is the version wanted, "" for the default.
func install(t testing.TB, qairt string) sdks {
	t.Helper()
	root := t.TempDir()
	for name, version := range map[string]string{"qairt": qairt, "hexagon": "", "ndk": ""} {
		r, err := sdk.Find(name, version)
		if err != nil {
			t.Fatal(err)
		}
		var zip bytes.Buffer
		if err := sdktest.Archive(&zip, r.Name, r.Version); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(root, r.Name+".zip")
		if err := os.WriteFile(file, zip.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := archive.Unpack(t.Context(), filepath.Join(root, name), archive.Options{StripPrefix: r.Prefix}, file); err != nil {
			t.Fatal(err)
		}
	}
	return sdks{root, filepath.Join(root, "qairt"), filepath.Join(root, "hexagon"), filepath.Join(root, "ndk")}
}

var getters = regexp.MustCompile(`\bget_interface_(scale|offset)\b`)

// sources copies the package to a new folder, for newer SDKs with the getters renamed.
func sources(t testing.TB, renamed bool) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("LLaMAPackage")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !renamed || filepath.Ext(p) != ".cpp" {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(p, getters.ReplaceAll(text, []byte("interface_$1")), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// compiler returns the command line that compiles one source of the package, without the source and the output.
// target is "aarch64", an arch such as "v79", or "v79-reference", for the arch with the ops' reference branches. These are the flags that makefiles of op packages have.
func (s sdks) compiler(target string) []string {
	common := []string{
		"-std=c++17", "-I" + s.qairt + "/include/QNN", "-fPIC", "-Wall", "-Wreorder", "-Wno-missing-braces", "-Wno-unused-function",
		"-Werror", "-Wno-format", "-Wno-unused-command-line-argument", "-fvisibility=default", "-stdlib=libc++",
		`-DQNN_API=__attribute__((visibility("default")))`, `-D__QAIC_HEADER_EXPORT=__attribute__((visibility("default")))`,
		"-DTHIS_PKG_NAME=LLaMAPackage", "-MMD",
	}
	tools := s.hexagon + "/tools/HEXAGON_Tools/19.0.04/Tools"
	if target == "aarch64" {
		return slices.Concat(s.linker(target), common, []string{"-D__HVXDBL__", "-I" + tools + "/libnative/include", "-ffast-math",
			"-fno-finite-math-only", "-DUSE_OS_LINUX", "-DANDROID", "-fomit-frame-pointer", "-Wno-invalid-offsetof", "-DREFERENCE_OP", "-c"})
	}
	target, reference := strings.CutSuffix(target, "-reference")
	if reference {
		common = append(common, "-DREFERENCE_OP")
	}
	qurt := s.hexagon + "/rtos/qurt/compute" + target + "/include"
	return slices.Concat(s.linker(target), common, []string{"-mhvx=v66", "-mhvx-length=128B", "-mhmx", "-DUSE_OS_QURT", "-O2", "-Wno-reorder",
		"-DPREPARE_DISABLED", "-m" + target, "-I" + qurt + "/qurt", "-I" + qurt + "/posix", "-I" + s.hexagon + "/incs",
		"-I" + s.hexagon + "/incs/stddef", "-I" + s.hexagon + "/libs/qhl_hvx/inc/qhmath_hvx/", "-I" + s.hexagon + "/libs/qhl_hvx/inc/internal", "-c"})
}

func (s sdks) linker(target string) []string {
	if target != "aarch64" {
		return []string{s.hexagon + "/tools/HEXAGON_Tools/19.0.04/Tools/bin/hexagon-clang++"}
	}
	prebuilt := s.ndk + "/toolchains/llvm/prebuilt/linux-x86_64"
	return []string{prebuilt + "/bin/clang++", "--target=aarch64-none-linux-android21", "--sysroot=" + prebuilt + "/sysroot",
		"-stdlib=libc++", "-static-libstdc++"}
}

// run starts a wrapper in a folder with no environment but what it asks for.
func (s sdks) run(t testing.TB, dir string, argv ...string) (string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"HEXMAGE_LLVM=" + toolchaintest.Root(t, "llvm"), "HEXMAGE_ROOT=" + s.root, "PATH=/nowhere"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// objects compiles all sources of the package in dir and returns the objects' names and what failed, by source.
func (s sdks) objects(t testing.TB, dir, target string) (objects []string, failed map[string]string) {
	t.Helper()
	names, err := fs.Glob(os.DirFS(dir), "src/ops/*.cpp")
	if err != nil || len(names) != 6 {
		t.Fatalf("%v, %v", names, err)
	}
	names = append([]string{"src/LLaMAPackageInterface.cpp"}, names...)
	results := make([]string, len(names))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		object := strings.TrimSuffix(path.Base(name), ".cpp") + "-" + target + ".o"
		objects = append(objects, object)
		g.Go(func() error {
			out, err := s.run(t, dir, append(s.compiler(target), name, "-o", object)...)
			if err != nil || out != "" {
				results[i] = fmt.Sprintf("%v\n%s", err, out)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	failed = map[string]string{}
	for i, r := range results {
		if r != "" {
			failed[path.Base(names[i])] = r
		}
	}
	return objects, failed
}

// build makes the package's library for a target and returns its path.
func (s sdks) build(t testing.TB, dir, target string) string {
	t.Helper()
	objects, failed := s.objects(t, dir, target)
	for source, why := range failed {
		t.Errorf("%s: %s", source, why)
	}
	if len(failed) > 0 {
		t.FailNow()
	}
	out := filepath.Join("build", target)
	if err := os.MkdirAll(filepath.Join(dir, out), 0o755); err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(out, "libQnnLLaMAPackage.so")
	argv := slices.Concat(s.linker(target), []string{"-fPIC", "-std=c++17", "-g", "-shared", "-o", lib}, objects)
	if target == "aarch64" {
		argv = append(argv, "-L"+s.qairt+"/lib/aarch64-android", "-lQnnHtp", "-lQnnHtpPrepare")
	}
	if text, err := s.run(t, dir, argv...); err != nil || text != "" {
		t.Fatalf("link: %v\n%s", err, text)
	}
	return filepath.Join(dir, lib)
}

func TestBuild(t *testing.T) {
	for _, c := range []struct {
		qairt   string
		renamed bool
		targets []string
	}{
		{"2.41.0.251128", true, []string{"aarch64", "v73", "v75", "v79", "v81"}},
		{"2.31.0.250130", false, []string{"aarch64", "v79"}},
	} {
		s, dir := install(t, c.qairt), sources(t, c.renamed)
		release, err := sdk.Find("qairt", c.qairt)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range c.targets {
			t.Run(c.qairt+"/"+target, func(t *testing.T) { checkLibrary(t, s.build(t, dir, target), target, release.BuildID) })
		}
	}
}

func checkLibrary(t *testing.T, lib, target, buildID string) {
	f, err := elf.Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	machine, needed := elf.EM_AARCH64, []string{"libQnnHtp.so", "libQnnHtpPrepare.so"}
	imports := []string{"memcpy", "memmove", "memset"}
	if target != "aarch64" {
		machine, needed = elf.EM_QDSP6, nil
		imports = append(imports, "__hexagon_udivdi3", "__hexagon_udivsi3", "__hexagon_umodsi3")
		want := map[string]uint32{"v73": 0x73, "v75": 0x75, "v79": 0x79, "v81": 0x81}[target]
		if flags := f.ByteOrder.Uint32(data[36:]); flags != want {
			t.Errorf("e_flags %#x, want %#x", flags, want)
		}
	}
	if f.Machine != machine || f.Type != elf.ET_DYN {
		t.Errorf("%v, %v", f.Machine, f.Type)
	}
	if so, _ := f.DynString(elf.DT_SONAME); !slices.Equal(so, []string{"libQnnLLaMAPackage.so"}) {
		t.Errorf("soname %q", so)
	}
	if got, _ := f.ImportedLibraries(); !slices.Equal(got, needed) {
		t.Errorf("needs %q, want %q", got, needed)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			defined[s.Name] = true
		} else if !slices.Contains(imports, s.Name) {
			t.Errorf("imports %s, which the loader need not have", s.Name)
		}
	}
	for _, name := range []string{"LLaMAPackageInterfaceProvider", "open_op_execute", "open_op_name", "open_sdk_build_id"} {
		if !defined[name] {
			t.Errorf("does not export %s", name)
		}
	}
	if !bytes.Contains(data, []byte(buildID)) {
		t.Errorf("does not hold the SDK's build id %s", buildID)
	}
	if !bytes.Contains(data, []byte(qnn.Simulated)) {
		t.Error("does not say that it was built with a simulation's headers")
	}
}

// Against a newer SDK the sources must fail as mllm's do: where a getter is used, and only there. One op uses them in
// its vector branch alone, so a rename that was tried for the host only is not proven.
func TestOldSpellingFails(t *testing.T) {
	s, dir := install(t, ""), sources(t, false)
	for target, want := range map[string][]string{
		"aarch64": {"RMSNorm.cpp", "RoPE.cpp"},
		"v79":     {"LLaMAAdd.cpp", "LLaMADequantize.cpp", "LLaMAQuantize.cpp", "RMSNorm.cpp", "RoPE.cpp", "SiLU.cpp"},
	} {
		_, failed := s.objects(t, dir, target)
		var got []string
		for source, why := range failed {
			got = append(got, source)
			if !strings.Contains(why, "no member named 'get_interface_scale' in 'Tensor'") {
				t.Errorf("%s %s: %s", target, source, why)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %v fail, want %v", target, got, want)
		}
	}
}

// The folder a package is built in must not be in the library.
func TestBuildIsReproducible(t *testing.T) {
	for _, target := range []string{"aarch64", "v79"} {
		var libs [2][]byte
		for i := range libs {
			lib, err := os.ReadFile(install(t, "").build(t, sources(t, true), target))
			if err != nil {
				t.Fatal(err)
			}
			libs[i] = lib
		}
		if !bytes.Equal(libs[0], libs[1]) {
			t.Errorf("%s: two builds differ", target)
		}
	}
}
