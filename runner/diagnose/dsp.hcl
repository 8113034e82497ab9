# The DSP: loading, protection domains, crashes, FastRPC.

failure "skel-not-loaded" {
  where    = ["device", "logcat"]
  patterns = ["qnn_open failed, 0x80000406", "Unable to load Skel Library", "Unable to load lib 0x80000406", "0x80000406"]
  cause    = "The DSP could not load the skel or op package: it is not there, not in ADSP_LIBRARY_PATH, or for another Hexagon arch."
  remedy   = "Push the skel of the device's arch (SM8750: libQnnHtpV79Skel.so from lib/hexagon-v79/unsigned), have ADSP_LIBRARY_PATH name its folder, with ';' between folders (a list with ':' is taken for one folder). If it worked before, reboot the device: its DSP may be wedged."
  source   = "pytorch/executorch#1176, #1527; qualcomm/fastrpc#379"
  explains = ["device-create", "transport-4000", "skel-step", "platform-info", "context-create", "op-package-not-registered", "plain-1002"]
  examples = [
    "QnnDsp <E> DspTransport.openSession qnn_open failed, 0x80000406, prio 100\nQnnDsp <E> Unable to load Skel Library. transportStatus: 9\nQnnDsp <E> Failed to create device: 14001",
    "<E> IDspTransport: Unable to load lib 0x80000406\n<E> Failed to create transport for device, error: 1002\n<E> Transport layer setup failed: 14001",
  ]
}

failure "remote-symbols" {
  where    = ["device", "logcat"]
  patterns = ["loadRemoteSymbols failed with err 4000", "Unable to load Remote symbols 4000"]
  cause    = "libQnnHtp.so could not open libcdsprpc.so, which the phone has to give, or the stub of the device's arch."
  remedy   = "Push the stub of the device's arch (SM8750: libQnnHtpV79Stub.so) beside libQnnHtp.so. If it is there: libcdsprpc.so is in the phone's /vendor/lib64; an app declares it in its manifest, on Linux it comes with the board's FastRPC package."
  source   = "UbiquitousLearning/mllm#341; Qualcomm's libraries 2.48.0 and 2.51.0 for arm64, under qemu"
  explains = ["transport-4000", "skel-step", "platform-info", "device-create", "context-create"]
  examples = [
    "<E> loadRemoteSymbols failed with err 4000\n<E> Failed to create transport for device, error: 4000\n<E> Failed to load skel, error: 4000\n<E> Transport layer setup failed: 14001",
    "     0.0ms [ ERROR ]  <E> Unable to load Remote symbols 4000\n     0.0ms [ ERROR ]  <E> Failed to create transport for device, error: 4000\n     0.0ms [ ERROR ]  <E> Failed to load skel, error: 4000",
  ]
}

failure "no-cdsprpc" {
  where    = ["device", "logcat"]
  patterns = ["Failed in loading stub: (?:.*library )?[\"']?libcdsprpc[.]so", "library \"libcdsprpc[.]so\" not found"]
  cause    = "There is no libcdsprpc.so that the program may load. By it QNN's stub reaches the DSP; the phone or board has to give it."
  remedy   = "In an app, declare <uses-native-library android:name=\"libcdsprpc.so\"/> in the manifest: the library is the phone's, in /vendor/lib64. On Linux install the board's FastRPC package, and look whether the linker finds it (`ldconfig -p`)."
  source   = "Qualcomm's libraries 2.48.0 and 2.51.0 for arm64, on the simulated phone; argmaxinc/WhisperKitAndroid#55"
  explains = ["remote-symbols", "shared-library", "library-not-found", "transport-4000", "skel-step", "platform-info", "device-create", "context-create"]
  examples = [
    "<W> Failed in loading stub: libcdsprpc.so: cannot open shared object file: No such file or directory\n<E> loadRemoteSymbols failed with err 4000\n<E> Failed to create transport for device, error: 4000",
    "java.lang.UnsatisfiedLinkError: dlopen failed: library \"libcdsprpc.so\" not found: needed by /data/app/com.whispertflite/lib/arm64/libQnnHtpV73Stub.so in namespace clns-4",
  ]
}

failure "no-stub" {
  where    = ["device", "logcat"]
  patterns = ["Failed in loading stub: (?:.*library )?[\"']?(?P<lib>libQnnHtpV[0-9]+Stub[.]so)"]
  cause    = "{lib} is not there: QNN takes the stub of the SoC that the phone says it is."
  remedy   = "Push {lib} of the same SDK beside libQnnHtp.so, with its folder in LD_LIBRARY_PATH, and the skel of the same arch. If another arch's were pushed: the target is not this phone's SoC (`hexmage device info`)."
  source   = "Qualcomm's libraries 2.48.0 and 2.51.0 for arm64, on the simulated phone"
  explains = ["remote-symbols", "shared-library", "library-not-found", "transport-4000", "skel-step", "platform-info", "device-create", "context-create"]
  examples = ["<W> Failed in loading stub: libQnnHtpV75Stub.so: cannot open shared object file: No such file or directory\n<E> loadRemoteSymbols failed with err 4000"]
}

