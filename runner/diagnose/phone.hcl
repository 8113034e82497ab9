# Phones: links, files, libraries, op packages.

failure "op-package-not-registered" {
  where    = ["device"]
  patterns = ["Could not register Op Package: ?(?P<file>[^ ]+)", "Failed to register op ?package(?: on the Skel side)?", "(?i)register ?op ?package.*(?:err|error|failed)[ :=]{1,3}400[5-7]"]
  rank     = "symptom"
  cause    = "The op package was not taken: its file, its interface provider or its Hexagon build was not found, or it is for another arch."
  remedy   = "Push both builds (libQnnLLaMAPackage_CPU.so for AArch64 and _HTP.so for the device's Hexagon arch), with LD_LIBRARY_PATH and ADSP_LIBRARY_PATH (';' between folders) naming the folder, and give the provider's name as it is in the source."
  source   = "UbiquitousLearning/mllm#274, #123"
  explains = ["graph-compose", "context-create", "could-not-create-op"]
  examples = [
    "<E> Failed to register op package on the Skel side\nCould not register Op Package: libQnnLLaMAPackage_HTP.so and interface provider: LLaMAPackageInterfaceProvider",
    "QnnBackend_registerOpPackage failed: 4005",
  ]
}

failure "op-package-not-registered-file" {
  where    = ["device"]
  patterns = ["[Ll]oading of op package (?P<file>[^ ]+) failed", "open (?P<file>libQnn[A-Za-z]*Package[A-Za-z_]*[.]so).*(?:No such file|not found)"]
  cause    = "{file} is not on the device, or not where the loader looks."
  remedy   = "Push it, and have LD_LIBRARY_PATH and ADSP_LIBRARY_PATH name its folder."
  source   = "UbiquitousLearning/mllm#123, #124"
  explains = ["op-package-not-registered", "library-not-found"]
  examples = [
    "<E> open libQnnLLaMAPackage_CPU.so: No such file or directory\n<E> Failed to register op package",
    "<E> loading of op package libQnnLLaMAPackage_CPU.so failed",
  ]
}

failure "merges-missing" {
  where    = ["device"]
  patterns = ["merge file is broken", "(?:can ?not|can't|could not|failed to) open .*merges[.]txt"]
  cause    = "The tokenizer's merges file is not on the device: mllm's script does not push it."
  remedy   = "Push it (qwen_merges.txt beside the vocabulary); in a pipeline add it to the run step's push."
  source   = "the reproduction of llm.npu"
  explains = ["file-not-on-device"]
  seed     = true
  examples = [
    "[ERROR] Tokenizer: merge file is broken",
    "could not open ../vocab/qwen_merges.txt",
  ]
}

failure "library-not-found" {
  where    = ["device"]
  patterns = ["library \"(?P<lib>[^\"]+)\" not found"]
  cause    = "{lib} is not on the device, or not in LD_LIBRARY_PATH."
  remedy   = "Add {lib} to the push set. libomp.so is the NDK's (lib/clang/*/lib/linux/aarch64), libc++_shared.so too; QNN's are in the SDK's lib/aarch64-android."
  source   = "alibaba/MNN#3600, UbiquitousLearning/mllm#81"
  explains = ["qnn-libs-not-opened", "backend-not-loaded"]
  examples = ["dlopen failed: library \"libQnnHtp.so\" not found", "CANNOT LINK EXECUTABLE \"./demo_qwen_npu\": library \"libomp.so\" not found: needed by main executable"]
}

failure "symbol-missing" {
  where    = ["device"]
  patterns = ["cannot locate symbol \"(?P<symbol>[^\"]+)\""]
  cause    = "A library lacks {symbol}, which another one needs: they come from different SDKs, NDKs or Android versions."
  remedy   = "Take all pushed libraries from one SDK; link with -static-libstdc++ or push the libc++_shared.so of the same NDK. If LD_LIBRARY_PATH is set, unset it or name the program's own folder first. Build for the device's API level (ANDROID_PLATFORM): an older Android lacks newer functions of libc."
  source   = "Android's linker"
  explains = ["backend-not-loaded", "qnn-libs-not-opened"]
  examples = ["CANNOT LINK EXECUTABLE \"./qnn-net-run\": cannot locate symbol \"_ZTVNSt6__ndk119basic_istringstreamE\" referenced by \"libQnnSystem.so\""]
}

