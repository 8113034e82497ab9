// Small helpers of HVX sources: prefetch, alignment, partial stores.
// hexmage simulated: written from call sites alone.
#ifndef HVX_INTERNAL_H
#define HVX_INTERNAL_H

#include <hexagon_types.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
// C++ has no such keyword; sources written for C and C++ use it.
#define restrict __restrict
#endif

#define VLEN 128
#define HVX_INLINE_ALWAYS inline __attribute__((unused, always_inline))

typedef float float_t;

typedef union {
  HVX_VectorPair VV;
  struct {
    HVX_Vector lo;
    HVX_Vector hi;
  } V;
} HVX_DV;

// Asks for a block of rows in the second-level cache: height rows of width bytes, stride bytes apart.
static HVX_INLINE_ALWAYS void l2fetch(const void *p, uint32_t stride, uint32_t width, uint32_t height, uint32_t dir) {
  const uint64_t control = ((uint64_t)dir << 48) | ((uint64_t)stride << 32) | ((uint64_t)width << 16) | height;
  Q6_l2fetch_AP((void *)p, control);
}

static HVX_INLINE_ALWAYS int32_t is_aligned(const void *p, uint32_t alignment) {
  return ((uintptr_t)p & (alignment - 1)) == 0;
}

// Whether n bytes (at least one) from p lie within one aligned chunk.
static HVX_INLINE_ALWAYS int32_t is_in_one_chunk(const void *p, uint32_t n, uint32_t chunk) {
  return ((uintptr_t)p & (chunk - 1)) + n <= chunk;
}

// Stores the first n bytes of a vector at any address, and touches nothing after them.
static HVX_INLINE_ALWAYS void vstu_variable(void *p, uint32_t n, HVX_Vector vector) {
  memcpy(p, &vector, n < VLEN ? n : VLEN);
}

// The bits of a half precision float, for splats into a vector.
static HVX_INLINE_ALWAYS int16_t fp16_to_bits(const __fp16 *x) {
  int16_t bits;
  memcpy(&bits, x, sizeof bits);
  return bits;
}

#endif