failure "skel-step" {
  where    = ["device", "logcat"]
  patterns = ["Failed to load skel, error: [0-9]+", "Transport layer setup failed: [0-9]+", "DspTransport.getHandle failed, error", "createDspTransportInstance failed", "error in creation of transport instance", "IDspTransport: Unknown rpc status", "QNN_TRANSPORT_CONFIG status has error", "Unable to load Remote symbols 1008"]
  rank     = "consequence"
  cause    = "libQnnHtp.so did not come as far as the skel, or the skel did not answer: what failed is in the lines above."
  remedy   = "Look at the first line with <E> above it."
  source   = "messages of libQnnHtp.so; pytorch/executorch#8762"
  examples = [
    "<E> Failed to load skel, error: 4000",
    "<E> QNN_TRANSPORT_CONFIG status has error :-2147482604",
    "<E> Transport layer setup failed: 14001",
    "<E> IDspTransport: Unknown rpc status 0x00000042\n<E> DspTransport.getHandle failed, error 0xffffffff\n<E> createDspTransportInstance failed to config transport object\n<E> error in creation of transport instance",
    "[ERROR] [Qnn ExecuTorch]:  <E> Unable to load Remote symbols 1008",
  ]
}

failure "skel-uri" {
  where    = ["device", "logcat"]
  patterns = ["0x80000406,? uri[= ]file:///(?P<lib>[^ ?]+)", "remote_handle(?:64)?_open.*0x80000406.*file:///(?P<lib>[^ ?]+)"]
  cause    = "The DSP could not load {lib}: its name, arch or folder is wrong."
  remedy   = "Push {lib}, built for the device's Hexagon arch, and have ADSP_LIBRARY_PATH name its folder."
  source   = "chraac/llama.cpp#41, ggml-org/llama.cpp#18932"
  explains = ["skel-not-loaded", "device-create"]
  examples = [
    "ggml-hex: failed to open session, err: 0x80000406, uri file:///libggml-htp_skel_v79.so?htp_iface_skel_handle_invoke&_modver=1.0&_dom=cdsp",
    "adsprpc: remote_handle64_open failed 0x80000406 for file:///libQnnHtpV79Skel.so?qnn_skel_handle_invoke&_modver=1.0",
    "<E> openSessionForPriority failed: priority=100 status=0x80000406 uri=file:///libQnnHtpV79Skel.so?qnn_2_51_0_skel_handle_invoke&_modver=1.0&_dom=cdsp",
  ]
}

failure "dsp-wedged" {
  where    = ["device", "logcat"]
  patterns = ["0x80000406"]
  also     = ["SSR Detected|0x8000040d|AEE_EBADSTATE|cdsp.*(?:crash|fatal error)|0x80000414.*after"]
  cause    = "The DSP crashed and has not come back to order: since then it loads nothing."
  remedy   = "Reboot the device (`adb reboot`), then look for what crashed it: the first error of the run before."
  source   = "wyanzhao/qairt-builder"
  explains = ["skel-not-loaded", "dsp-crash", "pd-dead", "device-create", "context-create", "skel-uri"]
  examples = ["<E> SSR Detected - You must free and recreate affected QNN API handles\n<E> DspTransport.openSession qnn_open failed, 0x80000406, prio 100\n<E> DspTransport.openSession qnn_open failed, 0x80000406, prio 100"]
}

failure "config-option-2" {
  where    = ["device", "logcat"]
  patterns = ["(?:Unsupported|Passed unsupported) config option,? 2\\b"]
  cause    = "Option 2 of the HTP device's configuration, the signed protection domain, is not accepted by this build of QNN."
  remedy   = "Ask for the unsigned protection domain: set htp_security_pd_session to HtpUnsignedPd in mllm's qnn_aot_cfg_*.json, or pd_session to \"unsigned\" in the configuration of QAIRT's tools."
  source   = "UbiquitousLearning/mllm: QNN documentation page, qnn_aot_cfg_*.json"
  explains = ["device-create", "context-create"]
  seed     = true
  examples = ["<E> Unsupported config option 2\n<E> Failed to create device: 14001", "QnnDsp <E> Passed unsupported config option, 2"]
}