failure "qnn-libs-not-opened" {
  where    = ["device", "tool"]
  patterns = ["Failed to open QNN (?:System )?libs"]
  rank     = "symptom"
  cause    = "libQnnHtp.so or libQnnSystem.so was not found, or the phone's own was."
  remedy   = "Push both from the SDK and put the run's folder first in LD_LIBRARY_PATH; on the host --qnn_env_path must end in '/'."
  source   = "UbiquitousLearning/mllm"
  examples = ["[FATAL] Failed to open QNN libs."]
}

failure "file-not-on-device" {
  where    = ["device"]
  patterns = ["(?:^|[ :])/(?:data|sdcard|vendor)/[^ :]+: (?:inaccessible or not found|No such file or directory)", "(?:can ?not|could not|failed to) open (?:file )?[\"']?[^ \"']*[.](?:mllm|json|bin|txt)[\"']?(?:$|[:,;])", "can't open '[^']+'.*No such file", "cannot read the (?:context binary|tokenizer|config) "]
  cause    = "A file that the command names is not on the device."
  remedy   = "Add it to what is pushed: mllm's scripts test only whether the last push succeeded, and push neither tokenizer nor config."
  source   = "UbiquitousLearning/mllm#576"
  examples = ["cat: can't open '/data/local/tmp/tokenizer.json': No such file or directory", "/system/bin/sh: ./mllm-qwen3-aot-runner: /data/local/tmp/mllm/bin/demo_qwen_npu: inaccessible or not found", "[ERROR] could not open ../models/qwen-1.5-1.8b-chat-int8.mllm", "[ERROR] tokenizer.cc:82 cannot read the tokenizer tokenizer.json; push it, or correct -t"]
}

failure "empty-context" {
  where    = ["device"]
  patterns = ["QNN context created successfully"]
  also     = ["Graph [^ ]+ not found for execution"]
  cause    = "The context file that -m names is not there: the runner then makes an empty context and fails later."
  remedy   = "Push the context binary, and give its name with -m."
  source   = "UbiquitousLearning/mllm"
  explains = ["graph-not-found"]
  examples = ["[INFO] QNN context created successfully\n[ERROR] Graph model.0.s32 not found for execution"]
}

failure "usb-dropped" {
  where    = ["device", "fetch"]
  patterns = ["adb: error: failed to copy .*: (?:remote )?(?:connection|device|read failed|write failed|closed|EOF|couldn't (?:read from|write to) device)", "device '(?P<serial>[^']*)' not found", "error: (?:closed|device offline|protocol fault)", "connection to (?:the )?(?:device|phone) (?:was |is )?(?:lost|closed|dropped)", "device offline", "the device did not come back", "failed to connect to '[^']+': (?:Connection|No route|Network|Operation timed)", "vhci_hcd.*(?:disconnect|unlink|stop)", "(?:push|pull|run [^ ]+): .*(?:connection reset|broken pipe|unexpected EOF|use of closed network connection)"]
  cause    = "The link to the phone dropped: USB through a virtual machine (usbip of WSL), a hub or a bad cable, under a large push."
  remedy   = "Run again: hexmage sends only what is missing. Use a cable without a hub, `adb tcpip 5555` and wireless adb, or an adb server on the machine that has the phone (ADB_SERVER_SOCKET). With adb push, compare SHA-256 before you use what came."
  source   = "the reproduction of llm.npu"
  explains = ["file-not-on-device"]
  seed     = true
  examples = [
    "push: the device did not come back: adb: adb server refused \"host:connect:127.0.0.1:35875\": failed to connect: Connection refused",
    "no phone of the pool can be used: it is set aside:\n  desk  10.0.0.7:5555  failed to connect to '10.0.0.7:5555': Connection refused",
    "adb: error: failed to copy 'models/qwen-1.5-1.8b-chat-int8.mllm' to '/data/local/tmp/mllm/models/qwen-1.5-1.8b-chat-int8.mllm': remote read failed: EOF",
    "adb: error: failed to copy 'model.bin' to '/data/local/tmp/model.bin': couldn't read from device",
    "adb: device '3C1A0YEA' not found",
    "usb 1-1: vhci_hcd: stop threads",
    "push: write model.bin: connection reset by peer",
    "adb: error: closed",
    "connection to the device was lost",
    "adb: device offline",
  ]
}

