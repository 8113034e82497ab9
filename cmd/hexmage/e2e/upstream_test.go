//go:build linux

package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestUpstreamBuilds runs both build steps of profile device as the plan has them, on upstream's own sources: configured without network,
// and for x86 compiled until the first header of the vendor's, of which hexmage says whose it is. No header of the vendor's is replaced.
func TestUpstreamBuilds(t *testing.T) {
	clone, deps := os.Getenv("HEXMAGE_TEST_MLLM"), os.Getenv("HEXMAGE_TEST_MLLM_DEPS")
	if clone == "" || deps == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of upstream, or HEXMAGE_TEST_MLLM_DEPS no folder with stdexec and highway")
	}
	for _, in := range []string{clone + "/third_party/fmt/CMakeLists.txt", clone + "/mllm/ffi/vendors/tvm-ffi/CMakeLists.txt",
		clone + "/mllm/backends/cpu/vendors/kleidiai/CMakeLists.txt", deps + "/stdexec/include", deps + "/highway/CMakeLists.txt"} {
		if _, err := os.Stat(in); err != nil {
			t.Skipf("the clone lacks its submodules, or the folder a library: %v", err)
		}
	}
	for _, program := range []string{"cmake", "ninja", "g++", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s here", program)
		}
	}
	w := newWorld(t).withDownloads(t)
	o := w.run(t, "plan", "--json", "--profile", "device", pipeline)
	wants(t, o, exitOK)
	var plan struct {
		Steps []struct {
			Address string
			Actions []struct{ Argv []string }
		}
	}
	if err := json.Unmarshal([]byte(o.stdout), &plan); err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	for _, s := range plan.Steps {
		if len(s.Actions) == 1 {
			scripts[strings.Replace(s.Address, ".step.", ".", 1)] = s.Actions[0].Argv[len(s.Actions[0].Argv)-1]
		}
	}
	tree := func(toolchain string) string {
		o := w.run(t, "toolchain", "fetch", toolchain)
		wants(t, o, exitOK)
		return regexp.MustCompile(`(?m)/\S*$`).FindString(strings.TrimSpace(o.stdout))
	}
	for step, links := range map[string]map[string]string{
		aot + "exec.aot_tools": {"steps/git/mllm/dir": clone, "steps/git/highway/dir": deps + "/highway"},
		aot + "exec.android":   {"steps/patch/mllm/dir": clone, "toolchains/ndk": tree("ndk"), "toolchains/llvm": tree("llvm")},
	} {
		t.Run(step, func(t *testing.T) {
			root := t.TempDir()
			links["steps/git/stdexec/dir"] = deps + "/stdexec/include"
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
			// In the sandbox there is no network; here nobody answers at the addresses of proxies.
			run := func(script string) (string, error) {
				cmd := exec.CommandContext(t.Context(), "/bin/sh", "-eu", "-c", script)
				cmd.Dir, cmd.Env = root, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HEXMAGE_ROOT=" + root, "HOME=" + root, "https_proxy=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1"}
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			configure, _, ok := strings.Cut(scripts[step], "\ncmake --build ")
			if !ok {
				t.Fatalf("the step builds nothing:\n%s", scripts[step])
			}
			out, err := run(configure)
			if err != nil || !strings.Contains(out, "Build files have been written to") || !strings.Contains(out, "QNN SDK root: "+root+"/toolchains/qairt") {
				t.Fatalf("it does not configure: %v\n%s", err, out)
			}
			if strings.HasSuffix(step, "android") {
				t.Log("configured with the stand-in's NDK, which has no C++ library: nothing is compiled")
				return
			}
			// Something that needs no header of the vendor's, then what does.
			if out, err := run("ninja -C build mllm/CMakeFiles/MllmRT.dir/core/DataTypes.cpp.o"); err != nil {
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
			wants(t, w.run(t, "diagnose", log), exitFailed, "QnnLog.h is not found: the QAIRT SDK is missing", "known    qnn-headers")
		})
	}
}
