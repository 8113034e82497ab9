//go:build linux

package mllm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestMllmV1Configures: the command of profile device that builds mllm's two programs, as the plan has it, on
// mllm's sources: CMake configures without network, and what it would link is both programs, of the layers that
// the series mends among others, where the step looks for them. The simulation's NDK has neither OpenMP nor a C++
// library, so nothing is compiled.
func TestMllmV1Configures(t *testing.T) {
	clone, deps := os.Getenv("HEXMAGE_TEST_MLLM"), os.Getenv("HEXMAGE_TEST_MLLM_DEPS")
	if clone == "" || deps == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm, or HEXMAGE_TEST_MLLM_DEPS no folder with googletest")
	}
	for _, program := range []string{"cmake", "ninja"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s here", program)
		}
	}
	w := NewWorld(t).WithDownloads(t)
	script := deviceScripts(t, w, "llm-npu")["module.npu.exec.android"]
	configure, build, ok := strings.Cut(script, "\ncmake --build ")
	if !ok || !strings.Contains(build, "main_qwen_npu demo_qwen_npu") {
		t.Fatalf("the step builds other programs:\n%s", script)
	}
	root := t.TempDir()
	sources := filepath.Join(root, "steps", "patch", "mllm.dir")
	if err := os.MkdirAll(filepath.Join(root, "toolchains"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := offline(t, root,
		`mkdir -p "$3"; git -C "$1" archive bbf87ffb CMakeLists.txt src include examples third_party tools | tar -x -C "$3"; rmdir "$3/third_party/googletest"; cp -r "$2/googletest" "$3/third_party/"`, clone, deps, sources); err != nil {
		t.Skipf("the clone lacks the commit, or the folder googletest: %v %s", err, out)
	}
	for _, name := range []string{"ndk", "llvm"} {
		if err := os.Symlink(treeOf(t, w, name), filepath.Join(root, "toolchains", name)); err != nil {
			t.Fatal(err)
		}
	}
	openmp := "touch omp.a; set -- -DOpenMP_C_FLAGS=-fopenmp -DOpenMP_CXX_FLAGS=-fopenmp -DOpenMP_C_LIB_NAMES=omp " +
		"-DOpenMP_CXX_LIB_NAMES=omp -DOpenMP_omp_LIBRARY=$PWD/omp.a\n"
	if out, err := offline(t, root, openmp+strings.Replace(configure, "cmake -S", `cmake "$@" -S`, 1)); err != nil ||
		!strings.Contains(out, "Build files have been written to") || !strings.Contains(out, "QNN ARM detected") {
		t.Fatalf("it does not configure: %v\n%s", err, out)
	}
	for _, name := range []string{"main_qwen_npu", "demo_qwen_npu"} {
		out, err := offline(t, root, "ninja -C build -t commands "+name)
		if err != nil || !strings.Contains(out, "-o "+root+"/bin-arm/"+name+" ") ||
			!strings.Contains(out, "op/QNNLinearINT8.cpp") || !strings.Contains(out, "toolchains/qairt/include/QNN") {
			t.Errorf("%s is not built where the step looks, or of other sources: %v\n%.3000s", name, err, out)
		}
	}
}
