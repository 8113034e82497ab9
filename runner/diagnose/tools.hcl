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
  remedy   = "Run `hexmage doctor`, which says which package has it."
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
  remedy   = "Look at the line before it, which names the key. shared_library_path must be an x86-64 library on the host and an AArch64 one on the phone: two files."
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
  patterns = ["Unable to load backend, error:? *(?:load library failed|dlopen)"]
  cause    = "ONNX Runtime could not load the QNN backend's library: its path or machine is wrong, or on Windows the .cat file beside it is missing."
  remedy   = "Give backend_path the whole path of QnnHtp of the machine's own kind (arm64 Python needs arm64 libraries), with skel and .cat beside it."
  source   = "microsoft/onnxruntime#20206, #24508"
  explains = ["ort-setup"]
  examples = [
    "2024-04-04 21:24:37.4152414 [E:onnxruntime:, qnn_execution_provider.cc:499 onnxruntime::QNNExecutionProvider::GetCapability] QNN SetupBackend failed qnn_backend_manager.cc:56 onnxruntime::qnn::QnnBackendManager::GetQnnInterfaceProvider Unable to load backend, error: load library failed",
    "2025-04-22 15:18:42.2394193 [E:onnxruntime:, qnn_execution_provider.cc:776 onnxruntime::QNNExecutionProvider::GetCapability] QNN SetupBackend failed qnn_backend_manager.cc:129 onnxruntime::qnn::QnnBackendManager::GetQnnInterfaceProvider Unable to load backend, error: load library failed",
  ]
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
  remedy   = "Look with `dmesg` (for a phone, `hexmage device log`) whether it was the memory. Here, give the step more memory or swap and let it run alone (resources = { memory_gb = 64 }); on a phone, close apps or reboot it. Use more shards."
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
  patterns = ["RuntimeError:.*(?:pybind|numpy).*cast", "A module that was compiled using NumPy 1[.]x cannot be run in", "Unable to cast Python instance.*numpy"]
  cause    = "The SDK's Python modules were made for NumPy 1 and fail with NumPy 2."
  remedy   = "Pin numpy<2 in the environment."
  source   = "pytorch/executorch#16557, #18795; chipmuenk/pyfda#253; xdf-modules/pyxdf#141"
  examples = [
    "RuntimeError: pybind11: unable to cast numpy.ndarray to C++ type",
    "A module that was compiled using NumPy 1.x cannot be run in NumPy 2.1.0 as it may crash.",
    "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.3.3 as it may crash. To support both 1.x and 2.x",
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
  explains = ["tombstone"]
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
  patterns = ["Missing QnnHtp field: ?(?P<field>[a-z-]*)", "GENIE_STATUS_ERROR_JSON"]
  cause    = "Genie's config file does not fit this version of Genie."
  remedy   = "Write it as the documentation of the version that `genie-t2t-run` prints (`Using libGenie.so version`) wants it."
  source   = "qualcomm/ai-hub-models#82, #143"
  explains = ["genie-dialog"]
  examples = [
    "Missing QnnHtp field: pos-id-dim\nFailed to create the Genie Dialog.",
    "GENIE_STATUS_ERROR_JSON_VALUE",
  ]
}

failure "genie-dialog" {
  where    = ["device", "tool", "logcat"]
  patterns = ["Failed to create (?:the )?(?:Genie )?[Dd]ialog(?: handle| config)?", "GenieDialog_create returned: -[0-9]+", "Failure to initialize model", "FAILED to create Dialog, error code"]
  rank     = "consequence"
  cause    = "Genie could not load the model: the reason is in its own lines above, or in logcat."
  remedy   = "Look for the first [ERROR] above it. Without one, run genie-t2t-run with --log verbose and look at logcat's QnnDsp and adsprpc lines; an app must declare libcdsprpc.so in its manifest."
  source   = "qualcomm/ai-hub-apps#26, #111, #119, #121; qualcomm/ai-hub-models#82, #143, #202"
  examples = [
    "ERROR: Failed to create the Genie Dialog. -1",
    "ERROR at line 230: Failed to create the dialog config.",
    "ERROR at line 244: Failed to create the dialog.",
    "E ChatApp : Failed to create Genie dialog handle. Status: -1",
    "01-01 01:58:28.592  9386  9403 I ChatApp : GenieDialog_create returned: -1",
    "ChatApp                 com.quicinc.chatapp                  E  Failed to create Genie dialog.",
    "Failure to initialize model",
    "FAILED to create Dialog, error code -1",
  ]
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
  cause    = "mllm's quantizer wants the Python package datasets below version 3."
  remedy   = "Pin datasets<3 in the environment."
  source   = "UbiquitousLearning/mllm"
  examples = ["ValueError: Incompatible datasets version detected: 3.2.0"]
}

