#pragma once

#include "base.h"

// The program: flags in, exit code out.
i32 run(i32 count, const char *const *arguments);
