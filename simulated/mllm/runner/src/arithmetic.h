// The scalar arithmetic of docs/design/0002 §1. Everything is compiled with -ffp-contract=off: each product, sum, quotient
// and square root is rounded on its own, in the order written.
#pragma once

#include "base.h"

namespace arithmetic {

inline f32 from_bits(u32 bits) {
  f32 x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

constexpr f32 ROUNDER = 12582912.0f;  // 1.5 * 2^23: adding and subtracting it rounds half to even

inline i32 round_even(f32 u) {
  u = u > -131072.0f ? u : -131072.0f;
  u = u < 131072.0f ? u : 131072.0f;
  return static_cast<i32>((u + ROUNDER) - ROUNDER);
}

inline i32 clamp(i32 q, i32 most) { return q < 0 ? 0 : q > most ? most : q; }

inline u16 quantise16(f32 y, f32 inverse, i32 zero_point) { return static_cast<u16>(clamp(round_even(y * inverse) + zero_point, 65535)); }

inline u8 quantise8(f32 y, f32 inverse) { return static_cast<u8>(clamp(round_even(y * inverse) + 128, 255)); }

// e to the power of t, for t <= 0.
inline f32 exponential(f32 t) {
  if (!(t > -16.0f)) return 0.0f;
  const u32 coefficients[] = {0x39218489, 0x3AAEC3FF, 0x3C1D955B, 0x3D635847, 0x3E75FDF0, 0x3F317218, 0x3F800000};
  f32 z = t * from_bits(0x3FB8AA3B);
  f32 n = (z + ROUNDER) - ROUNDER;
  f32 f = z - n;
  f32 p = from_bits(coefficients[0]);
  for (int i = 1; i < 7; i++) p = p * f + from_bits(coefficients[i]);
  return p * from_bits(static_cast<u32>(static_cast<i32>(n) + 127) << 23);
}

}  // namespace arithmetic
