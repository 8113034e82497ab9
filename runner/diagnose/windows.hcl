# Windows on Snapdragon: building there, and its NPU driver.

failure "windows-msvc-arm" {
  where    = ["compile"]
  patterns = ["MSVC is not supported for ARM, use clang"]
  cause    = "ggml's CPU code for Arm is not for Microsoft's compiler."
  remedy   = "Configure with clang: cmake --preset arm64-windows-llvm-release, or arm64-windows-snapdragon-release for the Hexagon back end, from a Visual Studio prompt for ARM64."
  source   = "mybigday/llama.node#62"
  explains = ["cmake-error"]
  examples = ["CMake Error at deps/llamacpp/ggml/src/ggml-cpu/CMakeLists.txt:108 (message):\n  MSVC is not supported for ARM, use clang"]
}

failure "windows-sdk-libs" {
  where    = ["compile"]
  patterns = ["lld-link: error: could not open '(?P<lib>[A-Za-z0-9]+[.]lib)': no such file or directory"]
  cause    = "The linker does not find {lib}: the environment of the Windows SDK is not set, or is set for another processor."
  remedy   = "Open the Visual Studio prompt for ARM64 (vcvarsall.bat arm64, or x64_arm64 on an x64 host) and build there. Install the component \"C++ ARM64 build tools\" if it is missing."
  source   = "ikawrakow/ik_llama.cpp#379"
  explains = ["link-stopped", "make-stopped"]
  examples = ["    lld-link: error: could not open 'kernel32.lib': no such file or directory", "    lld-link: error: could not open 'user32.lib': no such file or directory"]
}

failure "windows-machine-types" {
  where    = ["compile"]
  patterns = ["machine type (?P<have>arm64|arm64ec|x64|x86) conflicts with (?P<want>arm64ec|arm64|x64|x86)", "module machine type '(?P<have>[A-Za-z0-9]+)' conflicts with target machine type '(?P<want>[A-Za-z0-9]+)'"]
  cause    = "An object or library for {have} is linked into a program for {want}."
  remedy   = "Build everything for one processor: all arm64, or arm64ec with the arm64x libraries. Delete the build folder, and open the Visual Studio prompt for that processor."
  source   = "llvm/llvm-project#113658"
  explains = ["link-stopped", "make-stopped"]
  examples = [
    "lld-link: error: msvcrtd.lib: machine type arm64 conflicts with arm64ec",
    "LINK : fatal error LNK1112: module machine type 'x64' conflicts with target machine type 'ARM64'",
  ]
}

failure "windows-x86-header" {
  where    = ["compile"]
  patterns = ["error C1189: #error: +This header is specific to (?P<processors>.+) targets"]
  cause    = "The source includes a header for other processors ({processors}) in a build for Arm."
  remedy   = "Build with clang for arm64 (Microsoft's compiler takes other paths in the sources), or take a release of the project that knows Windows on Arm."
  source   = "ikawrakow/ik_llama.cpp#379"
  examples = ["ammintrin.h(35,1): error C1189: #error:  This header is specific to X86, X64, ARM64, and ARM64EC targets"]
}

failure "windows-qnn-include" {
  where    = ["compile"]
  patterns = ["(?:C1083: Cannot open include file: )?'(?P<file>(?:Qnn|HTP/|System/Qnn)[A-Za-z/]+[.]h)': No such file or directory"]
  cause    = "{file} of QAIRT is not found: --qnn_home names the installer or a folder above the SDK."
  remedy   = "Pass the SDK's folder itself, which has include and lib: --qnn_home C:\\Qualcomm\\AIStack\\QAIRT\\VERSION."
  source   = "microsoft/onnxruntime#16595"
  examples = ["fatal error C1083: Cannot open include file: 'QnnInterface.h': No such file or directory"]
}

failure "windows-npu-driver" {
  where    = ["device"]
  patterns = ["failed to load libcdsprpc[.]dll"]
  cause    = "Windows does not find libcdsprpc.dll, which is part of the NPU driver and lies in the DriverStore, not in PATH."
  remedy   = "Install the current NPU driver (Windows Update or the maker's page; Device Manager lists it under Neural processors). Then use a build of the program that looks in the DriverStore."
  source   = "chraac/llama-cpp-qnn-builder#26"
  explains = ["rpcmem-library"]
  examples = ["failed to load libcdsprpc.dll, error: (null)\nfailed to load rpcmem lib"]
}

