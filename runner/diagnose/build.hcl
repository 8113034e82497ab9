# Compilers, linkers and Makefiles.

failure "qnn-api-renamed" {
  where    = ["compile"]
  patterns = ["no member named '(?P<name>get_interface_[a-z]+|interface_[a-z]+)' in '(?:[a-z]+::)*Tensor'", "has no member named ['‘](?P<name>get_interface_[a-z]+)"]
  cause    = "The op sources and the QAIRT SDK's headers are from different times: Tensor's {name} was renamed between 2.25 and 2.36 (mllm's users met it from 2.34 on)."
  remedy   = "Build the sources after a step \"patch\" with series = \"mllm\": it chooses its rename rules by what the SDK's headers declare. `hexmage patch check` shows what it would change."
  source   = "UbiquitousLearning/mllm#284"
  seed     = true
  examples = [
    "src/ops/LLaMAMul.cpp:88:33: error: no member named 'get_interface_scale' in 'Tensor'\n1 error generated.\nmake: *** [Makefile:231: build/hexagon-v79/ops/LLaMAMul.o] Error 1",
    "ops/RoPE.cpp:144:20: error: 'class hnnx::Tensor' has no member named 'get_interface_offset'",
  ]
  explains = ["make-stopped", "simulated-sdk"]
}

failure "op-package-qhpi" {
  where    = ["compile"]
  patterns = ["'(?:HTP/core/)?qhpi[.]h' file not found", "fatal error: (?:HTP/core/)?qhpi[.]h: No such file"]
  cause    = "The op package registers its ops by QHPI, the newer interface of HTP, and this SDK has no qhpi.h: neither the simulated SDK nor an older QAIRT has it."
  remedy   = "Build it with a release of Qualcomm's QAIRT that has include/QNN/HTP/core/qhpi.h: `hexmage run PIPELINE --profile device`."
  source   = "QHPI op packages"
  explains = ["make-stopped", "compile-error", "qnn-headers", "simulated-sdk"]
  examples = ["src/ops/double.cpp:1:10: fatal error: 'HTP/core/qhpi.h' file not found", "src/a.cpp:3:10: fatal error: HTP/core/qhpi.h: No such file or directory"]
}

failure "op-package-backend" {
  where    = ["compile"]
  patterns = ["fatal error: '?(?P<file>(?:[A-Z]+/)?Qnn(?P<backend>Cpu|Gpu|Dsp|Lpai)OpPackage[A-Za-z]*[.]h)(?:' file not found|: No such file or directory)"]
  cause    = "The op package is for QNN's {backend} backend: Qualcomm's QAIRT has {file}, and the simulated SDK, which has HTP alone, does not."
  remedy   = "Build the package with its own Makefile and Qualcomm's QAIRT: hexmage builds op packages for HTP."
  source   = "MollySophia/rwkv-qualcomm, hexagon/CPU"
  explains = ["make-stopped", "compile-error", "qnn-headers", "simulated-sdk"]
  examples = ["src/PInterface.cpp:2:10: fatal error: 'CPU/QnnCpuOpPackage.h' file not found", "src/PInterface.c:6:10: fatal error: QnnLpaiOpPackageInfrastructure.h: No such file or directory"]
}

failure "hexagon-tools" {
  where    = ["compile"]
  patterns = ["Cannot retrieve hexagon tools from: ?(?P<path>[^ ]*)"]
  cause    = "The Makefile names a version of the Hexagon tools that this Hexagon SDK does not have: {path} is not there."
  remedy   = "Use the Makefile that step \"makefile\" writes, which looks up what the SDK has, or set HEXAGON_TOOLS_VERSION_X86 and its like to the folder below tools/HEXAGON_Tools (6.4 has 19.0.04, 6.2 and 6.3 have 8.8.06)."
  source   = "UbiquitousLearning/mllm, Makefile of the op package"
  explains = ["make-stopped"]
  examples = ["Makefile:96: *** \"ERROR: Cannot retrieve hexagon tools from: /opt/Hexagon_SDK/6.3.0.0/tools/HEXAGON_Tools/19.0.04/Tools. Expected: 19.0.04\".  Stop."]
}

failure "hexagon-root-arch" {
  where    = ["compile"]
  patterns = ["HEXAGON_SDK_ROOT_(?P<arch>V[0-9]+) is set incorrectly"]
  cause    = "The Makefile has rules for {arch} and leaves HEXAGON_SDK_ROOT_{arch} unset (mllm has v79 and v81 only in a comment)."
  remedy   = "Use the Makefile that step \"makefile\" writes, or set HEXAGON_SDK_ROOT_{arch} to the Hexagon SDK in the environment or on make's command line."
  source   = "UbiquitousLearning/mllm#650"
  explains = ["make-stopped"]
  examples = ["Makefile:104: *** \"ERROR: HEXAGON_SDK_ROOT_V79 is set incorrectly. Cannot retrieve \".  Stop."]
}

