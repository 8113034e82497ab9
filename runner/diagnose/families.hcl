# Families of failures: entries for messages that many programs print in the same form. Entries of a certain program or
# library come first.

failure "runtime-symbols" {
  where    = ["compile"]
  patterns = ["undefined (?:hidden )?symbol: +(?P<symbol>__(?:aeabi|aarch64|emutls|mul|div|udiv|mod|umod|fix|float|trunc|extend|ash|lsh|add[dst]|sub[dst]|cmp|pop|clz|ctz|clear_cache|cpu_model)[A-Za-z0-9_]*)", "undefined reference to [`'](?P<symbol>__(?:aeabi|aarch64|emutls|mul|div|udiv|mod|umod|fix|float|trunc|extend|clear_cache|cpu_model)[A-Za-z0-9_]*)"]
  cause    = "The link lacks the compiler's own runtime library, which has {symbol}: the linker was called without it."
  remedy   = "Link with the NDK's clang (not with ld), and without -nostdlib and -nodefaultlibs. If the build needs them, add libclang_rt.builtins of the target; -mno-outline-atomics avoids __aarch64_ symbols."
  source   = "android/ndk#1996, #1984; exult/exult#595"
  explains = ["undefined-symbol-link", "link-stopped", "make-stopped"]
  examples = [
    "ld.lld: error: undefined symbol:  __aeabi_d2lz",
    "ld.lld: error: undefined symbol: __aarch64_ldadd8_relax",
    "a.o: undefined reference to `__aarch64_cas4_acq'",
  ]
}

failure "cxx-runtime-symbols" {
  where    = ["compile"]
  patterns = ["undefined (?:hidden )?symbol: +(?P<symbol>(?:__cxa_|__gxx_|operator (?:new|delete)|std::|(?:vtable|typeinfo) for (?:std::|__cxxabiv1)|_ZNK?St|_Zn[aw]|_Zd[al])[^\\n]*)", "undefined reference to [`'](?P<symbol>(?:__cxa_|__gxx_|operator (?:new|delete)|std::|(?:vtable|typeinfo) for (?:std::|__cxxabiv1)|_ZNK?St|_Zn[aw]|_Zd[al])[^']*)"]
  cause    = "The link lacks the C++ library that the objects were compiled for: {symbol} is one of its symbols."
  remedy   = "Link with clang++ (not with clang or ld), and without -nodefaultlibs. If the name has __cxx11 or __ndk1, build all objects and libraries with one toolchain and one C++ library (ANDROID_STL)."
  source   = "android/ndk#1995"
  explains = ["undefined-symbol-link", "link-stopped", "make-stopped"]
  examples = [
    "ld.lld: error: undefined symbol: __cxa_begin_catch\nld.lld: error: undefined symbol: operator new[](unsigned long)",
    "a.o: undefined reference to `std::__cxx11::basic_string<char>::compare(char const*) const'",
  ]
}

failure "entry-symbol" {
  where    = ["compile"]
  patterns = ["undefined (?:hidden )?symbol: +(?P<symbol>main|android_main|WinMain|SDL_main|ANativeActivity_onCreate)\\s*$", "undefined reference to [`'](?P<symbol>main|android_main|WinMain|SDL_main|ANativeActivity_onCreate)'"]
  cause    = "No source of the program defines {symbol}, where the program starts."
  remedy   = "Add {symbol} (in C++ as extern \"C\") in a source of this target. If it is in a static library, link the object itself or use -u {symbol}; for a library, link with -shared."
  source   = "android/ndk#1385"
  explains = ["undefined-symbol-link", "link-stopped", "make-stopped"]
  examples = ["ld : error : undefined symbol: android_main", "crt1.o: undefined reference to `main'"]
}

