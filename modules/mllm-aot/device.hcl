# The real SDKs, mllm's programs, a real phone. docs/mllm.md has each step beside mllm's own guide.

profile "device" {
  toolchain "onnx" { when = var.quantizer == "native" }

  locals {
    example   = false
    runs      = true
    title     = ""
    model     = var.model
    quantizer = var.quantizer
    mllm      = var.mllm == null ? step.git.mllm.outputs.dir : var.mllm

    ops       = var.mllm == null ? "${local.mllm}/mllm/backends/qnn/custom-op-package/LLaMAPackage" : local.sources
    quantized = step.convert.llm.outputs.model
    htp       = null
    table     = null

    phone = {
      context   = step.context.llm.outputs.context
      config    = step.context.llm.outputs.config
      tokenizer = "${step.quantize.llm.outputs.dir}/tokenizer.json"

      serial = var.serial
      device = null
      runner = {
        for name in [local.program, "libMllmRT.so", "libMllmCPUBackend.so", "libMllmQNNBackend.so", "libomp.so"] :
        name => "${step.exec.android.outputs.bin}/${name}"
      }
      packages = {} # a graph of mllm's ahead-of-time compiler has operations of QNN alone

      # How long answers may be. mllm's runner for Llama has no tokenizer of Llama's and no prompt: it is given as many made-up tokens.
      flags  = { qwen3 = [], qwen2 = ["--gen_len", "256"], llama = ["--seq_len", "256", "--gen_len", "64"] }[var.architecture]
      pull   = []
      expect = null
      env    = {}
    }

    # What both builds begin with. CMake takes a relative root for one below the sources. mllm's project would download two others, one
    # of which downloads four more, from branches. mllm uses only its headers, so the file below defines a target for them.
    prepare = <<-EOT
      export QAIRT_SDK_ROOT="$HEXMAGE_ROOT/${toolchain.qairt.dir}" GIT_CEILING_DIRECTORIES="$HEXMAGE_ROOT"
      cat >after-project.cmake <<END
      find_package(Threads REQUIRED)
      add_library(stdexec INTERFACE)
      target_include_directories(stdexec INTERFACE "\$<BUILD_INTERFACE:$HEXMAGE_ROOT/${step.git.stdexec.outputs.dir}>")
      target_compile_features(stdexec INTERFACE cxx_std_20)
      target_compile_options(stdexec INTERFACE "\$<\$<COMPILE_LANG_AND_ID:CXX,GNU>:-fcoroutines>")
      target_link_libraries(stdexec INTERFACE Threads::Threads)
      add_library(STDEXEC::stdexec ALIAS stdexec)
      install(TARGETS stdexec EXPORT MllmTargets)
      END
    EOT

    cmake = join(" ", [
      "cmake -B build -G Ninja -DFETCHCONTENT_FULLY_DISCONNECTED=ON -DCMAKE_PROJECT_mllm_INCLUDE=\"$HEXMAGE_ROOT/after-project.cmake\"",
      "-DCPM_stdexec_SOURCE=\"$HEXMAGE_ROOT/${step.git.stdexec.outputs.dir}\"",
      "-DCMAKE_C_FLAGS=-ffile-prefix-map=\"$HEXMAGE_ROOT\"=. -DCMAKE_CXX_FLAGS=-ffile-prefix-map=\"$HEXMAGE_ROOT\"=. -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON",
      "-DMLLM_ENABLE_TEST=OFF -DMLLM_ENABLE_BENCHMARK=OFF",
      "-DMLLM_KERNEL_USE_THREADS=ON -DMLLM_KERNEL_THREADS_VENDOR_OPENMP=ON -DMLLM_KERNEL_USE_THREADS_VENDOR_MLLM=OFF",
    ])
  }

  check "biases" {
    severity      = "warning"
    condition     = step.audit.llm.outputs.found.biases == 0
    error_message = "mllm's compiler omits the biases of q, k and v. In this model, ${step.audit.llm.outputs.found.biases} of them are not zero, up to ${format("%.3g", step.audit.llm.outputs.found.bias_most)}: the phone runs another model. Profile emulator keeps the biases."
  }

  step "git" "mllm" {
    when            = var.mllm == null
    description     = "mllm's sources"
    url             = "https://github.com/UbiquitousLearning/mllm"
    commit          = "b9c307020b2e200ea43cd67747d1581e4eba85fd"
    submodule_paths = ["third_party/fmt", "third_party/flatbuffers", "mllm/ffi/vendors/tvm-ffi", "mllm/backends/cpu/vendors/kleidiai"]
  }

  step "git" "stdexec" {
    description = "headers that mllm's CMake project downloads"
    url         = "https://github.com/NVIDIA/stdexec"
    commit      = "9514e7bdf4b5d16d8ee4b5ad0e9c8733c3539f37" # its tag nvhpc-25.03.rc1
    sub         = "include"
  }

  step "git" "highway" {
    description = "library that mllm's CMake project downloads for x86"
    url         = "https://github.com/google/highway"
    commit      = "ac0d5d297b13ab1b89f48484fc7911082d76a93f" # its tag 1.3.0
  }

  step "patch" "mllm" {
    description = "have the runners read a prompt, count heads right, and print how fast they were"
    source      = local.mllm
    series      = "mllm-aot"
  }

  step "exec" "aot_tools" {
    description = "mllm's ahead-of-time compiler"
    programs    = ["cmake", "ninja", "gcc", "g++", "as", "ld.bfd", "python3"]
    shell       = true
    argv = [<<-EOT
      ${local.prepare}
      ${local.cmake} -S ${local.mllm} -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=bfd -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=bfd -DCPM_highway_SOURCE="$HEXMAGE_ROOT/${step.git.highway.outputs.dir}" -DHWY_ENABLE_TESTS=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF -DMLLM_CPU_BACKEND_COMPILE_OPTIONS=-march=x86-64-v3 -DMLLM_QUALCOMM_QNN_AOT_ON_X86_ENABLE=ON
      cmake --build build --target ${local.compiler}
    EOT
    ]
    output "bin" { tree = "build/bin" }
  }

  step "exec" "android" {
    description = "mllm's runner and its libraries"
    programs    = ["cmake", "ninja", "python3"]
    shell       = true
    argv = [<<-EOT
      ${local.prepare}
      ${local.cmake} -S ${step.patch.mllm.outputs.dir} -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$HEXMAGE_ROOT/${toolchain.ndk.dir}/build/cmake/android.toolchain.cmake" -DMLLM_CROSS_COMPILE=ON -DMLLM_BUILD_ARM_BACKEND=ON -DMLLM_BUILD_QNN_BACKEND=ON -DANDROID_PLATFORM=android-28 -DANDROID_ABI=arm64-v8a '-DMLLM_CPU_BACKEND_COMPILE_OPTIONS=-march=armv8.2-a+fp16+fp16fml+dotprod+i8mm;-ffast-math;-Wno-nan-infinity-disabled'
      cmake --build build --target ${local.program}
      cp ${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/lib/clang/*/lib/linux/aarch64/libomp.so build/bin/ # -fopenmp links it dynamically
    EOT
    ]
    output "bin" { tree = "build/bin" }
  }

  step "context" "llm" {
    model     = step.convert.llm.outputs.model
    config    = "${step.quantize.llm.outputs.dir}/config.json"
    compiler  = "${step.exec.aot_tools.outputs.bin}/${local.compiler}"
    memory_gb = 64
  }
}
