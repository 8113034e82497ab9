package sdk_test

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

func packed(t testing.TB, name, version string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := sdktest.Archive(&b, name, version); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpack unpacks an archive below dir, as a pipeline does, and returns the SDK's root.
func unpack(t testing.TB, dir, name, version string) string {
	t.Helper()
	release, err := sdk.Find(name, version)
	if err != nil {
		t.Fatal(err)
	}
	file, root := filepath.Join(dir, release.Name+".zip"), filepath.Join(dir, "sdk")
	if err := os.WriteFile(file, packed(t, name, version), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := archive.Unpack(t.Context(), root, archive.Options{StripPrefix: release.Prefix}, file); err != nil {
		t.Fatal(err)
	}
	return root
}

func files(t testing.TB, data []byte) []*zip.File {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return r.File
}

func content(t testing.TB, f *zip.File) []byte {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r) // checks the CRC
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return data
}

func TestArchive(t *testing.T) {
	for _, r := range sdk.Releases() {
		t.Run(r.Name+" "+r.Version, func(t *testing.T) {
			a := packed(t, r.Name, r.Version)
			if !bytes.Equal(a, packed(t, r.Name, r.Version)) {
				t.Error("two archives of one release differ")
			}
			fs := files(t, a)
			if !slices.IsSortedFunc(fs, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) }) {
				t.Error("entries are not sorted")
			}
			for _, f := range fs {
				text := content(t, f)
				if !strings.HasPrefix(f.Name, r.Prefix+"/") {
					t.Errorf("%s is not below %s", f.Name, r.Prefix)
				}
				if f.Method != zip.Store || f.Modified.Year() > 1980 {
					t.Errorf("%s: method %d, time %v", f.Name, f.Method, f.Modified)
				}
				if m := regexp.MustCompile(`@[A-Z_]+@`).Find(text); m != nil {
					t.Errorf("%s: %s is not filled in", f.Name, m)
				}
				if script := bytes.HasPrefix(text, []byte("#!")); script != (f.Mode()&0o111 != 0) && f.Mode().IsRegular() {
					t.Errorf("%s: mode %v", f.Name, f.Mode())
				}
			}
		})
	}
}

