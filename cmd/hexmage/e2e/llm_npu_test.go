//go:build linux

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLLMNPU: llm.npu's way in profile open: prompts of three lengths through the DSP of the emulated phone, every token the reference's; beside no phone's numbers; nothing runs twice but
// what is on the phone, and an older run's graphs there do no harm.
func TestLLMNPU(t *testing.T) {
	w := warmed(t)
	o := w.run(t, "--offline", "run", "llm-npu")
	wants(t, o, exitOK, "not a phone's speed", "a small Qwen2, int8, on SM8750")
	if !strings.Contains(o.stdout, "tokens as the reference   3 of 3 runs") {
		t.Errorf("not all tokens are the reference's:\n%s", o.stdout)
	}
	if strings.Contains(o.stdout, "paper") || strings.Contains(o.stdout, "reproduction") {
		t.Errorf("an emulated phone beside the paper:\n%s", o.stdout)
	}
	printed, err := os.ReadFile(filepath.Join(w.dir, "out", "llm-npu", "stdout.txt"))
	if err != nil || len(regexp.MustCompile(`(?m)prefill time: \d+\.\d\dms$`).FindAll(printed, -1)) != 3 || strings.Count(string(printed), "Load model: ") != 6 {
		t.Errorf("%v\n%s", err, printed)
	}
	if r := w.runJSON(t, "--offline", "llm-npu"); r.executed != 0 {
		t.Errorf("again: %q ran", r.names)
	}
	demo, err := os.ReadFile(filepath.Join(w.dir, "out", "llm-npu", "demo.txt"))
	if err != nil || !strings.Contains(string(demo), "[A] ") || strings.Contains(string(demo), "QNN context retrieved") {
		t.Errorf("the demo: %v\n%s", err, demo)
	}
	// One length more runs that one alone, and its reference.
	r := w.runJSON(t, "--offline", `--var=lengths=["64","256","1024","100"]`, "llm-npu")
	if names := strings.Join(r.names, "\n"); strings.Count(names, "run.main run[") != 1 || !strings.Contains(names, "run.main run[seq=100]") || !strings.Contains(names, "reference_v1.small") {
		t.Errorf("another length: %q ran", r.names)
	}
}

// TestUpstreamV1Configures: the command of profile device that builds upstream's two programs, as the plan has it, on upstream's sources: CMake configures without network, and what it would
// link is both programs, of the layers that the series mends among others, where the step looks for them. The stand-in's NDK has neither OpenMP nor a C++ library, so nothing is compiled.
func TestUpstreamV1Configures(t *testing.T) {
	clone, deps := os.Getenv("HEXMAGE_TEST_MLLM"), os.Getenv("HEXMAGE_TEST_MLLM_DEPS")
	if clone == "" || deps == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of upstream, or HEXMAGE_TEST_MLLM_DEPS no folder with googletest")
	}
	for _, program := range []string{"cmake", "ninja"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s here", program)
		}
	}
	w := newWorld(t).withDownloads(t)
	script := w.deviceScripts(t, "llm-npu")["module.npu.exec.android"]
	configure, build, ok := strings.Cut(script, "\ncmake --build ")
	if !ok || !strings.Contains(build, "main_qwen_npu demo_qwen_npu") {
		t.Fatalf("the step builds other programs:\n%s", script)
	}
	root := t.TempDir()
	sources := filepath.Join(root, "steps", "patch", "mllm.dir")
	if err := os.MkdirAll(filepath.Join(root, "toolchains"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := offline(t, root, `mkdir -p "$3"; git -C "$1" archive bbf87ffb CMakeLists.txt src include examples third_party tools | tar -x -C "$3"; rmdir "$3/third_party/googletest"; cp -r "$2/googletest" "$3/third_party/"`, clone, deps, sources); err != nil {
		t.Skipf("the clone lacks the commit, or the folder googletest: %v %s", err, out)
	}
	for _, name := range []string{"ndk", "llvm"} {
		if err := os.Symlink(w.tree(t, name), filepath.Join(root, "toolchains", name)); err != nil {
			t.Fatal(err)
		}
	}
	openmp := "touch omp.a; set -- -DOpenMP_C_FLAGS=-fopenmp -DOpenMP_CXX_FLAGS=-fopenmp -DOpenMP_C_LIB_NAMES=omp -DOpenMP_CXX_LIB_NAMES=omp -DOpenMP_omp_LIBRARY=$PWD/omp.a\n"
	if out, err := offline(t, root, openmp+strings.Replace(configure, "cmake -S", `cmake "$@" -S`, 1)); err != nil || !strings.Contains(out, "Build files have been written to") || !strings.Contains(out, "QNN ARM detected") {
		t.Fatalf("it does not configure: %v\n%s", err, out)
	}
	for _, name := range []string{"main_qwen_npu", "demo_qwen_npu"} {
		out, err := offline(t, root, "ninja -C build -t commands "+name)
		if err != nil || !strings.Contains(out, "-o "+root+"/bin-arm/"+name+" ") || !strings.Contains(out, "op/QNNLinearINT8.cpp") || !strings.Contains(out, "toolchains/qairt/include/QNN") {
			t.Errorf("%s is not built where the step looks, or of other sources: %v\n%.3000s", name, err, out)
		}
	}
}