failure "config-option" {
  where    = ["device", "logcat"]
  patterns = ["Passed unsupported config option,? (?P<n>[0-9]+)"]
  cause    = "The program passes configuration option {n}, which this QNN SDK does not know (0 SoC, 1 arch, 2 signed, 3 secure protection domain)."
  remedy   = "Leave the option out, or take an SDK that has it."
  source   = "messages of libQnnHtp.so"
  explains = ["device-create"]
  examples = ["QnnDsp <E> Passed unsupported config option, 3"]
}

failure "pd-after-create" {
  where    = ["device"]
  patterns = ["Cannot change signed/unsigned PD after device create"]
  cause    = "The program asks for another protection domain when the device exists already."
  remedy   = "Choose signed or unsigned once, before the first device is made in the process."
  source   = "messages of libQnnHtp.so"
  examples = ["<E> Cannot change signed/unsigned PD after device create"]
}

failure "only-signed" {
  where    = ["device", "logcat"]
  patterns = ["Only signed offload is allowed on domain (?P<domain>[0-9]+)"]
  cause    = "This device allows no unsigned protection domain on domain {domain}."
  remedy   = "Have the skel signed for this device, install a test signature, or take another device."
  source   = "apache/tvm#17195"
  explains = ["skel-not-loaded", "device-create"]
  examples = ["adsprpc: Overriding user request for unsigned PD. Only signed offload is allowed on domain 3\nadsprpc: remote_handle_open failed 0x80000406"]
}

failure "unsigned-module" {
  where    = ["device", "logcat"]
  patterns = ["0x80000481", "AEE_EUNSIGNEDMOD", "test-?sig.*not found"]
  cause    = "The signed protection domain was asked for, and the module is not signed for this device."
  remedy   = "Use the unsigned protection domain, or make a test signature with the Hexagon SDK's elfsigner.py and put it into ADSP_LIBRARY_PATH."
  source   = "qualcomm/fastrpc, AEEStdErr.h"
  explains = ["device-create", "skel-not-loaded"]
  examples = [
    "adsprpc: open_mod failed 0x80000481 for libQnnHtpV79Skel.so",
    "adsprpc: AEE_EUNSIGNEDMOD on open",
    "adsprpc: testsig-0x1a2b3c4d.so not found",
  ]
}

failure "pd-spawn-refused" {
  where    = ["device", "logcat"]
  patterns = ["0x8000054f", "User PD spawn refused"]
  cause    = "The DSP's firmware refuses user protection domains: firmware and fastrpc shell are from different times, as on mainline kernels."
  remedy   = "Install the fastrpc shells that belong to the firmware."
  source   = "qualcomm/fastrpc#400"
  explains = ["device-create", "skel-not-loaded"]
  examples = ["adsprpc: User PD spawn refused by firmware, error 0x8000054f"]
}

failure "selinux" {
  where    = ["device", "logcat"]
  patterns = ["avc: +denied.*(?:adsprpc|fastrpc)", "open_shell failed.*(?:Permission denied|0xd\\b)", "(?:adsprpc-smd|fastrpc-cdsp)[^ ]*:? .*Permission denied"]
  cause    = "The device's security policy keeps the program from the DSP: apps see only what their manifest asks for."
  remedy   = "Run it from adb's shell, or in an app declare <uses-native-library android:name=\"libcdsprpc.so\"/>."
  source   = "qualcomm/fastrpc#266, qualcomm/ai-hub-apps#41"
  explains = ["skel-not-loaded", "device-create", "genie-dialog"]
  examples = [
    "avc: denied { read } for name=\"adsprpc-smd\" scontext=u:r:untrusted_app:s0 tclass=chr_file\n<E> Failed to create device: 14001",
    "fastrpc_apps_user.c: open_shell failed with Permission denied 0xd",
    "open of /dev/adsprpc-smd: Permission denied",
  ]
}

failure "dspqueue-missing" {
  where    = ["device", "logcat"]
  patterns = ["dspqueue_create.*0x80000414", "0x80000414.*dspqueue", "remote_handle64_invoke.*0x80000414"]
  cause    = "The DSP's firmware has no dspqueue."
  remedy   = "Switch the program's use of dspqueue off, or take a phone with newer firmware."
  source   = "qualcomm/fastrpc#342, ggml-org/llama.cpp#22352"
  examples = [
    "adsprpc: Error 0x80000414: remote_handle64_invoke failed, method dspqueue_create",
    "dspqueue_create failed: 0x80000414",
    "remote_handle64_invoke failed 0x80000414 (domain 3)",
  ]
}

failure "dsp-feature-missing" {
  where    = ["device", "logcat"]
  patterns = ["0x80000414"]
  rank     = "symptom"
  cause    = "The DSP's image lacks a function that the program calls."
  remedy   = "Take libraries of the age of the phone's firmware, or update the phone."
  source   = "qualcomm/fastrpc, AEEStdErr.h"
  explains = ["device-create"]
  examples = ["<E> DspTransport getHwInfo failed 0x80000414"]
}