failure "sysroot-missing" {
  where    = ["compile"]
  patterns = ["(?:cannot find|cannot open|no such file or directory:) '?(?:[^ ']*/)?(?P<file>S?crt(?:begin|end|[1in])[A-Za-z_0-9]*[.]o)"]
  cause    = "The linker finds no {file}: it looks into a folder without the target's C library (sysroot)."
  remedy   = "Use the NDK's clang with --target=aarch64-linux-android and the API level behind it, and remove a --sysroot of your own. On a host, install the C library's development package for the target."
  source   = "LibVNC/libvncserver#201"
  explains = ["link-library", "link-stopped", "make-stopped"]
  examples = ["bin/ld: cannot find crtbegin_dynamic.o: No such file or directory\nbin/ld: cannot find -lc", "ld.lld: error: cannot open crt1.o: No such file or directory"]
}

failure "cmake-message" {
  where    = ["compile"]
  patterns = ["^CMake Error at (?P<place>[^ ]+) [(]message[)]: (?P<what>.+)"]
  rank     = "symptom"
  cause    = "The project's CMake files stopped the build: {what}"
  remedy   = "Set or correct the option or path that the message names, and configure in an empty build folder. {place} has the condition."
  source   = "apache/tvm#10202; CMake"
  explains = ["cmake-error"]
  examples = ["CMake Error at cmake/modules/HexagonSDK.cmake:47 (message):\n  Cannot validate Hexagon SDK in /path/to/sdk"]
}

failure "app-library-missing" {
  where    = ["device", "logcat"]
  patterns = ["UnsatisfiedLinkError: .*library \"(?P<lib>[^\"]+)\" not found", "UnsatisfiedLinkError: .*couldn't find \"(?P<lib>[^\"]+)\""]
  cause    = "The app has no {lib} for this device's ABI, or the system loader does not find it."
  remedy   = "Look with `unzip -l APP.apk` for lib/ABI/{lib}. If it is missing, add it to src/main/jniLibs/ABI and the ABI to abiFilters. An emulator on a PC has the ABI x86_64."
  source   = "Tencent/TNN#936; k2-fsa/sherpa-onnx#1279; daquexian/dnnlibrary-example#12"
  explains = ["library-not-found"]
  examples = [
    "E AndroidRuntime: java.lang.UnsatisfiedLinkError: dlopen failed: library \"libtnn_wrapper.so\" not found",
    "java.lang.UnsatisfiedLinkError: dalvik.system.PathClassLoader[DexPathList[[zip file \"base.apk\"]]] couldn't find \"libdaq.so\"",
  ]
}

failure "jni-method" {
  where    = ["device", "logcat"]
  patterns = ["No implementation found for (?P<method>[^(]+)[(]"]
  cause    = "No loaded library has the native method {method}."
  remedy   = "Load the library with System.loadLibrary before the first call. Compare the names of package, class and method with `nm -D LIB.so | grep Java_`: C++ needs extern \"C\"."
  source   = "Android's runtime"
  examples = ["java.lang.UnsatisfiedLinkError: No implementation found for long com.example.Net.create(java.lang.String) (tried Java_com_example_Net_create)"]
}

failure "assertion" {
  where    = ["tool", "device", "compile", "logcat"]
  patterns = ["Assertion [`'\"](?P<what>.+)['\"] failed", "[Aa]ssertion failed: (?P<what>.+)", "[Cc]heck failed: (?P<what>.+)"]
  rank     = "symptom"
  cause    = "The program stopped itself, since a condition that it relies on does not hold: {what}"
  remedy   = "Look at the line's source file: its name tells the layer or step. Compare the input there (shape, type, options) with an example that works, and try a newer release of the program."
  source   = "Tencent/TNN#1966"
  explains = ["signal", "terminate-called", "tombstone"]
  examples = [
    "python3: onnx_converter_resize.cc:91: virtual std::string OnnxOpConverterResize::TNNLayerParam(onnx::NodeProto&): Assertion 'o' failed.",
    "Assertion failed: (n > 0), function run, file a.cc, line 3.",
    "F rpc.cc:741: Check failed: code == RPCCode::kReturn code=4",
  ]
}

