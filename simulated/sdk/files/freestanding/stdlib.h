// hexmage simulated: what op sources use, nothing more. Freestanding: no library stands behind it except where said.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline int abs(int x) { return x < 0 ? -x : x; }

#ifdef __cplusplus
}
#endif