failure "hexagon-root" {
  where    = ["compile"]
  patterns = ["HEXAGON_SDK_ROOT(?: path)? is not set"]
  cause    = "The Makefile was called without the Hexagon SDK's folder."
  remedy   = "Run eval \"$(hexmage env hexagon qairt ndk)\": it sets HEXAGON_SDK_ROOT, QAIRT_SDK_ROOT, QNN_SDK_ROOT and ANDROID_NDK_ROOT."
  source   = "Qualcomm's Makefile of op packages"
  explains = ["make-stopped"]
  examples = ["Makefile:23: *** \"ERROR: HEXAGON_SDK_ROOT is not set. Hexagon-SDK path must be set to the latest hexagon-sdk-x.y.z\".  Stop."]
}

failure "qnn-include" {
  where    = ["compile"]
  patterns = ["QNN_INCLUDE path is not set", "QNN_TARGET_LIB path is not set"]
  cause    = "The Makefile does not find the QAIRT SDK: newer ones read QAIRT_SDK_ROOT, older ones QNN_SDK_ROOT."
  remedy   = "Run eval \"$(hexmage env qairt)\": it sets both, to one folder."
  source   = "UbiquitousLearning/mllm, Makefile of the op package"
  explains = ["make-stopped"]
  examples = [
    "Makefile:8: *** \"ERROR: QNN_INCLUDE path is not set. QNN include paths must be set to obtain BE headers necessary to compile the package\".  Stop.",
    "Makefile:16: *** \"ERROR: QNN_TARGET_LIB path is not set\".  Stop.",
  ]
}

failure "ndk-root" {
  where    = ["compile"]
  patterns = ["ANDROID_NDK_ROOT (?:path )?is not set"]
  cause    = "The Makefile was called without the Android NDK's folder, which the AArch64 half of the package needs."
  remedy   = "Run eval \"$(hexmage env ndk)\": it sets ANDROID_NDK_ROOT, ANDROID_NDK_PATH and ANDROID_NDK, which different parts of mllm read."
  source   = "Qualcomm's Makefile of op packages"
  explains = ["make-stopped"]
  examples = ["Makefile:62: *** \"ERROR: ANDROID_NDK_ROOT is not set. Android NDK path must be set to compile htp_aarch64\".  Stop."]
}

failure "no-rule-for-target" {
  where    = ["compile"]
  patterns = ["No rule to make target '(?P<target>htp_[a-z0-9]+)'"]
  cause    = "There is no Makefile with {target} here: on mllm's branch v1 it lies one folder too high, where it links an empty library."
  remedy   = "Use the Makefile that step \"makefile\" writes into the package's folder."
  source   = "UbiquitousLearning/mllm#492"
  explains = ["no-rule-to-make"]
  examples = ["make: *** No rule to make target 'htp_aarch64'.  Stop."]
}

failure "make-clean" {
  where    = ["compile"]
  patterns = ["Unknown target option provided"]
  cause    = "mllm's Makefile fails at `make clean` and for targets that it does not know: it defines its variables only for the others."
  remedy   = "Use the Makefile that step \"makefile\" writes, whose clean works; to clean by hand remove the folders build and libs."
  source   = "UbiquitousLearning/mllm, Makefile of the op package"
  examples = ["Makefile:147: *** \"ERROR: Unknown target option provided: Supported targets are: x86 aarch64 v68\".  Stop."]
}

failure "qhl-headers" {
  where    = ["compile"]
  patterns = ["'(?P<file>(?:hvx_internal|qhmath_hvx)[.]h)' file not found"]
  cause    = "{file} is not found: the Hexagon SDK has no libs/qhl_hvx, which HVX ops include, or the rule (mllm's v68, v69 and x86) leaves out the include folders."
  remedy   = "Take a full Hexagon SDK, not the tools alone, and build for v73 or newer."
  source   = "UbiquitousLearning/mllm"
  explains = ["make-stopped", "simulated-sdk"]
  examples = ["src/ops/SiLU.cpp:12:10: fatal error: 'hvx_internal.h' file not found"]
}