failure "emulated-dsp" {
  where    = ["device", "logcat"]
  patterns = ["hexmage simulated phone: .*the simulated DSP does not run it"]
  cause    = "The libraries fit each other and the phone, and the DSP would load the skel; but the phone is a simulated one, whose DSP does not run Qualcomm's skel."
  remedy   = "Run it on a phone: what can be tested of Qualcomm's runtime here is tested."
  source   = "hexmage"
  explains = ["dsp-feature-missing", "device-create", "transport-4000", "skel-step", "platform-info", "context-create", "plain-1002"]
  examples = ["libcdsprpc.so: hexmage simulated phone: the skel is one that this DSP loads, but the simulated DSP does not run it: this is as far as it goes\n<E> DspTransport.transport_config failed: rpc 0x80000414, cfg 0x00000000\n<E> Failed to create transport for device, error: 1002"]
}

failure "libcdsprpc-old" {
  where    = ["device", "logcat"]
  patterns = ["failed to get URI for session [0-9]+ ?: error 0x14", "cannot locate symbol \"rpcmem_alloc2\""]
  cause    = "The phone's libcdsprpc.so is too old for what the program asks of it."
  remedy   = "Update the phone, or have the program fall back: one session, rpcmem_alloc."
  source   = "ggml-org/llama.cpp#16911"
  explains = ["symbol-missing", "library-not-found"]
  examples = ["ggml-hex: failed to get URI for session 0 : error 0x14", "CANNOT LINK EXECUTABLE: cannot locate symbol \"rpcmem_alloc2\" referenced by \"libggml-hexagon.so\""]
}

failure "dsp-session-broken" {
  where    = ["device", "logcat"]
  patterns = ["dspqueue_(?:read|write).*0x(?:2e|0e|72)\\b", "(?:adsprpc|fastrpc|ggml-hex).*(?:error|err|failed)[ :]+0x72\\b", "0x80000472"]
  cause    = "The session with the DSP, or its queue, is broken: requests are refused or time out."
  remedy   = "Start the program again; if it stays so, reboot the device."
  source   = "ggml-org/llama.cpp#22204, #26123, #22208, #19617"
  examples = [
    "ggml-hex: dspqueue_read failed: 0x2e",
    "ggml-hex: open failed : error 0x72",
    "adsprpc: handle open 0x80000472",
  ]
}

failure "dsp-crash" {
  where    = ["device", "logcat"]
  patterns = ["SSR Detected", "(?:error|err|code)[ :=]{1,3}1007\\b", "cdsp.*(?:fatal error|crash(?:ed)?)"]
  cause    = "The DSP crashed and was started anew; all handles to contexts, graphs and memory are gone."
  remedy   = "Start the program again. A program that is to survive must free and make anew its context, graphs and memory. What crashed the DSP is in the lines before."
  source   = "pytorch/executorch#3528"
  explains = ["device-create", "context-create", "graph-execute", "pd-dead", "pd-reset"]
  examples = [
    "<E> SSR Detected - You must free and recreate affected QNN API handles\n<E> Execute Graph Failed at iteration = 3 for graph = model.0.s32",
    "QnnGraph error: 1007",
    "subsys cdsp fatal error received: err_qdi.c:967",
  ]
}

failure "pd-dead" {
  where    = ["device", "logcat"]
  patterns = ["0x8000040d", "AEE_EBADSTATE"]
  cause    = "The program's protection domain on the DSP is dead: it crashed, or was ended with the process that began it."
  remedy   = "Start the program again, and look for the first error before this one: an op that reads or writes out of bounds ends the domain."
  source   = "b1xian, issue 6; qualcomm/fastrpc, AEEStdErr.h"
  explains = ["graph-execute", "context-create"]
  examples = [
    "adsprpc: remote_handle64_invoke failed 0x8000040d\n<E> Execute Graph Failed at iteration = 0 for graph = model.0.s32",
    "fastrpc: AEE_EBADSTATE on invoke",
  ]
}

failure "pd-reset" {
  where    = ["device", "logcat"]
  patterns = ["(?:fastrpc|adsprpc|remote_handle|listener).*(?:0x68\\b|Connection reset|ECONNRESET)"]
  cause    = "The DSP's protection domain crashed while a call was under way (104, connection reset)."
  remedy   = "Look at the DSP's own log: put a file PROGRAM.farf with the text 0x1f beside the program, and run again with logcat's adsprpc lines."
  source   = "qualcomm/fastrpc"
  explains = ["graph-execute"]
  examples = ["fastrpc_apps_user.c: remote_handle64_invoke failed, errno 0x68 Connection reset by peer"]
}