failure "adb-server-ended" {
  where    = ["device"]
  patterns = ["no adb server answers at (?P<address>\\S+):", "the adb server at (?P<address>\\S+) has ended"]
  cause    = "The adb server at {address} has ended, so all its phones are disconnected."
  remedy   = "Run `adb start-server`, and run hexmage again: it sends only missing files. `adb kill-server`, an IDE, or an adb of another version may have ended the server."
  source   = "adb"
  explains = ["usb-dropped"]
  examples = [
    "push: adb: no adb server answers at 127.0.0.1:5037 (dial tcp 127.0.0.1:5037: connect: connection refused)",
    "run on SM8750: the adb server at /tmp/adb.sock has ended, and was started again (the connection to the device was lost)",
  ]
}

failure "board-unreachable" {
  where    = ["device"]
  patterns = ["ssh: connect to host \\S+ port [0-9]+: (?:Connection refused|No route to host|(?:Connection|Operation) timed out)"]
  cause    = "The board does not answer on its ssh port."
  remedy   = "Check the board's power, its address and its sshd: `ssh USER@HOST true` must work."
  source   = "OpenSSH's client"
  explains = ["usb-dropped"]
  examples = ["ssh: connect to host 10.0.0.9 port 22: Connection refused", "ssh: connect to host board port 22: No route to host"]
}

failure "unauthorized" {
  where    = ["device"]
  patterns = ["device unauthorized", "unauthorized[.] Please check the confirmation dialog"]
  cause    = "The phone has not allowed this computer to use adb."
  remedy   = "Unlock the phone and accept the dialog; if none appears, revoke USB debugging authorizations in the developer options and plug in again."
  source   = "adb; Genymobile/gnirehtet#202; iree-org/iree#4861; mobile-dev-inc/dadb#55; kosborn/p2p-adb#44"
  examples = [
    "adb: device unauthorized.",
    "adb: connect error for write: device unauthorized.",
    "Exception in thread \"main\" java.io.IOException: Command failed (host:transport:13141FDD40019J): device unauthorized.",
    "error: device unauthorized. Please check the confirmation dialog on your device.",
    "This computer is unauthorized. Please check the confirmation dialog on your device.",
  ]
}

failure "several-devices" {
  where    = ["device"]
  patterns = ["more than one (?:device|emulator)"]
  cause    = "Several phones are attached and none was chosen."
  remedy   = "Give the serial number: serial in the run step, --serial, or ANDROID_SERIAL for adb."
  source   = "adb"
  examples = ["adb: more than one device/emulator"]
}

failure "no-device" {
  where    = ["device"]
  patterns = ["no devices/emulators found", "no device is attached"]
  cause    = "adb sees no phone."
  remedy   = "Plug it in with USB debugging on (`adb devices` must list it as device), or connect wirelessly with `adb pair` and `adb connect`."
  source   = "adb"
  examples = [
    "adb: no devices/emulators found",
    "run on a device: no device is attached",
  ]
}

failure "disk-full" {
  where    = ["device", "tool", "fetch", "compile"]
  patterns = ["(?i)no space left on device", "ENOSPC"]
  cause    = "A disk is full: the phone's /data, or this machine's."
  remedy   = "Make room: on the phone, remove what is not needed from /data/local/tmp. On this machine run `hexmage cache gc`, or put the cache elsewhere with HEXMAGE_CACHE=DIR."
  source   = "Linux"
  explains = ["usb-dropped"]
  examples = [
    "adb: error: failed to copy 'model.bin' to '/data/local/tmp/model.bin': remote write failed: No space left on device",
    "write /data/local/tmp/x: ENOSPC",
  ]
}

failure "thermal" {
  where    = ["logcat", "device"]
  severity = "warning"
  patterns = ["(?i)thermal.*(?:throttl|severity|emergency|shutdown)", "(?i)temperature .*(?:too high|above the limit)"]
  cause    = "The phone got hot and slowed down: its numbers are lower than it can do."
  remedy   = "Let it cool between repetitions, take it out of its case, and stop charging it."
  source   = "Android's thermal service"
  examples = [
    "ThermalService: thermal throttling status SEVERE, skin temperature 47.2",
    "battery temperature is too high for a measurement",
  ]
}

