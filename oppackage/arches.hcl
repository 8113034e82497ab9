# What differs between the targets of an op package, and what does not. Both the generated Makefile and hexmage's own
# compile and link actions are made from this table, so a new arch is one block here.
#
# $(NAME) is a variable of the Makefile; in an action it is a path in the exec root:
#   HEXAGON  NDK          roots of the SDKs
#   QNN_INCLUDE           the QAIRT SDK's include/QNN
#   QNN_TARGET_LIB        its libraries for the phone's processor
#   TOOLS                 the Tools folder of the Hexagon compiler's version
#   ARCH                  the arch block's version, such as v79
#   HVX                   which HVX instructions the compiler may use
#   PACKAGE_NAME  HOST_CXX

common {
  cxx_flags = [
    "-std=c++17", "-fPIC", "-fvisibility=default", "-stdlib=libc++",
    "-Wall", "-Wreorder", "-Werror",
    "-Wno-missing-braces", "-Wno-unused-function", "-Wno-format", "-Wno-unused-command-line-argument",
    "-DQNN_API=__attribute__((visibility(\"default\")))",
    "-D__QAIC_HEADER_EXPORT=__attribute__((visibility(\"default\")))",
    "-DTHIS_PKG_NAME=$(PACKAGE_NAME)",
    "-I$(QNN_INCLUDE)",
  ]

  # Only sources under src/ops: the HVX branch of an op includes hvx_internal.h, whatever it is compiled for.
  op_flags = [
    "-I$(HEXAGON)/libs/qhl_hvx/inc/qhmath_hvx",
    "-I$(HEXAGON)/libs/qhl_hvx/inc/internal",
  ]

  # Where the SDKs are is no part of what comes out.
  map_flags = [
    "-ffile-prefix-map=$(QNN_INCLUDE)=qairt/include/QNN",
    "-ffile-prefix-map=$(HEXAGON)=hexagon",
  ]

  link_flags = ["-fPIC", "-std=c++17", "-g", "-shared"]
}

family "hexagon" {
  needs = ["qairt", "hexagon"]
  cxx   = ["$(TOOLS)/bin/hexagon-clang++"]

  flags = [
    "-m$(ARCH)", "$(HVX)", "-mhvx-length=128B", "-mhmx", "-O2",
    "-Wno-reorder", "-DUSE_OS_QURT", "-DPREPARE_DISABLED",
    "-I$(HEXAGON)/rtos/qurt/compute$(ARCH)/include/qurt",
    "-I$(HEXAGON)/rtos/qurt/compute$(ARCH)/include/posix",
    "-I$(HEXAGON)/incs",
    "-I$(HEXAGON)/incs/stddef",
  ]

  # Without the arch, the start files of the compiler's default arch would be linked.
  link_flags = ["-m$(ARCH)"]
}

family "android" {
  needs = ["qairt", "hexagon", "ndk"]

  cxx = [
    "$(NDK)/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++",
    "--target=aarch64-none-linux-android21",
    "--sysroot=$(NDK)/toolchains/llvm/prebuilt/linux-x86_64/sysroot",
    "-static-libstdc++",
  ]

  flags = [
    "-ffast-math", "-fno-finite-math-only", "-fomit-frame-pointer",
    "-Wno-invalid-offsetof", "-Wno-unused-variable", "-Wno-unused-parameter", "-Wno-sign-compare",
    "-Wno-unused-private-field", "-Wno-ignored-qualifiers", "-Wno-missing-field-initializers",
    "-D__HVXDBL__", "-DUSE_OS_LINUX", "-DANDROID",
    "-I$(TOOLS)/libnative/include",
    "-ffile-prefix-map=$(NDK)=ndk",
  ]

  op_flags = ["-DREFERENCE_OP"]

  # Phones with pages of 16 KiB load no library that is aligned to less; NDKs before r28 align to 4 KiB by themselves.
  link_flags = ["-stdlib=libc++", "-Wl,-z,max-page-size=16384"]

  libs = ["-L$(QNN_TARGET_LIB)", "-lQnnHtp", "-lQnnHtpPrepare"]
}

family "host" {
  needs = ["qairt", "hexagon"]
  cxx   = ["$(HOST_CXX)"]

  flags = [
    "-ffast-math", "-fno-finite-math-only", "-fomit-frame-pointer",
    "-Wno-invalid-offsetof",
    "-D__HVXDBL__", "-DUSE_OS_LINUX",
    "-I$(TOOLS)/libnative/include",
  ]

  # The reference branch needs no HVX emulation of the SDK to compile.
  op_flags = ["-DREFERENCE_OP"]
  libs     = ["-Wl,--whole-archive", "-L$(TOOLS)/libnative/lib", "-lnative", "-Wl,--no-whole-archive", "-lpthread"]
}

arch "htp_x86" {
  family = "host"
  folder = "x86_64-linux-clang"
  asm    = "x86_asm"
}

arch "htp_aarch64" {
  family = "android"
  folder = "aarch64-android"
  asm    = "android_asm"
}

arch "htp_v68" {
  family    = "hexagon"
  version   = "v68"
  folder    = "hexagon-v68"
  asm       = "v68_asm"
  min_tools = "8.4"
}

arch "htp_v69" {
  family    = "hexagon"
  version   = "v69"
  folder    = "hexagon-v69"
  asm       = "v69_asm"
  min_tools = "8.5"
}

arch "htp_v73" {
  family    = "hexagon"
  version   = "v73"
  folder    = "hexagon-v73"
  asm       = "v73_asm"
  min_tools = "8.6"
}

arch "htp_v75" {
  family    = "hexagon"
  version   = "v75"
  folder    = "hexagon-v75"
  asm       = "v75_asm"
  min_tools = "8.7"
}

arch "htp_v79" {
  family    = "hexagon"
  version   = "v79"
  folder    = "hexagon-v79"
  asm       = "v79_asm"
  min_tools = "8.8"
}

arch "htp_v81" {
  family    = "hexagon"
  version   = "v81"
  folder    = "hexagon-v81"
  asm       = "v81_asm"
  min_tools = "19.0"
}
