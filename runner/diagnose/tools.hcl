# Qualcomm's tools on the host, and mllm's.

failure "host-libcxx" {
  where    = ["tool"]
  patterns = ["libc[+][+](?:abi)?[.]so[.]1: cannot open shared object file"]
  cause    = "Qualcomm's tools need LLVM's C++ library, which this host does not have."
  remedy   = "Install libc++1 and libc++abi1 (Debian and Ubuntu), or have the step use a toolchain that brings them; `hexmage doctor` checks it."
  source   = "pytorch/executorch#5120, #10895"
  explains = ["shared-library"]
  examples = ["qnn-context-binary-generator: error while loading shared libraries: libc++.so.1: cannot open shared object file: No such file or directory"]
}

failure "host-python" {
  where    = ["tool"]
  patterns = ["libpython3[.]10[.]so[.]1[.]0: cannot open shared object file"]
  cause    = "The converters are made for Python 3.10 and need its shared library."
  remedy   = "Use Python 3.10 with its shared library (libpython3.10, or uv's build of it)."
  source   = "needed libraries of the SDK's converters"
  explains = ["shared-library", "python-bindings"]
  examples = ["ImportError: libpython3.10.so.1.0: cannot open shared object file: No such file or directory"]
}

failure "shared-library" {
  where    = ["tool", "fetch"]
  patterns = ["error while loading shared libraries: (?P<lib>[^: ]+)", "(?P<lib>lib[^ :]+[.]so[^ :]*): cannot open shared object file"]
  cause    = "A program needs {lib}, which this machine does not have."
  remedy   = "`hexmage doctor` says which package has it."
  source   = "ld.so"
  examples = ["adb: error while loading shared libraries: libprotobuf.so.32: cannot open shared object file: No such file or directory"]
}

failure "python-bindings" {
  where    = ["tool"]
  patterns = ["cannot import name 'libPy[A-Za-z]*[0-9]*'", "No module named 'libPy[A-Za-z0-9]*'", "partially initialized module 'qti.aisw"]
  cause    = "The SDK's Python modules do not fit the interpreter: they are for Python 3.10 on x86-64, and need their libraries."
  remedy   = "Make an environment of Python 3.10 (x86-64), and set PYTHONPATH to the SDK's lib/python (`hexmage env qairt`)."
  source   = "qualcomm/qidk#33, #55; qualcomm/ai-hub-models#97, #181"
  examples = ["ImportError: cannot import name 'libPyIrGraph38' from partially initialized module 'qti.aisw.converters.common'", "ModuleNotFoundError: No module named 'libPyIrGraph'"]
}

failure "glibc" {
  where    = ["tool"]
  patterns = ["version `(?P<version>GLIBC(?:XX)?_[0-9.]+)' not found", "(?P<version>GLIBC(?:XX)?_[0-9.]+) not found"]
  cause    = "The host's C library is older than the tool wants ({version})."
  remedy   = "Use Ubuntu 22.04 or newer, or a container of it."
  source   = "needed versions of the SDK's tools"
  examples = [
    "qairt-converter: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by libIrGraph.so)",
    "GLIBC_2.34 not found",
  ]
}

failure "config-key" {
  where    = ["tool", "device"]
  patterns = ["Invalid key: (?P<key>[a-z_/0-9]+)", "Unknown Key: (?P<key>[^ ]+) provided in HTP extensions config", "does not adhere to schema, error in key: (?P<key>[^ ]+)"]
  cause    = "The config file has {key}, which this version of the tool does not know."
  remedy   = "Leave it out, or take an SDK that has it; keys come and go between SDKs."
  source   = "pytorch/executorch#1430"
  explains = ["config-schema"]
  examples = [
    "Invalid key: graph_configs/0/graph_priority",
    "[ERROR] Unknown Key: advanced_folding provided in HTP extensions config",
    "Input file does not adhere to schema, error in key: graphs/0/vtcm",
  ]
}

