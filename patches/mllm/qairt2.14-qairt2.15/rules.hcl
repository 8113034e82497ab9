# From QAIRT 2.15 (HTP API 5.15) on code for the DSP is built with -DPREPARE_DISABLED. What only the preparation of graphs
# calls, the functions of a package's optimizations, is then to be out of the way.

guard "prepare" {
  description = "functions that only optimizations use are not there on the DSP"
  macro       = "PREPARE_DISABLED"
  used_by     = ["DEF_PACKAGE_OPTIMIZATION", "DEF_PACKAGE_OPTIMIZATION_WITH_FLAGS"]

  when {
    header   = "HTP/core/*.h"
    declares = "PREPARE_DISABLED"
  }

  files = ["src/**/*.cpp", "**/LLaMAPackage/src/**/*.cpp"]

  expect {
    max = 400
  }
}
