package oppackage_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

var files = []string{
	"src/ops/Scale.cpp", "src/TestPackageInterface.cpp", "src/ops/Add.cpp", "src/ops/common.h", "include/test.h",
	"src/ops/v79_asm/b.S", "src/ops/v79_asm/a.S", "src/ops/v75_asm/a.S", "src/ops/android_asm/n.S", "src/ops/deep/Not.txt",
	"config/Test.xml", "README.md",
}

func roots() oppackage.Roots { return oppackage.ExecRoots("19.0.04") }

func arch(t *testing.T, target string) oppackage.Arch {
	t.Helper()
	arches, err := sdktest.Targets(t).Select([]string{target})
	if err != nil {
		t.Fatal(err)
	}
	return arches[0]
}

func TestArches(t *testing.T) {
	arches, err := sdktest.Targets(t).Default()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range arches {
		got[a.Target] = a.Folder + " " + a.MinTools + " " + strings.Join(a.Needs, ",")
	}
	want := map[string]string{
		"htp_x86": "x86_64-linux-clang  qairt,hexagon", "htp_aarch64": "aarch64-android  qairt,hexagon,ndk",
		"htp_v68": "hexagon-v68 8.4 qairt,hexagon", "htp_v69": "hexagon-v69 8.5 qairt,hexagon",
		"htp_v73": "hexagon-v73 8.6 qairt,hexagon", "htp_v75": "hexagon-v75 8.7 qairt,hexagon",
		"htp_v79": "hexagon-v79 8.8 qairt,hexagon", "htp_v81": "hexagon-v81 19.0 qairt,hexagon",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arches (-want +got):\n%s", diff)
	}
	if a := arch(t, "htp_v85"); a.MinTools != "21.0" {
		t.Errorf("htp_v85: %+v; it is there for who asks for it", a)
	}
	like := oppackage.Targets{{Name: "v98", CompileAs: "v81"}, {Name: "v60", HTP: new(bool)}}
	if a, err := like.Select([]string{"htp_v98"}); err != nil || a[0].Compiled != "v81" || a[0].Version != "v98" || a[0].Folder != "hexagon-v98" || !slices.Contains(a[0].Flags, "-mv81") {
		t.Errorf("an arch that is compiled as another: %+v, %v", a, err)
	}
	for _, bad := range [][]string{{}, {"htp_v60"}, {"htp_v77"}, {"htp_v79", "htp_v79"}} {
		if _, err := sdktest.Targets(t).Select(bad); err == nil {
			t.Errorf("Select(%q) succeeded", bad)
		}
	}
}

func TestCheckTools(t *testing.T) {
	for _, tt := range []struct {
		target, version string
		ok              bool
	}{
		{"htp_v79", "8.8.06", true}, {"htp_v79", "19.0.04", true}, {"htp_v79", "8.7.06", false}, {"htp_v79", "8.10.01", true},
		{"htp_v81", "8.8.06", false}, {"htp_v81", "19.0.04", true}, {"htp_v81", "19", false}, {"htp_v73", "8.6.02", true}, {"htp_aarch64", "6.0", true},
	} {
		err := arch(t, tt.target).CheckTools(tt.version)
		if (err == nil) != tt.ok {
			t.Errorf("CheckTools(%s, %s) = %v", tt.target, tt.version, err)
		}
	}
}

func TestLines(t *testing.T) {
	p := oppackage.Package{Name: "TestPackage", Dir: "steps/patch/ops.dir", Build: "steps/oppackage/t/build", HVX: "-mhvx=v66", Files: files}
	compiles, link := oppackage.Lines(arch(t, "htp_v79"), p, roots())
	var objects []string
	for _, c := range compiles {
		objects = append(objects, strings.TrimPrefix(c.Object, "steps/oppackage/t/build/hexagon-v79/"))
		for _, a := range c.Args {
			if strings.Contains(a, "$") {
				t.Errorf("%s: %q has a variable left", c.Source, a)
			}
		}
	}
	if diff := cmp.Diff([]string{"TestPackageInterface.o", "ops/Add.o", "ops/Scale.o", "ops/v79_asm/a.o", "ops/v79_asm/b.o"}, objects); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	intf, op := compiles[0], compiles[1]
	if op.Source != "steps/patch/ops.dir/src/ops/Add.cpp" || op.Depfile != "steps/oppackage/t/build/hexagon-v79/ops/Add.d" {
		t.Errorf("compile of Add: %+v", op)
	}
	for _, want := range []string{
		"-mv79", "-mhvx=v66", "-DTHIS_PKG_NAME=TestPackage", "-Isteps/patch/ops.dir/include", "-Itoolchains/qairt/include/QNN",
		"-Itoolchains/hexagon/rtos/qurt/computev79/include/qurt", "-ffile-prefix-map=steps/patch/ops.dir/=", `-DQNN_API=__attribute__((visibility("default")))`,
	} {
		if !slices.Contains(intf.Args, want) || !slices.Contains(op.Args, want) {
			t.Errorf("no %s in %q", want, op.Args)
		}
	}
	if op.Args[0] != "toolchains/hexagon/tools/HEXAGON_Tools/19.0.04/Tools/bin/hexagon-clang++" {
		t.Errorf("compiler %s", op.Args[0])
	}
	if !slices.Equal(link.Args[len(link.Args)-len(objects):], link.Objects) || link.Library != "steps/oppackage/t/build/hexagon-v79/libQnnTestPackage.so" || !slices.Contains(link.Args, "-mv79") {
		t.Errorf("link %+v", link)
	}
}

