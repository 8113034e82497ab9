# From nothing to a model running on a phone's NPU.
#
#   mage pipeline qwen3-aot-v79                          the open stand-in: real compilers, an emulated phone
#   HEXMAGE_PROFILE=device mage plan qwen3-aot-v79       what runs with the real SDKs and a real phone

pipeline {
  description = "Qwen3, W4A16 LPBQ, compiled ahead of time for Hexagon v79 (Snapdragon 8 Elite)"
}

variable "mllm" {
  type        = string
  default     = ""
  description = "A clone of upstream (github.com/UbiquitousLearning/mllm): build its op package instead of our example"

  validation {
    condition     = var.mllm == "" || length(fileset(var.mllm, "**/LLaMAPackage/src/LLaMAPackageInterface.cpp")) == 1
    error_message = "It must be the folder of one clone of upstream: there is to be one LLaMAPackage/src/LLaMAPackageInterface.cpp below it."
  }
}

variable "model" {
  type        = string
  default     = ""
  description = "Profile device: folder of the Hugging Face model (config.json, tokenizer.json, *.safetensors), such as Qwen3-1.7B"
}

variable "prompt" {
  type        = string
  default     = "Why can greatness not be planned? Give three reasons, one a line, and name somebody who found something great while looking for something else."
  description = "What the model is asked"
}

variable "serial" {
  type        = string
  default     = ""
  description = "Profile device: serial number of the phone, when several are attached"
}

variable "block_size" {
  type        = number
  default     = 16
  description = "LPBQ block size: 16 for 1.7B, 32 for 4B"
}

profile "open" { default = true } # our stand-ins for what cannot be downloaded by everybody; real compilers, an emulated phone
profile "device" {}               # the real SDKs, upstream's programs, a real phone

target "SM8750" {}

locals {
  open     = profile.name == "open"
  example  = local.open && var.mllm == ""
  clone    = var.mllm == "" ? [] : fileset(var.mllm, "**/LLaMAPackage/src/LLaMAPackageInterface.cpp")
  package  = "mllm/backends/qnn/custom-op-package/LLaMAPackage"
  upstream = var.mllm == "" ? "" : dirname(dirname(one(local.clone)))
}

# --- toolchains -----------------------------------------------------------------------------------------------------

toolchain "qairt" { version = "2.41.0.251128" }
toolchain "hexagon" { version = "6.4.0.2" }
toolchain "ndk" { version = "r28b" }
toolchain "adb" {}

toolchain "llvm" { when = local.open } # behind the stand-ins' compiler wrappers
toolchain "mllm" { when = local.open } # the stand-in of upstream's programs
toolchain "qemu" { when = local.open }
toolchain "busybox" { when = local.open }

# --- the op package -------------------------------------------------------------------------------------------------

step "git" "mllm" {
  description = "upstream's sources"
  when        = !local.open
  url         = "https://github.com/UbiquitousLearning/mllm"
  commit      = "b9c307020b2e200ea43cd67747d1581e4eba85fd"
}

step "patch" "ops" {
  description = "rewrite what the SDK has renamed"
  source      = local.open ? (local.example ? "oppackage/example/LLaMAPackage" : local.upstream) : "${step.git.mllm.outputs.dir}/${local.package}"
  series      = "mllm"
}

step "makefile" "llama" {
  source  = step.patch.ops.outputs.dir
  package = "LLaMAPackage"
  hvx     = local.example ? "v66" : null # as below
}

step "oppackage" "llama" {
  source  = step.patch.ops.outputs.dir
  package = "LLaMAPackage"
  targets = ["htp_aarch64", "htp_${target.arch}"]
  hvx     = local.example ? "v66" : null # what qemu can run; null is the target's own
}

# --- the model ------------------------------------------------------------------------------------------------------

step "model" "qwen3" {
  description = "a small model of the same architecture, for machines without the real one"
  when        = local.open
  seed        = 79
  block_size  = var.block_size
}

step "quantize" "qwen3" {
  model      = local.open ? step.model.qwen3.outputs.dir : var.model
  block_size = var.block_size
  pymllm     = local.open ? null : step.git.mllm.outputs.dir
}

step "convert" "qwen3" {
  model = step.quantize.qwen3.outputs.dir
  name  = "qwen3"
}

# --- upstream's programs --------------------------------------------------------------------------------------------

