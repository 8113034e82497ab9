// What the vector branches of the ops share: 64 sixteen-bit elements at a time.
// Only intrinsics of HVX v66 and before: they are what a simulated DSP has, and every real one has them too.
#pragma once

#include <hexagon_types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hvx_internal.h"

namespace lanes {

constexpr size_t count = 64;

// A block holds one 32-bit value for each element.
struct __attribute__((aligned(128))) Block {
  int32_t value[count];
};

inline size_t at_most(size_t n) { return n < count ? n : count; }

// The first n (at most 64) elements of x, zeros behind them. x may have any alignment; nothing after it is read.
inline HVX_Vector load(const uint16_t *x, size_t n) {
  if (n >= count) return *reinterpret_cast<const HVX_UVector *>(x);
  HVX_Vector v = Q6_V_vzero();
  memcpy(&v, x, n * sizeof *x);
  return v;
}

// x[i] - zero
inline void centre(Block &out, const uint16_t *x, size_t n, int32_t zero) {
  const HVX_VectorPair words = Q6_Wuw_vunpack_Vuh(load(x, n));
  const HVX_Vector zeros = Q6_V_vsplat_R(zero);
  HVX_Vector *to = reinterpret_cast<HVX_Vector *>(out.value);
  to[0] = Q6_Vw_vsub_VwVw(Q6_V_lo_W(words), zeros);
  to[1] = Q6_Vw_vsub_VwVw(Q6_V_hi_W(words), zeros);
}

// Writes n (at most 64) values, clamped to 0..65535.
inline void store(uint16_t *out, size_t n, const Block &in) {
  const HVX_Vector *from = reinterpret_cast<const HVX_Vector *>(in.value);
  vstu_variable(out, n * sizeof *out, Q6_Vuh_vpack_VwVw_sat(from[1], from[0]));
}

// Writes n (at most 64) values, clamped to 0..255.
inline void store(uint8_t *out, size_t n, const Block &in) {
  const HVX_Vector *from = reinterpret_cast<const HVX_Vector *>(in.value);
  const HVX_Vector halves = Q6_Vh_vpack_VwVw_sat(from[1], from[0]);
  vstu_variable(out, n, Q6_Vub_vpack_VhVh_sat(Q6_V_vzero(), halves));
}

}  // namespace lanes