failure "pip-conflict" {
  where    = ["tool"]
  patterns = ["pip's dependency resolver does not currently take into account", " requires (?P<want>[A-Za-z0-9_.-]+[=<>!~][^ ]*), but you(?: will)? have (?P<have>[A-Za-z0-9_.-]+ [^ ]+) which is incompatible", "^ERROR: (?:Cannot install|ResolutionImpossible)"]
  cause    = "Python packages with versions that exclude each other are in one environment."
  remedy   = "Create a fresh environment (`python -m venv`), and install the package that requires the other first, with the version that it names. Leave the others to pip."
  source   = "qualcomm/aimet#2475; qualcomm/wos-ai-plugins#7"
  examples = [
    "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.",
    "aimettorch 1.28.0 requires torch==1.13.1+cu116, but you have torch 1.9.1+cu111 which is incompatible.",
    "ERROR: Cannot install a and b because these package versions have conflicting dependencies.",
  ]
}

failure "python-error" {
  where    = ["tool"]
  patterns = ["^(?P<error>(?:Index|Type|Value|Attribute|Runtime|Name|OS|NotImplemented|Assertion|Unicode[A-Z][a-z]+|Unbound[A-Za-z]+|Import|Syntax|Zero[A-Za-z]+)Error): (?P<what>.+)", "^(?P<error>[a-z][A-Za-z0-9_]*(?:[.][A-Za-z0-9_]+)+(?:Error|Exception|Fail|InvalidArgument)): (?P<what>.+)"]
  also     = ["File \"[^\"]+\", line [0-9]+"]
  rank     = "consequence"
  cause    = "A Python program stopped with {error}: {what}"
  remedy   = "Look at the last file of the traceback. If it belongs to a package, install the versions that the project pins into a fresh environment. If it is your own, correct that line or its input."
  source   = "qualcomm/ai-hub-models#154; PaddlePaddle/PaddleOCR#5289"
  examples = [
    "  File \"/x/qai_hub_models/models/_shared/llama3/model.py\", line 135, in precompute\nIndexError: too many indices for tensor of dimension 1",
    "  File \"/x/onnx_translations.py\", line 69, in register_op_schema\nonnx.onnx_cpp2py_export.defs.SchemaError: No schema registered for 'ScaledTanh'",
  ]
}

failure "external-data" {
  where    = ["tool", "device"]
  patterns = ["External initializer: (?P<tensor>[^ ]+) .*out of bounds or can not be read in full", "External data path (?P<tensor>[^ ]+).* does not exist"]
  cause    = "The file with the model's weights is missing or cut short. A file of 130 bytes is a pointer of Git LFS."
  remedy   = "Run `git lfs pull` in the model's folder, or download the data file again. Keep it beside the .onnx file under its first name."
  source   = "microsoft/onnxruntime-genai#1040"
  examples = [
    "GetExtDataFromTensorProto External initializer: model.norm.weight offset: 395907072 size to read: 12288 given file_length: 135 are out of bounds or can not be read in full.",
    "External data path for model.onnx_data does not exist",
  ]
}

failure "opencl-build" {
  where    = ["device", "logcat"]
  patterns = ["Failed to build program executable", "CL_BUILD_PROGRAM_FAILURE", "kernel compile error", "clBuildProgram.*(?:-11|fail|error)"]
  cause    = "The GPU's OpenCL driver does not compile the program's kernels: it does not know an option or lacks memory."
  remedy   = "Try another release of the program or delegate, or update the phone's system with its GPU driver. Until then choose the CPU or the NPU."
  source   = "google-ai-edge/LiteRT#528; leejet/stable-diffusion.cpp#1226"
  explains = ["tflite-delegate", "segfault"]
  examples = [
    "Internal error: Failed to apply delegate: Failed to build program executable - Invalid build optionserror: unknown build option '-fregister-allocation=64'",
    "ggml_opencl: kernel compile error:",
    "clBuildProgram failed: -11",
    "error CL_BUILD_PROGRAM_FAILURE",
  ]
}

