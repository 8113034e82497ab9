// Half precision in integer arithmetic, the same bits on every target.
// hexmage simulated: so that no tensor access needs a run-time library for __fp16.
#pragma once

#include <stdint.h>

static inline float open_half_to_float(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 31, fraction = half & 0x3ff;
  uint32_t bits;
  if (exponent == 31) {
    bits = sign | 0x7f800000u | fraction << 13;
  } else if (exponent == 0 && fraction == 0) {
    bits = sign;
  } else {
    if (exponent == 0) {  // subnormal: shift until the leading bit is where a normal number has it
      for (exponent = 1; !(fraction & 0x400); fraction <<= 1) exponent--;
      fraction &= 0x3ff;
    }
    bits = sign | (exponent + 112) << 23 | fraction << 13;
  }
  return __builtin_bit_cast(float, bits);
}

// Half to even.
static inline uint16_t open_float_to_half(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  const uint32_t rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return sign | 0x7e00;   // NaN
  if (rest >= 0x477ff000u) return sign | 0x7c00;  // rounds to infinity
  if (rest < 0x33000001u) return sign;            // half of the smallest subnormal and less
  uint32_t fraction = (rest & 0x7fffff) | 0x800000, drop = 13, half;
  const uint32_t exponent = rest >> 23;
  if (exponent < 113) {
    drop += 113 - exponent;
    half = 0;
  } else {
    half = (exponent - 113) << 10;  // the leading bit of the fraction adds one to the exponent
  }
  const uint32_t kept = fraction >> drop, lost = fraction & ((1u << drop) - 1), tie = 1u << (drop - 1);
  half += kept + (lost > tie || (lost == tie && (kept & 1)));
  return sign | (uint16_t)half;
}

// A half precision number that computes as a float.
class Float16 {
 public:
  Float16() = default;
  Float16(float value) : bits_(open_float_to_half(value)) {}
  operator float() const { return open_half_to_float(bits_); }
  static Float16 from_raw(uint16_t bits) {
    Float16 x;
    x.bits_ = bits;
    return x;
  }
  uint16_t raw() const { return bits_; }

 private:
  uint16_t bits_;
};
