# Lines that look like failures on machines where all is well. They alone are no diagnosis.

benign "prepare-lib" {
  where    = ["device", "tool", "logcat"]
  patterns = ["Function not called, PrepareLib isn't loaded"]
  why      = "A context compiled ahead of time needs no prepare library."
  source   = "ExecuTorch documentation, Qualcomm backend"
  examples = ["[W][QnnHtp] Function not called, PrepareLib isn't loaded!"]
}

benign "arch-overwritten" {
  where    = ["device", "tool", "logcat"]
  patterns = ["Arch [0-9]+ set by custom config is different from arch associated with SoC"]
  why      = "The SoC's own arch is used, which is right."
  source   = "pytorch/executorch#8640"
  examples = ["[W] Arch 68 set by custom config is different from arch associated with SoC 57, will overwrite it to 75"]
}

benign "magic-number" {
  where    = ["device", "tool"]
  patterns = ["expected magic number: 0x5678abcd but get: 0x[0-9a-f]+"]
  why      = "ExecuTorch tries its own wrapper first and then takes the file as it is."
  source   = "ExecuTorch documentation, Qualcomm backend"
  examples = ["[WARNING] expected magic number: 0x5678abcd but get: 0x2000000"]
}

benign "no-cdsprpc-on-host" {
  where    = ["tool"]
  patterns = ["couldn't open libcdsprpc", "Unsupported HTP Arch [0-9]+"]
  why      = "On a host the HTP is emulated, and there is no DSP to talk to."
  source   = "public reports on qnn-context-binary-generator"
  examples = ["[ERROR] couldn't open libcdsprpc.so", "<E> transport: Unsupported HTP Arch 1 79"]
}

benign "fastrpc-shell" {
  where    = ["device", "logcat"]
  patterns = ["fastrpc_shell[^ ]* load failed", "fopen failed for [^ ]*fastrpc_shell"]
  why      = "The loader tries several folders; unless opening the domain fails too, one of them had the shell."
  source   = "halide/Halide#3608"
  examples = ["adsprpc: /dsp/fastrpc_shell_3 load failed 69", "fopen failed for fastrpc_shell_unsigned_3 2 (No such file or directory)"]
}

benign "linker-warnings" {
  where    = ["device"]
  patterns = ["WARNING: linker: .*unused DT entry", "linker: Warning: .*is unaligned"]
  why      = "Android's linker mentions entries that it does not use."
  source   = "Android's linker"
  examples = [
    "WARNING: linker: /data/local/tmp/libQnnHtp.so: unused DT entry: type 0x70000001 arg 0x0 not found",
    "linker: Warning: \"libQnnSystem.so\" unused string table is unaligned",
  ]
}

benign "no-farf" {
  where    = ["device", "logcat"]
  patterns = ["[.]farf.*(?:not found|No such file|failed to open|open failed)"]
  why      = "The DSP looks for a file with debug levels, which is there only when somebody wants them."
  source   = "qualcomm/fastrpc"
  examples = ["adsprpc: mllm-qwen3-aot-runner.farf open failed: No such file or directory"]
}

benign "avc-other" {
  where    = ["logcat"]
  patterns = ["avc: +denied.*name=\"(?:u:object_r:|vendor_default_prop|max_map_count|overcommit)"]
  why      = "A property that the program can do without may not be read."
  source   = "Android"
  examples = ["avc: denied { read } for name=\"u:object_r:vendor_default_prop:s0\" scontext=u:r:shell:s0"]
}

benign "min-log-level" {
  where    = ["device"]
  patterns = ["<W> Initializing HtpProvider", "<W> (?:This META does not have Alloc2 Support|Logs will be sent to the system's default channel)", "<W> sg_stubPtr is not null, skip loadRemoteSymbols"]
  why      = "QNN tells so at each start."
  source   = "public logs of QNN"
  examples = [
    "[WARN] <W> Initializing HtpProvider",
    "<W> sg_stubPtr is not null, skip loadRemoteSymbols",
    "[WARN] <W> This META does not have Alloc2 Support",
  ]
}

benign "compiler-warnings" {
  where    = ["compile"]
  patterns = ["warning: .*\\[-W(?:error=)?[a-z-]+\\]", "^[0-9]+ warnings? generated"]
  why      = "A warning of the compiler, whatever words are in it."
  source   = "clang"
  examples = [
    "a.cpp:3:5: warning: unused variable 'error' [-Wunused-variable]",
    "3 warnings generated.",
  ]
}