failure "opencl-memory" {
  where    = ["device", "logcat"]
  patterns = ["CL_OUT_OF_(?:HOST_MEMORY|RESOURCES)", "CL_MEM_OBJECT_ALLOCATION_FAILURE", "CL_INVALID_BUFFER_SIZE", "(?:clCreateBuffer|clEnqueue[A-Za-z]+)[^\\n]* -(?:4|5|6|61)\\b"]
  cause    = "The GPU has no memory for this buffer or kernel. Adreno limits one buffer to a part of the memory."
  remedy   = "Take a smaller model, context or batch, or give fewer layers to the GPU (-ngl). Close other apps."
  source   = "ggml-org/llama.cpp#26436"
  explains = ["assertion", "segfault"]
  examples = [
    "build returns -6 (CL_OUT_OF_HOST_MEMORY)",
    "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    "error CL_INVALID_BUFFER_SIZE",
    "clCreateBuffer failed with -61",
  ]
}

failure "symbol-lookup" {
  where    = ["tool", "device"]
  patterns = ["symbol lookup error: (?P<lib>[^ :]+): undefined symbol: (?P<symbol>[^ ,\\n]+)", "(?P<lib>[^ :]+[.]so[^ :]*): undefined symbol: (?P<symbol>[A-Za-z0-9_]+)"]
  rank     = "symptom"
  cause    = "{lib} needs {symbol}, and no loaded library has it: the libraries are of different versions."
  remedy   = "Look with `ldd` which libraries it loads. Install the version that it was built with, or build it again here; keep folders with other versions out of LD_LIBRARY_PATH."
  source   = "tried: glibc 2.36, Python 3.11"
  explains = ["undefined-symbol-link"]
  examples = ["./prog: symbol lookup error: /tmp/real/libGenie.so: undefined symbol: QnnLog_x", "OSError: ./libGenie.so: undefined symbol: QnnLog_x"]
}

failure "windows-dll" {
  where    = ["device", "tool"]
  patterns = ["Unable to load DLL '(?P<lib>[^']+)'", "DLL load failed while importing (?P<lib>[A-Za-z0-9_.]+)", "because (?P<lib>[A-Za-z0-9_.-]+[.]dll) was not found", "Error loading \"(?P<lib>[^\"]+[.]dll)\" or one of its dependencies"]
  cause    = "Windows does not load {lib}: the file, a DLL that it needs, or the Visual C++ runtime is missing or for another processor."
  remedy   = "Install the Visual C++ Redistributable for the program's processor. Check that program and DLLs are all arm64 (`dumpbin /headers`), that Python is the build for ARM64, and copy the DLL beside the program."
  source   = "microsoft/PhiCookBook#84"
  examples = [
    "Unable to load DLL 'onnxruntime-genai' or one of its dependencies: The specified module could not be found. (0x8007007E)",
    "ImportError: DLL load failed while importing onnxruntime_pybind11_state: The specified module could not be found.",
    "The code execution cannot proceed because QnnHtp.dll was not found.",
    "OSError: [WinError 126] Error loading \"C:\\torch\\lib\\shm.dll\" or one of its dependencies.",
  ]
}

failure "windows-wrong-processor" {
  where    = ["device", "tool"]
  patterns = ["BadImageFormatException", "is not a valid Win32 application", "[(]0x800700C1[)]", "WinError 193"]
  cause    = "A program or DLL is for another processor than the process that loads it: arm64 and x64 are mixed."
  remedy   = "Use one processor for all: the arm64 build of Python or .NET with arm64 DLLs, or x64 for both. QNN's HTP needs arm64 or arm64ec."
  source   = "Windows"
  examples = ["System.BadImageFormatException: An attempt was made to load a program with an incorrect format. (0x8007000B)", "OSError: [WinError 193] %1 is not a valid Win32 application", "x.dll (0x800700C1)"]
}

