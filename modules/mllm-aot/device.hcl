# The real SDKs, upstream's programs, a real phone.

profile "device" {
  locals {
    ops       = "${step.git.mllm.outputs.dir}/mllm/backends/qnn/custom-op-package/LLaMAPackage"
    hvx       = null # the target's own
    model     = var.model
    pymllm    = step.git.mllm.outputs.dir
    compilers = step.exec.aot_tools.outputs.bin
    memory_gb = 64

    runs   = true
    device = null
    serial = var.serial == "" ? null : var.serial
    runner = {
      for name in ["mllm-qwen3-aot-runner", "libMllmRT.so", "libMllmCPUBackend.so", "libMllmQNNBackend.so", "libomp.so"] :
      name => "${step.exec.android.outputs.bin}/${name}"
    }
    pull   = []
    expect = null
  }

  step "git" "mllm" {
    description = "upstream's sources"
    url         = "https://github.com/UbiquitousLearning/mllm"
    commit      = "b9c307020b2e200ea43cd67747d1581e4eba85fd"
  }

  step "exec" "aot_tools" {
    description = "upstream's ahead-of-time compiler"
    network     = true # its CMake project downloads its dependencies
    programs    = ["cmake", "ninja", "clang++"]
    argv = ["sh", "-c", join(" && ", [
      "cmake -S ${step.git.mllm.outputs.dir} -B build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DHWY_ENABLE_TESTS=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF -DMLLM_CPU_BACKEND_COMPILE_OPTIONS=-march=native -DMLLM_KERNEL_USE_THREADS=ON -DMLLM_KERNEL_THREADS_VENDOR_OPENMP=ON -DMLLM_KERNEL_USE_THREADS_VENDOR_MLLM=OFF -DMLLM_QUALCOMM_QNN_AOT_ON_X86_ENABLE=ON",
      "cmake --build build",
      "cp -r build/bin bin",
    ])]
    env = { QAIRT_SDK_ROOT = toolchain.qairt.dir }
    output "bin" { tree = "bin" }
  }

  step "exec" "android" {
    description = "upstream's runner and its libraries"
    network     = true
    programs    = ["cmake", "ninja"]
    argv = ["sh", "-c", join(" && ", [
      "cmake -S ${step.git.mllm.outputs.dir} -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE=$HEXMAGE_ROOT/${toolchain.ndk.dir}/build/cmake/android.toolchain.cmake -DMLLM_CROSS_COMPILE=ON -DMLLM_BUILD_ARM_BACKEND=ON -DMLLM_BUILD_QNN_BACKEND=ON -DANDROID_PLATFORM=android-28 -DANDROID_ABI=arm64-v8a '-DMLLM_CPU_BACKEND_COMPILE_OPTIONS=-march=armv8.2-a+fp16+fp16fml+dotprod+i8mm;-ffast-math;-Wno-nan-infinity-disabled' -DMLLM_KERNEL_USE_THREADS=ON -DMLLM_KERNEL_THREADS_VENDOR_OPENMP=ON -DMLLM_KERNEL_USE_THREADS_VENDOR_MLLM=OFF",
      "cmake --build build",
      "cp -r build/bin bin",
      "cp ${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/lib/clang/*/lib/linux/aarch64/libomp.so bin/", # -fopenmp links it dynamically
    ])]
    env = { QAIRT_SDK_ROOT = toolchain.qairt.dir }
    output "bin" { tree = "bin" }
  }
}