failure "farf-exception" {
  where    = ["logcat", "device"]
  patterns = ["(?:DSP|PD|adsprpc|farf).*(?:TLBMISS|[Ee]xception).*(?:PC|pc|BADVA|cause)", "BADVA ?= ?0x[0-9a-fA-F]+"]
  cause    = "Code on the DSP, usually an op of a package, touched memory that it must not, and ended its protection domain."
  remedy   = "Find the op by the address (hexagon-llvm-addr2line with the op package's library), and check its sizes: VTCM, padding to 128 bytes, tensors of rank below 4."
  source   = "Hexagon SDK, debugging on target"
  explains = ["pd-dead", "pd-reset", "dsp-crash", "graph-execute"]
  examples = ["adsprpc: PD exception: TLBMISS RW cause 0x22 PC 0xe0012a40 BADVA = 0x10\nadsprpc: remote_handle64_invoke failed 0x8000040d"]
}

failure "platform-validator-sum" {
  where    = ["device"]
  patterns = ["-6 ?[.] ?Error while executing the sum function"]
  cause    = "The validator's own code could not run on the DSP: ADSP_LIBRARY_PATH does not name the folder with its skel."
  remedy   = "Set ADSP_LIBRARY_PATH to the folder on the phone that has libCalculator_skel.so, then run it again."
  source   = "wyanzhao/qairt-builder"
  examples = ["Unit Test on the backend DSP: Failed. -6 . Error while executing the sum function"]
}

failure "adsp-path-colon" {
  where    = ["device", "logcat", "tool"]
  patterns = ["ADSP_LIBRARY_PATH=[\"']?[^ ;\"']*:[^ ;]*/"]
  cause    = "ADSP_LIBRARY_PATH has ':' between its folders, so the DSP's loader takes all of it for one folder."
  remedy   = "Separate them with ';', in quotes for the shell: ADSP_LIBRARY_PATH=\"$PWD;/vendor/dsp/cdsp\"."
  source   = "qualcomm/fastrpc#379"
  explains = ["skel-not-loaded", "device-create", "op-package-not-registered", "skel-uri"]
  examples = ["+ export ADSP_LIBRARY_PATH=/data/local/tmp/mllm/qnn-lib:/vendor/lib/rfsa/adsp\nQnnDsp <E> DspTransport.openSession qnn_open failed, 0x80000406, prio 100"]
}

failure "unsigned-pd-1002" {
  where    = ["device", "logcat"]
  patterns = ["createUnsignedPD.*1002", "createUnsignedPD (?:failed|error)"]
  cause    = "The unsigned protection domain could not be made on this phone."
  remedy   = "Push the unsigned skel of the device's arch with its folder first in ADSP_LIBRARY_PATH; if the phone refuses unsigned domains, a signed skel is needed."
  source   = "google-ai-edge/LiteRT#9905, xororz/local-dream#310"
  explains = ["device-create", "plain-1002"]
  examples = [
    "QnnDsp <E> createUnsignedPD err 1002",
    "<E> createUnsignedPD failed",
  ]
}

failure "plain-1002" {
  where    = ["device"]
  patterns = ["(?i)(?:qnn|dsp|device|backend)[^\\n]*(?:error|err|failed)[a-z ]{0,12}[ :=(]{1,3}1002\\b"]
  rank     = "symptom"
  cause    = "QNN could not get memory, or the DSP did not answer while it was asked for (1002)."
  remedy   = "Look at the first line with <E>. Without one: check skel and ADSP_LIBRARY_PATH, free other sessions, and reboot the device if it worked before."
  source   = "onnxruntime/onnxruntime-qnn#593"
  explains = ["device-create"]
  examples = ["QnnDevice init failed: error 1002"]
}

failure "dsp-bad-elf" {
  where    = ["device", "logcat"]
  patterns = ["0x80000452", "AEE_EBADELF"]
  cause    = "The DSP does not take the library: it is no Hexagon ELF, for another Hexagon arch than the device's, or cut off."
  remedy   = "Push the build for the device's arch (SM8750: htp_v79); `hexmage inspect FILE` says what it is for. The builds for AArch64 and for the DSP have the same name: keep them apart."
  source   = "qualcomm/fastrpc, AEEStdErr.h"
  explains = ["device-create", "skel-not-loaded", "op-package-not-registered"]
  examples = ["[ERROR] loading the op package failed with error 0x80000452: libQnnLLaMAPackage_HTP.so", "adsprpc: dlopen: AEE_EBADELF"]
}

failure "dsp-device-node" {
  where    = ["device", "logcat"]
  patterns = ["0x8000043b", "AEE_EINVALIDDEVICE"]
  cause    = "The device node of the DSP could not be opened: it is not there, or the program may not use it."
  remedy   = "Look whether /dev/fastrpc-cdsp or /dev/adsprpc-smd is on the device; run from adb's shell, or declare libcdsprpc.so in the app's manifest."
  source   = "qualcomm/fastrpc, AEEStdErr.h"
  explains = ["device-create", "skel-not-loaded"]
  examples = ["adsprpc: open dsp dev failed 0x8000043b", "fastrpc: AEE_EINVALIDDEVICE"]
}