failure "rpcmem-library" {
  where    = ["device"]
  patterns = ["failed to load rpcmem lib"]
  rank     = "consequence"
  cause    = "Without libcdsprpc the program has no memory that it shares with the DSP."
  remedy   = "Look at the line before it, which names the library that is missing."
  source   = "chraac/llama-cpp-qnn-builder#26"
  examples = ["failed to load rpcmem lib"]
}

failure "windows-context-1002" {
  where    = ["device"]
  patterns = ["LoadCachedQnnContextFromBuffer.* Failed to create context from binary[.] Error code: 1002"]
  rank     = "symptom"
  cause    = "The NPU driver had no memory for the context (1002): the model is too large for the NPU's share, other programs use the NPU, or the driver is older than the model."
  remedy   = "Close other programs that use the NPU, update the NPU driver, and restart Windows. If it stays so, compile the model in more parts, or take a smaller one."
  source   = "microsoft/foundry-local#290"
  explains = ["plain-1002", "context-create"]
  examples = ["Failed to load from EpContext model. qnn_backend_manager.cc:1138 onnxruntime::qnn::QnnBackendManager::LoadCachedQnnContextFromBuffer Failed to create context from binary. Error code: 1002"]
}

failure "anythingllm-qnn" {
  where    = ["device"]
  patterns = ["QNN API server is not supported on this platform", "QNN Engine is offline"]
  rank     = "symptom"
  cause    = "AnythingLLM's QNN engine did not start: it does not know this Snapdragon by name, or its NPU libraries did not load."
  remedy   = "Update AnythingLLM and the NPU driver, and look in the log for the first line of the engine with an error. Use a CPU model until then."
  source   = "Mintplex-Labs/anything-llm#2962, #5129"
  examples = [
    "QNN API server is not supported on this platform - no valid CPU/NPU found. {\"validCores\":[\"Snapdragon(R) X Elite\"]}",
    "Error: QNN Engine is offline. Please reboot QNN Engine or AnythingLLM app.",
  ]
}

failure "geniex-plugin" {
  where    = ["device"]
  patterns = ["SDKError[(](?P<what>Plugin|Model) loading failed[)]"]
  rank     = "symptom"
  cause    = "Nexa's or GenieX's runtime could not load its NPU plugin or the model: its bundled QNN libraries do not fit the NPU driver, or a file of the model is missing."
  remedy   = "Update the runtime and the NPU driver, pull the model again, and run with verbose logs: the first error of QnnHtp names the cause."
  source   = "qualcomm/GenieX#1060"
  examples = ["{\"code\":-100301,\"error\":\"SDKError(Plugin loading failed)\"}"]
}

failure "windows-ep-not-offered" {
  where    = ["device", "tool"]
  patterns = ["EP (?P<ep>[A-Za-z]+): Download failed [(]result: \"Failure\", error: The product is not applicable"]
  cause    = "Windows offers no {ep} for this machine: its NPU, its Windows release or the driver is none that the package is for."
  remedy   = "Check that this is a Snapdragon X with Windows 11 24H2 or newer, install all Windows updates and the NPU's current driver, and reboot. Else choose another execution provider."
  source   = "microsoft/foundry-local#1089"
  explains = ["windows-ep-download", "ep-not-available"]
  examples = ["WinML EP QNNExecutionProvider: Download failed (result: \"Failure\", error: The product is not applicable or cannot be found."]
}

failure "geniex-chipset" {
  where    = ["device", "tool"]
  patterns = ["chipset \"(?P<chip>[^\"]+)\" not available for this model; supported: (?P<list>.+)"]
  cause    = "This model is not compiled for {chip}. It is for {list}."
  remedy   = "Choose another model or another runtime for it (llama.cpp's GGUF files run on each), or export it for this chip with AI Hub."
  source   = "qualcomm/GenieX#1153"
  examples = ["Error: download model failed: SDKError(Unknown error code), chipset \"Snapdragon X Plus 8-Core CRD\" not available for this model; supported: Dragonwing IQ-8275 EVK, Snapdragon X Elite CRD"]
}