benign "fastrpc-search" {
  where    = ["device", "logcat"]
  patterns = ["apps_std_fopen_with_env_fd failed with 0x[0-9a-f]+ for path", "fastrpc_config_init: Couldn't find file [^ ]+[.]debugconfig"]
  why      = "The loader tries several folders; only a file that is in none of them is missing."
  source   = "qualcomm/fastrpc#342, #180"
  examples = [
    "apps_std_imp.c:1174: Warning: apps_std_fopen_with_env_fd failed with 0xd for path /vendor/dsp/cdsp/./libc++.so.1 name ./libc++.so.1 (No such file or directory)",
    "fastrpc_config.c:418: fastrpc_config_init: Couldn't find file qnn_executor_runner.debugconfig, errno (No such file or directory) at /data/local/tmp/x",
  ]
}

benign "fastrpc-optional" {
  where    = ["device", "logcat"]
  patterns = [
    "Error 0x[0-9a-f]+: fastrpc_enable_kernel_optimizations failed",
    "Error 0x80000414: remote_handle64_invoke failed for handle 0x[0-9a-f]+, method [0-9]+ on domain",
    "ion +: ioctl c0044901 failed with code -1: Inappropriate ioctl",
    "fastrpc_get_cap failed",
  ]
  why      = "The library tries a feature that this phone does not have, and goes on without it."
  source   = "qualcomm/fastrpc#342; pytorch/executorch#12537; UbiquitousLearning/mllm#527"
  examples = [
    "fastrpc_apps_user.c:3879: Error 0x8000043e: fastrpc_enable_kernel_optimizations failed for domain 3 (Success)",
    "fastrpc_apps_user.c:1408: Error 0x80000414: remote_handle64_invoke failed for handle 0xb400007e8f791cf0, method 3 on domain 3 (sc 0x3010100) (errno Success)",
    "E ion     : ioctl c0044901 failed with code -1: Inappropriate ioctl for device",
    "fastrpc_cap.c:120: Error 0x200: fastrpc_get_cap failed for domain 3",
  ]
}

benign "cpuinfo" {
  where    = ["device", "tool"]
  patterns = ["Error in cpuinfo: (?:Unknown chip model name|failed to parse the list of (?:possible|present) processors)", "Please add new Windows on Arm SoC/chip support", "unknown Qualcomm CPU part 0x[0-9a-f]+ ignored", "Can't open file:/sys/devices/system/cpu/cpufreq/"]
  why      = "The library that looks at the CPU does not know this one, and takes defaults."
  source   = "microsoft/onnxruntime#21947; microsoft/onnxruntime-inference-examples#497; Mintplex-Labs/anything-llm#5129; alibaba/MNN#4099, #4740; NixOS/nixpkgs#450587"
  examples = [
    "Error in cpuinfo: failed to parse the list of possible processors in /sys/devices/system/cpu/possible",
    "Error in cpuinfo: Unknown chip model name 'Snapdragon(R) X Elite - X1E78100 - Qualcomm(R) Oryon(TM) CPU'.",
    "Error in cpuinfo: Unknown chip model name 'snapdragon (tm) 8cx gen 3 @ 3.40 GHz'.",
    "Please add new Windows on Arm SoC/chip support to arm/windows/init.c!",
    "unknown Qualcomm CPU part 0x1 ignored",
    "Can't open file:/sys/devices/system/cpu/cpufreq/boost/affected_cpus",
    "Can't open file:/sys/devices/system/cpu/cpufreq/schedutil/affected_cpus",
  ]
}

benign "qnn-warnings" {
  where    = ["device", "tool", "logcat"]
  patterns = ["<W> (?:Performance Estimates unsupported|Cost Based unsupported on soc|HTP arch will be deprecated|WARNING, MetaBuild of this device does not has Effective Domain ID)"]
  why      = "QNN mentions features that this device or graph does not use."
  source   = "pytorch/executorch#3048, #1342; qualcomm/qai-appbuilder#47"
  examples = [
    "[WARNING] [Qnn ExecuTorch]: QnnDsp <W> Performance Estimates unsupported",
    "[WARNING]QnnDsp <W> HTP arch will be deprecated, please set SoC id instead.",
    "     0.0ms [WARNING] QnnDsp <W> Cost Based unsupported on soc QCS6490",
    "     0.0ms [WARNING] QnnDsp <W> WARNING, MetaBuild of this device does not has Effective Domain ID suport. Using Default Effective Domain Id 3 for domainName cdsp",
  ]
}

