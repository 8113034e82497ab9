#pragma once

#include "base.h"

// The program: flags in, exit code out.
i32 run(i32 count, const char *const *arguments);

// The programs of mllm's branch v1.
i32 run_npu(bool demo, i32 count, const char *const *arguments);