failure "qnn-include" {
  where    = ["compile"]
  patterns = ["fatal error: '?(?P<file>(?:QnnLog|QnnTypes|QnnOpPackage|QnnSdkBuildId|HTP/QnnHtpCommon|HTP/core/(?:tensor|simple_reg|constraints|optimize|op_register_ext|op_package_feature_support|unique_types))[.]h)(?:' file not found|: No such file or directory)"]
  cause    = "{file} is not found, which op packages take from include/QNN of QAIRT: the QAIRT SDK is missing, or no -I leads there."
  remedy   = "Add -I$QAIRT_SDK_ROOT/include/QNN, or take the full SDK (`hexmage toolchain fetch qairt`). CMake wants its root as an absolute path in QAIRT_SDK_ROOT; mllm's branch v1 wants it at mllm/backends/qnn/sdk."
  source   = "UbiquitousLearning/mllm#258"
  explains = ["make-stopped", "compile-error", "qnn-headers", "simulated-sdk"]
  examples = ["LLaMAPackageInterface.cpp:9:10: fatal error: 'HTP/core/op_register_ext.h' file not found", "QNNBackend.hpp:4:10: fatal error: 'QnnTypes.h' file not found", "mllm/backends/qnn/QNNBackend.cpp:9:10: fatal error: QnnLog.h: No such file or directory"]
}

failure "qnn-headers" {
  where    = ["compile"]
  patterns = ["fatal error: '?(?P<file>(?:Qnn[A-Za-z]+|HTP/core/[a-z_]+|HTP/[A-Za-z]+|System/Qnn[A-Za-z]+)[.]h)(?:' file not found|: No such file or directory)"]
  cause    = "{file} is not found: the QAIRT SDK is missing, or has no include/QNN with the HTP headers."
  remedy   = "Take the full SDK (`hexmage toolchain fetch qairt`), and give CMake its root as an absolute path in QAIRT_SDK_ROOT; mllm's branch v1 wants it at mllm/backends/qnn/sdk."
  source   = "UbiquitousLearning/mllm#258"
  explains = ["make-stopped", "compile-error"]
  examples = ["src/QnnContext.cpp:4:10: fatal error: 'System/QnnSystemContext.h' file not found"]
}

failure "hexagon-tools-old" {
  where    = ["compile"]
  patterns = ["(?:unknown|unsupported) argument:? '-m(?P<arch>v[0-9]+)", "unknown target CPU 'hexagon(?P<arch>v[0-9]+)'"]
  cause    = "The Hexagon tools are older than {arch}."
  remedy   = "Take newer tools: v75 needs tools 8.7, v79 needs 8.8 (Hexagon SDK 6.2), v81 needs 19.0 (Hexagon SDK 6.4)."
  source   = "qualcomm/hexagon-mlir#83"
  explains = ["make-stopped", "compiler-option"]
  examples = ["clang++: error: unknown argument: '-mv81'", "error: unknown target CPU 'hexagonv79'"]
}

failure "simulated-sdk" {
  where    = ["compile"]
  patterns = ["error: no (?:member|type|template) named '(?P<name>[^']+)'", "error: unknown type name '(?P<name>[^']+)'", "undeclared (?:function|identifier|library function) '(?P<name>[^']+)'", "error: '(?P<name>[^']+)' file not found"]
  also     = ["note: this is the simulated SDK"]
  cause    = "The simulated SDK does not have {name}. It has the part of Qualcomm's API and of the C++ library that known op packages use."
  remedy   = "If {name} is the package's own, go to the place that is named. Otherwise build with Qualcomm's SDKs, which may have it: `hexmage run PIPELINE --profile device`."
  source   = "the simulated SDK"
  explains = ["make-stopped", "compile-error", "qnn-headers", "libcxx-mismatch"]
  examples = [
    "src/ops/A.cpp:9:5: error: unknown type name 'QUint8CroutonTensor'\n1 error generated.\nhexagon-clang++: note: this is the simulated SDK, which has a part of what Qualcomm's SDKs have",
    "src/ops/A.cpp:2:10: fatal error: 'HTP/core/op_hook_base.h' file not found\n1 error generated.\nclang++: note: this is the simulated SDK, which has a part of what Qualcomm's SDKs have",
    "src/ops/A.cpp:7:3: error: use of undeclared identifier 'errlog'\nhexagon-clang++: note: this is the simulated SDK, which has a part of what Qualcomm's SDKs have",
    "src/ops/A.cpp:14:76: error: no member named 'vector' in namespace 'std'\nclang++: note: this is the simulated SDK, which has a part of what Qualcomm's SDKs have",
  ]
}

failure "hvx-instruction" {
  where    = ["compile"]
  patterns = ["undeclared (?:function|identifier) '(?P<name>Q6_[A-Za-z0-9_]+)'"]
  cause    = "An op uses the HVX instruction {name}, which the arch, or the step's hvx argument, does not have."
  remedy   = "Build for v73 or newer, and leave the hvx argument out: the llama ops need both."
  source   = "UbiquitousLearning/mllm#251"
  explains = ["make-stopped", "simulated-sdk"]
  examples = ["src/ops/LLaMAAdd.cpp:126:37: error: use of undeclared identifier 'Q6_Vqf32_vadd_VsfVsf'"]
}

