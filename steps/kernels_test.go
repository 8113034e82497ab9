package steps_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// kernelPipeline tests the example's ops: 130 elements fill two lanes of HVX and begin a third, 1 and 33 leave lanes empty.
const kernelPipeline = `
pipeline {
  description = "kernel tests"
}

toolchain "qairt" {}
toolchain "hexagon" {}
toolchain "llvm" {}
toolchain "qemu" {}

step "patch" "ops" {
  source = "pkg"
  series = "mllm"
  sdk    = toolchain.qairt
}

step "kernel_test" "ops" {
  source = step.patch.ops.outputs.dir
  env    = { HEXMAGE_LLVM = "@llvm@" }
  @more@

  case "RMSNorm" {
    seeds = [1, 2]
    input {
      dtype      = "quint16"
      dims       = [1, 2, 3, 130]
      scale      = 0.01
      zero_point = 300
    }
    input {
      dtype = "quint16"
      dims  = [130]
      scale = 0.001
    }
    output {
      dtype      = "quint16"
      dims       = [1, 2, 3, 130]
      scale      = 0.003
      zero_point = 1000
    }
  }
  case "SiLU" {
    input {
      dtype      = "quint16"
      dims       = [1, 1, 2, 33]
      scale      = 0.0007
      zero_point = 30000
      low        = -8
      high       = 8
    }
    output {
      dtype      = "quint16"
      dims       = [1, 1, 2, 33]
      scale      = 0.0005
      zero_point = 1000
    }
  }
  case "LLaMAAdd" {
    input {
      dtype = "quint16"
      dims  = [64]
      scale = 0.01
    }
    input {
      dtype = "quint16"
      dims  = [64]
      scale = 0.02
    }
    output {
      dtype = "quint16"
      dims  = [64]
      scale = 0.03
    }
  }
  case "LLaMAQuantize" {
    input {
      dtype = "float32"
      dims  = [3, 33]
      low   = -50
      high  = 50
    }
    input {
      dtype = "float32"
      dims  = [1]
      data  = [1.5]
    }
    output {
      dtype      = "quint8"
      dims       = [3, 33]
      scale      = 0.25
      zero_point = 100
    }
  }
  case "LLaMADequantize" {
    input {
      dtype      = "quint8"
      dims       = [2]
      scale      = 0.1
      zero_point = 77
      data       = [0, 255]
    }
    input {
      dtype = "float32"
      dims  = [1]
      data  = [1.5]
    }
    output {
      dtype = "float32"
      dims  = [2]
    }
  }
  case "RoPE" {
    name = "one head"
    input {
      dtype      = "quint16"
      dims       = [1, 3, 1, 8]
      scale      = 0.01
      zero_point = 32768
    }
    input {
      dtype      = "quint16"
      dims       = [10, 8]
      scale      = 0.00003
      zero_point = 32768
    }
    input {
      dtype      = "quint16"
      dims       = [10, 8]
      scale      = 0.00003
      zero_point = 32768
    }
    input {
      dtype = "int32"
      dims  = [1]
      data  = [4]
    }
    input {
      dtype = "int32"
      dims  = [1]
      data  = [0]
    }
    output {
      dtype      = "quint16"
      dims       = [1, 3, 1, 8]
      scale      = 0.01
      zero_point = 32768
    }
  }
}

output "report" {
  value = step.kernel_test.ops.outputs.report
}
`

// kernelWorkspace has the example package and emulators, qemu or a release of it ("qemu@11.1").
func kernelWorkspace(t *testing.T, qemu, more string) *workspace {
	t.Helper()
	w := newWorkspace(t)
	if _, release, ok := strings.Cut(qemu, "@"); ok {
		w.qemu = release
	}
	w.pipeline(strings.Replace(kernelPipeline, "@more@", more, 1))
	pkg := filepath.Join(w.dir, "pkg")
	if err := os.RemoveAll(pkg); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(pkg, os.DirFS("../oppackage/example/LLaMAPackage")); err != nil {
		t.Fatal(err)
	}
	// Small programs in the place of large toolchains, which would be copied for each test.
	programs := map[string]string{"llvm/usr/bin/clang-22": toolchaintest.Path(t, "llvm", "usr/bin/clang-22")}
	const hexagon = "usr/bin/qemu-hexagon-static"
	programs["qemu/"+hexagon] = toolchaintest.Path(t, qemu, hexagon)
	for at, real := range programs {
		sdktest.Write(t, w.sdks, map[string]string{at: "#!/bin/sh\nexec " + real + " \"$@\"\n"})
	}
	return w
}

