# ExecuTorch: building it, and its Qualcomm backend.

failure "executorch-python" {
  where    = ["tool"]
  patterns = ["No module named 'executorch[.]backends[.]qualcomm[.]python'", "No module named '(?:executorch[.])?[a-z.]*PyQnn(?:Manager|Wrapper)Adaptor'"]
  cause    = "The Python bindings of ExecuTorch's Qualcomm backend are not built, or Python does not find the checkout."
  remedy   = "Run backends/qualcomm/scripts/build.sh, which builds the bindings, and set PYTHONPATH to the folder above the executorch checkout."
  source   = "pytorch/executorch#16310"
  explains = ["module-missing"]
  examples = [
    "    import executorch.backends.qualcomm.python.PyQnnWrapperAdaptor as PyQnnWrapper\nModuleNotFoundError: No module named 'executorch.backends.qualcomm.python'",
    "ModuleNotFoundError: No module named 'executorch.backends.qualcomm.python.PyQnnManagerAdaptor'",
  ]
}

failure "executorch-devtools" {
  where    = ["compile"]
  patterns = ["unable to find library -l(?:etdump|flatccrt(?:_d)?|bundled_program)", "cannot find -l(?:etdump|flatccrt(?:_d)?|bundled_program)"]
  cause    = "ExecuTorch was built without its developer tools, and the example links them."
  remedy   = "Configure ExecuTorch with -DEXECUTORCH_BUILD_DEVTOOLS=ON (in older releases: -DEXECUTORCH_BUILD_SDK=ON) and build and install it again."
  source   = "pytorch/executorch#2955"
  explains = ["link-stopped", "link-library"]
  examples = [
    "ld.lld: error: unable to find library -letdump\nclang++: error: linker command failed with exit code 1 (use -v to see invocation)",
    "/usr/bin/ld: cannot find -lbundled_program: No such file or directory",
  ]
}

failure "executorch-host-arch" {
  where    = ["compile"]
  patterns = ["backends/qualcomm/runtime/backends/[a-z]+/(?P<arch>arm64|aarch64)/"]
  also     = ["Cannot find source file"]
  cause    = "CMake looks for sources in a folder named after this machine's processor, {arch}. The compiler part of ExecuTorch's Qualcomm backend exists for x86-64 only."
  remedy   = "Build it on a Linux x86-64 host, or in a container or virtual machine of that kind. A Mac cannot build it."
  source   = "pytorch/executorch#8082"
  explains = ["cmake-error"]
  examples = ["CMake Error at backends/qualcomm/runtime/backends/CMakeLists.txt:66 (target_sources):\n  Cannot find source file:\n    /w/executorch/backends/qualcomm/runtime/backends/htpbackend/arm64/HtpContextCustomConfig.cpp"]
}

failure "cmake-option-requires" {
  where    = ["compile"]
  patterns = ["Use of '(?P<option>[A-Z0-9_]+)' requires"]
  cause    = "The option {option} needs another one, which the next line names."
  remedy   = "Switch that one on as well, with -D…=ON, or leave {option} out."
  source   = "pytorch/executorch, tools/cmake/common/preset.cmake"
  explains = ["cmake-error"]
  examples = ["CMake Error at tools/cmake/common/preset.cmake:100 (message):\n  Use of 'EXECUTORCH_BUILD_EXTENSION_MODULE' requires\n  'EXECUTORCH_BUILD_EXTENSION_NAMED_DATA_MAP'"]
}

failure "executorch-context-newer" {
  where    = ["device", "tool"]
  patterns = ["Unknown QNN BinaryInfo version (?P<version>[0-9]+)"]
  cause    = "The .pte holds a context of a newer QAIRT release than this runner was built for (binary info version {version})."
  remedy   = "Build the runner again with the QAIRT release that exported the model, or export again with the runner's release."
  source   = "pytorch/executorch#9311"
  explains = ["executorch-init", "executorch-forward"]
  examples = ["Unknown QNN BinaryInfo version 3.\nFailed to retrieve backend binary info from QNN context binary.\nFailed to parse QNN Graph Info. The cache might be broken. Please consider to re-generate the cache."]
}