failure "link-qnnhtp" {
  where    = ["compile"]
  patterns = ["(?:unable to find library|cannot find) -l(?P<lib>QnnHtp[A-Za-z]*)"]
  cause    = "The linker does not find lib{lib}.so: the QAIRT SDK has no lib/aarch64-android with libQnnHtp.so and libQnnHtpPrepare.so."
  remedy   = "Take the full SDK."
  source   = "Qualcomm's Makefile of op packages"
  explains = ["make-stopped"]
  examples = ["ld.lld: error: unable to find library -lQnnHtp"]
}

failure "libcxx-mismatch" {
  where    = ["compile"]
  patterns = ["no template named '(?P<name>unordered_map|string_view|optional|vector)'"]
  cause    = "The compiler found the headers of another C++ library than it is made for ({name} is missing)."
  remedy   = "Use clang 14 or newer with libc++ of the same version (libc++-dev), as the x86 targets of the SDK want."
  source   = "pytorch/executorch#11307"
  explains = ["make-stopped"]
  examples = ["QnnModel.hpp:44:8: error: no template named 'unordered_map' in namespace 'std'"]
}

failure "page-size" {
  where    = ["compile", "device", "tool"]
  patterns = ["(?P<lib>[^ ]+) is not 16 ?KB aligned", "(?i)(?P<lib>[^ ]+[.]so).*16 ?kb page.*(?:not aligned|incompatible)", "(?P<lib>[^ ]+[.]so)[^:]*: a segment is aligned to [0-9]+ bytes: phones with pages of 16 KiB"]
  cause    = "{lib} has segments aligned to 4 KB, and newer phones use pages of 16 KB."
  remedy   = "Link it with -Wl,-z,max-page-size=16384, or build with NDK r28 or newer, which does so by itself."
  source   = "pytorch/executorch#11518"
  examples = [
    "libqnn_executorch_backend.so is not 16 KB aligned",
    "Android: /data/app/lib/arm64/libfoo.so: 16 KB page size: not aligned",
    "libQnnLLaMAPackage.so for htp_aarch64: a segment is aligned to 4096 bytes: phones with pages of 16 KiB cannot load it",
  ]
}

failure "model-lib-target" {
  where    = ["compile", "tool"]
  patterns = ["Unsupported target[(]s[)]:? ?(?P<targets>[^.]*)"]
  cause    = "qnn-model-lib-generator cannot build for {targets}: the NDK is not in PATH, or this SDK has no Makefile for it."
  remedy   = "Put the NDK's folder into PATH (`hexmage env ndk`), and name only targets that the SDK's share/QNN/converter has."
  source   = "MollySophia/rwkv-qualcomm#6"
  explains = ["model-lib"]
  examples = ["ERROR - Unsupported target(s): aarch64-android"]
}

failure "model-lib" {
  where    = ["compile", "tool"]
  patterns = ["Failed to compile model library for target:? ?(?P<target>[^ ]*)"]
  rank     = "symptom"
  cause    = "The model's generated source could not be compiled for {target}: no compiler, no memory left, or weights beyond 2 GB."
  remedy   = "Look at the compiler's own message above it. For large models take the DLC way (qairt-converter), which compiles nothing."
  source   = "qualcomm/ai-hub-models#64"
  examples = ["Failed to compile model library for target: x86_64-linux-clang"]
}

failure "reloc-overflow" {
  where    = ["compile"]
  patterns = ["relocation (?:R_[A-Z0-9_]+ )?out of range", "relocation truncated to fit"]
  cause    = "The library is larger than its relocations reach: weights beyond 2 GB in one object."
  remedy   = "Take the DLC way, or split the model; a linker with -mcmodel=large may help on x86."
  source   = "saic-fi/MobileQuant"
  explains = ["model-lib", "make-stopped"]
  examples = [
    "ld.lld: error: obj/binary/model.o: relocation R_X86_64_PC32 out of range: 2415919104 is not in [-2147483648, 2147483647]",
    "model.o: relocation truncated to fit: R_X86_64_PC32 against `.rodata'",
  ]
}

