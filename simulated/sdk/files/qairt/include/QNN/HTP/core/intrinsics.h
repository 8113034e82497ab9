// Vector intrinsics for op sources, and small scalar functions that come with them.
// hexmage simulated. On Hexagon the intrinsics are the compiler's own; elsewhere libnative's (the Hexagon SDK's).
#pragma once

#include <hexagon_types.h>
#include <stdint.h>

#if defined(__hexagon__) && defined(__HVX__) && !defined(Q6_Vqf32_equals_Vsf)
// One instruction from v81 on; before, adding zero makes the same conversion.
#define Q6_Vqf32_equals_Vsf(Vu) Q6_Vqf32_vadd_VsfVsf((Vu), Q6_V_vzero())
#endif

#if defined(__hexagon__) && defined(__HVX__)
// A vector at any address.
static inline HVX_Vector q6op_V_vldu_A(const void *from) {
  HVX_Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
static inline void q6op_vstu_AV(void *to, HVX_Vector v) { __builtin_memcpy(to, &v, sizeof v); }
#endif

static inline int min_i32(int a, int b) { return a < b ? a : b; }
static inline int max_i32(int a, int b) { return a > b ? a : b; }

// The nearest integer, halves away from zero.
static inline int roundf_i32(float x) { return static_cast<int>(x < 0 ? x - 0.5f : x + 0.5f); }

// 2 to the power n, for the exponents a normal float has.
static inline float flt_power2(int n) {
  union {
    uint32_t bits;
    float value;
  } u = {static_cast<uint32_t>(n + 127) << 23};
  return u.value;
}

// The exponent e of x = m * 2^e with 0.5 <= |m| < 1, for normal floats.
static inline int flt_getexp(float x) {
  union {
    float value;
    uint32_t bits;
  } u = {x};
  return static_cast<int>((u.bits >> 23) & 0xff) - 126;
}
