//go:build linux

package mllm_test

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// deviceScripts are the scripts that profile device of a pipeline plans, of each step with one action, by the step's
// address without ".step".
func deviceScripts(t *testing.T, w *World, pipeline string) map[string]string {
	t.Helper()
	o := w.Run(t, "plan", "--json", "--profile", "device", pipeline)
	Wants(t, o, ExitUsage) // there are neither SDKs nor a phone
	var plan struct {
		Steps []struct {
			Address string
			Actions []struct{ Argv []string }
		}
	}
	if err := json.Unmarshal([]byte(o.Stdout), &plan); err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	for _, s := range plan.Steps {
		if len(s.Actions) == 1 {
			scripts[strings.Replace(s.Address, ".step.", ".", 1)] = s.Actions[0].Argv[len(s.Actions[0].Argv)-1]
		}
	}
	return scripts
}

// treeOf is where a toolchain of the simulation's is.
func treeOf(t *testing.T, w *World, toolchain string) string {
	t.Helper()
	o := w.Run(t, "toolchain", "fetch", toolchain)
	Wants(t, o, ExitOK)
	return regexp.MustCompile(`(?m)/\S*$`).FindString(strings.TrimSpace(o.Stdout))
}

// offline runs a script of a step in an exec root. In the sandbox there is no network; here nobody answers at the
// addresses of proxies.
func offline(t *testing.T, root, script string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-eu", "-c", script, "sh"}, args...)...)
	cmd.Dir, cmd.Env = root,
		[]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HEXMAGE_ROOT=" + root, "HOME=" + root,
			"https_proxy=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestMllmBuilds runs both build steps of profile device as the plan has them, on mllm's own sources:
// configured without network, and for x86 compiled until the first header of Qualcomm's, of which hexmage says
// whose it is. No header of Qualcomm's is replaced.
func TestMllmBuilds(t *testing.T) {
	clone, deps := os.Getenv("HEXMAGE_TEST_MLLM"), os.Getenv("HEXMAGE_TEST_MLLM_DEPS")
	if clone == "" || deps == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm, or HEXMAGE_TEST_MLLM_DEPS no folder with stdexec and " +
			"highway")
	}
	for _, in := range []string{clone + "/third_party/fmt/CMakeLists.txt",
		clone + "/mllm/ffi/vendors/tvm-ffi/CMakeLists.txt",
		clone + "/mllm/backends/cpu/vendors/kleidiai/CMakeLists.txt", deps + "/stdexec/include",
		deps + "/highway/CMakeLists.txt"} {
		if _, err := os.Stat(in); err != nil {
			t.Skipf("the clone lacks its submodules, or the folder a library: %v", err)
		}
	}
	for _, program := range []string{"cmake", "ninja", "g++", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s here", program)
		}
	}
	w := NewWorld(t).WithDownloads(t)
	scripts := deviceScripts(t, w, Pipeline)
	for step, links := range map[string]map[string]string{
		AOT + "exec.aot_tools": {"steps/git/mllm.dir": clone, "steps/git/highway.dir": deps + "/highway"},
		AOT + "exec.android": {"steps/patch/mllm.dir": clone, "toolchains/ndk": treeOf(t, w, "ndk"),
			"toolchains/llvm": treeOf(t, w, "llvm")},
	} {
		t.Run(step, func(t *testing.T) {
			root := t.TempDir()
			links["steps/git/stdexec.dir"] = deps + "/stdexec/include"
			for at, to := range links {
				to, err := filepath.Abs(to)
				if err != nil {
					t.Fatal(err)
				}
				at = filepath.Join(root, at)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(to, at); err != nil {
					t.Fatal(err)
				}
			}
			run := func(script string) (string, error) { return offline(t, root, script) }
			configure, _, ok := strings.Cut(scripts[step], "\ncmake --build ")
			if !ok {
				t.Fatalf("the step builds nothing:\n%s", scripts[step])
			}
			out, err := run(configure)
			if err != nil || !strings.Contains(out, "Build files have been written to") ||
				!strings.Contains(out, "QNN SDK root: "+root+"/toolchains/qairt") {
				t.Fatalf("it does not configure: %v\n%s", err, out)
			}
			if strings.HasSuffix(step, "android") {
				t.Log("configured with the simulation's NDK, which has no C++ library: nothing is compiled")
				return
			}
			// What needs no header of Qualcomm's, or something of it, then what does.
			free := "mllm/CMakeFiles/MllmRT.dir/core/DataTypes.cpp.o"
			if os.Getenv("HEXMAGE_MLLM") == "all" {
				free = "MllmRT MllmCPUBackend"
			}
			if out, err := run("ninja -C build " + free); err != nil {
				t.Errorf("upstream's own sources: %v\n%s", err, out)
			}
			out, err = run("ninja -C build mllm/backends/qnn/CMakeFiles/MllmQNNBackend.dir/QNNBackend.cpp.o")
			if err == nil {
				t.Fatal("it compiled without the vendor's headers")
			}
			first := regexp.MustCompile(`fatal error: (\S+): No such file`).FindStringSubmatch(out)
			if first == nil || first[1] != "QnnLog.h" {
				t.Errorf("it ends at %q:\n%s", first, out)
			}
			log := filepath.Join(root, "log")
			if err := os.WriteFile(log, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
			Wants(t, w.Run(t, "diagnose", log), ExitFailed, "QnnLog.h is not found, which op packages take from",
				"known    qnn-include")
		})
	}
}

