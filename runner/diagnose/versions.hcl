# Libraries, contexts and SoCs of different SDKs.

failure "soc-unknown" {
  where    = ["device", "logcat", "tool"]
  patterns = ["SoC model [(]SnapdragonModel[)] is unknown", "Unsupported (?:SoC model [(])?SnapdragonModel"]
  cause    = "The QNN SDK is older than the device's SoC and does not know it."
  remedy   = "Take a newer SDK (`hexmage compat --soc SM8750` says which know a SoC; SM8750 wants 2.37 or newer, SM8850 2.42) for the context and for the pushed libraries, or give soc_model and dsp_arch explicitly."
  source   = "argmaxinc/WhisperKitAndroid#58"
  explains = ["device-create", "transport-4000", "context-create", "no-stub-for-arch"]
  seed     = true
  examples = [
    "<E> Dsp startup: SoC model (SnapdragonModel) is unknown\n<E> Failed to create device: 14001",
    "QnnDsp <E> Unsupported SnapdragonModel = 618 by HTP backend",
  ]
}

failure "soc-id-as-model" {
  where    = ["device", "tool"]
  patterns = ["Unknown config socModel (?P<model>[0-9]+)", "CREATE_DEVICE: 11"]
  cause    = "The kernel's soc_id was given where QNN wants its own soc_model; they are two different lists of numbers."
  remedy   = "Give QNN's number: SM8750 is soc_model 69 (its soc_id is 618), SM8850 is 87 (660). In a pipeline write target \"SM8750\" {} and use target.soc_model."
  source   = "wyanzhao/qairt-builder"
  explains = ["device-create"]
  examples = ["Unknown config socModel 0\nCREATE_DEVICE: 11"]
}

failure "stub-mismatch" {
  where    = ["device", "logcat", "tool"]
  patterns = ["Stub lib id mismatch(?:: expected [(]v?(?P<expected>[^)]*)[)], detected [(]v?(?P<detected>[^)]*)[)])?"]
  cause    = "libQnnHtp.so and its stub come from different QNN SDKs: it wants {expected} and found {detected}."
  remedy   = "Push libQnnHtp, libQnnSystem, stub and skel of one SDK, and keep /vendor/lib64 out of the front of LD_LIBRARY_PATH: phones have an older copy there."
  source   = "pytorch/executorch#8762"
  explains = ["qnn-1008", "transport-4000", "skel-step", "platform-info", "device-create", "context-create", "platform-config", "qnn-libs-not-opened"]
  seed     = true
  examples = [
    "<E> Stub lib id mismatch: expected (v2.36.0.250627101419), detected (v2.34.0.250424175746)\n<E> Failed to parse platform config: 1008\n<E> Failed to create device: 14001",
  ]
}

failure "skel-mismatch" {
  where    = ["device", "logcat"]
  patterns = ["Skel lib id mismatch", "Error in verify skel version", "Failed to retrieve skel build id: err: 1008"]
  cause    = "The DSP loaded a skel of another SDK than libQnnHtp.so is from; on Windows also one whose signature (.cat) is missing."
  remedy   = "Push the skel of the same SDK and put its folder first in ADSP_LIBRARY_PATH; on Windows keep the .cat file beside the skel."
  source   = "QAIRT documentation, loading of HTP libraries"
  explains = ["qnn-1008", "transport-4000", "device-create", "context-create"]
  examples = ["<E> Skel lib id mismatch: expected (v2.41.0), detected (v2.36.1)\n<E> Error in verify skel version", "Failed to retrieve skel build id: err: 1008"]
}

failure "prepare-mismatch" {
  where    = ["device", "tool"]
  patterns = ["Prepare lib id mismatch"]
  cause    = "libQnnHtpPrepare.so is of another SDK than libQnnHtp.so."
  remedy   = "Take both from one SDK, on the phone as on the host."
  source   = "messages of libQnnHtp.so"
  explains = ["qnn-1008", "device-create"]
  examples = ["<E> Prepare lib id mismatch: expected (v2.41.0.251128), detected (v2.37.0.250724)"]
}

