# From QAIRT 2.17 (HTP API 5.17) on a package registers its ops by one macro at the file's outermost level, no longer by calls
# in its function of initialisation.

insert "core_init" {
  description = "the macro that registers what the lists of ops, optimizations and parameters hold"
  text        = "INIT_PKG_CORE_INIT_FUNC()"
  after       = ["INIT_PACKAGE_PARAM_ORDER_DEF()", "INIT_PACKAGE_OPTIMIZATION_DEF()", "INIT_PACKAGE_OP_DEF()"]
  uses        = ["REGISTER_PACKAGE_OPS", "REGISTER_PACKAGE_OPTIMIZATIONS"]

  when {
    header   = "HTP/core/*.h"
    declares = "INIT_PKG_CORE_INIT_FUNC"
  }

  files = ["src/**/*Interface.cpp", "**/LLaMAPackage/src/**/*Interface.cpp"]

  expect {
    max = 4
  }
}

call "register_ops" {
  description = "INIT_PKG_CORE_INIT_FUNC does it"
  from        = "REGISTER_PACKAGE_OPS()"
  to          = ""

  when {
    header   = "HTP/core/*.h"
    declares = "INIT_PKG_CORE_INIT_FUNC"
  }

  files = ["src/**/*Interface.cpp", "**/LLaMAPackage/src/**/*Interface.cpp"]

  expect {
    max = 4
  }
}

call "register_optimizations" {
  description = "INIT_PKG_CORE_INIT_FUNC does it"
  from        = "REGISTER_PACKAGE_OPTIMIZATIONS()"
  to          = ""

  when {
    header   = "HTP/core/*.h"
    declares = "INIT_PKG_CORE_INIT_FUNC"
  }

  files = ["src/**/*Interface.cpp", "**/LLaMAPackage/src/**/*Interface.cpp"]

  expect {
    max = 4
  }
}