// upstreamsSymbols holds the libraries of mllm's op package to the tables of symbols of Qualcomm's own. It
// shows that mllm's sources themselves want nothing but the C library and the compiler's own functions, and which
// of the tensors' methods that they call Qualcomm's libraries have. What Qualcomm's headers would make of their
// registration, it cannot show: the package was compiled with ours, which refer to nothing.
func upstreamsSymbols(t *testing.T, w *World, clone string) {
	_, _, libs, _ := Vendor(t)
	for target, c := range map[string]struct {
		vendors []string
		want    map[string]string // what is undefined, and what Qualcomm's libraries do with it
	}{
		"htp_aarch64": {[]string{"libQnnHtp.so", "libQnnHtpPrepare.so"},
			map[string]string{"expf": "imports", "memcpy": "imports"}},
		"htp_v79": {[]string{"libQnnHtpV79Skel.so"},
			map[string]string{"memcpy": "imports", "sqrtf": "imports", "__hexagon_udivsi3": "imports",
				"__extendhfsf2": "", "__truncsfhf2": ""}}, // of 16-bit floats: clang's own library has them
	} {
		has := map[string]string{}
		exported := ""
		for _, lib := range c.vendors {
			imports, exports := symbolsOf(t, filepath.Join(libs, lib))
			for _, s := range imports {
				has[s] = "imports"
			}
			for _, s := range exports {
				has[s] = "exports"
			}
			exported += strings.Join(exports, "\n")
		}
		imports, _ := symbolsOf(t, w.Out("oppackage/"+target+"/"+Library))
		got := map[string]string{}
		for _, s := range imports {
			got[s] = has[s]
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", target, d)
		}
		for method, there := range map[string]bool{"interface_scale": true, "get_dtype": true, "raw_data": true,
			"dims": true, "dim": true, "set_dims": true,
			"raw_data_const":      false, // inline, or of another name: it cannot be told
			"get_interface_scale": false} {
			if mangled := regexp.MustCompile(fmt.Sprintf(`\D%d%sE`, len(method),
				method)); mangled.MatchString(exported) != there {
				t.Errorf("%s: the vendor's libraries export a method %s: %v", target, method, !there)
			}
		}
	}
	called := map[string]bool{}
	sources, err := filepath.Glob(filepath.Join(clone,
		"mllm/backends/qnn/custom-op-package/LLaMAPackage/src/ops/*.cpp"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources in the clone: %v", err)
	}
	for _, at := range sources {
		for _, m := range regexp.MustCompile(
			`\.(interface_scale|get_dtype|raw_data|dims|dim|set_dims|raw_data_const)\(`).
			FindAllStringSubmatch(Read(t, at), -1) {
			called[m[1]] = true
		}
	}
	if len(called) != 7 {
		t.Errorf("upstream's sources call %v", called)
	}
}

// symbolsOf are the dynamic symbols that a library wants, and those that it has.
func symbolsOf(t *testing.T, path string) (imports, exports []string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, s := range symbols {
		switch {
		case s.Name == "":
		case s.Section == elf.SHN_UNDEF:
			imports = append(imports, s.Name)
		default:
			exports = append(exports, s.Name)
		}
	}
	slices.Sort(imports)
	return imports, exports
}

// TestMllm: the whole op package of a clone of mllm, for both machines. Its sources are not ours to ship, so
// the clone is the caller's.
func TestMllm(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm")
	}
	w := Warmed(t)
	r := w.RunJSON(t, "--var", "mllm="+clone, Simulated, Pipeline)
	objects := 0
	for _, name := range r.Names {
		if strings.HasSuffix(name, ".o") {
			objects++
		}
	}
	if objects < 2*18 {
		t.Errorf("%d objects: %q", objects, r.Names)
	}
	for _, target := range []string{"htp_aarch64", "htp_v79"} {
		if text := Read(t, w.Out("oppackage/"+target+"/"+Library)); !strings.HasPrefix(text, "\x7fELF") {
			t.Errorf("%s: no library", target)
		}
	}
	t.Logf("%d objects in %v", objects, r.Took)
	t.Run("symbols", func(t *testing.T) { upstreamsSymbols(t, w, clone) })
}