failure "vendor-skel" {
  where    = ["device", "logcat"]
  patterns = ["(?:qnn_open|openSession[A-Za-z]*) failed[^\\n]*0x80000600"]
  cause    = "The phone's own skel was loaded instead of the pushed one, and does not know what the newer stub asks."
  remedy   = "Push the unsigned skel of the device's arch (SM8850 wants V81) and put its folder first in ADSP_LIBRARY_PATH."
  source   = "qualcomm/ai-hub-apps#158"
  explains = ["device-create", "skel-not-loaded"]
  examples = ["QnnDsp <E> DspTransport.openSession qnn_open failed, 0x80000600, prio 100\nFailed to create device: 14001"]
}

failure "skel-symbol" {
  where    = ["device", "logcat"]
  patterns = ["0x80000442", "(?:dlsym|symbol)[^\\n]{0,120}qnn_[0-9]+_[0-9]+_[0-9]+_skel_handle_invoke"]
  cause    = "The skel lacks a symbol that the stub asks for: from SDK 2.48.0 on the symbol's name has the version in it, and an older skel, such as the phone's own, exports the old name."
  remedy   = "Push the skel of the same SDK as the stub, its folder first in ADSP_LIBRARY_PATH."
  source   = "qualcomm/fastrpc#379; the skels of 2.48.0 and 2.51.0"
  explains = ["device-create", "skel-not-loaded", "transport-4000", "skel-step", "platform-info", "context-create", "plain-1002"]
  examples = ["adsprpc : dlsym failed qnn_2_49_0_skel_handle_invoke", "remote_handle_open_domain: failed, nErr 0x80000442 for file:///libQnnHtpV79Skel.so"]
}

failure "skel-outside-segment" {
  where    = ["logcat"]
  patterns = ["RX VA 0x[0-9A-Fa-f]+ outside ELF segment"]
  cause    = "The DSP's firmware cannot place this skel: the two are from different times."
  remedy   = "Push the skel of the SDK that the rest is from; if it is, take an SDK of the age of the phone's firmware."
  source   = "qualcomm/fastrpc#379"
  explains = ["skel-not-loaded", "device-create"]
  examples = ["adsprpc: RX VA 0xFFF00000 outside ELF segment"]
}

failure "device-create" {
  where    = ["device", "logcat", "tool"]
  patterns = ["Failed to create device.*(?:14001|0x36b1)", "Device Creation failure", "QnnDevice_create.*(?:14001|0x36b1|failed)", "Create ?[Dd]evice.*error:? 14001"]
  rank     = "symptom"
  cause    = "The HTP device could not be made: soc_model, arch or protection domain do not fit the phone, or the transport to the DSP failed before."
  remedy   = "Look at the first line with <E> above it. If there is none: push the skel of the device's arch, set ADSP_LIBRARY_PATH to its folder (`;` between folders), and use the unsigned protection domain."
  source   = "UbiquitousLearning/mllm#272, microsoft/onnxruntime#31353"
  explains = ["context-create", "qnn-libs-not-opened"]
  examples = [
    "[ERROR] Failed to create device, error: 14001",
    "<E> Failed to create device: 0x36b1\nDevice Creation failure",
    "QnnDevice_create failed",
    "CreateDevice: error: 14001",
  ]
}

failure "transport-4000" {
  where    = ["device", "logcat"]
  patterns = ["Failed to create transport for device, error: (?:4000|1002|1008)"]
  rank     = "symptom"
  cause    = "libQnnHtp.so cannot talk to the DSP: the stub of the device's arch (libQnnHtpV79Stub.so for SM8750) is missing, or from another SDK."
  remedy   = "Push libQnnHtp, libQnnSystem, stub and skel of one SDK and of the device's arch, and remove older ones from the folder on the phone."
  source   = "pytorch/executorch#2788"
  explains = ["device-create", "context-create", "skel-step", "platform-info", "plain-1002", "qnn-1008"]
  examples = ["<E> Failed to create transport for device, error: 4000\n<E> Failed to create device: 14001"]
}

