/* Conversions between single and half precision, which the compiler calls by name. Exact one way, half to even the other. */
#include "shell.h"

float __extendhfsf2(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, m = half & 0x3ff, bits;
  if (exponent == 31) {
    bits = sign | 0x7f800000 | m << 13;
  } else if (exponent) {
    bits = sign | (exponent + 112) << 23 | m << 13;
  } else if (m) {
    uint32_t shift = (uint32_t)__builtin_clz(m) - 21; /* brings the top bit to bit 10 */
    bits = sign | (113 - shift) << 23 | (m << shift & 0x3ff) << 13;
  } else {
    bits = sign;
  }
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

uint16_t __truncsfhf2(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x3ff));
  if (bits >= 0x47800000) return sign | 0x7c00; /* 65536 and more; what rounds up to it carries into infinity below */
  uint32_t m, shift;
  if (bits >= 0x38800000) { /* a normal half */
    m = bits - (112u << 23);
    shift = 13;
  } else {
    uint32_t exponent = bits >> 23;
    if (exponent < 101) return sign; /* below half of the smallest */
    m = (bits & 0x7fffff) | 0x800000;
    shift = 126 - exponent;
  }
  uint32_t q = m >> shift, rest = m & ((1u << shift) - 1), tie = 1u << (shift - 1);
  if (rest > tie || (rest == tie && (q & 1))) q++;
  return (uint16_t)(sign | q);
}