benign "executorch-notes" {
  where    = ["device", "tool"]
  patterns = ["Overriding output data pointer allocated by memory plan is not allowed", "Cannot set_output_data_ptr[(][)]: this likely means the outputs were MemoryPlanned", "expected magic number: 0x1234abcd but get: 0x[0-9a-f]+", "invalid perl operator: [(][?]!", "Output [0-9]+ is memory planned, or is a constant[.] Cannot override"]
  why      = "ExecuTorch says so where nothing is wrong: outputs have memory already, and a tokenizer falls back to another library for its expression."
  source   = "pytorch/executorch#3425, #3515, #3528, #6841, #8640, #18862"
  examples = [
    "E 00:00:00.316485 executorch:method.cpp:939] Overriding output data pointer allocated by memory plan is not allowed.",
    "[pybindings.cpp:199] Cannot set_output_data_ptr(): this likely means the outputs were MemoryPlanned inspect the error code to know for sure, but likely this is not an issue. 0x2",
    "06-24 18:43:18.773 12104 12700 I [Qnn ExecuTorch]: QnnQcirCustomProtocol expected magic number: 0x1234abcd but get: 0x2000000",
    "E0000 00:00:1776137332.156216   19163 re2.cc:237] Error parsing '((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s...': invalid perl operator: (?!",
    "I tokenizers:re2_regex.cpp:27] Re2 failed to compile regex: ((?i:'s|'t|'re|'ve|'m|'ll|'d)|\\s+(?!\\S)|\\s+), error: invalid perl operator: (?!",
    "[method.cpp:941] Output 0 is memory planned, or is a constant. Cannot override         the existing data pointer.",
  ]
}

benign "partitioner" {
  where    = ["tool"]
  patterns = ["\\[QNN Partitioner Op Support\\]: [a-z0-9_.A-Z]+ \\| (?:True|False)", "QNN EP does not support a single Quantize/Dequantize node in a partition"]
  why      = "A partitioner asks QNN op by op, and what QNN does not take runs on the CPU."
  source   = "pytorch/executorch#1182; microsoft/onnxruntime#22821"
  examples = [
    "[QNN Partitioner Op Support]: aten.select_copy.int | False",
    "QNN EP does not support a single Quantize/Dequantize node in a partition.",
  ]
}

benign "fastrpc-kernel" {
  where    = ["device", "logcat"]
  patterns = ["qcom,fastrpc .*(?:Error: dsp information is incorrect err|no reserved DMA memory for FASTRPC)", "get_lib_name failed for uri", "FASTRPC_CONTROL_SESS_INFO not supported", "log_config[.]c:[0-9]+::error: [0-9]+: AEE_SUCCESS == [(]nErr = apps_std_fileExists", "Warning: apps_std_fopen_with_env failed with 0x[0-9a-f]+ for testsig", "Error 0xd: open_shell failed for domain"]
  why      = "The driver and its library ask for what this DSP does not have, and go on."
  source   = "qualcomm/fastrpc#167, #180, #188, #318; qualcomm-linux/kernel#309, #359, #547; qualcomm-linux/kernel-topics#1182; b1xian/mobilenet-ssd-snpe#6; halide/Halide#8201"
  examples = [
    "qcom,fastrpc remoteproc1:smd-edge.fastrpcsmd-apps-dsp.-1.-1: Error: dsp information is incorrect err: -1",
    "[  513.944255][ T1492] qcom,fastrpc 62400000.remoteproc:glink-edge.fastrpcglink-apps-dsp.-1.-1: Error: dsp information is incorrect err: -1",
    "[    9.451432] qcom,fastrpc ab00000.remoteproc:glink-edge.fastrpcglink-apps-dsp.-1.-1: no reserved DMA memory for FASTRPC",
    "cdsprpcd: fastrpc_apps_user.c:879: Warning 0xffffffff: get_lib_name failed for uri (null)",
    "fastrpc_apps_user.c:880: Warning 0x0: get_lib_name failed for uri '\":;./\\attachguestos",
    "fastrpc_apps_user.c:3695: remote_init: FASTRPC_CONTROL_SESS_INFO not supported with error 20",
    "vendor/qcom/proprietary/commonsys-intf/adsprpc/src/log_config.c:168::error: 2: AEE_SUCCESS == (nErr = apps_std_fileExists(path,&fileExists))",
    "vendor/qcom/proprietary/commonsys-intf/adsprpc/src/apps_std_imp.c:805: Warning: apps_std_fopen_with_env failed with 0xd for testsig-0x964dc5a6.so (Permission denied)",
    "vendor/qcom/proprietary/commonsys-intf/adsprpc/src/fastrpc_apps_user.c:1683: Error 0xd: open_shell failed for domain 3",
  ]
}