failure "platform-config" {
  where    = ["device", "logcat"]
  patterns = ["Failed to (?:parse|load)(?: default)? platform (?:config|info): 1008"]
  rank     = "symptom"
  cause    = "The libraries of the QNN runtime are incompatible with each other (1008)."
  remedy   = "Take all QNN libraries from one SDK, and remove older ones from the folder on the phone."
  source   = "pytorch/executorch#2788"
  explains = ["device-create", "qnn-1008"]
  examples = [
    "<E> Failed to parse platform config: 1008",
    "<E> Failed to load default platform info: 1008",
  ]
}

failure "platform-info" {
  where    = ["device", "logcat"]
  patterns = ["Failed to (?:parse|load)(?: default)? platform (?:config|info): 14001", "default device creation failed", "Failed to register context to device and backend"]
  rank     = "consequence"
  cause    = "libQnnHtp.so could not find out what the device has: it did not reach the DSP (14001)."
  remedy   = "Look at the first line with <E> above it."
  source   = "Qualcomm's libraries 2.48.0 and 2.51.0 for arm64, under qemu"
  explains = ["device-create"]
  examples = [
    "<E> Failed to load default platform info: 14001",
    "<E> default device creation failed\n<E> Failed to register context to device and backend",
  ]
}

failure "qnn-1008" {
  where    = ["device", "tool"]
  patterns = ["(?i)(?:error|err|code|failed)[a-z_ ]{0,16}[ :=(]{1,3}(?:1008|0x3f0)\\b"]
  rank     = "symptom"
  cause    = "QNN says that its libraries are incompatible (1008): some are from another SDK."
  remedy   = "Take libQnnHtp, libQnnSystem, stub, skel and op packages from builds of one SDK; `hexmage inspect FILE` shows a library's build id."
  source   = "qualcomm/qai-appbuilder#14"
  examples = ["QnnManager: backend creation failed, error = 1008"]
}

failure "no-stub-for-arch" {
  where    = ["device", "tool"]
  patterns = ["Invalid dsp arch. Cannot determine stub", "Error invalid dsp_arch value"]
  cause    = "The dsp_arch that was configured is none that this SDK has a stub for."
  remedy   = "Use the arch of the SoC (SM8650 v75, SM8750 v79, SM8850 v81) and an SDK with lib/hexagon-vNN for it."
  source   = "messages of libQnnHtp.so"
  explains = ["device-create"]
  examples = [
    "<E> Invalid dsp arch. Cannot determine stub\n<E> Failed to create device: 14001",
    "Error invalid dsp_arch value: v99",
  ]
}

failure "context-err-5000" {
  where    = ["device"]
  patterns = ["(?:[Cc]ould not create context from binary|[Cc]an't create context from binary).*(?:err|Error) 5000", "Failed to create context from binary with err 0x1388", "Fail to get context blob with err 5000"]
  cause    = "The runtime is older than the SDK that compiled the context, or the context is for another device."
  remedy   = "Push the libraries of the SDK that compiled the context, or of a newer one, or compile again for this device; `hexmage inspect context.bin` shows SDK, arch and SoC."
  source   = "qualcomm/ai-hub-apps#148"
  explains = ["context-create"]
  examples = [
    "Could not create context from binary for context index = 0 : err 5000",
    "Fail to get context blob with err 5000\nFailed to create context from binary with err 0x1388",
  ]
}

failure "context-err-1009" {
  where    = ["device"]
  patterns = ["[Cc]ould not create context from binary.*err 1009"]
  cause    = "The process has two copies of the QNN libraries, or copies of different versions."
  remedy   = "Run in a folder with one set of libraries, and have LD_LIBRARY_PATH name that folder only."
  source   = "qualcomm/ai-hub-models#101"
  explains = ["context-create"]
  examples = ["Could not create context from binary for context index = 0 : err 1009"]
}

failure "context-newer" {
  where    = ["device", "tool"]
  patterns = ["[Cc]an't read future blob", "Newest blob version supported", "Using newer context binary on old SDK"]
  cause    = "The context binary was made by a newer SDK than the runtime that is to load it."
  remedy   = "Push the libraries of the SDK that made the context, or compile the context again with the SDK whose libraries are pushed."
  source   = "ExecuTorch documentation, Qualcomm backend"
  explains = ["context-create", "context-err-5000", "context-other-sdk"]
  examples = ["<E> Can't read future blob. Newest blob version supported: 3.1.x. Current blob version: 3.2.x.\n<E> Can't create context from binary. Error 5000", "[WARNING] Using newer context binary on old SDK"]
}