failure "elf-machine" {
  where    = ["compile", "device", "tool"]
  patterns = ["has unexpected e_machine", "ld: error: [^ ]+: incompatible target", "error adding symbols: [Ff]ile (?:in wrong format|format not recognized)", "is incompatible with (?:elf|aarch64|armelf|hexagon|x86)", "wrong ELF class: ELFCLASS(?:32|64)", "unsupported ELF machine number [0-9]+", "cannot execute(?: binary file)?: [Ee]xec(?:utable)? format error"]
  cause    = "A file is for another machine than it was given to: an AArch64 library and a Hexagon one, or one of the host, were swapped."
  remedy   = "Run `hexmage inspect FILE`, which says what it is for. Ship a skel for the DSP without linking it. Libraries of htp_aarch64 and of htp_vNN have the same name: keep their folders apart (mllm adds _CPU and _HTP)."
  source   = "UbiquitousLearning/mllm; Tencent/ncnn#678, #1773, #1966; ARM-software/armnn#387; tensorflow/tensorflow#42929"
  explains = ["undefined-symbol-link", "link-stopped"]
  examples = [
    "aarch64-linux-gnu/bin/ld: /usr/local/lib/libopencv_highgui.so.3.4.10: error adding symbols: file in wrong format",
    "/w/ComputeLibrary/build/libarm_compute_core-static.a: error adding symbols: File format not recognized",
    "arm-linux-androideabi/bin/ld: error: /w/1.1.108.0/x86_64/lib/libvulkan.so: incompatible target\nallocator.cpp:279: error: undefined reference to 'vkFlushMappedMemoryRanges'",
    "bin/ld: fatal error: jni/armeabi-v7a/libhexagon_nn_skel.so: unsupported ELF machine number 164",
    "dlopen failed: \"/data/local/tmp/libQnnLLaMAPackage.so\" has unexpected e_machine: 164 (EM_164)",
    "OSError: libQnnHtp.so: wrong ELF class: ELFCLASS64",
    "ld.lld: error: libQnnHtp.so is incompatible with aarch64linux",
    "/system/bin/sh: ./mllm-qwen3-aot-runner: cannot execute: Exec format error",
  ]
}

failure "compile-error" {
  where    = ["compile"]
  patterns = ["^[^ ]+[.](?:c|cc|cpp|cxx|h|hpp|S):[0-9]+:[0-9]+: (?:fatal )?error: (?P<message>.*)"]
  rank     = "symptom"
  cause    = "The compiler does not accept the source: {message}"
  remedy   = "Go to the place that it names. If it is mllm's op package and the SDK was changed, `hexmage patch check` lists what to patch."
  source   = "clang"
  explains = ["make-stopped", "model-lib"]
  examples = ["src/ops/LLaMAMul.cpp:88:33: error: expected ';' after expression\n1 error generated."]
}

failure "op-without-source" {
  where    = ["compile"]
  patterns = ["undefined (?:hidden )?symbol: .*op_file_of<(?P<op>\\w+)>"]
  rank     = "cause"
  cause    = "The interface lists an op, {op}, that no source defines."
  remedy   = "Add its source to src/ops, or take its DECLARE_PKG_OPS_OPTS_LIST out of the interface (of a generated one: the op out of the op config)."
  source   = "lld"
  explains = ["undefined-symbol-link", "make-stopped"]
  examples = ["ld.lld: error: undefined symbol: void op_file_of<Scale>()"]
}

failure "headers-not-open" {
  where    = ["compile"]
  patterns = ["undefined symbol: open_(?:op_execute|op_name|sdk_build_id)"]
  rank     = "cause"
  cause    = "The op package was compiled with a vendor's headers: only those of the simulation can run an op on its own."
  remedy   = "Test kernels in profile simulated."
  source   = "lld"
  explains = ["undefined-symbol-link", "make-stopped"]
  examples = ["ld.lld: error: undefined symbol: open_op_name"]
}

failure "op-defined-twice" {
  where    = ["compile"]
  patterns = ["(?:duplicate symbol|multiple definition of):? [^\\n]*\\bop_file_of<(?P<op>[A-Za-z0-9_]+)>"]
  rank     = "cause"
  cause    = "Two sources of the op package define the same op: both have BEGIN_PKG_OP_DEFINITION({op}). The linker's next lines name them."
  remedy   = "If one source is a copy of the other, give the copy an op name of its own, also in END_PKG_OP_DEFINITION and DEF_PACKAGE_OP; `hexmage init --op NAME` starts a new op. Else delete one of them."
  explains = ["duplicate-symbol-link", "make-stopped"]
  source   = "lld, with the simulated SDK"
  examples = ["ld.lld: error: duplicate symbol: open_htp::OpFile* open_htp::op_file_of<PKG_Clip>()\n>>> defined at Clip.cpp"]
}

failure "duplicate-symbol-link" {
  where    = ["compile"]
  patterns = ["duplicate symbol: (?P<symbol>[^\\n]+)", "multiple definition of [`'](?P<symbol>[^']+)'"]
  rank     = "symptom"
  cause    = "Two files that are linked define {symbol}. The linker's next lines name them."
  remedy   = "Rename one definition, or make it static or inline. If the files are copies of each other, link one of them."
  explains = ["make-stopped"]
  source   = "lld, GNU ld"
  examples = [
    "ld.lld: error: duplicate symbol: register_hvx_tables()",
    "clip.cpp:(.text+0x0): multiple definition of `register_hvx_tables()'; scale.o:scale.cpp:(.text+0x0): first defined here",
  ]
}

