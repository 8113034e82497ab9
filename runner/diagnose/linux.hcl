# Linux boards with a Hexagon DSP, and what their kernels say.

failure "remoteproc-crash" {
  where    = ["device", "logcat"]
  patterns = ["remoteproc[0-9]*: (?:crash detected in|handling crash #[0-9]+ in) (?P<dsp>[a-z]*dsp)", "remoteproc: fatal error received:"]
  cause    = "The DSP crashed, and the kernel started it again. Programs that used it have lost their sessions."
  remedy   = "Start the program again. What crashed the DSP is above: a context fault of the SMMU is an access beyond a buffer that was mapped for the DSP. If it is not usable afterwards, reboot the board."
  source   = "qualcomm/fastrpc#269"
  explains = ["dsp-crash", "smmu-fault"]
  examples = [
    "kernel: remoteproc remoteproc2: crash detected in cdsp: type fatal error\nkernel: remoteproc remoteproc2: handling crash #1 in cdsp",
    "kernel: qcom_q6v5_pas 1a300000.remoteproc: fatal error received: :0:EX:kernel:0:frpck_0_0:108a:PC=c0117de0",
  ]
}

failure "smmu-fault" {
  where    = ["device", "logcat"]
  patterns = ["arm-smmu [^ ]+: Unhandled context fault: .*iova=(?P<address>0x[0-9a-f]+)"]
  rank     = "symptom"
  cause    = "A device accessed address {address}, which is not mapped for it. If the DSP did, its code reads or writes beyond a shared buffer."
  remedy   = "Check the sizes of the buffers that are passed to the DSP, and that none is freed while a call uses it."
  source   = "qualcomm/fastrpc#269"
  examples = ["kernel: arm-smmu 5180000.iommu: Unhandled context fault: fsr=0x402, iova=0xfffff000, fsynr=0x1, cbfrsynra=0x5, cb=2"]
}

failure "dma-heap-missing" {
  where    = ["device", "logcat"]
  patterns = ["Unable to open /dev/dma_heap/(?P<heap>[a-z]+)"]
  cause    = "The DMA-BUF heap {heap}, of which FastRPC takes its buffers, cannot be opened: the kernel has none, or this user may not use it."
  remedy   = "Build the kernel with CONFIG_DMABUF_HEAPS=y and CONFIG_DMABUF_HEAPS_SYSTEM=y. If /dev/dma_heap/{heap} exists, give the user access to it: the udev rules of FastRPC 1.0.6 and newer do that for the group fastrpc."
  source   = "qualcomm/fastrpc#167, #366"
  explains = ["dsp-memory"]
  examples = ["qcom-armv8a cdsprpcd[481]: ../../git/src/rpcmem_linux.c:95: Error 2: Unable to open /dev/dma_heap/system"]
}

failure "musl-library" {
  where    = ["tool", "compile", "device"]
  patterns = ["Error loading shared library (?P<lib>[^:]+): No such file or directory [(]needed by (?P<program>[^)]+)[)]"]
  cause    = "{program} needs the library {lib}, which is not in the folders that the loader (musl's) searches."
  remedy   = "Install the package that has {lib}, unpack the toolchain whole, or add the library's folder to LD_LIBRARY_PATH."
  source   = "quic/toolchain_for_hexagon#60"
  explains = ["link-stopped", "file-not-on-device"]
  examples = ["error: linking with `hexagon-unknown-linux-musl-clang` failed: exit status: 127\n  note: Error loading shared library libclang-cpp.so.22.1: No such file or directory (needed by /w/hexagon/bin/hexagon-unknown-linux-musl-clang)"]
}

failure "udev-rule" {
  where    = ["device", "tool"]
  patterns = ["[Ii]nsufficient permissions for device", "no permissions [(][^)]*udev"]
  cause    = "This user may not open the phone's USB device on this computer."
  remedy   = "Install the udev rules for Android (Debian and Ubuntu: package android-sdk-platform-tools-common), add the user to the group plugdev, log in again, and plug the phone in anew. Then restart the server: `adb kill-server`."
  source   = "Android documentation, run apps on a hardware device; joaomgcd/Tasker-Permissions#40; EFForg/rayhunter#162"
  examples = [
    "Error: error: Insufficient permissions for device: user in plugdev group: are your udev rules wrong?",
    "eb9f484b\tno permissions (missing udev rules? user is in the plugdev group); see [http://developer.android.com/tools/device.html]",
  ]
}

failure "illegal-instruction" {
  where    = ["tool", "compile", "device"]
  patterns = ["(?:^|[^A-Za-z])[Ii]llegal instruction", "SIGILL"]
  cause    = "The program has an instruction that this CPU does not know: it was built for a newer processor."
  remedy   = "Build it again for this CPU: an older -march or -mcpu (such as armv8.2-a+dotprod), and no -march=native of another machine (llama.cpp: -DGGML_NATIVE=OFF)."
  source   = "ggml-org/llama.cpp#402, #3622"
  examples = [
    "phone $ ./demo_qwen\nIllegal instruction",
    "Fatal signal 4 (SIGILL), code 1 (ILL_ILLOPC)",
  ]
}
