// main_qwen_npu and demo_qwen_npu of mllm v1: a prompt through int8 layers with the DSP's help, then tokens from float ones.
#pragma once

#include "base.h"

namespace npu {

// The program of that name: flags in, exit code out.
i32 run(Str program, i32 count, const char *const *arguments);

}  // namespace npu
