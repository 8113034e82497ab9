# Linux boards with a Hexagon DSP, and what their kernels say.

failure "remoteproc-crash" {
  where    = ["device", "logcat"]
  patterns = ["remoteproc[0-9]*: (?:crash detected in|handling crash #[0-9]+ in) (?P<dsp>[a-z]*dsp)", "remoteproc: fatal error received:"]
  cause    = "The DSP crashed, and the kernel started it again. Programs that used it have lost their sessions."
  remedy   = "Start the program again. What crashed the DSP is above: a context fault of the SMMU is an access beyond a buffer that was mapped for the DSP. If it crashes without a program (sleep_stats, at boot), the firmware does not fit: update firmware and kernel together, and report the line. Reboot the board if the DSP stays unusable."
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

failure "firmware-missing" {
  where    = ["device", "logcat"]
  patterns = ["Direct firmware load for (?P<file>[^ ]+) failed with error -2"]
  cause    = "The kernel did not find the firmware {file} below /lib/firmware. A DSP without firmware does not start, and there is no /dev/fastrpc-… for it."
  remedy   = "Install the firmware package of the board (linux-firmware, firmware-qcom-…), or copy the file from the maker's image. If the driver starts before the root file system, put the file into the initramfs. Then reboot."
  source   = "qualcomm-linux/kernel#367, #359"
  explains = ["dsp-boot", "dsp-device-node", "firmware-request"]
  examples = [
    "qcom-armv8a kernel: remoteproc remoteproc2: Direct firmware load for qcom/sa8775p/cdsp0.mbn failed with error -2",
    "remoteproc remoteproc0: Direct firmware load for qcom/sa8775p/gpdsp0.mbn failed with error -2",
    "[    9.389654] msm_dpu 5e01000.display-controller: Direct firmware load for qcom/a702_sqe.fw failed with error -2",
  ]
}

failure "firmware-request" {
  where    = ["device", "logcat"]
  patterns = ["remoteproc[0-9]*: request_firmware failed: (?P<error>-[0-9]+)"]
  rank     = "consequence"
  cause    = "A processor of the SoC got no firmware ({error})."
  remedy   = "Look at the line before it, which names the file."
  source   = "qualcomm-linux/kernel#367"
  examples = ["qcom-armv8a kernel: remoteproc remoteproc2: request_firmware failed: -2"]
}

failure "firmware-refused" {
  where    = ["device", "logcat"]
  patterns = ["error -22 initializing firmware (?P<file>[^ ]+)"]
  cause    = "The SoC's secure world refused the firmware {file} (EINVAL): it is signed for another maker's device, is for another SoC, or the boot loader does not allow it."
  remedy   = "Take the firmware that the device's maker signed (for a laptop, from its Windows driver package), with all its .mbn files of one release, and reboot."
  source   = "qualcomm-linux/kernel#582"
  explains = ["dsp-boot", "dsp-device-node"]
  examples = [
    "qcom_q6v5_pas 1b300000.remoteproc: error -22 initializing firmware qcom/sa8775p/cdsp0.mbn\nremoteproc remoteproc1: can't start rproc cdsp: -22",
    "qcom_q6v5_pas ... error -22 initializing firmware qcom/sa8775p/adsp.mbn",
  ]
}

failure "dsp-boot" {
  where    = ["device", "logcat"]
  patterns = ["can't start rproc (?P<dsp>[a-z0-9]+): (?P<error>-[0-9]+)"]
  rank     = "symptom"
  cause    = "The kernel could not start {dsp} ({error}). Until it runs, there is no /dev/fastrpc node for it."
  remedy   = "Look at the lines before it. For -110 (no answer in time) reboot, and update firmware and kernel together if it comes again."
  source   = "qualcomm-linux/kernel#582"
  explains = ["fastrpc-no-session", "dsp-device-node"]
  examples = ["remoteproc remoteproc1: can't start rproc cdsp: -22"]
}

failure "fastrpc-signed-only" {
  where    = ["device", "logcat"]
  patterns = ["untrusted app trying to offload to signed remote process"]
  cause    = "The program asks for a signed protection domain, and its user may open only unsigned ones."
  remedy   = "Ask for the unsigned domain before the session is opened (DSPRPC_CONTROL_UNSIGNED_MODULE; in QNN, leave signed PD off). Otherwise give the user access to the secure node: the group fastrpc or system, or root."
  source   = "microsoft/onnxruntime#27676"
  explains = ["dsp-session-broken", "fastrpc-open", "device-create", "skel-not-loaded"]
  examples = ["Error 0x72: apps_dev_init: untrusted app trying to offload to signed remote process (errno 111, Connection refused). Try offloading to unsignedPD using remote_session_control\nError: remote_handle64_open failed for file:///libQnnHtpV73Skel.so"]
}

failure "fastrpc-node" {
  where    = ["device", "logcat"]
  patterns = ["apps_dev_init failed[.]? domain (?P<domain>[0-9]+), errno (?P<reason>[A-Za-z ]+)", "open dev -1 for domain (?P<domain>[0-9]+) (?P<reason>failed)"]
  cause    = "FastRPC could not open the DSP of domain {domain} ({reason}): its device node is missing or closed to this user, or the DSP has no shell file."
  remedy   = "Check `ls -l /dev/fastrpc-* /dev/adsprpc-*` and that fastrpc_shell_3 is in the DSP's folder (/dsp, /vendor/dsp, /usr/lib/dsp). Add the user to the node's group, or install the board's DSP firmware package."
  source   = "halide/Halide#3608"
  explains = ["fastrpc-open", "device-create", "skel-not-loaded"]
  examples = [
    "fastrpc_apps_user.c:1151: Error ffffffff: apps_dev_init failed. domain 3, errno No such file or directory",
    "fastrpc_apps_user.c:1234: Error ffffffff: open dev -1 for domain 3 failed",
  ]
}

failure "fastrpc-open" {
  where    = ["device", "logcat"]
  patterns = ["Error(?: 0x[0-9a-f]+)?: remote_handle(?:64)?_open failed for file:///(?P<lib>[^ ?]+)", "Error 0x[0-9a-f]+: remote_handle_open_domain: dynamic loading failed for file:///(?P<lib>[^ ?]+)", "Error [0-9a-f]+: remote handle(?:64)? open(?: domain)? failed.*file:///(?P<lib>[^ ?]+)"]
  rank     = "symptom"
  cause    = "FastRPC could not open {lib} on the DSP."
  remedy   = "Look at the lines of fastrpc or adsprpc before it. Without one, check that the file is in a folder of ADSP_LIBRARY_PATH and is for the DSP's Hexagon arch."
  source   = "microsoft/onnxruntime#27676; qualcomm/fastrpc#180"
  explains = ["device-create"]
  examples = [
    "Error: remote_handle64_open failed for file:///libQnnHtpV73Skel.so",
    "fastrpc_apps_user.c:1830: Error 0xfffffffb: remote_handle64_open failed for file:///libcalculator_skel.so?calculator_skel_handle_invoke&_modver=1.0&_idlver=1.2.3&_dom=cdsp (errno Success)",
    "fastrpc_apps_user.c:1729: Error 0xfffffffb: remote_handle_open_domain: dynamic loading failed for file:///libcalculator_skel.so",
    "fastrpc_apps_user.c:983: Error fffffffb: remote handle open domain failed. domain 0, name file:///libhexagon_nn_skel.so?hexagon_nn_domains_skel_handle_invoke",
  ]
}

failure "fastrpc-invoke" {
  where    = ["device", "logcat"]
  patterns = ["Error 0x[0-9a-f]+: remote_handle(?:64)?_(?:invoke|close|close_domain) failed for handle (?P<handle>0x[0-9a-f]+)"]
  rank     = "consequence"
  cause    = "A call to the DSP failed: its other side is gone or does not know the call."
  remedy   = "Look for the first line of fastrpc or adsprpc with an error above it."
  source   = "qualcomm/fastrpc#180"
  examples = [
    "fastrpc_apps_user.c:1490: Error 0x8000041d: remote_handle_invoke failed for handle 0x0, method 1 on domain 3 (sc 0x1010200) (errno Success)",
    "fastrpc_apps_user.c:1880: Error 0x8000041d: remote_handle_close_domain failed for handle 0xe7b775c8, domain 3 (dlerr ) (errno Success)",
  ]
}

failure "fastrpc-session" {
  where    = ["device", "logcat"]
  patterns = ["Unable to create FastRPC session on domain (?P<domain>[0-9]+)"]
  rank     = "symptom"
  cause    = "No FastRPC session could be opened on domain {domain}: the kernel driver, the DSP's firmware and its shell do not fit each other, or the user may not use the DSP."
  remedy   = "Install the DSP's shells and firmware of one release, check `dmesg | grep fastrpc`, and try as root once: if that works, it is the node's group."
  source   = "qualcomm/fastrpc#325"
  examples = ["ERROR 0x80000600: Unable to create FastRPC session on domain 3"]
}

failure "halide-hexagon" {
  where    = ["device", "tool"]
  patterns = ["Required Hexagon runtime symbol '(?P<symbol>[a-z_]+)' not found"]
  cause    = "Halide's host library for Hexagon was not loaded: libhalide_hexagon_host.so or a library that it needs (libwrapper.so of the simulator) is missing."
  remedy   = "Add both folders to LD_LIBRARY_PATH, and look with LD_DEBUG=libs which library is missing."
  source   = "halide/Halide#4650, #4760"
  examples = ["Error: Required Hexagon runtime symbol 'halide_hexagon_remote_load_library' not found."]
}

failure "fastrpc-no-session" {
  where    = ["device", "logcat"]
  patterns = ["qcom,fastrpc [^ ]+: No session available"]
  rank     = "symptom"
  cause    = "The kernel has no free FastRPC session on this DSP: each program that uses it takes one, and the device tree gives only a few (its compute-cb nodes)."
  remedy   = "End other programs that use the DSP (`fuser -v /dev/fastrpc-*`). If there are none, look in dmesg for compute-cb nodes that did not start: their IOMMU or the device tree of this kernel is wrong."
  source   = "qualcomm/fastrpc#383; qualcomm-linux/kernel#1086"
  explains = ["fastrpc-session"]
  examples = [
    "kernel: qcom,fastrpc 3700000.remoteproc:glink-edge.fastrpcglink-apps-dsp.-1.-1: No session available",
    "[   21.772486] qcom,fastrpc 3700000.remoteproc:glink-edge.fastrpcglink-apps-dsp.-1.-1: No session available",
  ]
}

failure "fastrpc-late-answer" {
  where    = ["device", "logcat"]
  patterns = ["qcom,fastrpc [^ ]+: No context ID matches response"]
  rank     = "symptom"
  cause    = "The DSP answered a call that the kernel's driver no longer waits for: the program ended or was interrupted meanwhile."
  remedy   = "Look for what ended the program. If it ended well, update the kernel: its driver frees calls too early."
  source   = "qualcomm-linux/meta-qcom#1971"
  examples = ["[  248.791495] qcom,fastrpc 6800000.remoteproc:glink-edge.fastrpcglink-apps-dsp.-1.-1: No context ID matches response"]
}

failure "fastrpc-mmap" {
  where    = ["device", "logcat"]
  patterns = ["qcom,fastrpc[^ ]* [^ ]+: mem mmap error, fd (?P<fd>[0-9]+), vaddr [0-9a-f]+, size (?P<size>[0-9]+)"]
  rank     = "symptom"
  cause    = "The DSP refused to map a buffer of {size} bytes (fd {fd})."
  remedy   = "Check that the buffer comes from a DMA heap or rpcmem, and that it is mapped once. If a test of FastRPC itself fails so, the DSP's firmware does not know this kind of mapping: update it."
  source   = "qualcomm-linux/meta-qcom#843"
  examples = ["[  110.580875] qcom,fastrpc-cb remoteproc-cdsp:glink-edge:fastrpc:compute-cb@2: mem mmap error, fd 11, vaddr ffffbc301000, size 4096"]
}

failure "fastrpc-test-files" {
  where    = ["device", "tool"]
  patterns = ["Missing (?P<what>system|test) libs dir: (?P<folder>[^ ]+)", "No DSP (?P<what>skeleton) dirs found under: (?P<folder>[^ ]+)"]
  severity = "warning"
  cause    = "FastRPC's test looks for its {what} libraries in {folder}, and they are not there."
  remedy   = "Install FastRPC with its tests and skeletons, or name the folder that has them (`fastrpc_test -t FOLDER`); distributions put them into /usr/lib and /usr/share/qcom instead of /usr/local."
  source   = "qualcomm-linux/meta-qcom#1971, #1767"
  examples = [
    "Missing system libs dir: /usr/local/lib (lib{adsp,cdsp,sdsp}rpc*.so expected)",
    "[WARN] 1970-01-01 00:42:13 - No DSP skeleton dirs found under: /usr/local/share/fastrpc_test (expected v75/ v68/)",
  ]
}
