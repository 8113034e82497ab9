# QAIRT 2.10 (HTP API 5.10) registers ops in another way: its macros come from two headers of their own.

include "unique_types" {
  description = "DEFINE_UNIQ_TY and the lists of a package's ops come from unique_types.h"
  header      = "HTP/core/unique_types.h"
  uses        = ["DEFINE_UNIQ_TY", "BEGIN_PKG_OPS_OPTS_LIST"]

  when {
    header   = "HTP/core/*.h"
    declares = "DEFINE_UNIQ_TY"
  }

  files = ["src/**/*.cpp", "**/LLaMAPackage/src/**/*.cpp"]

  expect {
    max = 20
  }
}

include "simple_reg" {
  description = "BEGIN_PKG_OP_DEFINITION and what stands with it come from simple_reg.h"
  header      = "HTP/core/simple_reg.h"
  uses        = ["BEGIN_PKG_OP_DEFINITION", "END_PKG_OP_DEFINITION"]

  when {
    header   = "HTP/core/*.h"
    declares = "BEGIN_PKG_OP_DEFINITION"
  }

  files = ["src/**/*.cpp", "**/LLaMAPackage/src/**/*.cpp"]

  expect {
    max = 200
  }
}
