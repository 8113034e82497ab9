package steps_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hvxCases are of ops of testdata/kernels that have instructions newer than HVX v66.
func hvxCases() map[string]string {
	tensor := func(role, dtype string, d int, more string) string {
		return fmt.Sprintf("%s {\ndtype = %q\ndims = [1, 1, 1, %d]\n%s\n}\n", role, dtype, d, more)
	}
	return map[string]string{
		"Weigh": tensor("input", "quint8", 256, "scale = 1") + tensor("input", "quint8", 256, "scale = 1") + tensor("output", "int32", 64, ""),
		"Narrow": tensor("input", "quint16", 128, "scale = 1") + tensor("input", "quint16", 64, "scale = 1\nlow = 0\nhigh = 3000") +
			tensor("input", "quint8", 128, "scale = 1") + tensor("output", "quint8", 128, "scale = 1"),
		"LLaMAReLU": tensor("input", "quint8", 130, "scale = 0.01\nzero_point = 100") + tensor("output", "quint8", 130, "scale = 0.01\nzero_point = 100"),
		"Product":   tensor("input", "float32", 32, "") + tensor("input", "float32", 32, "") + tensor("output", "float32", 32, ""),
	}
}

// hvxPipeline tests some of these ops with all that is built for some archs.
func hvxPipeline(archs, sources string, ops ...string) string {
	head, tail, _ := strings.Cut(strings.Replace(kernelPipeline, "@more@", "archs = ["+archs+"]\nsources = ["+sources+"]", 1), `  case "RMSNorm"`)
	for _, op := range ops {
		head += fmt.Sprintf("case %q {\nseeds = [1, 2, 3]\n%s}\n", op, hvxCases()[op])
	}
	return head + tail[strings.Index(tail, "}\n\noutput"):]
}

// TestKernelsOfNewerHVX has instructions of HVX v68 and v69 run by the qemu that has them, ops with floats refused by the names of theirs, and the other
// qemu's compiler refuse all of them.
func TestKernelsOfNewerHVX(t *testing.T) {
	w := kernelWorkspace(t, "qemu@11.1", "")
	if err := os.CopyFS(filepath.Join(w.dir, "pkg/src/ops"), os.DirFS("testdata/kernels")); err != nil {
		t.Fatal(err)
	}
	report := func(arch string) string {
		data, err := os.ReadFile(filepath.Join(w.at, "out/report", arch+".txt"))
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	const newer, product = `"src/ops/Weigh.cpp", "src/ops/Narrow.cpp"`, "Product.cpp: the simulated DSP cannot run 1 × V.qf32 = vmpy(V.sf,V.sf), 1 × V.sf = V.qf32: "

	w.pipeline(hvxPipeline(`"v68"`, `"src/ops/Weigh.cpp", "src/ops/SiLU.cpp"`, "Weigh"))
	if _, failures := w.build(); len(failures) > 0 {
		t.Fatalf("v68: %+v", failures[0])
	}
	if got := report("v68"); strings.Count(got, ": 64 elements, 0 differ, max abs error 0, 0 ulp\n") != 3 {
		t.Errorf("v68:\n%s", got)
	}

	w.pipeline(hvxPipeline(`"v69", "v79"`, newer, "Weigh", "Narrow"))
	if _, failures := w.build(); len(failures) > 0 {
		t.Fatalf("v69 and v79: %+v", failures[0])
	}
	for _, arch := range []string{"v69", "v79"} {
		if got := report(arch); strings.Count(got, ", 0 differ, max abs error 0, 0 ulp\n") != 6 {
			t.Errorf("%s:\n%s", arch, got)
		}
	}

	// A library with floats is not run.
	w.pipeline(hvxPipeline(`"v69"`, newer+`, "src/ops/Product.cpp"`, "Narrow"))
	_, failures := w.build()
	if len(failures) != 1 || !strings.Contains(failures[0].Output, product) {
		t.Errorf("floats: %+v", failures)
	}

	// The comparison is with what the instructions do.
	w.pipeline(hvxPipeline(`"v69"`, newer, "Narrow"))
	w.edit("src/ops/Narrow.cpp", func(s string) string { return strings.Replace(s, "_rnd_sat", "_sat", 1) })
	if _, failures := w.build(); len(failures) != 1 || !strings.Contains(failures[0].Output, "3 of 3 kernel tests failed on v69") || !strings.Contains(failures[0].Output, "Narrow on v69, seed 1: output 0: element ") {
		t.Errorf("another instruction: %+v", failures)
	}

	w.qemu = "7.2" // any qemu: the op does not compile
	w.pipeline(hvxPipeline(`"v69"`, newer, "Narrow"))
	if _, failures := w.build(); len(failures) != 2 || !strings.Contains(failures[0].Output, "'Q6_") || !strings.Contains(fmt.Sprint(failures[0].Hints), `the op uses instructions newer than HVX v66, the version of qemu 7.2's simulated DSP: set toolchain "qemu" { version = "11.1" }, which has the integer instructions of v68 and v69`) {
		t.Errorf("the older qemu: %+v", failures)
	}
}

// TestKernelsOfMllm runs an op of mllm's package on each of its newer-HVX sources that the simulated DSP can run.
func TestKernelsOfMllm(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm")
	}
	w := kernelWorkspace(t, "qemu@11.1", "")
	pkg := filepath.Join(w.dir, "pkg")
	if err := os.RemoveAll(pkg); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(pkg, os.DirFS(filepath.Join(clone, "mllm/backends/qnn/custom-op-package/LLaMAPackage"))); err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, op := range []string{"CausalMask", "IRoPE", "KVCache", "LLaMALinear", "LLaMAReLU", "RoPESimple", "WNop"} {
		sources = append(sources, fmt.Sprintf("%q", "src/ops/"+op+".cpp"))
	}
	w.pipeline(hvxPipeline(`"v79"`, strings.Join(sources, ", "), "LLaMAReLU"))
	if _, failures := w.build(); len(failures) > 0 {
		t.Fatalf("%+v", failures[0])
	}
}