failure "linear-block-size" {
  where    = ["tool"]
  patterns = ["LPBQ requires a positive `?linear_block_size"]
  cause    = "The model's config.json has no linear_block_size, which mllm's quantizer wants and no model from the hub has."
  remedy   = "Add it (16 for Qwen3 1.7B, 32 for 4B); step \"quantize\" with block_size does it."
  source   = "UbiquitousLearning/mllm#659, #661"
  examples = ["ValueError: Qwen3 LPBQ requires a positive `linear_block_size` in the config"]
}

failure "slice-mismatch" {
  where    = ["tool"]
  patterns = ["SliceOp[.]cpp:[0-9]+.*slice_index[.]size[(][)] ?!= ?shape[.]size"]
  cause    = "The .mllm file does not fit the compiler: it was quantized by another version of mllm."
  remedy   = "Quantize the model again with the sources that the compiler is built from."
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
  cause    = "mllm's quantization pass met a graph that it does not know: the tree or the model was modified."
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
  remedy   = "Look at the lines above: they say where."
  source   = "Python"
  examples = ["KeyError: 'input_ids'"]
}

failure "converter-node" {
  where    = ["tool"]
  patterns = ["- ERROR - Node (?P<node>[^:]+): "]
  rank     = "symptom"
  cause    = "The converter could not translate the node {node}."
  remedy   = "Read the rest of the line: it says why."
  source   = "messages of qnn-onnx-converter"
  examples = ["2023-03-29 14:57:01 - 238 - ERROR - Node Resize_7: scales must be constant"]
}

failure "terminate-called" {
  where    = ["tool", "device"]
  patterns = ["terminate called (?:after throwing|without an active exception)", "libc[+][+]abi: terminating"]
  rank     = "consequence"
  cause    = "A C++ program ended because of an exception that it does not handle."
  remedy   = "Look at the line with what():, or without one at the first error above."
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
  remedy   = "Look for the first error above it. `adb logcat -b crash` has the stack."
  source   = "Android, debuggerd"
  examples = ["F DEBUG   : Process name is ./demo_qwen2_vl_npu -m ../models/qwen2-vl.mllm"]
}

failure "aimet-native" {
  where    = ["tool"]
  patterns = ["No module named '(?:aimet_common[.])?libpymo'", "libpymo import failed with the following error"]
  cause    = "AIMET's native part (libpymo) could not be imported: it is not in this installation, or a library that it needs is missing."
  remedy   = "Install the wheel of AIMET that fits Python, PyTorch and CUDA of this environment (`pip install aimet-onnx` or aimet-torch), and the libraries that the next lines name: liblapacke3 on Debian and Ubuntu, CUDA's for the GPU wheels."
  source   = "qualcomm/aimet#480, #697, #1166, #1090, #2459, #3589, #3950"
  explains = ["module-missing", "shared-library"]
  examples = [
    "    import libpymo\nModuleNotFoundError: No module named 'libpymo'",
    "ModuleNotFoundError: No module named 'aimet_common.libpymo'",
    "RuntimeError: Unable to initialize class EncodingAnalyzerForPython: libpymo import failed with the following error:",
  ]
}

failure "host-lapacke" {
  where    = ["tool"]
  patterns = ["liblapacke[.]so[.]3: cannot open shared object file"]
  cause    = "AIMET needs LAPACKE, which this host does not have."
  remedy   = "Install liblapacke (Debian and Ubuntu: apt install liblapacke)."
  source   = "qualcomm/aimet#2459, #3589"
  explains = ["shared-library", "aimet-native"]
  examples = ["    import aimet_common.libpymo as libpymo\nImportError: liblapacke.so.3: cannot open shared object file: No such file or directory", "RuntimeError: Unable to initialize class BNParams: libpymo import failed with the following error:\nliblapacke.so.3: cannot open shared object file: No such file or directory"]
}

failure "host-cuda" {
  where    = ["tool"]
  patterns = ["(?P<lib>lib(?:cublas|cublasLt|cudart|cudnn|curand|nvrtc)[^ :]*[.]so[.0-9]*): cannot open shared object file"]
  cause    = "{lib} of CUDA is not on this machine, and a package was installed that is made for GPUs of NVIDIA."
  remedy   = "Install the package's variant for the CPU (onnxruntime, aimet-onnx, torch with +cpu), or the CUDA release that the library's number names."
  source   = "qualcomm/aimet#3950; microsoft/onnxruntime#17801"
  explains = ["shared-library", "aimet-native"]
  examples = [
    "[E:onnxruntime:Default, provider_bridge_ort.cc:1480 TryGetProviderInfo_CUDA] Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.11: cannot open shared object file: No such file or directory",
    "RuntimeError: Unable to initialize class EncodingAnalyzerForPython: libpymo import failed with the following error:\nlibcublas.so.12: cannot open shared object file: No such file or directory",
  ]
}

