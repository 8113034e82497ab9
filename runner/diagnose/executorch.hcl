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
