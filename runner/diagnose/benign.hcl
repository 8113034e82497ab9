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
