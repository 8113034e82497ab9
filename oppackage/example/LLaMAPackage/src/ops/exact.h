// Single precision as simulated/mllm/toymodel/README.md wants it: every operation rounded on its own, half to even.
//
// Products and sums are the compiler's, under pragmas that forbid contraction and reassociation even with -ffast-math.
// Quotients and square roots are made in integers, so they do not depend on what a target's divider or library does.
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef __hexagon__  // whose compiler does not know it, and whose builds have no -ffast-math
#pragma float_control(precise, on, push)
#endif
#pragma clang fp contract(off)

namespace exact {

inline uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
inline float from_bits(uint32_t b) { return __builtin_bit_cast(float, b); }

// n * 2^e rounded to a float; sticky says that n is a little more than that. n has 25 to 40 bits, the result is normal
// (or becomes infinity, or zero).
inline float compose(uint64_t n, int e, bool sticky) {
  int length = 25;
  while (n >> length) length++;
  const int drop = length - 24;
  uint32_t kept = static_cast<uint32_t>(n >> drop);
  const uint64_t lost = n & ((uint64_t(1) << drop) - 1), tie = uint64_t(1) << (drop - 1);
  if (lost > tie || (lost == tie && (sticky || (kept & 1)))) kept++;
  e += drop;
  if (kept >> 24) {
    kept >>= 1;
    e++;
  }
  const int exponent = e + 23 + 127;
  if (exponent <= 0) return 0.0f;
  if (exponent >= 255) return from_bits(0x7f800000u);
  return from_bits(static_cast<uint32_t>(exponent) << 23 | (kept & 0x7fffffu));
}

// a / b for a >= 0 and b > 0, both normal (or a zero).
inline float divide(float a, float b) {
  if (a == 0.0f) return 0.0f;
  const uint64_t ma = (bits(a) & 0x7fffffu) | 0x800000u, mb = (bits(b) & 0x7fffffu) | 0x800000u;
  const int ea = static_cast<int>(bits(a) >> 23), eb = static_cast<int>(bits(b) >> 23);
  const uint64_t n = ma << 26, q = n / mb;
  return compose(q, ea - eb - 26, q * mb != n);
}

// The square root of x > 0, normal.
inline float square_root(float x) {
  uint64_t m = (bits(x) & 0x7fffffu) | 0x800000u;
  int e = static_cast<int>(bits(x) >> 23) - 127 - 23;
  if (e & 1) {
    m <<= 1;
    e--;
  }
  m <<= 26;  // 49 to 51 bits: the root has 25 or 26
  uint64_t root = 0;
  for (uint64_t bit = uint64_t(1) << 25; bit; bit >>= 1) {
    if ((root | bit) * (root | bit) <= m) root |= bit;
  }
  return compose(root, e / 2 - 13, root * root != m);
}

// Rounds to an integer, half to even; what is beyond 2^17 either way becomes 2^17.
inline int32_t rne(float u) {
  const float bound = 131072.0f;
  if (!(u > -bound)) u = -bound;
  if (u > bound) u = bound;
  int32_t n = static_cast<int32_t>(u);
  const float rest = u - static_cast<float>(n);  // exact
  if (rest > 0.5f || (rest == 0.5f && (n & 1))) n++;
  if (rest < -0.5f || (rest == -0.5f && (n & 1))) n--;
  return n;
}

inline int32_t clamp(int32_t n, int32_t low, int32_t high) { return n < low ? low : n > high ? high : n; }

inline float multiply(float a, float b) { return a * b; }
inline float add(float a, float b) { return a + b; }

// e to the power t, for t <= 0: the polynomial of the document.
inline float exp_negative(float t) {
  if (!(t > -16.0f)) return 0.0f;
  const float z = multiply(t, from_bits(0x3fb8aa3bu));
  const int32_t n = rne(z);
  const float f = add(z, -static_cast<float>(n));
  const uint32_t coefficients[] = {0x3aaec3ffu, 0x3c1d955bu, 0x3d635847u, 0x3e75fdf0u, 0x3f317218u, 0x3f800000u};
  float p = from_bits(0x39218489u);
  for (uint32_t c : coefficients) p = add(multiply(p, f), from_bits(c));
  return multiply(p, from_bits(static_cast<uint32_t>(n + 127) << 23));
}

// x / (1 + e^-x)
inline float silu(float x) {
  const float e = exp_negative(x < 0 ? x : -x);
  const float n = add(1.0f, e);
  return multiply(x, divide(x >= 0 ? 1.0f : e, n));
}

}  // namespace exact

#ifndef __hexagon__
#pragma float_control(pop)
#endif