failure "config-schema" {
  where    = ["tool", "device"]
  patterns = ["backend config file schema validation failed", "Json schema validation failed for input config file", "Failure in initializing backend extensions", "Invalid value \\[[^\\]]*\\] for context priority"]
  rank     = "symptom"
  cause    = "The backend's config file is not as this SDK wants it, or names a library for another machine."
  remedy   = "The line before names the key. shared_library_path must be an x86-64 library on the host and an AArch64 one on the phone: two files."
  source   = "messages of libQnnHtpNetRunExtensions.so"
  examples = [
    "Json schema validation failed for input config file htp_config.json.",
    "backend config file schema validation failed",
    "Failure in initializing backend extensions.",
    "Invalid value [highest] for context priority in config file: [c.json]",
  ]
}

failure "config-option-replaced" {
  where    = ["tool", "device"]
  severity = "warning"
  patterns = ["Invalid (?P<key>pd_session|perf_profile)[^\\n]*(?:Setting default|Setting perf_profile to default)"]
  cause    = "The config's {key} is none that the SDK knows, and a default is used."
  remedy   = "Correct it: pd_session is unsigned or signed; perf_profile one of burst, high_performance, balanced, …"
  source   = "messages of libQnnHtpNetRunExtensions.so"
  examples = ["Invalid pd_session option: Unsigned provided, Setting default pd_session = unsigned"]
}

failure "cores" {
  where    = ["tool", "device"]
  patterns = ["Number of cores requested (?P<want>[0-9]+) greater than available cores (?P<have>[0-9]+)"]
  cause    = "The config asks for {want} NPU cores and the SoC has {have}."
  remedy   = "Set num_cores and core_id to what the SoC has."
  source   = "messages of libQnnHtpNetRunExtensions.so"
  examples = ["Number of cores requested 2 greater than available cores 1"]
}

failure "ort-backend" {
  where    = ["tool", "device"]
  patterns = ["QNN Setup ?(?:QNN)?(?:Backend)? ?[Ff]ailed.*", "Unable to load backend, error:? ?(?:load library failed|dlopen)"]
  cause    = "ONNX Runtime could not load the QNN backend's library: its path or machine is wrong, or on Windows the .cat file beside it is missing."
  remedy   = "Give backend_path the whole path of QnnHtp of the machine's own kind (arm64 Python needs arm64 libraries), with skel and .cat beside it."
  source   = "microsoft/onnxruntime#20206"
  examples = ["QNN SetupBackend failed qnn_backend_manager.cc:212 Unable to load backend, error: load library failed"]
}

failure "no-snapdragon" {
  where    = ["tool", "device"]
  patterns = ["No Snapdragon SOC detected"]
  cause    = "QNN found no Snapdragon: /sys/devices/soc0/soc_id cannot be read here, or its number is none that this SDK knows (SDK 2.42 added CQ8750S, 705)."
  remedy   = "Run on the phone itself, not in a container without /sys; on a phone give soc_model and arch explicitly, or take a newer SDK."
  source   = "pytorch/executorch#16465, #21586; Qualcomm's libraries 2.48.0 and 2.51.0 for arm64, under qemu"
  explains = ["htp-router"]
  examples = ["[Qnn ExecuTorch]: No Snapdragon SOC detected on this device"]
}

failure "soc-without-htp" {
  where    = ["tool", "device"]
  patterns = ["No devices for this HTP library variant"]
  cause    = "The number in /sys/devices/soc0/soc_id is a SoC that this QNN SDK does not know, or one without an HTP that this library is for."
  remedy   = "Compare the number with `hexmage compat --soc NAME`, and take a newer SDK for a newer SoC."
  source   = "Qualcomm's libraries 2.51.0 for arm64, under qemu, with soc_id 999"
  explains = ["htp-router"]
  examples = ["<E> No devices for this HTP library variant after filtering\n<E> Init support device platform info failed\n<E> Failed to init router"]
}