failure "context-malformed" {
  where    = ["device", "tool"]
  patterns = ["Malformed context blob", "header does not fit its size", "\\b0x7532\\b", "(?:error|err|code)[ :=]{1,3}30010\\b", "Binary validation failed", "(?:error|err|code)[ :=]{1,3}30002\\b"]
  cause    = "The file is no whole context binary: a cut-off copy, another file, or one with a wrapper around it."
  remedy   = "Push it again and compare sizes and SHA-256 on both sides; `hexmage inspect FILE` says on the host whether it is whole."
  source   = "pytorch/executorch#6820, #7946"
  explains = ["context-create"]
  examples = [
    "[ERROR] context.cc:13 Could not create context from binary: model.bin: its header does not fit its size: cut short while copying?",
    "<E> Malformed context blob, invalid flatbuffer",
    "QnnSystemContext_getBinaryInfo failed: error 0x7532",
    "Failed to get context binary info, error: 30010",
    "Binary validation failed. Could not create context from binary",
    "QnnSystemContext error: 30002",
  ]
}

failure "context-other-sdk" {
  where    = ["device"]
  patterns = ["qnn version mismatch with backend"]
  cause    = "The context could not be loaded: it was compiled by another QNN SDK than the libraries on the device come from."
  remedy   = "Compile the context with the SDK whose libraries are pushed; in a pipeline both are toolchain.qairt. A stale qnn_context.bin on the phone is to be deleted."
  source   = "UbiquitousLearning/mllm"
  explains = ["context-create"]
  examples = ["[ERROR] Could not create context from binary. Mostly due to binary's qnn version mismatch with backend's qnn version."]
}

failure "context-create" {
  where    = ["device", "tool"]
  patterns = ["[Cc]ould not create context from binary", "[Cc]an't create context from binary", "Create From Binary failure", "Context Creation failure", "Failed to create context from binary"]
  rank     = "consequence"
  cause    = "The context binary could not be loaded."
  remedy   = "Look for the first error above. If there is none: `hexmage inspect` the context and compare SDK, arch and SoC with the device and the pushed libraries."
  source   = "messages of qnn-net-run"
  examples = [
    "Create From Binary failure",
    "Could not create context from binary for context index = 0 : err 1",
    "Can't create context from binary.",
    "Context Creation failure",
    "Failed to create context from binary with err 0x1",
  ]
}

failure "arch-of-other-device" {
  where    = ["device", "logcat"]
  patterns = ["Request feature arch with value (?P<arch>[0-9]+) unsupported"]
  cause    = "The context was compiled for Hexagon v{arch}, which this device does not have."
  remedy   = "Set the target's soc to the device's (`hexmage inspect` shows what a context is for) and compile again, or run on the device it is for."
  source   = "pytorch/executorch#11100"
  explains = ["context-create", "context-err-5000", "context-err-5005"]
  examples = ["<E> Request feature arch with value 75 unsupported\n<E> Failed to create context from binary with err 0x138d"]
}

failure "api-version" {
  where    = ["device", "tool"]
  patterns = ["Qnn API version (?P<version>[0-9.]+) is mismatched", "API version.* (?:is )?not compatible with.*(?i:qnn|backend)"]
  cause    = "The program was built with headers of another QNN SDK than the library that it loaded."
  remedy   = "Build it with the SDK whose libraries are used, on the host as on the phone."
  source   = "pytorch/executorch"
  examples = [
    "[ERROR] [Qnn ExecuTorch]: Qnn API version 2.33.0 is mismatched with the backend library",
    "API version 2.21 is not compatible with the QNN backend's 2.14",
  ]
}

