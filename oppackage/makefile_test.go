package oppackage_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/equiv"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// makefile writes the Makefile of TestPackage for all targets.
func makefile(t *testing.T, dir string, extras ...oppackage.Extra) {
	t.Helper()
	arches, err := sdktest.Targets(t).Default()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := oppackage.Makefile(&b, oppackage.Package{Name: "TestPackage", Files: files, Extras: extras}, arches); err != nil {
		t.Fatal(err)
	}
	sdktest.Write(t, dir, map[string]string{"Makefile": b.String()})
}

// runMake runs make in dir with no more environment than env.
func runMake(t *testing.T, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(toolchaintest.Path(t, "make", "usr/bin/make"), append([]string{"-C", dir, "--no-print-directory"}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// fakeRoots makes SDK folders that have what the Makefile looks at, and nothing that works.
func fakeRoots(t *testing.T, dir string) []string {
	t.Helper()
	sdktest.Write(t, dir, map[string]string{
		"toolchains/qairt/lib/aarch64-android/libQnnHtp.so":                              "",
		"toolchains/hexagon/tools/HEXAGON_Tools/8.8.06/Tools/libnative/include/empty.h":  "",
		"toolchains/hexagon/tools/HEXAGON_Tools/19.0.04/Tools/libnative/lib/libnative.a": "",
		"toolchains/qairt/include/QNN/QnnSdkBuildId.h":                                   "#define QNN_SDK_BUILD_ID \"v2.41.0.1\"\n",
		"toolchains/hexagon/tools/HEXAGON_Tools/8.8.06/Tools/bin/hexagon-clang++":        "",
		"toolchains/hexagon/tools/HEXAGON_Tools/19.0.04/Tools/bin/hexagon-clang++":       "",
		"toolchains/ndk/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++":               "",
		"toolchains/hexagon/tools/HEXAGON_Tools/8.7.06/Tools/bin/hexagon-clang++":        "",
		"toolchains/hexagon/tools/HEXAGON_Tools/8.4.09/Tools/bin/hexagon-clang++":        "",
		"toolchains/hexagon/tools/HEXAGON_Tools/19.0.04/Tools/libnative/include/empty.h": "",
	})
	return []string{"QAIRT_SDK_ROOT=toolchains/qairt", "HEXAGON_SDK_ROOT=toolchains/hexagon/", "ANDROID_NDK_ROOT=toolchains/ndk"}
}

// words cuts a line as the shell does.
func words(line string) []string {
	out, ok := equiv.Words(line)
	if !ok {
		panic(line) // make's own lines close their quotes
	}
	return out
}

// TestMakeMatchesLines has make and the actions issue the same commands.
func TestMakeMatchesLines(t *testing.T) {
	for _, tt := range []struct {
		name    string
		targets []string
		env     []string
		hvx     string
		tools   string
		extras  []oppackage.Extra
	}{
		{"the pipeline's", []string{"htp_aarch64", "htp_v79"}, nil, "", "19.0.04", nil},
		{"other HVX", []string{"htp_v73", "htp_v79"}, []string{"HVX=-mhvx=v66 -mhvx-qfloat"}, "-mhvx=v66 -mhvx-qfloat", "19.0.04", nil},
		{"other tools", []string{"htp_v79"}, []string{"HEXAGON_TOOLS_VERSION=8.8.06"}, "", "8.8.06", nil},
		{"all", []string{"htp_x86", "htp_aarch64", "htp_v68", "htp_v69", "htp_v73", "htp_v75", "htp_v79", "htp_v81"}, nil, "", "19.0.04", nil},
		{"extras", []string{"htp_aarch64", "htp_v75", "htp_v79"}, nil, "", "19.0.04", []oppackage.Extra{
			{Includes: []string{"third_party/inc"}, Defines: []string{`NAME="a 'b' $c #d"`, "FAST"}, LinkFlags: []string{"-Wl,--defsym,$x=1"}},
			{Targets: []string{"htp_v79"}, Flags: []string{"-O3"}, LinkFlags: []string{"-lextra"}},
			{Targets: []string{"htp_v75", "htp_v79"}, Sources: []string{"src/ops/Sc*.cpp", "src/ops/v79_asm/b.S"}, Defines: []string{"ONE=$(x)"}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range files {
				sdktest.Write(t, dir, map[string]string{f: ""})
			}
			makefile(t, dir, tt.extras...)
			out, err := runMake(t, dir, append(fakeRoots(t, dir), tt.env...), append([]string{"-n"}, tt.targets...)...)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var got, want [][]string
			for line := range strings.Lines(out) {
				if w := words(strings.TrimSpace(line)); w[0] != "mkdir" && w[0] != "printf" {
					got = append(got, w)
				}
			}
			r := roots()
			r.Tools = tt.tools
			for _, target := range tt.targets {
				compiles, link := oppackage.Lines(arch(t, target), oppackage.Package{Name: "TestPackage", HVX: tt.hvx, Files: files, Extras: tt.extras}, r)
				for _, c := range compiles {
					want = append(want, c.Args)
				}
				want = append(want, link.Args)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("lines (-actions +make):\n%s", diff)
			}
		})
	}
}

// TestMakeCompileCommands has make write the compilations that the actions run.
func TestMakeCompileCommands(t *testing.T) {
	dir := t.TempDir()
	for _, f := range files {
		sdktest.Write(t, dir, map[string]string{f: ""})
	}
	makefile(t, dir)
	if out, err := runMake(t, dir, fakeRoots(t, dir), "compile_commands.json"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "compile_commands.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct{ Directory, File, Output, Command string }
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	got := map[string][]string{}
	for _, e := range entries {
		if e.Directory != dir {
			t.Errorf("directory %s", e.Directory)
		}
		got[e.Output] = words(e.Command)
	}
	arches, err := sdktest.Targets(t).Default()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for _, a := range arches {
		compiles, _ := oppackage.Lines(a, oppackage.Package{Name: "TestPackage", Files: files}, roots())
		for _, c := range compiles {
			if i := slices.Index(c.Args, "-MMD"); strings.HasSuffix(c.Source, ".cpp") {
				want[c.Object] = slices.Concat(c.Args[:i], []string{"-c", c.Source})
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands (-actions +make):\n%s", diff)
	}
}

// TestMakeVariables has make take what people's scripts set, under mllm's names.
func TestMakeVariables(t *testing.T) {
	dir := t.TempDir()
	for _, f := range files {
		sdktest.Write(t, dir, map[string]string{f: ""})
	}
	makefile(t, dir)
	env := fakeRoots(t, dir)
	parts := append([]string{"QNN_INCLUDE=toolchains/qairt/include/QNN/", "QNN_TARGET_LIB=toolchains/qairt/lib/aarch64-android"}, env[1:]...)
	other := filepath.Join(dir, "other")
	sdktest.Write(t, other, map[string]string{"tools/HEXAGON_Tools/8.8.06/Tools/bin/hexagon-clang++": "", "tools/HEXAGON_Tools/19.1.01/Tools/bin/hexagon-clang++": ""})
	for _, tt := range []struct {
		name      string
		env, args []string
		want, not string
	}{
		{"folders of the QAIRT SDK", parts, []string{"htp_v79", "htp_aarch64"}, "-Itoolchains/qairt/include/QNN -", "-I/include"},
		{"one SDK for an arch", env, []string{"htp_v79", "HEXAGON_SDK_ROOT_V79=" + other}, other + "/tools/HEXAGON_Tools/19.1.01/Tools/bin/hexagon-clang++", "toolchains/hexagon/"},
		{"tools for an arch", append(env, "HEXAGON_SDK_ROOT_V79="+other), []string{"htp_v79", "HEXAGON_TOOLS_VERSION_V79=8.8.06"}, other + "/tools/HEXAGON_Tools/8.8.06/", "19.1.01"},
		{"the name", env, []string{"htp_v79", "PACKAGE_NAME=Other"}, "-DTHIS_PKG_NAME=Other", "TestPackage.so"},
		{"more flags", append(env, "EXTRA_FLAGS_V79=-O3"), []string{"htp_v79", "EXTRA_LDFLAGS=-lx"}, "-lx", ""},
		{"several goals", env, []string{"htp_aarch64", "htp_v75", "htp_v79"}, "-mv75", "Error"},
		{"for a phone", env, []string{"device"}, "cp build/hexagon-v79/libQnnTestPackage.so build/device/v79/libQnnTestPackage_HTP.so", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := runMake(t, dir, tt.env, append([]string{"-n"}, tt.args...)...)
			if err != nil || !strings.Contains(out, tt.want) || tt.not != "" && strings.Contains(out, tt.not) {
				t.Errorf("%v\n%s\nwant %q and not %q", err, out, tt.want, tt.not)
			}
		})
	}
	if out, err := runMake(t, dir, env, "compile_commands.json", "COMMANDS_FOR=htp_v79"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "compile_commands.json")); err != nil || strings.Contains(string(data), "REFERENCE_OP") || strings.Count(string(data), "-mv79") != 3 {
		t.Errorf("compile_commands.json for v79: %v\n%s", err, data)
	}
}

func TestMakeSays(t *testing.T) {
	dir := t.TempDir()
	env := fakeRoots(t, dir)
	sdktest.Write(t, dir, map[string]string{"src/ops/A.cpp": ""})
	makefile(t, dir)
	for _, tt := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"no QAIRT", env[1:], []string{"htp_v79"}, "QAIRT_SDK_ROOT is not set: set it to the folder of the QAIRT"},
		{"wrong QAIRT", append([]string{"QAIRT_SDK_ROOT=/nowhere"}, env[1:]...), []string{"htp_v79"}, "QAIRT_SDK_ROOT=/nowhere has no include/QNN/QnnSdkBuildId.h"},
		{"space", append([]string{"QAIRT_SDK_ROOT=/no where"}, env[1:]...), []string{"htp_v79"}, "make cannot use a folder with spaces"},
		{"no Hexagon SDK", []string{env[0], env[2]}, []string{"htp_aarch64"}, "HEXAGON_SDK_ROOT is not set"},
		{"wrong QNN_INCLUDE", append([]string{"QNN_INCLUDE=/nowhere"}, env...), []string{"htp_v79"}, "QNN_INCLUDE=/nowhere has no QnnSdkBuildId.h"},
		{"wrong QNN_TARGET_LIB", append([]string{"QNN_TARGET_LIB=/nowhere"}, env...), []string{"htp_aarch64"}, "no libQnnHtp.so in QNN_TARGET_LIB=/nowhere"},
		{"no libnative", append([]string{"HEXAGON_TOOLS_VERSION=8.7.06"}, env...), []string{"htp_x86"}, "no toolchains/hexagon/tools/HEXAGON_Tools/8.7.06/Tools/libnative/include"},
		{"no library of libnative", append([]string{"HEXAGON_TOOLS_VERSION=8.8.06"}, env...), []string{"htp_x86"}, "Tools/libnative/lib/libnative.a to link with"},
		{"no NDK", env[:2], []string{"htp_v79", "htp_aarch64"}, "ANDROID_NDK_ROOT is not set"},
		{"no NDK for all", env[:2], nil, "ANDROID_NDK_ROOT is not set"},
		{"old tools", append([]string{"HEXAGON_TOOLS_VERSION=8.7.06"}, env...), []string{"htp_v79"}, "htp_v79 needs Hexagon tools 8.8 or newer"},
		{"old tools for one", append([]string{"HEXAGON_TOOLS_VERSION_V81=8.8.06"}, env...), []string{"htp_v79", "htp_v81"}, "htp_v81 needs Hexagon tools 19.0 or newer"},
		{"no such tools", append([]string{"HEXAGON_TOOLS_VERSION=8.9.9"}, env...), []string{"htp_v79"}, "no compiler at toolchains/hexagon/tools/HEXAGON_Tools/8.9.9/Tools/bin/hexagon-clang++"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if out, err := runMake(t, dir, tt.env, append([]string{"-n"}, tt.args...)...); err == nil || !strings.Contains(out, tt.want) {
				t.Errorf("%v\n%s\nwant %q", err, out, tt.want)
			}
		})
	}
	for _, args := range [][]string{{"clean"}, {"help"}} {
		if out, err := runMake(t, dir, nil, args...); err != nil {
			t.Errorf("make %s without SDKs: %v\n%s", args, err, out)
		}
	}
	if out, err := runMake(t, dir, env[:2], "-n", "htp_v79"); err != nil {
		t.Errorf("htp_v79 without the NDK: %v\n%s", err, out)
	}
	if out, err := runMake(t, dir, append([]string{"QNN_SDK_ROOT=toolchains/qairt"}, env[1:]...), "-n", "htp_v79"); err != nil {
		t.Errorf("with QNN_SDK_ROOT: %v\n%s", err, out)
	}
	empty := t.TempDir()
	makefile(t, empty)
	if out, err := runMake(t, empty, fakeRoots(t, empty), "htp_v79"); err == nil || !strings.Contains(out, "run make in the folder of the op package") {
		t.Errorf("without sources: %v\n%s", err, out)
	}
}