failure "dsp-file-missing" {
  where    = ["device", "logcat"]
  patterns = ["0x800004(?:3e|45|57)", "AEE_ENOSUCHMOD"]
  cause    = "The DSP did not find a file that it was to load, or a library that one of them needs."
  remedy   = "Push it, and have ADSP_LIBRARY_PATH name its folder (';' between folders); a Hexagon library needs libc++.so.1 and libc++abi.so.1 of the DSP's image."
  source   = "qualcomm/fastrpc, AEEStdErr.h"
  explains = ["device-create", "skel-not-loaded", "op-package-not-registered"]
  examples = ["adsprpc: fopen failed 0x80000457 for libQnnLLaMAPackage_HTP.so", "remote_handle_open: AEE_ENOSUCHMOD"]
}

failure "dsp-memory" {
  where    = ["device", "logcat"]
  patterns = ["0x800004(?:02|65|68)", "AEE_ENORPCMEMORY"]
  cause    = "The DSP, or the channel to it, has no memory left."
  remedy   = "Load fewer or smaller contexts at once, use more shards, and end other programs that use the DSP."
  source   = "qualcomm/fastrpc, AEEStdErr.h"
  explains = ["device-create", "context-create", "graph-execute"]
  examples = ["adsprpc: remote_mmap64 failed 0x80000402", "fastrpc: AEE_ENORPCMEMORY"]
}

failure "dsp-sessions" {
  where    = ["device", "logcat"]
  patterns = ["0x8000048a", "AEE_ENOSESSION"]
  cause    = "All sessions with the DSP are taken, or the session is gone."
  remedy   = "End other programs that use the DSP (`adb shell ps -A`), and open fewer sessions; if it stays so, reboot the device."
  source   = "qualcomm/fastrpc, AEEStdErr.h"
  explains = ["device-create", "skel-not-loaded"]
  examples = ["adsprpc: session open failed 0x8000048a", "fastrpc: AEE_ENOSESSION"]
}

failure "stub-skel-version" {
  where    = ["device", "logcat"]
  patterns = ["0x80000594", "AEE_ESTUBSKELVERMISMATCH"]
  cause    = "The stub and the skel that the DSP loaded are of different versions."
  remedy   = "Push stub and skel of one SDK, the skel's folder first in ADSP_LIBRARY_PATH."
  source   = "qualcomm/fastrpc, AEEStdErr.h"
  explains = ["device-create", "skel-not-loaded", "qnn-1008"]
  examples = ["adsprpc: remote_handle64_open failed 0x80000594", "fastrpc: AEE_ESTUBSKELVERMISMATCH"]
}

failure "signature-verify" {
  where    = ["device", "logcat"]
  patterns = ["signature verify start failed for (?P<lib>[A-Za-z0-9_]+[.]so)"]
  cause    = "{lib} is not signed, and the program asked for a signed protection domain (as a process of root does by default)."
  remedy   = "Ask for an unsigned PD before the session is opened (DSPRPC_CONTROL_UNSIGNED_MODULE), and do not run as root. Otherwise sign the library, or install a test signature for this device."
  source   = "chraac/llama.cpp#41"
  explains = ["skel-uri", "skel-not-loaded", "dlopen-dsp", "device-create"]
  examples = ["E llama-cli: fastrpc_apps_user.c:1622: Error 0x80000406: remote_handle_open_domain: dynamic loading failed for file:///libhexagon_npu_skel_v79.so?npu_device_skel_handle_invoke&_modver=1.0&_dom=cdsp on domain 3 (dlerror signature verify start failed for libhexagon_npu_skel_v79.so) (errno Success)"]
}

failure "dlopen-dsp" {
  where    = ["device", "logcat"]
  patterns = ["dlopen_ex failed for (?P<lib>[A-Za-z0-9_.+]+)"]
  rank     = "symptom"
  cause    = "The DSP could not load {lib}."
  remedy   = "Read the lines around it: the file is missing, not signed, or for another arch."
  source   = "chraac/llama.cpp#41"
  examples = ["V adsprpc : CDSP0:[DS]: Error: dlopen_ex failed for libhexagon_npu_skel_v79.so (flags 258)"]
}