failure "htp-router" {
  where    = ["tool", "device"]
  patterns = ["Init support device platform info failed", "Failed to init router", "failed sg_htpSingletonProvider initialize: [0-9]+", "Failed to initialize provider"]
  rank     = "consequence"
  cause    = "libQnnHtp.so could not start."
  remedy   = "Look at the first line with <E> above it."
  source   = "Qualcomm's libraries 2.48.0 and 2.51.0 for arm64, under qemu"
  examples = ["<E> Init support device platform info failed\n<E> Failed to init router\n<E> failed sg_htpSingletonProvider initialize: 4000", "<E> Failed to init router\n<E> Failed to initialize provider"]
}

failure "out-of-memory" {
  where    = ["tool", "compile", "device"]
  patterns = ["Out of memory: Killed process [0-9]+ [(](?P<program>[^)]+)[)]", "oom-kill.*[Kk]ill(?:ed|ing)? '?(?P<program>[^ ']+)"]
  cause    = "The system killed {program} since memory ran out. Preparing the graphs of an LLM takes 64 GB and more on the host."
  remedy   = "Give the step more memory or swap, let it run alone (resources = { memory_gb = 64 }), and prepare the model in more shards."
  source   = "pytorch/executorch#14402"
  explains = ["killed"]
  examples = ["kernel: Out of memory: Killed process 4242 (mllm-qwen3-aot-) total-vm:120586240kB", "systemd-oomd: oom-kill: killed qnn-context-bin"]
}

failure "phone-out-of-memory" {
  where    = ["device"]
  patterns = ["(?:lowmemorykiller|lmkd).*[Kk]ill(?:ed|ing)? '?(?P<program>[^ ']+)"]
  cause    = "Android killed {program} since the phone's memory ran out."
  remedy   = "Close apps or reboot the phone, use a shorter context, or load the model in shards: the step's samples tell how much the program took."
  source   = "pytorch/executorch#14402"
  explains = ["killed"]
  examples = ["lowmemorykiller: Killing 'mllm-qwen3-aot-runner' (4711)"]
}

failure "killed" {
  where    = ["tool", "compile", "device"]
  patterns = ["(?:^|: |[0-9] )Killed(?:$| )", "signal: killed", "(?:exit (?:status|code)|exited with(?: code)?) 137\\b", "std::bad_alloc", "MemoryError", "[Cc]annot allocate memory"]
  cause    = "The program was killed or got no memory: most often the memory ran out, of this machine or of the phone. Preparing the graphs of an LLM takes 64 GB and more."
  remedy   = "`dmesg` or, of a phone, `hexmage device log` says whether it was the memory. Here, give the step more memory or swap and let it run alone (resources = { memory_gb = 64 }); on a phone, close apps or reboot it. Use more shards."
  source   = "pytorch/executorch#14402, UbiquitousLearning/mllm#654"
  examples = [
    "./compile.sh: line 7:  4242 Killed                  ./mllm-qwen3-aot-sha-c -m qwen3.mllm",
    "terminate called after throwing an instance of 'std::bad_alloc'",
    "exec: signal: killed",
    "conversion ended with exit code 137",
    "MemoryError",
    "fork: Cannot allocate memory",
  ]
}

failure "numpy-2" {
  where    = ["tool"]
  patterns = ["RuntimeError:.*(?:pybind|numpy).*cast", "A module that was compiled using NumPy 1[.]x cannot be run in NumPy 2", "Unable to cast Python instance.*numpy"]
  cause    = "The SDK's Python modules were made for NumPy 1 and fail with NumPy 2."
  remedy   = "Pin numpy<2 in the environment."
  source   = "pytorch/executorch#16557, #18795"
  examples = [
    "RuntimeError: pybind11: unable to cast numpy.ndarray to C++ type",
    "A module that was compiled using NumPy 1.x cannot be run in NumPy 2.1.0 as it may crash.",
    "TypeError: Unable to cast Python instance of type numpy.float64 to C++ type 'double'",
  ]
}

failure "quantizer-segfault" {
  where    = ["tool"]
  patterns = ["Quantized parameters"]
  also     = ["[Ss]egmentation fault|SIGSEGV|core dumped"]
  cause    = "The quantizer of SDK 2.22 crashes on large transformers; it is a bug of that SDK, and no lack of memory."
  remedy   = "Take a newer SDK."
  source   = "public report on snpe-dlc-quantize 2.22.6"
  explains = ["segfault"]
  examples = ["INFO - Quantized parameters\nSegmentation fault (core dumped)"]
}

