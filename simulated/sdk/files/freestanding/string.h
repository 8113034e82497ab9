// hexmage simulated: what op sources use, nothing more. Freestanding: no library stands behind it except where said.
// The functions are the loader's: declared here, resolved when the library is loaded.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *memcpy(void *__restrict to, const void *__restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);

static inline int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
  for (; n; n--, x++, y++) {
    if (*x != *y) return *x - *y;
  }
  return 0;
}
static inline size_t strlen(const char *s) {
  size_t n = 0;
  while (s[n]) n++;
  return n;
}
static inline int strcmp(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return (unsigned char)*a - (unsigned char)*b;
}

#ifdef __cplusplus
}
#endif