func TestUnzip(t *testing.T) {
	// Another implementation of the format must accept the archive.
	data := packed(t, "qairt", "")
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		rc, err := f.Open()
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if _, err := io.Copy(io.Discard, rc); err != nil { // fails at the end if the CRC is wrong
			t.Errorf("%s: %v", f.Name, err)
		}
		rc.Close()
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("python3 is not here: only archive/zip has read the archive")
		return
	}
	file := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "-m", "zipfile", "-t", file).CombinedOutput(); err != nil || !bytes.Contains(out, []byte("Done testing")) || bytes.Contains(out, []byte("bad")) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestUnknown(t *testing.T) {
	for _, c := range [][2]string{{"qairt", "2.40.0.251030"}, {"snpe", ""}} {
		if err := sdktest.Archive(io.Discard, c[0], c[1]); !errors.Is(err, sdk.ErrUnknown) || !strings.Contains(err.Error(), "2.41.0.251128") {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestLayout(t *testing.T) {
	need := map[string][]string{
		"qairt": {
			"sdk.yaml", "bin/envsetup.sh", "include/QNN/QnnOpPackage.h", "include/QNN/QnnTypes.h", "include/QNN/QnnSdkBuildId.h",
			"include/QNN/HTP/QnnHtpCommon.h", "include/QNN/HTP/core/constraints.h", "include/QNN/HTP/core/op_package_feature_support.h",
			"include/QNN/HTP/core/op_register_ext.h", "include/QNN/HTP/core/optimize.h", "include/QNN/HTP/core/simple_reg.h",
			"include/QNN/HTP/core/tensor.h", "include/QNN/HTP/core/unique_types.h", "include/QNN/HTP/core/intrinsics.h",
			"include/QNN/HTP/core/simulated_abi.h",
			"lib/aarch64-android/libQnnHtp.so", "lib/aarch64-android/libQnnHtpPrepare.so", "lib/aarch64-android/libQnnHtpV79Stub.so",
			"lib/aarch64-android/libQnnSystem.so", "lib/hexagon-v73/unsigned/libQnnHtpV73Skel.so",
			"lib/hexagon-v75/unsigned/libQnnHtpV75Skel.so", "lib/hexagon-v79/unsigned/libQnnHtpV79Skel.so",
			"lib/x86_64-linux-clang/libQnnHtp.so",
		},
		"hexagon": {
			"setup_sdk_env.source", "hexagon_sdk.json", "tools/HEXAGON_Tools/19.0.04/Tools/bin/hexagon-clang",
			"tools/HEXAGON_Tools/19.0.04/Tools/bin/hexagon-clang++", "tools/HEXAGON_Tools/19.0.04/Tools/libnative/include/hexagon_types.h",
			"tools/HEXAGON_Tools/19.0.04/Tools/libnative/lib/libnative.a", "rtos/qurt/computev79/include/qurt/qurt.h",
			"rtos/qurt/computev81/include/posix/pthread.h", "incs/AEEStdDef.h", "incs/stddef/AEEStdErr.h",
			"libs/qhl_hvx/inc/qhmath_hvx/qhmath_hvx.h", "libs/qhl_hvx/inc/internal/hvx_internal.h",
		},
		"ndk": {
			"source.properties", "build/cmake/android.toolchain.cmake", "toolchains/llvm/prebuilt/linux-x86_64/bin/clang",
			"toolchains/llvm/prebuilt/linux-x86_64/bin/clang++", "toolchains/llvm/prebuilt/linux-x86_64/bin/aarch64-linux-android28-clang++",
			"toolchains/llvm/prebuilt/linux-x86_64/sysroot/usr/include/c++/v1/array",
		},
		"mllm": {"bin/mllm-qwen3-aot-sha-c", "bin/mllm-qwen2-aot-c-sha", "bin/mllm-llama-aot-c-sha", "src/runner/main.cc"},
	}
	for _, r := range sdk.Releases() {
		root := unpack(t, t.TempDir(), r.Name, r.Version)
		if len(need[r.Name]) == 0 {
			t.Errorf("%s: the test knows no paths", r.Name)
		}
		for _, p := range need[r.Name] {
			if r.Version == "6.3.0.0" { // older tools, and no v81 yet
				p = strings.NewReplacer("19.0.04", "8.8.06", "computev81", "computev79").Replace(p)
			}
			info, err := os.Stat(filepath.Join(root, p)) // follows links
			if err != nil {
				t.Errorf("%s: %v", r.Name+" "+r.Version, err)
			} else if strings.Contains(p, "bin/") && info.Mode()&0o111 == 0 && p != "bin/envsetup.sh" {
				t.Errorf("%s: %s cannot be run", r.Name+" "+r.Version, p)
			}
		}
		if _, err := os.Stat(filepath.Join(root, "lib/hexagon-v81")); (err == nil) != (r.Version == "2.41.0.251128" || r.Version == "2.42.0.251225") {
			t.Errorf("%s: libraries for v81, which are first in 2.39: %v", r.Name+" "+r.Version, err)
		}
	}
}

func TestSpelling(t *testing.T) {
	for version, want := range map[string][]string{"2.41.0.251128": {"interface_scale"}, "2.31.0.250130": {"get_interface_scale", "interface_scale"}} {
		header, err := os.ReadFile(filepath.Join(unpack(t, t.TempDir(), "qairt", version), "include/QNN/HTP/core/tensor.h"))
		if err != nil {
			t.Fatal(err)
		}
		got := regexp.MustCompile(`\w*interface_scale`).FindAllString(string(header), -1)
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%s declares %v, want %v: as Qualcomm's headers do", version, got, want)
		}
	}
}

func TestLibraries(t *testing.T) {
	readelf, err := exec.LookPath("readelf")
	if err != nil {
		t.Log("readelf is not here: only debug/elf was asked what the files are")
	}
	release, _ := sdk.Find("qairt", "")
	root := unpack(t, t.TempDir(), "qairt", "")
	var n int
	err = filepath.WalkDir(filepath.Join(root, "lib"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		f, err := elf.Open(p)
		if err != nil {
			t.Errorf("%s: %v", p, err)
			return nil
		}
		defer f.Close()
		dir, _ := filepath.Rel(filepath.Join(root, "lib"), filepath.Dir(p))
		machine, flags := elf.EM_AARCH64, uint32(0)
		switch {
		case strings.HasPrefix(dir, "hexagon-v"):
			machine, flags = elf.EM_QDSP6, map[string]uint32{"68": 0x68, "69": 0x69, "73": 0x73, "75": 0x75, "79": 0x79, "81": 0x81}[dir[9:11]]
		case dir == "x86_64-linux-clang":
			machine = elf.EM_X86_64
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		at := 48 // e_flags
		if f.Class == elf.ELFCLASS32 {
			at = 36
		}
		if got := f.ByteOrder.Uint32(raw[at:]); f.Machine != machine || got != flags || f.Type != elf.ET_DYN {
			t.Errorf("%s: %v, %v, flags %#x", p, f.Type, f.Machine, got)
		}
		if so, err := f.DynString(elf.DT_SONAME); err != nil || len(so) != 1 || so[0] != d.Name() {
			t.Errorf("%s: soname %q, %v", p, so, err)
		}
		symbols, err := f.DynamicSymbols()
		if err != nil {
			t.Errorf("%s: %v", p, err)
		}
		if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "hexmage_open_stand_in" }) {
			t.Errorf("%s does not say in its symbols that it is a simulation", p)
		}
		if !bytes.Contains(raw, []byte(release.BuildID)) || !bytes.Contains(raw, []byte("hexmage simulated")) {
			t.Errorf("%s: no build id or no word of the simulation", p)
		}
		if readelf == "" {
			return nil
		}
		cmd := exec.Command(readelf, "-aW", p)
		var diag bytes.Buffer
		cmd.Stderr = &diag
		out, err := cmd.Output()
		if err != nil || diag.Len() > 0 || regexp.MustCompile(`(?i)warning|corrupt|error`).Match(out) {
			t.Errorf("readelf %s: %v\n%s", p, err, diag.Bytes())
		}
		return nil
	})
	if err != nil || n < 30 {
		t.Errorf("%d libraries, %v", n, err)
	}
}