failure "segfault" {
  where    = ["tool", "compile", "device"]
  patterns = ["[Ss]egmentation fault", "signal 11 [(]SIGSEGV[)]", "SIGSEGV"]
  rank     = "symptom"
  cause    = "The program crashed."
  remedy   = "Look at the lines before it; on a phone, `adb logcat -b crash` has the stack. Libraries of different SDKs in one process are a frequent cause."
  source   = "ld.so, Android"
  examples = [
    "Fatal signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x10 in tid 4711 (mllm-qwen3-aot)",
    "Segmentation fault (core dumped)",
    "process ended by SIGSEGV",
  ]
}

failure "optrace-level" {
  where    = ["tool", "device"]
  patterns = ["Cannot set profiling_option optrace with profiling_level other than detailed"]
  cause    = "optrace was asked for without the detailed profiling level."
  remedy   = "Add --profiling_level detailed."
  source   = "messages of qnn-net-run"
  examples = ["Cannot set profiling_option optrace with profiling_level other than detailed."]
}

failure "input-list" {
  where    = ["tool", "device"]
  patterns = ["Failed to parse input paths from file: ?(?P<file>[^ ]+)"]
  cause    = "The list of inputs {file} is missing or names files that are not there."
  remedy   = "Write a line per inference, name:=path for each input, and push the files that it names."
  source   = "messages of qnn-net-run"
  examples = ["Failed to parse input paths from file: input_list.txt"]
}

failure "backend-not-loaded" {
  where    = ["tool", "device"]
  patterns = ["Could not load (?:backend|model) ?: ?(?P<lib>[^ !]+)"]
  rank     = "symptom"
  cause    = "{lib} could not be loaded: it, or a library that it needs, is missing or for another machine."
  remedy   = "Push it and what it needs; LD_LIBRARY_PATH must name the folder."
  source   = "messages of qnn-net-run"
  examples = ["Could not load backend : libQnnHtp.so!"]
}

failure "genie-config" {
  where    = ["tool", "device"]
  patterns = ["map::at: +key not found", "Missing QnnHtp field: ?(?P<field>[a-z-]*)", "GENIE_STATUS_ERROR_JSON"]
  cause    = "Genie's config file does not fit this version of Genie."
  remedy   = "Write it as the documentation of the version that `genie-t2t-run` prints (`Using libGenie.so version`) wants it."
  source   = "qualcomm/ai-hub-models#82, #143"
  explains = ["genie-dialog"]
  examples = [
    "Missing QnnHtp field: pos-id-dim\nFailed to create the Genie Dialog.",
    "terminate called: map::at:  key not found",
    "GENIE_STATUS_ERROR_JSON_VALUE",
  ]
}

failure "genie-dialog" {
  where    = ["tool", "device"]
  patterns = ["Failed to create the Genie Dialog"]
  rank     = "symptom"
  cause    = "Genie could not open the DSP or its libraries."
  remedy   = "Look at logcat's adsprpc and QNN lines; an app must declare libcdsprpc.so in its manifest."
  source   = "qualcomm/ai-hub-apps#119, #121"
  examples = ["ERROR: Failed to create the Genie Dialog. -1"]
}

failure "profile-schematic" {
  where    = ["tool"]
  patterns = ["(?i)(?:could not|cannot|failed to) (?:open|find|read) schematic"]
  cause    = "The optrace reader needs the schematic that the context generator writes into its current folder."
  remedy   = "Generate the context with --profiling_level detailed --profiling_option optrace, keep MODEL_schematic.bin, and pass it as --schematic."
  source   = "QAIRT documentation, qnn-profile-viewer"
  examples = ["ERROR: could not open schematic file"]
}