failure "executorch-soc-0" {
  where    = ["tool", "device"]
  patterns = ["unknown custom config socModel 0"]
  cause    = "The program was built against another release of the QNN SDK than these libraries are of: its structures are laid out differently, and they see SoC model 0."
  remedy   = "Use the release that it was built against, for its libraries here and on the phone: ExecuTorch 1.5.1 wants QAIRT 2.37 (`hexmage run executorch-qnn --profile device`)."
  source   = "ExecuTorch 1.5.1 with the libraries of QAIRT 2.51.0"
  explains = ["device-create", "platform-info"]
  examples = ["[ERROR] [Qnn ExecuTorch]:  <E> Failed to set scatter gather parameters: unknown custom config socModel 0\n[ERROR] [Qnn ExecuTorch]:  <E> Failed to parse platform config: 14001\n[ERROR] [Qnn ExecuTorch]: Failed to create device_handle for Backend ID 6, error=14001"]
}

failure "vendor-library-old" {
  where    = ["device"]
  patterns = ["found QNN version (?P<found>[0-9.]+) below minimum (?P<least>[0-9.]+)"]
  cause    = "The phone's own QNN library ({found}) was picked up where at least {least} is wanted."
  remedy   = "Push or bundle the SDK's libraries and put their folder before /vendor/lib64 in LD_LIBRARY_PATH."
  source   = "google-ai-edge/LiteRT-LM#773"
  examples = ["E litert: found QNN version 2.25.0 below minimum 2.26.0"]
}

failure "no-interface" {
  where    = ["device"]
  patterns = ["Unable to find a valid interface", "Qnn getQnnInterface FAILED"]
  cause    = "The libQnnHtp.so that was loaded offers no interface of the version that the program wants: usually the phone's own from /vendor/lib64."
  remedy   = "Push the SDK's libQnnHtp.so and libQnnSystem.so, put the run's folder first in LD_LIBRARY_PATH, and take /vendor/lib64 out of it."
  source   = "qualcomm/ai-hub-apps#26, UbiquitousLearning/mllm#125"
  explains = ["qnn-libs-not-opened"]
  examples = [
    "[ERROR] Unable to find a valid interface.\n[FATAL] Failed to open QNN libs.",
    "Qnn getQnnInterface FAILED!",
  ]
}

failure "silent-empty-output" {
  where    = ["device", "tool"]
  patterns = ["Inference[(][)] (?:silently )?return(?:s|ed) (?:\\[\\]|an empty list)"]
  cause    = "The inference library gives an empty result instead of an error when its version is not that of the QNN libraries."
  remedy   = "Pin the library and the QNN SDK to the same version."
  source   = "Frigate, Qualcomm detector"
  examples = ["qai_appbuilder: Inference() returned []"]
}

failure "mixed-16-25" {
  where    = ["device", "logcat"]
  patterns = ["Number of input elements (?P<in>[0-9]+) does not match number of output elements 0"]
  cause    = "An op of the package sees tensors of shape 0: the op package was built with headers of another SDK than the runtime's."
  remedy   = "Build the op package with the SDK whose libraries are pushed."
  source   = "UbiquitousLearning/mllm#211"
  explains = ["op-validation"]
  examples = ["<E> Number of input elements 524288 does not match number of output elements 0\n<E> Op specific validation failed"]
}

failure "qnn-binaries-differ" {
  where    = ["device", "tool"]
  patterns = ["QNN_COMMON_ERROR_INCOMPATIBLE_BINARIES", "Loaded libraries are of incompatible versions"]
  cause    = "QNN's libraries in this process are of different SDK releases, or a driver's and an SDK's are mixed."
  remedy   = "Take libQnnHtp, libQnnSystem, the stub and the skel from one SDK release, put them into one folder, and see that no other folder comes first (PATH on Windows, LD_LIBRARY_PATH, ADSP_LIBRARY_PATH)."
  source   = "microsoft/onnxruntime#26163"
  explains = ["ort-setup", "device-create", "context-create"]
  examples = ["[E:onnxruntime:, qnn_execution_provider.cc:767 GetCapability] QNN SetupBackend failed Failed to create device. Error: QNN_COMMON_ERROR_INCOMPATIBLE_BINARIES: Loaded libraries are of incompatible versions"]
}
