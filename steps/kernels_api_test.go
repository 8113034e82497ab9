package steps_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/steps/failures"
)

// apiOp uses what public op packages use of the API and of the C++ library. Its reference has the values that come out.
const apiOp = `#include "HTP/core/constraints.h"
#include "HTP/core/op_register_ext.h"
#include "HTP/core/simple_reg.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#ifdef __hexagon__
#include "HAP_farf.h"
#endif
BEGIN_PKG_OP_DEFINITION(PKG_Api);
DEF_PACKAGE_OPTIMIZATION(EARLY, Op("Api", "x", "n"), AND(IS_FLOAT16("x"), OK), Op(FROM_DEFAULT_PACKAGE("Add"), "x", "x"))

template <typename T>
static int fill(T &out, const T &x, const Int32Tensor &n) {
#ifdef REFERENCE_OP
  const float is[] = {0.761594156f, 0.842700793f, 2, 3, 10, 0.5f, 2.5f, 0, 1, 4};
  for (Idx i = 0; i < 10; i++) out(i) = is[i];
#else
  const DTypeScaleOff of = x.get_dtype_intfc();
  if (of.dtype != DType::Float32 || of.scale != 1 || of.offset != 0 || x.interface_scale_recip() != 1) {
    errlog("type %d", static_cast<int>(of.dtype));
    return GraphStatus::ErrorBadInput;
  }
  alignas(128) float lane[32];
  const float one = x(0);
  std::fill_n(lane, 32, 0.0f);
  lane[0] = std::tanh(one);
  lane[1] = std::erf(one);
  lane[2] = *n.data_ptr();
  lane[3] = std::max(1, std::abs(-3));
  lane[4] = out.total_storage_elements();
  lane[5] = float(Float16::from_raw(Float16(0.5f).raw()));
  lane[6] = std::clamp(*x.get_raw_addr(0, 0, 0, 1), 1.0f, 2.5f);
  lane[7] = std::log(one) + std::sin(0.0f);
  lane[8] = std::pow(one, 3.0f);
  lane[9] = x.rank();
#ifdef __hexagon__
  FARF(ALWAYS, "lane %f", lane[0]);
  HVX_Vector v = q6op_V_vldu_A(lane);
  q6op_vstu_AV(lane, v);
#endif
  printf("%f\n", lane[0]);
  std::copy(lane, lane + 10, out.data_ptr());
#endif
  return GraphStatus::Success;
}
DEF_PACKAGE_OP((fill<PlainFloatTensor>), "Api")
END_PKG_OP_DEFINITION(PKG_Api);
`

const apiPipeline = `
pipeline { description = "what op packages use" }
toolchain "qairt" {}
toolchain "hexagon" {}
toolchain "ndk" {}
toolchain "llvm" {}
toolchain "qemu" {}
step "oppackage" "ops" {
  source  = "pkg"
  package = "ApiPackage"
  targets = ["htp_aarch64", "htp_v79"]
  env     = { HEXMAGE_LLVM = "@llvm@" }
}
step "kernel_test" "ops" {
  source  = "pkg"
  package = "ApiPackage"
  archs   = ["v79"]
  env     = { HEXMAGE_LLVM = "@llvm@" }
  case "Api" {
    max_ulp = 1
    input {
      dtype = "float32"
      dims  = [2]
      data  = [1, 7]
    }
    input {
      dtype = "int32"
      dims  = [1]
      data  = [2]
    }
    output {
      dtype = "float32"
      dims  = [10]
    }
  }
}
output "report" { value = step.kernel_test.ops.outputs.report }
`

// TestOpAPI compiles for all processors, and runs on the simulated DSP, what public op packages use. What the simulated SDK
// lacks is said to be a gap of it.
func TestOpAPI(t *testing.T) {
	w := kernelWorkspace(t, "qemu", "")
	pkg := filepath.Join(w.dir, "pkg")
	if err := os.RemoveAll(pkg); err != nil {
		t.Fatal(err)
	}
	sdktest.Write(t, pkg, map[string]string{"src/ops/Api.cpp": apiOp})
	w.pipeline(apiPipeline)
	if _, failed := w.build(); len(failed) > 0 {
		t.Fatalf("%s", failed[0].Output)
	}
	data, err := os.ReadFile(filepath.Join(w.at, "out/report/v79.txt"))
	if err != nil || !strings.Contains(string(data), "10 elements, 0 differ") {
		t.Errorf("%v\n%s", err, data)
	}

	known, diags := failures.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for use, want := range map[string]string{
		"static QUint8CroutonTensor *x;":                                      "simulated-sdk",
		"static std::vector<int> x;":                                          "simulated-sdk",
		"#include \"HTP/core/op_hook_base.h\"":                                "simulated-sdk",
		"#include \"HTP/core/qhpi.h\"":                                        "op-package-qhpi",
		"#include \"CPU/QnnCpuOpPackage.h\"":                                  "op-package-backend",
		"static float f(const Tensor &t) { return t.get_interface_scale(); }": "qnn-api-renamed",
	} {
		sdktest.Write(t, pkg, map[string]string{"src/ops/Api.cpp": strings.Replace(apiOp, "template", use+"\ntemplate", 1)})
		_, failed := w.build()
		if len(failed) == 0 {
			t.Errorf("%s: it compiles", use)
		}
		for _, f := range failed {
			if r := known.Text([]byte(f.Output)); len(r.Findings) == 0 || r.Findings[0].ID != want {
				t.Errorf("%s: %+v of\n%s", use, r.Findings, f.Output)
			}
		}
	}
}