failure "undefined-symbol-link" {
  where    = ["compile"]
  patterns = ["undefined (?:hidden )?symbol: (?P<symbol>[^\\n]+)", "undefined reference to [`'](?P<symbol>[^']+)"]
  rank     = "symptom"
  cause    = "Nothing that is linked has {symbol}."
  remedy   = "Add the library or source that has it; for a QNN symbol check that headers and libraries are of one SDK."
  source   = "lld"
  explains = ["make-stopped"]
  examples = [
    "ld.lld: error: undefined symbol: register_hvx_tables()",
    "main.cpp:7: undefined reference to `QnnInterface_getProviders'",
  ]
}

failure "make-stopped" {
  where    = ["compile"]
  patterns = ["make(?:\\[[0-9]+\\])?: \\*\\*\\* \\[[^\\]]*\\] Error [0-9]+", "ninja: build stopped: subcommand failed", "Makefile:[0-9]+: \\*\\*\\* "]
  rank     = "consequence"
  cause    = "make or ninja stopped after a command had failed."
  remedy   = "Look at the command's own message above. With -j it may be far above: run again with -j1."
  source   = "make"
  examples = [
    "make: *** [Makefile:231: build/hexagon-v79/ops/LLaMAMul.o] Error 1",
    "ninja: build stopped: subcommand failed.",
    "Makefile:12: *** missing separator.  Stop.",
  ]
}

failure "no-rule-to-make" {
  where    = ["compile"]
  patterns = ["No rule to make target '(?P<target>[A-Za-z_][A-Za-z0-9_-]*)'[.] +Stop"]
  cause    = "The Makefile in this folder has no target {target}. With CMake, `install` exists only if a CMakeLists.txt of the project installs something."
  remedy   = "Build without {target}, or configure and build in the folder of the project that has it; a newer checkout may have it."
  source   = "pytorch/executorch#1490; GNU make"
  examples = ["-- Build files have been written to: /w/build_android\ngmake: *** No rule to make target 'install'.  Stop."]
}

failure "cmake-error" {
  where    = ["compile"]
  patterns = ["^CMake Error", "Configuring incomplete, errors occurred!"]
  rank     = "symptom"
  cause    = "CMake could not configure the project."
  remedy   = "Read the indented lines below `CMake Error at`: they say what is wrong."
  source   = "CMake"
  examples = [
    "CMake Error at CMakeLists.txt:66 (target_sources):\n  Cannot find source file:",
    "-- Configuring incomplete, errors occurred!",
  ]
}

failure "link-library" {
  where    = ["compile"]
  patterns = ["(?:unable to find library|cannot find) -l(?P<lib>[A-Za-z0-9_+.-]+)"]
  rank     = "symptom"
  cause    = "The linker finds no library lib{lib}."
  remedy   = "Build or install it for the target, and give the linker its folder (-L); look whether an option of the build leaves it out."
  source   = "lld, GNU ld"
  examples = ["ld.lld: error: unable to find library -lprotobuf-lite"]
}

failure "link-stopped" {
  where    = ["compile"]
  patterns = ["linker command failed with exit code [0-9]+", "linking with `[^`]+` failed: exit status"]
  rank     = "consequence"
  cause    = "The linker failed."
  remedy   = "Look at its first error above."
  source   = "Clang, rustc"
  examples = [
    "clang++: error: linker command failed with exit code 1 (use -v to see invocation)",
    "error: linking with `hexagon-unknown-linux-musl-clang` failed: exit status: 127",
  ]
}

failure "cmake-package" {
  where    = ["compile"]
  patterns = ["Could NOT find (?P<package>[A-Za-z0-9_]+) [(]missing: (?P<missing>[A-Za-z0-9_ ]+)", "Could not find a package configuration file provided by \"(?P<package>[A-Za-z0-9_]+)\""]
  cause    = "CMake does not find {package} for the target that it builds for."
  remedy   = "Install {package} for that target and give its place, -D{package}_ROOT=DIR or the variables that the line names. If the project does not need it, switch its option off."
  source   = "ggml-org/llama.cpp#22945"
  explains = ["cmake-error"]
  examples = [
    "CMake Error at /usr/share/cmake/Modules/FindPackageHandleStandardArgs.cmake:230 (message):\n  Could NOT find OpenCL (missing: OpenCL_LIBRARY OpenCL_INCLUDE_DIR)",
    "CMake Error at CMakeLists.txt:12 (find_package):\n  Could not find a package configuration file provided by \"gflags\" with any of the following names:",
  ]
}