failure "host-ncurses5" {
  where    = ["tool", "compile"]
  patterns = ["(?P<lib>lib(?:tinfo|ncurses)[.]so[.]5)(?:: cannot open shared object file| => not found)"]
  cause    = "The compiler needs {lib}, which newer distributions no longer have: Hexagon tools before 19.0 and older NDKs are linked with it."
  remedy   = "Install libtinfo5 and libncurses5 (Debian 12, Ubuntu 22.04 and older), or take a newer release of the tools."
  source   = "lowRISC/opentitan#4875; dcodeIO/webassembly#22; apache/nuttx#7392; clearlinux/clr-bundles#179; android/ndk#574"
  explains = ["shared-library", "ldd-not-found"]
  examples = [
    "        libncurses.so.5 => not found\n        libtinfo.so.5 => not found",
    "/tools/bin/clang: error while loading shared libraries: libtinfo.so.5: cannot open shared object file: No such file or directory",
    "tools/bin/linux-x64/clang: error while loading shared libraries: libtinfo.so.5: cannot open shared object file: No such file or directory",
    "prebuilts/clang/host/linux-x86/clang-3289846/bin/clang.real: error while loading shared libraries: libncurses.so.5: cannot open shared object file: No such file or directory",
  ]
}

failure "target-library-on-host" {
  where    = ["tool"]
  patterns = ["Unable to load (?:backend|model)[.] dlerror[(][)]: (?P<lib>[^ ]*(?:aarch64-[a-z0-9.-]+|hexagon-v[0-9]+)/[^ :]+)"]
  cause    = "{lib} is for the device, and a tool on the host cannot load it."
  remedy   = "Give tools on the host libraries of x86_64-linux-clang: build the model library with -t x86_64-linux-clang too, and take libQnnHtp.so from lib/x86_64-linux-clang. The context that they make is for the device all the same."
  source   = "qualcomm/aimet#4022"
  explains = ["shared-library", "backend-not-loaded"]
  examples = [
    "0.2ms [ ERROR ] Unable to load backend. dlerror(): /opt/qcom/aistack/qairt/2.31.0.250130/lib/aarch64-android/libQnnHtp.so: cannot open shared object file: No such file or directory\n0.2ms [ ERROR ] Failed to load backendLib!\n0.2ms [ ERROR ] Could not load backend : /opt/qcom/aistack/qairt/2.31.0.250130/lib/aarch64-android/libQnnHtp.so!",
    " 27.6ms [ ERROR ] Unable to load model. dlerror(): ./linear_model_lib/aarch64-android/liblinear_model.so: cannot open shared object file: No such file or directory",
  ]
}

failure "import-name" {
  where    = ["tool"]
  patterns = ["ImportError: cannot import name '(?P<name>[A-Za-z0-9_]+)' from '(?P<module>[A-Za-z0-9_.]+)'"]
  rank     = "symptom"
  cause    = "The installed {module} has no {name}: it is of another release than the program that imports it."
  remedy   = "Install the release of that package which the program's requirements name, in a fresh environment."
  source   = "pytorch/executorch#4155; qualcomm/qai-appbuilder#8"
  examples = [
    "ImportError: cannot import name 'Constraint' from 'torch._dynamo.eval_frame' (/w/miniconda3/envs/executorch3/lib/python3.10/site-packages/torch/_dynamo/eval_frame.py)",
    "ImportError: cannot import name 'GenieContext' from 'qai_appbuilder' (C:\\Users\\w\\clean_env\\Lib\\site-packages\\qai_appbuilder\\__init__.py)",
  ]
}

failure "python-symbol" {
  where    = ["tool"]
  patterns = ["ImportError: .*[.]so[^ ]*: undefined symbol: (?P<symbol>[A-Za-z0-9_]+)"]
  cause    = "A native Python module needs {symbol}, which no loaded library has: packages of the environment are from different builds."
  remedy   = "Install the package that failed again, in the variant for this PyTorch and Python, in a fresh environment. Keep other libraries out of LD_LIBRARY_PATH and LD_PRELOAD."
  source   = "qualcomm/aimet#3636"
  explains = ["undefined-symbol-link"]
  examples = ["ImportError: /data/miniconda3/envs/py310/lib/python3.10/site-packages/aimet_common/libpymo.abi3.so: undefined symbol: gzeof"]
}