// TestOpFlags has every family compile ops, and only ops, with the includes that the HVX branch needs.
func TestOpFlags(t *testing.T) {
	const internal = "-Itoolchains/hexagon/libs/qhl_hvx/inc/internal"
	arches, err := sdktest.Targets(t).Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range arches {
		compiles, _ := oppackage.Lines(a, oppackage.Package{Name: "P", Files: files}, roots())
		for _, c := range compiles {
			op := strings.HasPrefix(c.Source, "src/ops/")
			if slices.Contains(c.Args, internal) != op {
				t.Errorf("%s: %s: %q", a.Target, c.Source, c.Args)
			}
			if slices.Contains(c.Args, "-DREFERENCE_OP") != (op && a.Family != "hexagon") {
				t.Errorf("%s: %s: -DREFERENCE_OP in %q", a.Target, c.Source, c.Args)
			}
		}
	}
}

func TestPackage(t *testing.T) {
	for _, c := range []struct {
		includes, folders, files []string
	}{
		{nil, []string{"include"}, []string{"src/ops/common.h"}},
		{[]string{"include/", "src/ops", "nowhere"}, []string{"include", "src/ops"}, nil},
		{[]string{"src", "./src/ops"}, []string{"include", "src"}, nil},
	} {
		folders, headers := oppackage.Package{Files: files, Extras: []oppackage.Extra{{Includes: c.includes}}}.Headers()
		if diff := cmp.Diff([][]string{c.folders, c.files}, [][]string{folders, headers}); diff != "" {
			t.Errorf("headers with %q (-want +got):\n%s", c.includes, diff)
		}
	}
	if folders, headers := (oppackage.Package{Files: files, Extras: []oppackage.Extra{{Includes: []string{"."}}}}).Headers(); len(folders) != 1 || len(headers) != len(files)-1 {
		t.Errorf("headers with \".\": %q and %q", folders, headers)
	}
	for _, p := range []oppackage.Package{{Name: "a-b", Files: files}, {Name: "", Files: files}, {Name: "P", Files: []string{"LLaMAPackage/src/a.cpp"}}} {
		if err := p.Validate(); err == nil {
			t.Errorf("%+v is valid", p)
		}
	}
	if err := (oppackage.Package{Name: "P", Files: files}).Validate(); err != nil {
		t.Error(err)
	}
	if err := oppackage.Makefile(&strings.Builder{}, oppackage.Package{Name: "P", HVX: "-mhvx; rm -rf /"}, []oppackage.Arch{arch(t, "htp_v79")}); err == nil {
		t.Error("a Makefile runs what hvx says")
	}
}

func TestExtras(t *testing.T) {
	for want, e := range map[string]oppackage.Extra{
		"no source matches":              {Sources: []string{"src/ops/Gone.cpp"}},
		"invalid path pattern":           {Sources: []string{"src/ops/[.cpp"}},
		"invalid format":                 {Defines: []string{"-DX"}},
		"outside the package":            {Includes: []string{"../other"}},
		"outside the package: ":          {Includes: []string{"/usr/include"}},
		"empty or contains a line break": {Flags: []string{"-O3\nrm"}},
	} {
		p := oppackage.Package{Name: "P", Files: files, Extras: []oppackage.Extra{e}}
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", e, err, want)
		}
	}
	p := oppackage.Package{Name: "P", Dir: "in/source/p", Files: files, Extras: []oppackage.Extra{
		{Includes: []string{"steps/git/x.dir/inc", "own"}, Rooted: []string{"steps/git/x.dir"}},
		{Sources: []string{"src/ops/Add.cpp"}, Flags: []string{"-O1"}},
	}}
	compiles, _ := oppackage.Lines(arch(t, "htp_v79"), p, roots())
	for _, c := range compiles {
		if !slices.Contains(c.Args, "-Isteps/git/x.dir/inc") || !slices.Contains(c.Args, "-Iin/source/p/own") || slices.Contains(c.Args, "-O1") != strings.HasSuffix(c.Source, "Add.cpp") {
			t.Errorf("%s: %q", c.Source, c.Args)
		}
	}
	if err := oppackage.Makefile(&strings.Builder{}, p, []oppackage.Arch{arch(t, "htp_v79")}); err == nil || !strings.Contains(err.Error(), "which a Makefile cannot build") {
		t.Errorf("a Makefile with another step's folder: %v", err)
	}
}

func TestCompileCommands(t *testing.T) {
	compiles, _ := oppackage.Lines(arch(t, "htp_aarch64"), oppackage.Package{Name: "P", Files: files}, roots())
	data, err := oppackage.CompileCommands("/w", compiles)
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Directory, File, Output string
		Arguments               []string
	}
	if err := json.Unmarshal(data, &got); err != nil || len(got) != 4 {
		t.Fatalf("%d entries, %v", len(got), err)
	}
	if got[0].Directory != "/w" || got[0].File != "src/TestPackageInterface.cpp" || got[0].Output != "build/aarch64-android/TestPackageInterface.o" || !slices.Equal(got[0].Arguments, compiles[0].Args) {
		t.Errorf("first entry %+v", got[0])
	}
}