failure "program-missing" {
  where    = ["tool", "compile", "device"]
  patterns = ["(?:^|: )(?P<program>[A-Za-z0-9_.+-]+): (?:command not found|inaccessible or not found|not found)$", "'(?P<program>[^']+)' is not recognized as an internal or external command", "[Cc]ompiler ' *(?P<program>[^ ']+)' not found"]
  rank     = "symptom"
  cause    = "The shell finds no program {program}."
  remedy   = "Install {program}, or add its folder to PATH. For a program of the QAIRT SDK, run `source bin/envsetup.sh` first. The NDK's compilers are in toolchains/llvm/prebuilt/HOST/bin."
  source   = "bash; Windows; ARM-software/armnn#204"
  examples = ["bash: qnn-onnx-converter: command not found", "'qnn-net-run' is not recognized as an internal or external command,", "/bin/sh: 1: cmake: not found", "ERROR: Compiler ' aarch64-linux-android-clang++' not found"]
}

failure "compiler-option" {
  where    = ["compile"]
  patterns = ["(?:error|fatal): (?:unknown argument|unrecognized (?:command[- ]line )?option|unsupported option|unsupported argument)[: ]+['‘]?(?P<option>-[^ '’]+)", "error: the clang compiler does not support '(?P<option>-[^']+)'"]
  cause    = "This compiler does not know {option}: it is older, or for another machine, than the build expects."
  remedy   = "Use the compiler release that the project names, or remove {option} from its flags. -march and -mcpu must be for the target: look for a compiler of the host."
  source   = "tried: clang 22, GCC 12"
  explains = ["make-stopped", "compile-error"]
  examples = ["clang: error: unsupported option '-mfpu=' for target 'aarch64-linux-android21'", "gcc: error: unrecognized command-line option ‘-mhvx’; did you mean ‘-mavx’?", "error: the clang compiler does not support '-mcpu=native'"]
}

failure "sanitizer" {
  where    = ["device", "tool"]
  patterns = ["ERROR: (?P<tool>Address|HWAddress|Memory|Thread|Leak)Sanitizer: (?P<what>[A-Za-z-]+)"]
  cause    = "{tool}Sanitizer found a fault in the program's memory: {what}."
  remedy   = "Read the first stack below it: its first line of your own source has the fault. The second and third stack tell where the memory was allocated and freed."
  source   = "tried: GCC 12"
  explains = ["signal", "segfault"]
  examples = ["==30765==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x55e339e4d246 bp 0x7fff93d87a40 sp 0x7fff93d87a38"]
}

failure "kernel-oops" {
  where    = ["device", "logcat"]
  patterns = ["Unable to handle kernel (?P<what>[A-Za-z ]+) at virtual address", "Kernel panic - not syncing: (?P<what>.+)"]
  cause    = "The device's kernel crashed ({what}): a driver has a bug."
  remedy   = "Read the lines `pc :` and `Call trace:` below it, which name the driver. Reboot, update kernel and firmware together, and report it with the whole trace."
  source   = "qualcomm-linux/kernel#1138"
  explains = ["remoteproc-crash", "fastrpc-mmap", "dsp-crash"]
  examples = ["[   39.138722] Unable to handle kernel paging request at virtual address 006b6b6b6b6b6bb3", "Kernel panic - not syncing: Oops: Fatal exception"]
}

failure "qnn-error-name" {
  where    = ["device", "tool", "logcat"]
  patterns = ["(?P<name>QNN_[A-Z]+_ERROR_[A-Z_]+)"]
  rank     = "consequence"
  cause    = "QNN stops with {name}."
  remedy   = "Look for the first <E> line above it. Without one, run again with the log level debug or verbose; the API reference explains the name."
  source   = "tried: libQnnHtp.so 2.51.0"
  examples = ["FAIL QNN_DEVICE_ERROR_INVALID_CONFIG: Invalid config values"]
}

failure "permission-denied" {
  where    = ["tool", "device", "compile"]
  patterns = ["(?P<file>/[^ :'\"]+)['\"]?: [Pp]ermission denied", "PermissionError: \\[Errno 13\\] Permission denied: '(?P<file>[^']*)'"]
  rank     = "consequence"
  cause    = "The program has no permission to open or run {file}."
  remedy   = "Check owner and mode with `ls -lZ`. For a program on the phone, use /data/local/tmp and `chmod +x`; /sdcard runs nothing. For a device node, check group and SELinux."
  source   = "tried: coreutils 9.1, Python 3.11 on Debian 12"
  examples = ["cat: /root/.bashrc: Permission denied", "PermissionError: [Errno 13] Permission denied: '/root/x'"]
}

