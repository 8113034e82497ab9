package steps_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

// generated is a package without an interface, and with flags of its own.
const generated = `
pipeline {
  description = "an op package without an interface"
}

toolchain "qairt" {}
toolchain "hexagon" {}
toolchain "ndk" {}

step "exec" "headers" {
  argv = ["sh", "-c", "mkdir inc && echo '#define MORE 1' >inc/more.h"]
  output "dir" { tree = "inc" }
}

step "patch" "ops" {
  source = "pkg"
  series = "mllm"
  sdk    = toolchain.qairt
}

step "oppackage" "gen" {
  source   = step.patch.ops.outputs.dir
  package  = "LLaMAPackage"
  targets  = ["htp_aarch64", "htp_v75", "htp_v79"]
  hvx      = "v66"
  env      = { HEXMAGE_LLVM = "@llvm@" }
  includes = ["third", step.exec.headers.outputs.dir]
  defines  = ["WITH_THIRD"]

  extra {
    targets    = ["htp_v79"]
    sources    = ["src/ops/Si*.cpp"]
    defines    = ["ONLY_SILU_V79=1"]
    link_flags = ["-Wl,--defsym,made_for_v79=1"]
  }
}

step "makefile" "gen" {
  source  = step.patch.ops.outputs.dir
  package = "LLaMAPackage"
  extra {
    sources = ["src/ops/Si*.cpp"]
    defines = ["ONLY_SILU=1"]
  }
}

output "sizes" {
  value = step.oppackage.gen.outputs.report
}

output "device" {
  value = step.oppackage.gen.outputs.device
}

output "makefile" {
  value = step.makefile.gen.outputs.dir
}
`

func TestGeneratedInterface(t *testing.T) {
	w := newWorkspace(t)
	w.pipeline(generated)
	pkg := filepath.Join(w.dir, "pkg")
	if err := os.RemoveAll(pkg); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(pkg, os.DirFS("../oppackage/example/LLaMAPackage")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(pkg, "src/LLaMAPackageInterface.cpp")); err != nil {
		t.Fatal(err)
	}
	sdktest.Write(t, w.dir, map[string]string{"pkg/third/third.h": "#define THIRD 1\n"})
	w.edit("src/ops/SiLU.cpp", func(s string) string {
		return "#include \"more.h\"\n#include \"third.h\"\n#if !MORE || !THIRD || !defined WITH_THIRD\n#error no headers\n#endif\n#if defined ONLY_SILU_V79 != defined __hexagon__ + 0 && __HEXAGON_ARCH__ != 75\n#error extra\n#endif\n" + s
	})
	w.edit("src/ops/RoPE.cpp", func(s string) string { return "#ifdef ONLY_SILU_V79\n#error extra\n#endif\n" + s })
	ran, failures := w.build()
	for _, f := range failures {
		t.Fatalf("%s\n%s\n%s", f.Summary, f.Output, f.Hints)
	}
	if len(ran) != 2+2+1+3*(7+2) {
		t.Errorf("%d ran: %q", len(ran), ran)
	}
	out := filepath.Join(w.at, "out")
	for name, want := range map[string]string{
		"sizes/htp_v79.txt":                      "ops        RMSNorm SiLU RoPE LLaMAAdd LLaMAQuantize LLaMADequantize\n",
		"sizes/htp_v75.json":                     `"LLaMAPackageInterfaceProvider"`,
		"sizes/htp_v79.json":                     `"made_for_v79"`,
		"device/v75/libQnnLLaMAPackage_CPU.so":   "\x7fELF",
		"device/v79/libQnnLLaMAPackage_HTP.so":   "made_for_v79",
		"makefile/src/LLaMAPackageInterface.cpp": "DECLARE_PKG_OPS_OPTS_LIST(PKG_RMSNorm)",
		"makefile/Makefile":                      "$(OUT_v75)/ops/SiLU.o: FILE_FLAGS := -DONLY_SILU=1\n",
	} {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: no %q in %d bytes, %v", name, want, len(data), err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(out, "sizes/htp_v75.json")); err != nil || strings.Contains(string(data), "made_for_v79") {
		t.Errorf("a flag for v79 is in v75: %v", err)
	}
	w.edit("src/ops/SiLU.cpp", func(s string) string { return s + "// edited\n" })
	if ran, _ := w.build(); strings.Join(ran, ", ") != "oppackage.gen htp_aarch64/ops/SiLU.o, oppackage.gen htp_v75/ops/SiLU.o, oppackage.gen htp_v79/ops/SiLU.o, patch.ops" {
		t.Errorf("after an edited op: %q", ran)
	}
}

// TestCheck has libraries refused that compile and link, and that no backend could use.
func TestCheck(t *testing.T) {
	w := newWorkspace(t)
	for _, tt := range []struct{ name, file, old, new, want string }{
		{"another provider", "src/TestPackageInterface.cpp", "TestPackageInterfaceProvider", "OtherPackageInterfaceProvider", `missing symbol TestPackageInterfaceProvider, through which backends load the package; it exports OtherPackageInterfaceProvider: set package = "OtherPackage" or`},
		{"no build id", "src/TestPackageInterface.cpp", "return QNN_SDK_BUILD_ID", `return "v2.1.0.230101000000_1"`, "build id v2.1.0.230101000000_1 instead of"},
		{"an op too few", "config/TestPackage.xml", "</OpDef></OpDefList>", "</OpDef><OpDef><Name>Gone</Name></OpDef></OpDefList>", "missing op Gone of the op config"},
		{"no config", "config/TestPackage.xml", "<OpDefCollection", "<x/><OpDefCollection", "root element is <x>"},
		{"another package's config", "config/TestPackage.xml", `"TestPackage"`, `"Other"`, "configures package Other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole := ""
			w.edit(tt.file, func(s string) string { whole = s; return strings.Replace(s, tt.old, tt.new, 1) })
			_, failures := w.build()
			if len(failures) != 2 {
				t.Errorf("%d failures", len(failures))
			}
			for _, f := range failures {
				if !strings.Contains(f.Output, tt.want) {
					t.Errorf("%s\nwant %q", f.Output, tt.want)
				}
			}
			w.edit(tt.file, func(string) string { return whole })
		})
	}
}