failure "authorizing" {
  where    = ["device", "tool"]
  patterns = ["device still authorizing"]
  cause    = "The phone has not answered yet whether this computer may use it."
  remedy   = "Unlock the phone and confirm the dialog \"Allow USB debugging?\". If none shows: unplug the cable and plug it in again, or `adb kill-server`."
  source   = "Android, adb"
  examples = ["error: device still authorizing"]
}

failure "adb-versions" {
  where    = ["device", "tool"]
  patterns = ["adb server version [(](?P<server>[0-9]+)[)] doesn't match this client [(](?P<client>[0-9]+)[)]"]
  severity = "warning"
  cause    = "Two different releases of adb are in use: the server has version {server}, this client {client}. Each ends the other's server, and with it transfers that are under way."
  remedy   = "Use one adb for all: remove the other from PATH (`which -a adb`), and have Android Studio and scrcpy use the same one."
  source   = "Android, adb"
  examples = ["adb server version (40) doesn't match this client (41); killing..."]
}

failure "push-folder" {
  where    = ["device", "tool"]
  patterns = ["secure_mkdirs[(][)] failed: (?P<reason>.+)", "remote couldn't create file: (?P<reason>Permission denied)"]
  cause    = "adb's shell may not write to that folder of the device ({reason})."
  remedy   = "Push to another folder, below /data/local/tmp. If the folder belongs to root from an earlier run, remove it as root: `adb shell su -c 'rm -r FOLDER'`."
  source   = "Android, adb"
  examples = [
    "adb: error: failed to copy 'a.bin' to '/data/local/tmp/x/a.bin': secure_mkdirs() failed: Operation not permitted",
    "adb: error: failed to copy 'a.bin' to '/data/local/tmp/x/a.bin': remote couldn't create file: Permission denied",
  ]
}

failure "read-only-folder" {
  where    = ["device", "tool"]
  patterns = ["[Rr]ead-only file system"]
  cause    = "The folder is on a file system that is mounted read-only, as /vendor and /system are."
  remedy   = "Use another folder: push to /data/local/tmp, and name it in LD_LIBRARY_PATH and ADSP_LIBRARY_PATH."
  source   = "Android, adb"
  examples = ["adb: error: failed to copy 'a.bin' to '/vendor/lib64/a.bin': remote couldn't create file: Read-only file system"]
}

failure "not-executable-here" {
  where    = ["device", "tool"]
  patterns = ["not executable: (?P<bits>[0-9]+)-bit ELF"]
  cause    = "The program is for another processor than the device's: a {bits}-bit ELF file that it cannot execute."
  remedy   = "Build the program for the device's architecture (arm64-v8a, aarch64); `hexmage inspect FILE` says what a file is for."
  source   = "Android, mksh"
  examples = ["/system/bin/sh: ./runner: not executable: 64-bit ELF file"]
}

failure "not-executable-mode" {
  where    = ["device", "tool"]
  patterns = ["can't execute: Permission denied"]
  cause    = "The file is not executable, or lies in a folder from which nothing may be executed, such as /sdcard."
  remedy   = "Run `adb shell chmod 755 FILE`, in a folder below /data/local/tmp."
  source   = "Android, mksh"
  examples = ["/system/bin/sh: ./runner: can't execute: Permission denied"]
}

failure "wireless-connect" {
  where    = ["device", "tool"]
  patterns = ["failed to connect to (?P<address>[0-9a-z.:\\[\\]-]+:[0-9]+)", "failed to authenticate to (?P<address>\\S+:[0-9]+)"]
  cause    = "The phone at {address} did not take the wireless connection: the port has changed, the phone is in another network, or this computer is not paired with it."
  remedy   = "Look at the phone's page Wireless debugging for address and port, which change. Pair once (`hexmage device pair`), then `hexmage device connect`."
  source   = "Android, adb"
  examples = ["failed to connect to 192.168.1.7:5555", "failed to authenticate to 192.168.1.7:5555"]
}

failure "no-root-in-production" {
  where    = ["device", "tool"]
  patterns = ["adbd cannot run as root in production builds"]
  cause    = "This phone has Android for users, in which adb gets no root."
  remedy   = "Work without root, below /data/local/tmp: QNN needs none with the unsigned protection domain."
  source   = "Android, adbd"
  examples = ["adbd cannot run as root in production builds"]
}