failure "cmake-compiler" {
  where    = ["compile"]
  patterns = ["is not able to compile a simple test program", "Check for working (?:C|CXX) compiler: .* -+ broken", "The CMAKE_(?:C|CXX|ASM)_COMPILER: *(?P<path>[^ ]+) +is not a full path to an existing compiler"]
  cause    = "The compiler that CMake was given does not exist, or cannot make a program: the NDK is for another host, a flag is unknown to it, or it may not be executed."
  remedy   = "Read the command and its output below the line. Run the compiler by hand with --version, check ANDROID_NDK_ROOT and ANDROID_ABI, and configure in an empty build folder."
  source   = "ggml-org/llama.cpp#5312; rupeshs/alpaca.cpp#5; android/ndk#1363; Tencent/ncnn#2252; android/ndk-samples#619"
  explains = ["cmake-error", "make-stopped"]
  examples = [
    "CMake Error at /usr/share/cmake/Modules/CMakeTestCCompiler.cmake:70 (message):\n  The C compiler\n    \"/home/w/android-ndk-r25c/toolchains/llvm/prebuilt/linux-x86_64/bin/clang\"\n  is not able to compile a simple test program.",
    "CMake Error at CMakeLists.txt:2 (project): The CMAKE_C_COMPILER: /data/data/com.termux/files/home/android-ndk-r26b/toolchains/llvm/prebuilt/linux-aarch64/bin/clang is not a full path to an existing compiler tool.",
    "-- Check for working C compiler: D:/sdk/ndk-bundle/toolchains/llvm/prebuilt/windows-x86_64/bin/clang.exe -- broken",
    "CMake Error in CMakeLists.txt:\n  The CMAKE_CXX_COMPILER:\n\n    /ndk/prebuilt/darwin-x86_64/bin/clang++\n\n  is not a full path to an existing compiler tool.",
  ]
}

failure "cmake-generator" {
  where    = ["compile"]
  patterns = ["CMake was unable to find a build program corresponding to \"(?P<tool>[^\"]+)\""]
  cause    = "CMake is to use {tool}, which is not installed or not in PATH."
  remedy   = "Install it (ninja-build, make), or choose another generator with -G, in an empty build folder."
  source   = "Maratyszcza/NNPACK#173; topfreegames/libpitaya#9; kimsan0622/libx265-android#2"
  explains = ["cmake-error", "cmake-language"]
  examples = [
    "CMake Error: CMake was unable to find a build program corresponding to \"Ninja\".",
    "CMake Error: CMake was unable to find a build program corresponding to \"Unix Makefiles\".  CMAKE_MAKE_PROGRAM is not set.  You probably need to select a different build tool.",
  ]
}

failure "cmake-language" {
  where    = ["compile"]
  patterns = ["CMAKE_(?P<language>[A-Z]+)_COMPILER not set, after EnableLanguage"]
  rank     = "symptom"
  cause    = "CMake found no compiler for {language}."
  remedy   = "Look for the first CMake error above it. Without one, install the compiler or name it with -DCMAKE_{language}_COMPILER."
  source   = "Maratyszcza/NNPACK#173"
  explains = ["cmake-error"]
  examples = ["CMake Error: CMAKE_C_COMPILER not set, after EnableLanguage", "CMake Error: CMAKE_ASM_COMPILER not set, after EnableLanguage"]
}

failure "cmake-toolchain-file" {
  where    = ["compile"]
  patterns = ["Could not find toolchain file:"]
  cause    = "The file that CMAKE_TOOLCHAIN_FILE names does not exist."
  remedy   = "Correct the path: the NDK's is $ANDROID_NDK_ROOT/build/cmake/android.toolchain.cmake. Use an absolute path, since CMake looks from its build folder."
  source   = "topfreegames/libpitaya#9; Maratyszcza/NNPACK#173"
  explains = ["cmake-error", "cmake-generator", "cmake-language"]
  examples = ["CMake Error at /usr/local/Cellar/cmake/3.12.3/share/cmake/Modules/CMakeDetermineSystem.cmake:100 (message):\n  Could not find toolchain file:\n  ../temp/android-ndk-r17b/build/cmake/android.toolchain.cmake"]
}

failure "c-headers-missing" {
  where    = ["compile"]
  patterns = ["fatal error: '?(?P<file>std(?:io|lib|int|def|bool|arg)[.]h|string[.]h|math[.]h|iostream|cstdint|cstdio|cstring)(?:' file not found|: No such file)"]
  cause    = "The compiler has no C library headers ({file}): a cross compiler without a sysroot compiles for this machine, or the host's libc headers are not installed."
  remedy   = "Install the host's compiler and headers (build-essential, libc6-dev), and name a host compiler for tools that the build runs itself; for a target, pass its sysroot."
  source   = "ggml-org/llama.cpp#23711"
  explains = ["compile-error", "make-stopped"]
  examples = ["/workspace/tools/ui/embed.cpp:7:10: fatal error: 'stdio.h' file not found\n    7 | #include <stdio.h>"]
}