func TestKernels(t *testing.T) {
	w := kernelWorkspace(t, "qemu", "")
	if _, failures := w.build(); len(failures) > 0 {
		t.Fatalf("%s\n%s\n%s", failures[0].Summary, failures[0].Output, failures[0].Hints)
	}
	for _, arch := range []string{"v73", "v75", "v79", "v81"} {
		data, err := os.ReadFile(filepath.Join(w.at, "out/report", arch+".txt"))
		want := fmt.Sprintf("RMSNorm on %[1]s, seed 1: 780 elements, 0 differ, max abs error 0, 0 ulp\nRMSNorm on %[1]s, seed 2: 780 elements, 0 differ, max abs error 0, 0 ulp\n", arch)
		if err != nil || !strings.HasPrefix(string(data), want) || strings.Count(string(data), ", 0 differ,") != 7 {
			t.Errorf("%s: %v\n%s", arch, err, data)
		}
	}

	// One lane's rounding in the HVX branch alone: the reference does not change.
	w.pipeline(strings.Replace(kernelPipeline, "@more@", `archs = ["v79"]`, 1))
	w.edit("src/ops/RMSNorm.cpp", func(s string) string {
		return strings.Replace(s, "block.value[j] = element(block.value[j], i + j);", "block.value[j] = element(block.value[j], i + j) + (i + j == 77);", 1)
	})
	_, failures := w.build()
	if len(failures) != 1 {
		t.Fatalf("%d failures of a broken kernel", len(failures))
	}
	for _, want := range []string{"RMSNorm on v79, seed 1: output 0: element 77 at [0 0 0 77] is ", ", the reference has ", "; 6 of 780 are wrong, max abs error 0.003", ", 1 ulp\n", "2 of 7 kernel tests failed on v79"} {
		if !strings.Contains(failures[0].Output, want) {
			t.Errorf("no %q in\n%s", want, failures[0].Output)
		}
	}
	t.Log(failures[0].Output)

	// What is allowed is not wrong.
	w.pipeline(strings.Replace(strings.Replace(kernelPipeline, "@more@", `archs = ["v79"]`, 1), "seeds = [1, 2]", "max_ulp = 1", 1))
	if _, failures := w.build(); len(failures) > 0 {
		t.Errorf("one step of one allowed: %s", failures[0].Output)
	}
}

// TestKernelsRefused has what the emulator would get wrong refused before it runs, and what no op takes said.
func TestKernelsRefused(t *testing.T) {
	w := kernelWorkspace(t, "qemu", "archs = [\"v79\"]\n  sources = [\"src/ops/RMS*.cpp\", \"src/ops/SiLU.cpp\"]")
	only := strings.Index(kernelPipeline, `  case "LLaMAAdd"`)
	end := strings.Index(kernelPipeline, "}\n\noutput")
	text := strings.Replace(kernelPipeline[:only]+kernelPipeline[end:], "@more@", "archs = [\"v79\"]\n  sources = [\"src/ops/RMS*.cpp\", \"src/ops/SiLU.cpp\"]", 1)
	w.pipeline(text)
	if ran, failures := w.build(); len(failures) > 0 || strings.Contains(strings.Join(ran, " "), "RoPE") || !strings.Contains(strings.Join(ran, " "), "htp_v79/ops/SiLU.o") {
		t.Fatalf("%q: %v", ran, failures)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"another shape", "dims  = [130]", "dims  = [64]", "RMSNorm on v79, seed 1: the reference: 0x80000401 RMSNorm: the op failed"},
		{"another op", `case "SiLU"`, `case "Gelu"`, "Gelu: the library has no such op"},
		{"dims of an output", "dims       = [1, 1, 2, 33]\n      scale      = 0.0005", "dims       = [1, 2, 1, 33]\n      scale      = 0.0005", "output 0 has dims [1 1 2 33], but the case expects [1 2 1 33]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.pipeline(strings.Replace(text, tt.old, tt.new, 1))
			if _, failures := w.build(); len(failures) != 1 || !strings.Contains(failures[0].Output, tt.want) {
				t.Errorf("want %q: %+v", tt.want, failures)
			}
		})
	}
	w.pipeline(text)
	w.edit("src/ops/SiLU.cpp", func(s string) string {
		return strings.Replace(s, "lanes::Block block;", "lanes::Block block;\n  (void)Q6_Vw_equals_Vsf(Q6_V_vzero());", 1)
	})
	_, failures := w.build()
	if len(failures) != 1 || !strings.Contains(failures[0].Output, "undeclared identifier 'Q6_Vw_equals_Vsf'") || !strings.Contains(fmt.Sprint(failures[0].Hints), "newer than HVX v66") {
		t.Errorf("an instruction that the emulator gets wrong: %+v", failures)
	}
}