failure "dataset-gone" {
  where    = ["tool"]
  patterns = ["(?:DatasetNotFoundError|FileNotFoundError|ConnectionError|not found|Couldn't (?:find|reach)).*pile-val-backup"]
  cause    = "The data set pile-val-backup, which mllm v1's get_distribution.py names, is gone."
  remedy   = "Set dataset_path to another data set with texts, such as pile-uncopyrighted; or use step \"quantize_v1\", whose `calibration` is a text file of yours."
  source   = "mllm v1, tools/qnn_convertor"
  examples = [
    "datasets.exceptions.DatasetNotFoundError: Dataset 'mit-han-lab/pile-val-backup' doesn't exist on the Hub or cannot be accessed.",
    "FileNotFoundError: Couldn't find a dataset script at mit-han-lab/pile-val-backup or any data file in the same directory",
  ]
}

failure "datasets-version" {
  where    = ["tool"]
  patterns = ["Incompatible datasets version detected"]
  cause    = "mllm's quantiser wants the Python package datasets below version 3."
  remedy   = "Pin datasets<3 in the environment."
  source   = "UbiquitousLearning/mllm"
  examples = ["ValueError: Incompatible datasets version detected: 3.2.0"]
}

failure "linear-block-size" {
  where    = ["tool"]
  patterns = ["LPBQ requires a positive `?linear_block_size"]
  cause    = "The model's config.json has no linear_block_size, which mllm's quantiser wants and no model from the hub has."
  remedy   = "Add it (16 for Qwen3 1.7B, 32 for 4B); step \"quantize\" with block_size does it."
  source   = "UbiquitousLearning/mllm#659, #661"
  examples = ["ValueError: Qwen3 LPBQ requires a positive `linear_block_size` in the config"]
}

failure "slice-mismatch" {
  where    = ["tool"]
  patterns = ["SliceOp[.]cpp:[0-9]+.*slice_index[.]size[(][)] ?!= ?shape[.]size"]
  cause    = "The .mllm file does not fit the compiler: it was quantised by another version of upstream."
  remedy   = "Quantise the model again with the sources that the compiler is built from."
  source   = "UbiquitousLearning/mllm#636"
  examples = ["[FATAL] SliceOp.cpp:33 slice_index.size() != shape.size()"]
}

failure "convertor-help" {
  where    = ["tool"]
  patterns = ["Cannot find object type index for mllm[.]qualcomm"]
  cause    = "mllm-convertor was installed without its x86 ahead-of-time extension, which it wants even for --help."
  remedy   = "Build mllm with MLLM_QUALCOMM_QNN_AOT_ON_X86_ENABLE=ON first, or use step \"convert\", which needs none of it."
  source   = "UbiquitousLearning/mllm#565, #602"
  examples = ["ValueError: Cannot find object type index for mllm.qualcomm.QnnDeviceAndContext"]
}

failure "jit-path" {
  where    = ["tool", "device"]
  patterns = ["Failed to cast to QNN[A-Za-z]+Op", "Int16 is not supported by QNN"]
  cause    = "mllm's way of building graphs on the phone (JIT) no longer works with its main branch: ops name a package that is not registered."
  remedy   = "Compile ahead of time instead, as pipeline qwen3-aot-v79 does."
  source   = "UbiquitousLearning/mllm#662, #574"
  explains = ["killed"]
  examples = ["[FATAL] Failed to cast to QNNRMSNormOp", "[ERROR] Int16 is not supported by QNN"]
}

failure "ptq-view" {
  where    = ["tool"]
  patterns = ["PTQPass.*(?:SIGABRT|[Aa]bort|assert)", "[Aa]bort.*PTQPass"]
  cause    = "mllm's quantisation pass met a graph that it does not know: the tree or the model was modified."
  remedy   = "Use a clean clone of the pinned commit, and the config that belongs to the model."
  source   = "UbiquitousLearning/mllm#664"
  examples = [
    "PTQPass: assertion failed in View op, SIGABRT",
    "Aborted in PTQPass, View op",
  ]
}

