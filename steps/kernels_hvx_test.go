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
	const newer, product = `"src/ops/Weigh.cpp", "src/ops/Narrow.cpp"`, "refused: 1 × V.qf32 = vmpy(V.sf,V.sf), 1 × V.sf = V.qf32 in Product.cpp, which the simulated DSP lacks or gets wrong: test the op on a device"

	w.pipeline(hvxPipeline(`"v68"`, `"src/ops/Weigh.cpp", "src/ops/SiLU.cpp"`, "Weigh"))
	if _, failures := w.build(); len(failures) > 0 {
		t.Fatalf("v68: %+v", failures[0])
	}
	if got := report("v68"); strings.Count(got, ": 64 elements, 0 differ, max abs error 0, 0 ulp\n") != 3 || !strings.Contains(got, "Weigh: ran with HVX v68\n") || !strings.Contains(got, "SiLU: no case ran it\n") {
		t.Errorf("v68:\n%s", got)
	}

	// An op with floats that no case names is in the report, and keeps none of the others from running.
	w.pipeline(hvxPipeline(`"v69", "v79"`, newer+`, "src/ops/Product.cpp"`, "Weigh", "Narrow"))
	if _, failures := w.build(); len(failures) > 0 {
		t.Fatalf("v69 and v79: %+v", failures[0])
	}
	for _, arch := range []string{"v69", "v79"} {
		if got := report(arch); strings.Count(got, ", 0 differ, max abs error 0, 0 ulp\n") != 6 ||
			!strings.HasSuffix(got, "\nNarrow: ran with HVX "+arch+"\nProduct: "+product+"\nWeigh: ran with HVX "+arch+"\n") {
			t.Errorf("%s:\n%s", arch, got)
		}
	}

	// One that a case names is not run.
	w.pipeline(hvxPipeline(`"v69"`, newer+`, "src/ops/Product.cpp"`, "Narrow", "Product"))
	_, failures := w.build()
	if len(failures) != 1 || strings.Count(failures[0].Output, "Product on v69, seed ") != 3 || !strings.Contains(failures[0].Output, "Product on v69, seed 2: "+product+"\n") || !strings.Contains(failures[0].Output, "3 of 6 kernel tests failed on v69") {
		t.Errorf("floats: %+v", failures)
	}

	// The comparison is with what the instructions do.
	w.pipeline(hvxPipeline(`"v69"`, newer, "Narrow"))
	w.edit("src/ops/Narrow.cpp", func(s string) string { return strings.Replace(s, "_rnd_sat", "_sat", 1) })
	if _, failures := w.build(); len(failures) != 1 || !strings.Contains(failures[0].Output, "3 of 3 kernel tests failed on v69") || !strings.Contains(failures[0].Output, "Narrow on v69, seed 1: output 0: element ") {
		t.Errorf("another instruction: %+v", failures)
	}

	w.qemu = "7.2" // whichever runs: it does not compile
	w.pipeline(hvxPipeline(`"v69"`, newer, "Narrow"))
	if _, failures := w.build(); len(failures) != 2 || !strings.Contains(failures[0].Output, "'Q6_") || !strings.Contains(fmt.Sprint(failures[0].Hints), `HVX up to v66, and the op uses newer instructions; toolchain "qemu" { version = "11.1" } has the integers of v68 and v69, too`) {
		t.Errorf("the older qemu: %+v", failures)
	}
}

// TestKernelsOfUpstream has upstream's whole package compiled as for a phone: seven of its ops can be run, and what keeps each other one from it is said.
func TestKernelsOfUpstream(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of upstream")
	}
	w := kernelWorkspace(t, "qemu@11.1", "")
	pkg := filepath.Join(w.dir, "pkg")
	if err := os.RemoveAll(pkg); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(pkg, os.DirFS(filepath.Join(clone, "mllm/backends/qnn/custom-op-package/LLaMAPackage"))); err != nil {
		t.Fatal(err)
	}
	w.pipeline(strings.Replace(hvxPipeline(`"v79"`, "", "LLaMAReLU"), "sources = []", "", 1))
	if _, failures := w.build(); len(failures) > 0 {
		t.Fatalf("%+v", failures[0])
	}
	data, err := os.ReadFile(filepath.Join(w.at, "out/report/v79.txt"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", data)
	want := map[string]string{"LLaMAReLU": "ran with HVX v79", "LLaMAMul": "refused: 22 × V.hf = V.qf16, 22 × V.qf16 = vmpy(V.hf,V.hf), 22 × V.qf32 = vmpy(V.sf,V.sf), 22 × V.sf = V.qf32 in LLaMAMul.cpp, which the simulated DSP lacks or gets wrong: test the op on a device"}
	for _, op := range []string{"CausalMask", "IRoPE", "KVCache", "LLaMALinear", "RoPESimple", "WNop"} {
		want[op] = "no case ran it"
	}
	for op, what := range want {
		if !strings.Contains(string(data), "\n"+op+": "+what+"\n") {
			t.Errorf("%s: want %s", op, what)
		}
	}
	if strings.Count(string(data), "refused: ") != 10 || strings.Count(string(data), "no case ran it") != 6 {
		t.Error("others are refused")
	}
}