failure "compiler-crash" {
  where    = ["compile"]
  patterns = ["clang frontend command failed (?:with exit code [0-9]+|due to signal)", "internal compiler error: (?P<what>.+)", "PLEASE (?:submit a bug report|ATTACH THE FOLLOWING FILES)", "^Stack dump:$"]
  cause    = "The compiler itself crashed at this source file: it has a bug, or the machine has too little memory."
  remedy   = "Compile that file with a lower optimization level (-O1) or another release of the compiler. If memory is short, build with fewer jobs (-j2)."
  source   = "llvm/llvm-project#107821, #122417, #59923; ggml-org/llama.cpp#23018; ClangBuiltLinux/linux#757"
  explains = ["segfault", "make-stopped", "compile-error"]
  examples = [
    "Stack dump:\n0.\tProgram arguments: /llvm/build/bin/clang-10 -cc1 -triple hexagon-unknown-linux-gnu -emit-obj -main-file-name vsprintf.c",
    "clang++: error: clang frontend command failed with exit code 139 (use -v to see invocation)",
    "clang-16: error: clang frontend command failed with exit code 136 (use -v to see invocation)",
    "PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the crash backtrace, preprocessed source, and associated run script.",
    "a.cpp:3:1: internal compiler error: Segmentation fault",
  ]
}

failure "llvm-ir-newer" {
  where    = ["compile"]
  patterns = ["[.]ll:[0-9]+:[0-9]+: error: (?:expected top-level entity|expected type|unknown attribute)"]
  cause    = "A newer LLVM wrote this file than the clang that reads it, as Halide's does for an old hexagon-clang."
  remedy   = "Use Hexagon tools at least as new as the LLVM that writes the file, or the LLVM release that the project names."
  source   = "halide/Halide#1444"
  explains = ["compile-error", "make-stopped"]
  examples = ["/tmp/hexrGI6K9.ll:2:1: error: expected top-level entity\nsource_filename = \"src/runtime/noos.cpp\""]
}

failure "ninja-file-missing" {
  where    = ["compile"]
  patterns = ["ninja: error: '(?P<file>[^']+)', needed by '(?P<target>[^']+)', missing and no known rule to make it"]
  cause    = "{file} is not there, {target} needs it, and nothing in the project makes it."
  remedy   = "Put the file there: a prebuilt library to download, or a submodule (`git submodule update --init --recursive`). If it lies elsewhere, correct its path in CMakeLists.txt and configure again."
  source   = "nihui/ncnn-android-benchmark#1"
  explains = ["gradle-stopped"]
  examples = ["ninja: error: 'D:/dev/ncnn-android-benchmark/app/src/main/jni/ncnn-android-vulkan-lib/armeabi-v7a/libglslang.a', needed by 'libbenchmarkncnn.so', missing and no known rule to make it"]
}

failure "gradle-stopped" {
  where    = ["compile"]
  patterns = ["^Build command failed[.]", "Error while executing process (?P<program>[^ ]+) with arguments", "Execution failed for task '(?P<task>[^']+)'"]
  rank     = "consequence"
  cause    = "Gradle stopped: a program that it started failed."
  remedy   = "Look for the first error after it or above it: CMake's, ninja's or the compiler's."
  source   = "nihui/ncnn-android-benchmark#1; FeiGeChuanShu/ncnn_paddleocr#14; NitrogenZLab/ting#6"
  examples = [
    "org.gradle.api.tasks.TaskExecutionException: Execution failed for task ':app:externalNativeBuildDebug'.",
    "Execution failed for task ':app:externalNativeBuildCleanDebug'.",
    "Build command failed.\nError while executing process D:\\soft\\Android\\sdk\\cmake\\3.6.4111459\\bin\\cmake.exe with arguments {--build D:\\dev\\app}",
  ]
}

failure "link-file-broken" {
  where    = ["compile"]
  patterns = ["(?P<file>[^ :]+): file format not recognized; treating as linker script"]
  cause    = "{file} is no library: it is cut off, or a text that stands for it (a pointer of Git LFS)."
  remedy   = "Look at it with `file` and `head -c 200`, and get it again (`git lfs pull`)."
  source   = "rockchip-linux/rknpu2#6"
  explains = ["link-stopped", "make-stopped"]
  examples = ["aarch64-linux-android/bin/ld:/w/librknn_api/arm64-v8a/librknn_api.so: file format not recognized; treating as linker script"]
}