failure "opencl-library" {
  where    = ["device", "logcat"]
  patterns = ["library \"libOpenCL(?:_adreno)?[.]so(?:[.]1)?\" not found"]
  cause    = "The program wants OpenCL, which is the phone's GPU driver: it lies in /vendor/lib64, or the phone has none."
  remedy   = "Add /vendor/lib64 at the end of LD_LIBRARY_PATH (after the run's own folder). An app declares <uses-native-library android:name=\"libOpenCL.so\" android:required=\"false\"/>. Build without OpenCL if the phone has none."
  source   = "ARM-software/ComputeLibrary#111; ggml-org/llama.cpp#11979"
  explains = ["library-not-found"]
  examples = [
    "CANNOT LINK EXECUTABLE: library \"libOpenCL.so\" not found",
    "CANNOT LINK EXECUTABLE \"./llama-cli\": library \"libOpenCL.so.1\" not found: needed by main executable",
  ]
}

failure "library-bits" {
  where    = ["device", "logcat"]
  patterns = ["\"(?P<lib>[^\"]+)\" is (?P<have>32|64)-bit instead of (?P<want>32|64)-bit"]
  cause    = "{lib} has {have} bits and the process has {want}."
  remedy   = "Push the library's {want}-bit build (lib/aarch64-android for 64 bits), and put its folder before the phone's in LD_LIBRARY_PATH. A skel (libQnnHtpV…Skel.so) is for the DSP: do not load it as a library."
  source   = "microsoft/onnxruntime#22518"
  explains = ["ort-backend", "ort-setup", "backend-not-loaded"]
  examples = [
    "[E:onnxruntime:, qnn_execution_provider.cc:296 GetCapability] QNN SetupBackend failed qnn_backend_manager.cc:40 GetQnnInterfaceProviders Unable to load backend, error:  dlopen failed: \"/vendor/lib/rfsa/adsp/libQnnHtpVXX.so\" is 32-bit instead of 64-bit",
  ]
}

failure "app-abi" {
  where    = ["device"]
  patterns = ["INSTALL_FAILED_NO_MATCHING_ABIS"]
  cause    = "The APK has native libraries, and none for this device's processor: usually an arm64 APK on an x86 emulator."
  remedy   = "Install it on an arm64 device, or build it with the device's ABI in abiFilters (arm64-v8a, x86_64). QNN's libraries exist for arm64-v8a only."
  source   = "react/react-native#34173; ReactiveCircus/android-emulator-runner#95; madhavanmalolan/ffmpegandroidlibrary#2; patrickfav/Dali#18"
  examples = [
    "com.android.ddmlib.InstallException: INSTALL_FAILED_NO_MATCHING_ABIS: Failed to extract native libraries, res=-113",
    "Failure [INSTALL_FAILED_NO_MATCHING_ABIS: Failed to extract native libraries, res=-113]",
    "The application could not be installed: INSTALL_FAILED_NO_MATCHING_ABIS",
  ]
}

failure "signal" {
  where    = ["device", "logcat", "tool", "compile"]
  patterns = ["[Ss]ignal [0-9]+ [(](?P<signal>SIG(?:ABRT|TRAP|BUS|FPE|SYS|PIPE))[)]", "(?:^|[^A-Za-z])(?P<signal>Bus error|Floating point exception|Trace/breakpoint trap)(?:$|[^A-Za-z])", "^(?P<signal>Abort(?:ed|))(?: [(]core dumped[)])?\\s*$"]
  rank     = "consequence"
  cause    = "A signal ended the program ({signal}): SIGABRT and SIGTRAP after a check of its own failed, SIGBUS at memory that is not there, SIGFPE at a division by zero."
  remedy   = "Look at the lines before it for the check that failed. On a phone, `adb logcat -b crash` has the stack."
  explains = ["tombstone"]
  source   = "qualcomm/ai-hub-apps#53, #123; qualcomm/ai-hub-models#102; pytorch/executorch#9084; ggml-org/llama.cpp#16911"
  examples = [
    "libc                    com.quicinc.chatapp                  A  Fatal signal 5 (SIGTRAP), code 1 (TRAP_BRKPT), fault addr 0x77aced0c64 in tid 8244 (quicinc.chatapp), pid 8244 (quicinc.chatapp)",
    "A  Fatal signal 5 (SIGTRAP), code 1 (TRAP_BRKPT), fault addr 0x7014143d04 in tid 12942 (quicinc.chatapp), pid 12942 (quicinc.chatapp)",
    "libc                    com.test.llama                        A  Fatal signal 6 (SIGABRT), code -1 (SI_QUEUE) in tid 19889 (Thread-3), pid 19864 (com.test.llama)",
    "12-07 04:15:01.403 17202 17202 F libc    : Fatal signal 6 (SIGABRT), code -1 (SI_QUEUE) in tid 17202 (qnn_executor_ru), pid 17202 (qnn_executor_ru)",
    "Aborted",
    "Bus error (core dumped)",
    "Trace/breakpoint trap",
  ]
}