failure "skel-not-found" {
  where    = ["device", "logcat"]
  patterns = ["apps_std_fopen_with_env failed with 0x2 for (?P<lib>lib[A-Za-z0-9_]*[Ss]kel[A-Za-z0-9_]*[.]so)", "fopen failed for (?P<lib>lib[A-Za-z0-9_]*[Ss]kel[A-Za-z0-9_]*[.]so)"]
  cause    = "The skel {lib} is in none of the folders that the DSP's loader searches."
  remedy   = "Push {lib} (from lib/hexagon-v…/unsigned of the SDK), or pack it into the app, and have ADSP_LIBRARY_PATH name its folder."
  source   = "google-ai-edge/LiteRT#5077, DenisovAV/flutter_gemma#293, tensorflow/tensorflow#39539"
  explains = ["open-mod-table", "skel-not-loaded", "device-create", "transport-4000", "skel-step"]
  examples = ["apps_std_imp.c:1056: Warning: apps_std_fopen_with_env failed with 0x2 for libQnnHtpV79Skel.so (No such file or directory)", "apps_std_imp.c:729:Error 45: fopen failed for libhexagon_nn_skel.so. (No such file or directory)"]
}

failure "open-mod-table" {
  where    = ["device", "logcat"]
  patterns = ["open_mod_table_handle_invoke failed"]
  rank     = "consequence"
  cause    = "A request of the DSP to this process failed, usually to open a file."
  remedy   = "Look at the line before it, which names the file."
  source   = "google-ai-edge/LiteRT#5077"
  examples = ["mod_table.c:863: Error 0x2: open_mod_table_handle_invoke failed for handle:0xa853b3e8, sc:0x13050100"]
}

failure "app-namespace" {
  where    = ["device", "logcat"]
  patterns = ["library \"(?P<lib>[^\"]+)\".* is not accessible for the namespace"]
  cause    = "Android does not let the app load {lib}: an app sees a library of the phone only if its manifest declares it."
  remedy   = "Declare it in AndroidManifest.xml, inside <application>: <uses-native-library android:name=\"{lib}\" android:required=\"false\"/>. A copy of the library in the app does not help: it must be the phone's."
  source   = "alibaba/MNN#150, #1058; CarGuo/GSYRecordWave#62; bytedeco/javacv#617; qualcomm/fastrpc#379, google-ai-edge/LiteRT#6889"
  explains = ["library-not-found", "no-cdsprpc", "remote-symbols", "transport-4000", "skel-step", "device-create"]
  examples = [
    "W linker  : library \"libcdsprpc.so\" (\"/vendor/lib64/libcdsprpc.so\") needed or dlopened by \"/data/app/x/lib/arm64/libQnnHtpV79Stub.so\" is not accessible for the namespace: [name=\"clns-9\"]",
    "01-01 00:07:59.112  2684  2701 E AndroidRuntime: java.lang.UnsatisfiedLinkError: dlopen failed: library \"/system/lib64/libMNN.so\" needed or dlopened by \"/system/lib64/libnativeloader.so\" is not accessible for the namespace \"classloader-namespace\"",
    "E/linker  (15643): library \"/system/vendor/lib64/libOpenCL.so\" (\"/vendor/lib64/egl/libGLES_mali.so\") needed or dlopened by \"/data/app/com.taobao.android.mnndemo/lib/arm64/libMNN_CL.so\" is not accessible for the namespace: [name=\"classloader-namespace\", ld_library_paths=\"\"]",
    "java.lang.UnsatisfiedLinkError: dlopen failed: library \"/system/lib64/libmp3lame.so\" needed or dlopened by \"/system/lib64/libnativeloader.so\" is not accessible for the namespace \"classloader-namespace\"",
    "E/linker: library \"/system/lib/libdl.so\" (\"/system/lib/libdl.so\") needed or dlopened by \"/system/lib/libnativeloader.so\" is not accessible for the namespace: [name=\"classloader-namespace\", ld_library_paths=\"\"]",
  ]
}

failure "dsp-process-crash" {
  where    = ["device", "logcat"]
  patterns = ["Process on [a-zA-Z]*DSP CRASHED", "Process \"[^\"]+\" crashed in thread"]
  cause    = "The program's process on the DSP crashed. The next lines of adsprpc tell the library, the address (Fault PC) and the address that it touched (Bad VA)."
  remedy   = "Find the line \"Crashed Shared Object\" after it, and look up Fault PC less the load address in that library with hexagon-llvm-addr2line. Without such lines, read the whole logcat of adsprpc."
  source   = "ggml-org/llama.cpp#17394; off-grid-ai/OGAM#517"
  explains = ["pd-dead", "pd-reset", "graph-execute", "fastrpc-invoke"]
  examples = [
    "adsprpc:dsp: CDSP:platform_qdi_driver.c:792:0x191:1: ############################### Process on cDSP CRASHED!!!!!!! ########################################",
    "adsprpc : platform_qdi_driver.c:692:0x4f84:1: Process \"/frpc/f074dee0 mqt_v_native\" crashed in thread \"0x  e7a4f0:work\" for unknown reason",
  ]
}