step "exec" "aot_tools" {
  description = "upstream's ahead-of-time compiler"
  when        = !local.open
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
  when        = !local.open
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

step "exec" "runner" {
  description = "the stand-in's runner, with the flags and the output of upstream's"
  when        = local.open
  argv = ["sh", "-c", join(" ", [
    "exec ${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++ --target=aarch64-none-linux-android21",
    "-O2 -std=c++17 -ffreestanding -fno-builtin -ffp-contract=off -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-stack-protector",
    "-nostdlibinc -nostdlib -static -fuse-ld=lld -o mllm-qwen3-aot-runner ${toolchain.mllm.dir}/src/runner/*.cc",
  ])]
  inputs = [toolchain.llvm.dir]
  output "bin" { file = "mllm-qwen3-aot-runner" }
}

# --- ahead of time --------------------------------------------------------------------------------------------------

step "context" "qwen3" {
  model     = step.convert.qwen3.outputs.model
  config    = "${step.quantize.qwen3.outputs.dir}/config.json"
  compiler  = local.open ? "${toolchain.mllm.dir}/bin/mllm-qwen3-aot-sha-c" : "${step.exec.aot_tools.outputs.bin}/mllm-qwen3-aot-sha-c"
  memory_gb = local.open ? null : 64
}

# --- the device -----------------------------------------------------------------------------------------------------

step "emulator" "phone" {
  description = "a phone for machines without one"
  when        = local.open
}

step "reference" "qwen3" {
  description = "what the device must say"
  when        = local.open
  model       = step.convert.qwen3.outputs.model
  config      = "${step.quantize.qwen3.outputs.dir}/config.json"
  tokenizer   = "${step.quantize.qwen3.outputs.dir}/tokenizer.json"
  prompt      = var.prompt
}

step "run" "qwen3" {
  description = "prefill in chunks of 32, then decode"
  when        = local.example || !local.open # qemu cannot run the HVX code of the real op package
  title       = "qwen3-aot-v79 on ${target.soc}"
  device      = local.open ? step.emulator.phone.outputs.image : null
  serial      = local.open || var.serial == "" ? null : var.serial
  timeout     = "30m"

  argv = ["./mllm-qwen3-aot-runner", "-m", "model.bin", "-t", "tokenizer.json", "-c", "config.json", "--ar_len", "32"]
  env = {
    LD_LIBRARY_PATH   = "$HEXMAGE_ROOT"
    ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp" # a list with ':' is taken as one folder
  }
  stdin  = "${var.prompt}\n"
  pull   = local.open ? ["results/tokens.json"] : []
  expect = local.open ? step.reference.qwen3.outputs.tokens : null

  push = merge({
    "model.bin"                               = step.context.qwen3.outputs.context
    "tokenizer.json"                          = "${step.quantize.qwen3.outputs.dir}/tokenizer.json"
    "config.json"                             = "${step.quantize.qwen3.outputs.dir}/config.json"
    "libQnnHtp.so"                            = "${toolchain.qairt.dir}/lib/aarch64-android/libQnnHtp.so"
    "libQnnHtpPrepare.so"                     = "${toolchain.qairt.dir}/lib/aarch64-android/libQnnHtpPrepare.so" # the op package links to it
    "libQnnSystem.so"                         = "${toolchain.qairt.dir}/lib/aarch64-android/libQnnSystem.so"
    "libQnnHtp${upper(target.arch)}Stub.so"   = "${toolchain.qairt.dir}/lib/aarch64-android/libQnnHtp${upper(target.arch)}Stub.so"
    "libQnnHtp${upper(target.arch)}Skel.so"   = "${toolchain.qairt.dir}/lib/hexagon-${target.arch}/unsigned/libQnnHtp${upper(target.arch)}Skel.so"
    "libQnnLLaMAPackage_CPU.so"               = "${step.oppackage.llama.outputs.dir}/htp_aarch64/libQnnLLaMAPackage.so"
    "libQnnLLaMAPackage_HTP.so"               = "${step.oppackage.llama.outputs.dir}/htp_${target.arch}/libQnnLLaMAPackage.so"
    }, local.open ? { "mllm-qwen3-aot-runner" = step.exec.runner.outputs.bin } : {
    "mllm-qwen3-aot-runner"                   = "${step.exec.android.outputs.bin}/mllm-qwen3-aot-runner"
    "libMllmRT.so"                            = "${step.exec.android.outputs.bin}/libMllmRT.so"
    "libMllmCPUBackend.so"                    = "${step.exec.android.outputs.bin}/libMllmCPUBackend.so"
    "libMllmQNNBackend.so"                    = "${step.exec.android.outputs.bin}/libMllmQNNBackend.so"
    "libomp.so"                               = "${step.exec.android.outputs.bin}/libomp.so"
  })
}

# --- what comes out -------------------------------------------------------------------------------------------------

output "oppackage" {
  description = "libQnnLLaMAPackage.so for each target"
  value       = step.oppackage.llama.outputs.dir
}

output "makefile" {
  description = "the same package for `make htp_aarch64 htp_v79`, by hand"
  value       = step.makefile.llama.outputs.dir
}

output "compile_commands.json" {
  description = "for clangd"
  value       = step.oppackage.llama.outputs.compile_commands
}

output "model.mllm" {
  value = step.convert.qwen3.outputs.model
}

output "context.bin" {
  value = step.context.qwen3.outputs.context
}

output "stdout.txt" {
  description = "what the runner printed"
  value       = step.run.qwen3.outputs.stdout
}

output "samples" {
  description = "memory, processors, clocks, temperatures and battery while it ran: samples.csv, samples.json"
  value       = step.run.qwen3.outputs.samples
}

output "metrics" {
  value = step.run.qwen3.outputs.metrics
  show  = "table"
}