failure "file-not-found-python" {
  where    = ["tool"]
  patterns = ["FileNotFoundError: \\[Errno 2\\] No such file or directory: '(?P<file>[^']*)'"]
  rank     = "symptom"
  cause    = "A Python program did not find {file}: a step before it did not write it, or it ran in another folder."
  remedy   = "Look for the first error above it: often the program that writes the file crashed. Otherwise correct the path."
  source   = "alibaba/MNN#4212"
  examples = ["FileNotFoundError: [Errno 2] No such file or directory: 'npu_postreat.json'"]
}

failure "numpy-abi" {
  where    = ["tool"]
  patterns = ["module compiled against (?:ABI|API) version (?P<want>0x[0-9a-f]+) but this version of numpy is (?P<have>0x[0-9a-f]+)", "numpy[.]core[.]multiarray failed to import", "_ARRAY_API not found"]
  cause    = "A native Python module was built for another NumPy than the one that is installed."
  remedy   = "Install the NumPy that the module was built for (numpy<2 for older packages), or a newer release of the module."
  source   = "AIM-Harvard/pyradiomics#721"
  examples = [
    "RuntimeError: module compiled against API version 0xe but this version of numpy is 0xd",
    "ImportError: numpy.core.multiarray failed to import",
    "AttributeError: _ARRAY_API not found",
  ]
}

failure "python-attribute" {
  where    = ["tool"]
  patterns = ["AttributeError: (?P<what>.+) has no attribute '(?P<name>[^']+)'"]
  rank     = "symptom"
  cause    = "A Python program uses {name}, which {what} does not have: two packages, or a script and the package that it drives, are of different releases."
  remedy   = "Install the releases that the program's requirements name in a fresh environment, and take its scripts and config files from the same release."
  source   = "pytorch/executorch#14810; microsoft/onnxruntime#10306; NVIDIA/Model-Optimizer#31"
  examples = ["AttributeError: module 'onnx' has no attribute 'shape_inference'", "AttributeError: module 'modelopt.onnx.quantization' has no attribute 'quantize'", "AttributeError: 'BaseConfig' object has no attribute 'adapter_checkpoint'"]
}

failure "python-native-types" {
  where    = ["tool"]
  patterns = ["TypeError: (?P<function>[A-Za-z0-9_.]+)[(][)]: incompatible (?:function|constructor) arguments"]
  cause    = "A native Python module's {function} got values of types that it does not take: the module and the Python code around it are of different builds (pybind11, NumPy or release), or the caller gives a wrong type."
  remedy   = "Install both parts from one wheel in a fresh environment, and compare the types after \"Invoked with\" with those that it lists."
  source   = "qualcomm/aimet#4001"
  examples = ["TypeError: PtrToInt64(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: capsule) -> int"]
}

failure "python-assertion" {
  where    = ["tool"]
  patterns = ["^(?:AssertionError\\s*)+$"]
  rank     = "consequence"
  cause    = "A check in a Python program failed, and it does not say why."
  remedy   = "Look at the line of code above it. If it compares a return code, a program that it started has failed: run that command (it is often printed with > before it) alone and read its first error."
  source   = "powerserve-project/PowerServe#12"
  examples = ["AssertionError"]
}

failure "pip-wheel" {
  where    = ["tool", "fetch"]
  patterns = ["(?P<wheel>[^ /]+[.]whl) is not a (?:valid wheel filename|supported wheel on this platform)"]
  cause    = "pip does not take {wheel}: its name tells a Python version, ABI or machine that this interpreter is not, or is no name by the rules for wheels."
  remedy   = "Compare the tags in its name with `pip debug --verbose`, and take the wheel for this Python and machine. If its version part is against the rules (an underscore in it), rename the file or install with an older pip."
  source   = "qualcomm/aimet#1938"
  examples = ["AimetCommon-torch_gpu_1.24.0-cp38-cp38-linux_x86_64.whl is not a valid wheel filename."]
}

failure "ldd-not-found" {
  where    = ["tool", "device"]
  patterns = ["^\\s*(?P<lib>[^ ]+[.]so[^ ]*) => not found"]
  rank     = "symptom"
  cause    = "ldd does not find {lib}, which the program needs."
  remedy   = "Install the package that has {lib}, or add its folder to LD_LIBRARY_PATH."
  source   = "android/ndk#574"
  examples = ["        libfoo.so.3 => not found"]
}