failure "file-not-found-program" {
  where    = ["device", "logcat"]
  patterns = ["(?P<what>HTP config|[Mm]odel(?: file)?|[Tt]okenizer) NOT found! Expected at: (?P<path>[^ ]+)"]
  cause    = "{what} is not at {path}, where the app looks for it."
  remedy   = "Put the file there: for an app, into its assets, so that it copies it, or with adb into the folder that it names."
  source   = "qualcomm/ai-hub-apps#57"
  examples = ["E ChatApp : ❌ HTP config NOT found! Expected at: /storage/emulated/0/Android/data/com.quicinc.chatapp/cache/htp_config/qualcomm-snapdragon-8-elite.json"]
}

failure "native-stack" {
  where    = ["device", "logcat", "tool"]
  patterns = ["#[0-9]+ +pc [0-9a-f]{8,16} +[^ ]*/(?P<lib>lib(?:[^c /][^ /]*|c[^. /][^ /]*)[.]so)"]
  rank     = "symptom"
  cause    = "The program crashed in {lib}, or in what it called: the lines #00, #01, … are the stack."
  remedy   = "Find the functions: `ndk-stack -sym FOLDER` with the library as it was before it was stripped. If {lib} is not yours, report the stack with the library's release."
  source   = "google-ai-edge/LiteRT-LM#2079; google-ai-edge/litert-samples#112"
  explains = ["segfault", "signal", "tombstone"]
  examples = [
    "pid-6684   A        #10 pc 00000000011634ec  /data/app/com.myapp.myapp/lib/arm64/liblitertlm_jni.so (BuildId: 5ae57c4840a756aee25e14435094931a)",
    "Fatal signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0 in tid 13123 (Thread-38), pid 12883 (gemma_on_device)\n#00 pc 0000000000936ea4 .../lib/arm64/liblitertlm_jni.so",
  ]
}

failure "null-argument" {
  where    = ["device", "tool"]
  patterns = ["^ *#0 +(?:0x[0-9a-f]+ in )?(?P<function>[A-Za-z_][A-Za-z0-9_:~<>]*) ?[(].*\\b(?P<argument>[a-z_A-Z0-9]+)=0x0[,)]"]
  cause    = "{function} got a null pointer as {argument} and crashed."
  remedy   = "Look at the caller in the next frames: it has data that was never loaded or is not constant. Update the program, or report the stack to its project."
  source   = "alibaba/MNN#4716"
  explains = ["segfault", "signal", "native-stack"]
  examples = ["#0 QnnFloatToHalf(src=0x0, size=262144)\n#1 QNNTensorWrapper::createStaticFloatTensor(\ncompilefornpu SIGSEGV, exit code 139"]
}

failure "opencl-none" {
  where    = ["device", "logcat", "tool"]
  patterns = ["clGetPlatformIDs.*-1001\\b", "Could not initialize the CL runtime"]
  cause    = "There is no OpenCL driver here (-1001): the program cannot use a GPU through OpenCL."
  remedy   = "Choose another back end (the CPU), or install the GPU's OpenCL driver and see that `clinfo` lists a platform."
  source   = "google-ai-edge/LiteRT#9250"
  explains = ["terminate-called", "signal"]
  examples = ["N5armnn29ClRuntimeUnavailableExceptionE: Could not initialize the CL runtime.\nError description: clGetPlatformIDs. CL error code: -1001\nAborted (core dumped)"]
}