failure "executorch-init" {
  where    = ["device", "tool", "logcat"]
  patterns = ["Init failed for backend QnnBackend: (?P<code>0x[0-9a-f]+)", "Fail to (?:initialize Qnn Manager|configure Qnn context|pre register custom memory handle)", "QNN context cache is invalid", "Failed to retrieve backend binary info from QNN context binary", "Failed to parse QNN Graph Info"]
  rank     = "consequence"
  cause    = "ExecuTorch's Qualcomm backend could not start: QNN did not take the context, or did not reach the DSP."
  remedy   = "Look for the first line with [ERROR] above it, and at logcat's QnnDsp lines."
  source   = "pytorch/executorch#9311, #15732"
  explains = ["executorch-forward"]
  examples = [
    "Init failed for backend QnnBackend: 0x1",
    "Fail to initialize Qnn Manager",
    "Fail to configure Qnn context",
    "Fail to pre register custom memory handle",
    "QNN context cache is invalid.",
    "Failed to retrieve backend binary info from QNN context binary.",
    "Failed to parse QNN Graph Info. The cache might be broken. Please consider to re-generate the cache.",
  ]
}

failure "executorch-forward" {
  where    = ["device", "logcat"]
  patterns = ["Execution of method (?P<method>[a-z_]+) failed with status (?P<status>0x[0-9a-f]+)"]
  rank     = "consequence"
  cause    = "ExecuTorch could not load or run the method {method} ({status})."
  remedy   = "Look for the first ExecuTorch or Qnn line above it, in logcat if it is an app."
  source   = "pytorch/executorch#9311, #3848"
  examples = [
    "java.lang.Exception: Execution of method forward failed with status 0x1",
    "java.lang.Exception: Execution of method forward failed with status 0x12",
  ]
}

failure "pte-truncated" {
  where    = ["device", "logcat"]
  patterns = ["(?P<file>[^ ]+[.]pte): offset (?P<offset>[0-9]+) [+] size (?P<size>[0-9]+) > file_size_ (?P<have>[0-9]+)"]
  cause    = "{file} has {have} bytes and is cut off: data that it refers to is behind its end."
  remedy   = "Copy the .pte again and compare sizes and SHA-256. In an app, look whether its copy out of the assets ended early."
  source   = "pytorch/executorch#3848"
  explains = ["executorch-backend-data", "executorch-forward"]
  examples = ["File /data/user/0/com.example.executorchdemo/files/xnn_llava_encoder.pte: offset 5320704 + size 4198960 > file_size_ 8912896\nFailed to load data for backend XnnpackBackend"]
}

failure "executorch-backend-data" {
  where    = ["device", "logcat"]
  patterns = ["Failed to load data for backend (?P<backend>[A-Za-z]+)"]
  rank     = "symptom"
  cause    = "The runner could not read the part of the .pte that is for {backend}."
  remedy   = "Copy the .pte again and compare sizes. If it is whole, export it with the ExecuTorch release that the runner is from."
  source   = "pytorch/executorch#3848"
  explains = ["executorch-forward"]
  examples = ["Failed to load data for backend XnnpackBackend"]
}

failure "flatbuffers-version" {
  where    = ["compile"]
  patterns = ["Non-compatible flatbuffers version included"]
  cause    = "Generated headers are from another flatbuffers release than the one that is included: a flatc of the system made them."
  remedy   = "Delete the build folder, update submodules (git submodule update --init --recursive), and let the build make its own flatc: leave /usr/bin/flatc out of PATH and FLATC_EXECUTABLE unset."
  source   = "pytorch/executorch#4776"
  explains = ["compile-error", "make-stopped"]
  examples = ["build_android/schema/include/executorch/schema/program_generated.h:11:15: error: static assertion failed due to requirement '24 == 23': Non-compatible flatbuffers version included"]
}

failure "executorch-flatc" {
  where    = ["compile"]
  patterns = ["FLATC_EXECUTABLE must be set"]
  cause    = "The build for Android needs a flatc that runs on this machine."
  remedy   = "Pass -DFLATC_EXECUTABLE=/path/to/flatc of a host build, or -DEXECUTORCH_BUILD_FLATC=ON. Newer ExecuTorch releases build it by themselves."
  source   = "pytorch/executorch#1286"
  explains = ["cmake-error"]
  examples = ["CMake Error at CMakeLists.txt:232 (message):\n  FLATC_EXECUTABLE must be set when EXECUTORCH_BUILD_FLATC is disabled.  Note\n  that EXECUTORCH_BUILD_FLATC may be disabled implicitly when cross-compiling"]
}