benign "qnn-fallbacks" {
  where    = ["device", "tool"]
  patterns = ["failed to load [^ ]+, fallback to [^ ]+[.]so", "No QnnDevice_getPlatformInfo API", "WARNING_OPSET_VERSION: Warning multiple opset versions", "\"Failed to advise OS on memory usage\"", "--qnn_graph_name is deprecated"]
  why      = "The program tries one way, says so, and takes the next."
  source   = "chraac/llama.cpp#37; alibaba/MNN#4475; MollySophia/rwkv-qualcomm#14; qualcomm/ai-hub-apps#74, #151"
  examples = [
    "failed to load /data/local/tmp/libQnnSystem.so, fallback to libQnnSystem.so",
    "failed to load /data/local/tmp/libcdsprpc.so, fallback to libcdsprpc.so",
    "[Warning]: No QnnDevice_getPlatformInfo APILoad Cache file error.",
    "2025-08-27 18:07:14,051 - 275 - WARNING - WARNING_OPSET_VERSION: Warning multiple opset versions specified, using highest.",
    "[WARN]  \"Failed to advise OS on memory usage\"",
    "--qnn_graph_name is deprecated in favor of --qnn-options context_enable_graphs=<name>.",
  ]
}

benign "cmake-checks" {
  where    = ["compile"]
  patterns = ["^-- (?:Looking for .+ - not found|Performing Test .+ - Failed|Could NOT find )"]
  why      = "CMake tries what the system has, and goes on without what it lacks. What it needs it says in a line `CMake Error`."
  source   = "ggml-org/llama.cpp#22945; CMake"
  examples = [
    "-- Looking for CL_VERSION_1_0 - not found",
    "-- Performing Test GGML_MACHINE_SUPPORTS_sve - Failed",
    "-- Could NOT find ccache (missing: CCACHE_PROGRAM)",
  ]
}

benign "mnn-cache" {
  where    = ["device"]
  patterns = ["Can't open file:[^ ]*mnn_cachefile", "^Load Cache file error"]
  why      = "MNN writes its cache file in the first run and does not find it before."
  source   = "alibaba/MNN#3270"
  examples = ["Can't open file:tmp/mnn_cachefile.bin", "Load Cache file error."]
}

benign "library-version-info" {
  where    = ["tool", "compile"]
  patterns = ["no version information available [(]required by"]
  why      = "The library was built without the version notes that the program was linked with, and works."
  source   = "CE-Programming/toolchain#293"
  examples = ["./ez80-clang: /lib64/libtinfo.so.5: no version information available (required by ./ez80-clang)"]
}

benign "fastrpc-domain-name" {
  where    = ["device", "logcat"]
  patterns = ["Invalid domain name: (?:audio|sensors?|root|rootpd|ois)pd"]
  why      = "The daemon tries the name as a domain first and then takes it as a process of its domain."
  source   = "qualcomm/fastrpc#146, #297"
  examples = ["adsprpcd[654]: fastrpc_apps_user.c:2862: Invalid domain name: audiopd"]
}

benign "property-denied" {
  where    = ["device", "logcat"]
  patterns = ["Access denied finding property \""]
  why      = "An app may not read this property of the system, and the library does without it."
  source   = "tensorflow/flutter-tflite#159; tensorflow/tensorflow#61854"
  examples = ["W/libc    (13058): Access denied finding property \"ro.mediatek.platform\""]
}