failure "file-missing" {
  where    = ["tool", "device", "compile"]
  patterns = ["(?P<file>[^ :'\"`‘’]*[/.][^ :'\"`‘’]+)['\"’]?: No such file or directory"]
  rank     = "consequence"
  cause    = "{file} does not exist where the program looks for it."
  remedy   = "Check the path and the folder from which the program runs. If an earlier step makes the file, look for its error; on a phone, push it."
  source   = "tried: coreutils 9.1, bash 5.2 on Debian 12"
  examples = ["cp: cannot stat 'build/libfoo.so': No such file or directory", "bash: ./nofile: No such file or directory"]
}

failure "no-memory" {
  where    = ["tool", "device", "compile"]
  patterns = ["(?i)\\bout of memory\\b", "(?i)failed to allocate (?:[a-z]+ )*(?:memory|buffer)"]
  rank     = "symptom"
  cause    = "The program could not allocate memory."
  remedy   = "Compare the size that it asks for with the free memory (`free -h`, on a phone `adb shell cat /proc/meminfo`). Close other programs, or take a smaller model, context or batch."
  source   = "ggml-org/llama.cpp#8101; ikawrakow/ik_llama.cpp#749"
  explains = ["segfault", "signal"]
  examples = ["ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 137438953504", "allocating 279356.51 MiB on device 0: cudaMalloc failed: out of memory"]
}

failure "bazel-action" {
  where    = ["compile"]
  patterns = ["BUILD(?:[.]bazel)?:[0-9]+:[0-9]+: (?P<what>[A-Za-z+ ]+?)(?: of rule)? '?(?P<target>[@/][^ ']+)'? failed"]
  rank     = "consequence"
  cause    = "Bazel stopped, since a command for {target} failed."
  remedy   = "Look for the compiler's own error below it, or run again with --verbose_failures. If the NDK is newer than the project's Bazel rules, take the release that the project names (r21 for older rules)."
  source   = "google-ai-edge/mediapipe#2636"
  examples = ["ERROR: /x/external/XNNPACK/BUILD.bazel:5117:19: C++ compilation of rule '@XNNPACK//:neondot_ukernels' failed (Exit 1): clang failed: error executing command"]
}

failure "weights-missing" {
  where    = ["device", "tool", "logcat"]
  patterns = ["(?P<weight>[A-Za-z0-9_.]+[.](?:weight|bias)) not found", "(?i)missing (?:tensor|key)[^'\"]*['\"](?P<weight>[A-Za-z0-9_.]+[.](?:weight|bias))['\"]"]
  cause    = "The model file has no {weight}, which the program wants: it is another model or another conversion."
  remedy   = "Convert the model with the converter of the program's release, and choose the program's class or config for exactly this model."
  source   = "UbiquitousLearning/mllm#209"
  explains = ["segfault", "signal"]
  examples = [
    "E  [ParamLoader.cpp:136] language_model.model.layers.1.self_attn.dense.weight not found",
    "llama_model_load: error: missing tensor 'output_norm.weight'",
  ]
}

failure "map-key" {
  where    = ["tool", "device", "logcat"]
  patterns = ["map::at: +key not found"]
  rank     = "symptom"
  cause    = "A C++ program looked up a name that its table does not have. For Genie, its config file does not fit its version."
  remedy   = "Write Genie's config as the documentation of its version (`Using libGenie.so version`) has it. For another program, take model and program of one release, or run without the GPU once."
  source   = "qualcomm/ai-hub-models#82, #143; mybigday/llama.rn#366"
  explains = ["terminate-called", "genie-dialog", "signal"]
  examples = ["terminate called: map::at:  key not found"]
}
