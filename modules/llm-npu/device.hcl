# The real SDKs, mllm's programs, a real phone.

profile "device" {
  locals {
    name     = "Qwen1.5-1.8B"
    sources  = var.mllm == null ? step.git.mllm.outputs.dir : var.mllm
    ops      = "${local.sources}/src/backends/qnn/LLaMAOpPackageHtp/LLaMAPackage"
    hvx      = null
    int8     = var.int8
    q4k      = var.q4k
    vocab    = var.tokenizer == null ? "${local.sources}/vocab/qwen_vocab.mllm" : step.vocab.qwen.outputs.vocab
    merges   = var.tokenizer == null ? "${local.sources}/vocab/qwen_merges.txt" : step.vocab.qwen.outputs.merges
    main     = "${step.exec.android.outputs.bin}/main_qwen_npu"
    demo     = "${step.exec.android.outputs.bin}/demo_qwen_npu"
    flags    = ""
    device   = null
    serial   = var.serial
    repeat   = var.repeat
    pull     = []
    expect   = null
    open_env = {} # none
  }

  check "models" {
    condition     = var.int8 != "" && var.q4k != ""
    error_message = "Both models are needed: --var int8=qwen-1.5-1.8b-chat-int8.mllm --var q4k=qwen-1.5-1.8b-chat-q4k.mllm. mllm's authors publish them. To download and verify them, add a step of kind fetch."
  }

  step "git" "mllm" {
    when            = var.mllm == null
    description     = "mllm's sources"
    url             = "https://github.com/UbiquitousLearning/mllm"
    commit          = "bbf87ffb8cb47860cdc2118c06ccad5b4ab84227"
    submodule_paths = ["third_party/googletest"]
  }

  step "patch" "mllm" {
    description = "have each layer name its tensors after itself, where they all have one name"
    source      = local.sources
    series      = "mllm-v1"
  }

  step "vocab" "qwen" {
    when      = var.tokenizer != null
    tokenizer = var.tokenizer
  }

  # mllm's CMake project looks for the SDK's headers in a folder of its sources that mllm has removed.
  step "exec" "android" {
    description = "mllm's programs, with the QNN backend"
    programs    = ["cmake", "ninja", "python3"]
    shell       = true
    argv = [<<-EOT
      cmake -S ${step.patch.mllm.outputs.dir} -B build -G Ninja -DCMAKE_TOOLCHAIN_FILE="$HEXMAGE_ROOT/${toolchain.ndk.dir}/build/cmake/android.toolchain.cmake" -DANDROID_NDK="$HEXMAGE_ROOT/${toolchain.ndk.dir}" -DCMAKE_BUILD_TYPE=Release \
        -DANDROID_ABI=arm64-v8a -DANDROID_STL=c++_static -DANDROID_PLATFORM=android-28 -DQNN=ON -DDEBUG=OFF -DTEST=OFF -DQUANT=OFF -DQNN_VALIDATE_NODE=ON -DMLLM_BUILD_XNNPACK_BACKEND=OFF \
        -DCMAKE_C_FLAGS=-ffile-prefix-map="$HEXMAGE_ROOT"=. -DCMAKE_CXX_FLAGS="-march=armv8.2-a+dotprod -ffile-prefix-map=$HEXMAGE_ROOT=. -I$HEXMAGE_ROOT/${toolchain.qairt.dir}/include/QNN"
      cmake --build build --target main_qwen_npu demo_qwen_npu
    EOT
    ]
    output "bin" { tree = "bin-arm" }
  }
}