failure "dsp-crashed-library" {
  where    = ["device", "logcat"]
  patterns = ["Crashed Shared Object \"(?:[^\"]*/)?(?P<lib>[^\"/]+)\" load address"]
  cause    = "The program's process on the DSP crashed in {lib}. The next lines tell the address (Fault PC) and the address that it touched (Bad VA)."
  remedy   = "Find the function: `hexagon-llvm-addr2line -e {lib}` with Fault PC less the load address. Check that {lib} is for this DSP's arch and its buffers are mapped; if it is not yours, report the lines to its project."
  source   = "ggml-org/llama.cpp#17394"
  explains = ["dsp-process-crash", "pd-dead", "pd-reset", "graph-execute", "fastrpc-invoke"]
  examples = ["adsprpc:dsp: CDSP:platform_qdi_driver.c:792:0x191:1: Crashed Shared Object \"./libggml-htp-v68.so\" load address : 0x20010000"]
}

failure "dspqueue-stuck" {
  where    = ["device", "logcat"]
  patterns = ["dspqueue_(?:write|read)[a-z_]* failed", "dspqueue_[a-z]+[.]c:[0-9]+: [Ee]rror (?:12|0xc): "]
  rank     = "symptom"
  cause    = "The DSP's side of a queue did not answer in time: its process hangs, is slower than the time limit, or has gone."
  remedy   = "Look in logcat or dmesg for a crash of the DSP's process. Without one, give the queue more time or room, and check that the DSP's side frees each message that it reads."
  source   = "qualcomm/fastrpc#377"
  examples = [
    "dspqueue_cpu.c:1649: error 12: wait_signal_locked(q, DSPQUEUE_SIGNAL_REQ_SPACE, timeout_ts) == 0",
    "dspqueue_cpu.c:1666: Error 0xc: dspqueue_write failed ... (message_length 8)",
  ]
}

failure "fastrpc-listener" {
  where    = ["device", "logcat"]
  patterns = ["domain_init [(]-?[0-9]+[)] failed for domain (?P<domain>[0-9]+)", "remote_init failed for domain (?P<domain>[0-9]+)"]
  rank     = "symptom"
  cause    = "A program or daemon of FastRPC could not attach to DSP domain {domain} (0 ADSP, 1 modem, 2 SLPI, 3 CDSP): the DSP is not up, has no such protection domain, or the user may not use its node."
  remedy   = "Check `cat /sys/class/remoteproc/*/name /sys/class/remoteproc/*/state` and `ls -l /dev/fastrpc-*`. If the DSP runs and the node is there, install the DSP's shells of the firmware's release; disable the daemon if the board has no such domain."
  source   = "qualcomm-linux/kernel#1149"
  explains = ["adsp-listener"]
  examples = [
    "sscrpcd[921]: fastrpc_apps_user.c:3773: Error 0x200: remote_init failed for domain 0, errno Success, ioErr -2147482608",
    "sscrpcd[921]: fastrpc_apps_user.c:3990: Error 0x200: domain_init (-1) failed for domain 0 (errno Success)",
  ]
}

failure "adsp-listener" {
  where    = ["device", "logcat"]
  patterns = ["remote_handle_open failed for adsp_default_listener", "adsp_default_listener_start exiting", "remote_handle_open[(]\"adsp_default_listener\""]
  rank     = "consequence"
  cause    = "FastRPC's daemon for a DSP ended: it could not open its listener there."
  remedy   = "Look for the first line of fastrpc above it. Without one, check that the DSP runs (/sys/class/remoteproc) and has a /dev/fastrpc node."
  source   = "qualcomm-linux/kernel#1149"
  examples = [
    "fastrpc_apps_user.c:1788: Error 0x200: remote_handle_open failed for adsp_default_listener (errno Success)",
    "adsp_default_listener.c:303::error: 512: 0 == (nErr = remote_handle_open(\"adsp_default_listener\", (remote_handle *)&listener_fd))",
    "adsp_default_listener.c:369:Error 0x200: adsp_default_listener_start exiting",
  ]
}

failure "halide-log" {
  where    = ["device", "logcat"]
  patterns = ["remote_poll_log failed (?P<code>-?[0-9]+)"]
  rank     = "symptom"
  cause    = "Halide's library on the DSP does not give its log ({code}): it is not loaded, was built by another Halide, or its process ended."
  remedy   = "Push libhalide_hexagon_remote_skel.so of the Halide release that compiled the pipeline, signed as the device wants it, and look at adsprpc's lines in logcat."
  source   = "halide/Halide#2428"
  examples = ["09-19 18:42:23.968 13564 13564 I halide  : Hexagon: remote_poll_log failed 39"]
}
