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
	"github.com/hexmage/hexmage/oppackage/oppackagetest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// makefile writes the Makefile of TestPackage for all targets.
func makefile(t *testing.T, dir string) {
	t.Helper()
	arches, err := oppackage.Arches()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := oppackage.Makefile(&b, "TestPackage", "", arches); err != nil {
		t.Fatal(err)
	}
	oppackagetest.Write(t, dir, map[string]string{"Makefile": b.String()})
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
	oppackagetest.Write(t, dir, map[string]string{
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

// words cuts a line as the shell does, as far as the Makefile's quoting goes.
func words(line string) []string {
	var out []string
	var word strings.Builder
	quoted, any := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			if any {
				out = append(out, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(r)
			any = true
		}
	}
	if any {
		out = append(out, word.String())
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
	}{
		{"the pipeline's", []string{"htp_aarch64", "htp_v79"}, nil, "", "19.0.04"},
		{"other HVX", []string{"htp_v73", "htp_v79"}, []string{"HVX=-mhvx=v66 -mhvx-qfloat"}, "-mhvx=v66 -mhvx-qfloat", "19.0.04"},
		{"other tools", []string{"htp_v79"}, []string{"HEXAGON_TOOLS_VERSION=8.8.06"}, "", "8.8.06"},
		{"all", []string{"htp_x86", "htp_aarch64", "htp_v68", "htp_v69", "htp_v73", "htp_v75", "htp_v79", "htp_v81"}, nil, "", "19.0.04"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range files {
				oppackagetest.Write(t, dir, map[string]string{f: ""})
			}
			makefile(t, dir)
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
				compiles, link := oppackage.Lines(arch(t, target), oppackage.Package{Name: "TestPackage", HVX: tt.hvx, Files: files}, r)
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
		oppackagetest.Write(t, dir, map[string]string{f: ""})
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
	arches, err := oppackage.Arches()
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

func TestMakeSays(t *testing.T) {
	dir := t.TempDir()
	env := fakeRoots(t, dir)
	oppackagetest.Write(t, dir, map[string]string{"src/ops/A.cpp": ""})
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