failure "executorch-torchgen" {
  where    = ["compile", "tool"]
  patterns = ["/torchgen/packaged/ATen/native/native_functions[.]yaml"]
  also     = ["FileNotFoundError"]
  cause    = "CMake's Python has no PyTorch: the path of torchgen is built from its folder, which is empty."
  remedy   = "Activate the environment in which install_requirements.sh ran, and pass -DPYTHON_EXECUTABLE=$(which python3)."
  source   = "pytorch/executorch#7644"
  explains = ["file-not-found-python", "make-stopped"]
  examples = ["FileNotFoundError: [Errno 2] No such file or directory: '/torchgen/packaged/ATen/native/native_functions.yaml'"]
}

failure "sanitizer-symbols" {
  where    = ["compile"]
  patterns = ["undefined (?:symbol: |reference to [`'])__(?P<sanitizer>ubsan|asan|tsan|msan|hwasan)_"]
  cause    = "Object files were compiled with a sanitizer ({sanitizer}), and the program is linked without it: a Debug library of one build is used in another."
  remedy   = "Build all parts with the same CMAKE_BUILD_TYPE (Release), in empty build folders."
  source   = "pytorch/executorch#4085"
  explains = ["undefined-symbol-link", "link-stopped", "make-stopped"]
  examples = [
    "ld: error: undefined symbol: __ubsan_handle_sub_overflow\n>>> referenced by builder.c:632 (/w/executorch/third-party/flatcc/src/runtime/builder.c:632)",
    "ld: error: undefined symbol: __ubsan_handle_shift_out_of_bounds",
  ]
}

failure "executorch-pass" {
  where    = ["tool"]
  patterns = ["An error occurred when running the '(?P<pass>[A-Za-z0-9]+)' pass after the following passes"]
  cause    = "ExecuTorch's pass {pass} cannot handle the graph: often the releases of executorch, torch and torchao do not belong together, or a quantization recipe left a node without encodings."
  remedy   = "Read the exception above it in the traceback. Run install_executorch.sh of this checkout again, so that torch and torchao fit, then export with the recipe of the example."
  source   = "pytorch/executorch#17732"
  examples = ["Exception: An error occurred when running the 'InsertIOQDQ' pass after the following passes: ['FoldQDQ', 'InsertRequantize']"]
}

failure "checkpoint-quantized" {
  where    = ["tool"]
  patterns = ["Only Tensors of floating point and complex dtype can require gradients"]
  cause    = "The checkpoint has integer weights: it is quantized already (SpinQuant, QLoRA), and the exporter quantizes float checkpoints."
  remedy   = "Export the float checkpoint of the model (BF16), and let the recipe quantize it."
  source   = "pytorch/executorch#10993"
  examples = ["RuntimeError: Only Tensors of floating point and complex dtype can require gradients"]
}

failure "executorch-no-method" {
  where    = ["device", "logcat"]
  patterns = ["No method named '(?P<method>[A-Za-z0-9_]+)' in program"]
  cause    = "The .pte has no method {method}: it was exported for another mode or another runner."
  remedy   = "Run with the mode that it was exported for (llama's --eval_mode 0 wants kv_forward, 1 and 2 also prefill_forward), or export it again with the script of the runner's commit."
  source   = "pytorch/executorch#21452"
  explains = ["signal", "executorch-forward"]
  examples = ["E 00:00:00.071665 executorch:program.cpp:67] No method named 'kv_forward' in program\nF 00:00:00.071679 executorch:result.h:170] In function CheckOk(), assert failed: hasValue_\nAborted"]
}

failure "tokenizer-format" {
  where    = ["device", "logcat"]
  patterns = ["hf_tokenizer.*Error parsing json file", "re2[.]cc:[0-9]+\\] Error parsing '"]
  severity = "warning"
  cause    = "ExecuTorch tried to read the tokenizer in one way and goes on with the next: not every tokenizer is JSON, and RE2 does not know look-ahead."
  remedy   = "Leave it if the program says later that it loaded a tokenizer. If it does not, give it the tokenizer file of the model's repository, and link the fallback for regular expressions (regex_lookahead)."
  source   = "pytorch/executorch#21452, #20619"
  examples = [
    "E tokenizers:hf_tokenizer.cpp:167] Error parsing json file: [json.exception.parse_error.101] parse error at line 1, column 1: syntax error while parsing value - invalid literal; last read: 'I'",
    "E0000 00:00:1728760969.240951   12853 re2.cc:237] Error parsing '((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}",
  ]
}
