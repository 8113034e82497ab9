//go:build linux

package mllm_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// readers are the sources of mllm's that read a model, and what they need of the others.
var readers = []string{"core/ParameterFile", "core/MappedFile", "core/Tensor", "core/TensorStorage",
	"core/TensorViewImpl", "core/DataTypes", "core/DeviceTypes",
	"engine/Context", "engine/MemoryManager", "engine/BuddyMemPool", "engine/SessionTCB", "engine/DispatcherManager",
	"backends/base/PluginSystem", "utils/Log"}

// TestMllmReads compiles mllm's own reader of models, which needs no header of Qualcomm's: it reads of our
// files, of both versions, what we wrote, tensor by tensor: name, type, shape and every byte.
func TestMllmReads(t *testing.T) {
	clone, deps := os.Getenv("HEXMAGE_TEST_MLLM"), os.Getenv("HEXMAGE_TEST_MLLM_DEPS")
	if clone == "" || deps == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm, or HEXMAGE_TEST_MLLM_DEPS no folder with stdexec")
	}
	cxx, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("there is no g++ here")
	}
	flags := []string{"-std=c++20", "-O0", "-w", "-ffunction-sections", "-DFMT_HEADER_ONLY", "-I" + clone,
		"-I" + deps + "/stdexec/include"}
	for _, in := range []string{"third_party", "third_party/half/include", "third_party/xxHash/include",
		"third_party/json", "third_party/fmt/include",
		"mllm/ffi/vendors/tvm-ffi/include", "mllm/ffi/vendors/tvm-ffi/3rdparty/dlpack/include"} {
		if _, err := os.Stat(filepath.Join(clone, in)); err != nil {
			t.Skipf("the clone lacks its submodules: %v", err)
		}
		flags = append(flags, "-I"+filepath.Join(clone, in))
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "read")
	link := []string{"-Wl,--gc-sections", "-o", program}
	// The order of the objects is fixed: if Tensor.o comes before mllm's other objects, GNU ld 2.40 does not drop
	// Context::buildOpAndSubmitTask, which calls functions that are not compiled.
	sources := []string{filepath.Join(Repo(), "cmd/hexmage/e2e/mllm/testdata/upstream_read.cpp")}
	for _, name := range readers {
		sources = append(sources, filepath.Join(clone, "mllm", name+".cpp"))
	}
	for _, source := range sources {
		object := filepath.Join(dir, filepath.Base(source)+".o")
		if out, err := exec.CommandContext(t.Context(), cxx,
			append(flags, "-c", source, "-o", object)...).CombinedOutput(); err != nil {
			t.Fatalf("mllm's sources: %v\n%s", err, out)
		}
		link = append(link, object)
	}
	if out, err := exec.CommandContext(t.Context(), cxx, link...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w := NewWorld(t).WithEmulatorDownloads(t)
	w.Write(t, "pipelines/read.hcl", readPipeline)
	Wants(t, w.Run(t, "run", "read"), ExitOK)
	for _, version := range []string{"v1", "v2"} {
		at := filepath.Join(w.Dir, "out", "read", version)
		ours := tensorsOf(t, at)
		out, err := exec.CommandContext(t.Context(), program, version, at).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", version, err, out)
		}
		rows := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(rows) != len(ours) || len(rows) < 20 {
			t.Errorf("%s: upstream reads %d tensors of %d", version, len(rows), len(ours))
		}
		for _, row := range rows {
			name, _, _ := strings.Cut(row, "\t")
			p, ok := ours[name]
			if !ok {
				t.Errorf("%s: upstream reads %q, which we did not write", version, row)
				continue
			}
			shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(p.shape), " ", ","), "[]")
			if version == "v1" { // which has no shapes
				shape = fmt.Sprint(int64(len(p.data)) / p.dtype.Size())
			}
			sum := fnv.New64a()
			sum.Write(p.data)
			if want := fmt.Sprintf("%s\t%s\t%s\t%d\t%016x", name, p.dtype, shape, len(p.data),
				sum.Sum64()); row != want {
				t.Errorf("%s: upstream reads\n%s\nwe wrote\n%s", version, row, want)
			}
		}
		t.Logf("%s: %d tensors", version, len(rows))
	}
}

const readPipeline = `
profile "emulator" { default = true }
toolchain "onnx" {}
step "toy_model" "tiny" {
  seed   = 79
  layers = 2
}
step "quantize" "tiny" {
  model       = step.toy_model.tiny.outputs.dir
  num_samples = 2
  max_length  = 256
}
step "convert" "v1" {
  model  = step.toy_model.tiny.outputs.dir # of floats: branch v1 has no numbers for the quantized model's types
  name   = "tiny"
  format = "v1"
}
step "convert" "v2" {
  model = step.quantize.tiny.outputs.dir
  name  = "tiny"
}
output "v1" { value = step.convert.v1.outputs.model }
output "v2" { value = step.convert.v2.outputs.model }
`
