# Flags of an op package's targets. The generated Makefile and hexmage's own compile and link actions come from this table. Each
# Hexagon arch with an HTP is a target of the family hexagon. A new arch is an arch block in qnn/facts/arches.hcl, or in
# toolchains/*.hcl of a workspace.
#
# $(NAME) is a variable of the Makefile; in an action it is a path in the exec root:
#   HEXAGON  NDK          roots of the SDKs
#   QNN_INCLUDE           the QAIRT SDK's include/QNN
#   QNN_TARGET_LIB        its libraries for the phone's CPU
#   TOOLS                 the Tools folder of the Hexagon compiler's version
#   ARCH                  the arch in the compiler's flags, such as v79
#   HVX                   the HVX instructions that the compiler may use
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

  # Only sources under src/ops: the HVX branch of an op includes hvx_internal.h for every target.
  op_flags = [
    "-I$(HEXAGON)/libs/qhl_hvx/inc/qhmath_hvx",
    "-I$(HEXAGON)/libs/qhl_hvx/inc/internal",
  ]

  # The output does not depend on the SDKs' paths.
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

  # Without the arch, the compiler links the start files of its default arch.
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

  # Phones with 16 KiB pages reject libraries with a smaller alignment. NDKs before r28 align to 4 KiB by default.
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

target "htp_x86" {
  family = "host"
  folder = "x86_64-linux-clang"
  asm    = "x86_asm"
}

target "htp_aarch64" {
  family = "android"
  folder = "aarch64-android"
  asm    = "android_asm"
}