failure "qnn-env-path" {
  where    = ["tool"]
  patterns = ["(?P<path>/[^ ]*lib/x86_64-linux-clang)libQnnHtp[.]so"]
  cause    = "--qnn_env_path has no '/' at its end: mllm joins it with the library's name as it is."
  remedy   = "Write {path}/."
  source   = "UbiquitousLearning/mllm#664"
  explains = ["qnn-libs-not-opened", "shared-library"]
  examples = ["dlopen /opt/qairt/lib/x86_64-linux-clanglibQnnHtp.so: cannot open shared object file\n[FATAL] Failed to open QNN libs."]
}

failure "cpm-download" {
  where    = ["compile", "tool"]
  patterns = ["(?:CPM|CPMAddPackage|FetchContent).*(?:[Ff]ailed|error).*(?:clone|download)?", "Failed to clone repository: '(?:[^']+)'"]
  cause    = "CMake could not download one of mllm's dependencies."
  remedy   = "Check network and proxy; with CPM_SOURCE_CACHE set to a folder, what was downloaded once is kept."
  source   = "UbiquitousLearning/mllm#654"
  examples = ["CMake Error: CPM: download of fmt failed", "fatal: Failed to clone repository: 'https://github.com/gabime/spdlog'"]
}

failure "saved-but-not" {
  where    = ["tool"]
  patterns = ["did not write its output (?P<file>[^ ]+)", "(?:context|saveContext).*(?:cannot|could not|failed to) open.*for writ"]
  cause    = "The program said that all is well, or little, and its output is not there."
  remedy   = "Look at its first error line: mllm's compiler prints success even when it could not save the context. The output's folder must be there and writable."
  source   = "UbiquitousLearning/mllm"
  rank     = "symptom"
  examples = [
    "[ERROR] saveContext: cannot open out/context.bin for writing\nSHA compilation completed successfully!",
    "the command ended well and did not write its output out/context.bin",
  ]
}

failure "module-missing" {
  where    = ["tool"]
  patterns = ["ModuleNotFoundError: No module named '(?P<module>[^']+)'"]
  rank     = "symptom"
  cause    = "Python does not find the module {module}."
  remedy   = "Install the package that has it in the environment that runs the program, or set PYTHONPATH to the folder that contains it."
  source   = "Python"
  examples = ["ModuleNotFoundError: No module named 'torch'"]
}

failure "key-error" {
  where    = ["tool"]
  patterns = ["^KeyError: "]
  rank     = "consequence"
  cause    = "A Python program looked for an entry that is not there."
  remedy   = "The lines above say where."
  source   = "Python"
  examples = ["KeyError: 'input_ids'"]
}

failure "converter-node" {
  where    = ["tool"]
  patterns = ["- ERROR - Node (?P<node>[^:]+): "]
  rank     = "symptom"
  cause    = "The converter could not translate the node {node}."
  remedy   = "The rest of the line says why."
  source   = "messages of qnn-onnx-converter"
  examples = ["2023-03-29 14:57:01 - 238 - ERROR - Node Resize_7: scales must be constant"]
}

failure "terminate-called" {
  where    = ["tool", "device"]
  patterns = ["terminate called (?:after throwing|without an active exception)", "libc[+][+]abi: terminating"]
  rank     = "consequence"
  cause    = "A C++ program ended because of an exception that it does not handle."
  remedy   = "The line with what(): says what is wrong; without one, the first error above."
  source   = "libstdc++, libc++abi"
  examples = [
    "terminate called after throwing an instance of 'std::runtime_error'",
    "libc++abi: terminating due to uncaught exception of type std::runtime_error: no model",
  ]
}

failure "tombstone" {
  where    = ["device", "logcat"]
  patterns = ["F DEBUG +: (?:Process name is|signal [0-9]+|Cmdline:|pid: [0-9]+)"]
  rank     = "consequence"
  cause    = "Android wrote a crash report of the program."
  remedy   = "`adb logcat -b crash` has the stack; the first error above it is the cause."
  source   = "Android, debuggerd"
  examples = ["F DEBUG   : Process name is ./demo_qwen2_vl_npu -m ../models/qwen2-vl.mllm"]
}
