// hexmage simulated: what op sources use, nothing more. Freestanding: no library stands behind it except where said.
#pragma once

// Messages of ops go nowhere; their arguments are evaluated.
static inline int printf(const char *format, ...) {
  (void)format;
  return 0;
}
