/* Division, which Hexagon has no instruction for: the compiler calls these by name. */
#include "shell.h"

struct quotient {
  uint64_t q, r;
};

/* A divisor of zero has no answer; 0 and the dividend are returned, as the vendor's code leaves it undefined. */
static struct quotient divide(uint64_t a, uint64_t b) {
  if (b == 0 || a < b) return (struct quotient){0, a};
  int shift = __builtin_clzll(b) - __builtin_clzll(a);
  uint64_t q = 0;
  b <<= shift;
  for (; shift >= 0; shift--, b >>= 1) {
    q <<= 1;
    if (a >= b) {
      a -= b;
      q |= 1;
    }
  }
  return (struct quotient){q, a};
}

static struct quotient divide_signed(int64_t a, int64_t b) {
  struct quotient d = divide(a < 0 ? -(uint64_t)a : (uint64_t)a, b < 0 ? -(uint64_t)b : (uint64_t)b);
  if ((a < 0) != (b < 0)) d.q = -d.q;
  if (a < 0) d.r = -d.r;
  return d;
}

uint32_t __hexagon_udivsi3(uint32_t a, uint32_t b) { return (uint32_t)divide(a, b).q; }
uint32_t __hexagon_umodsi3(uint32_t a, uint32_t b) { return (uint32_t)divide(a, b).r; }
int32_t __hexagon_divsi3(int32_t a, int32_t b) { return (int32_t)divide_signed(a, b).q; }
int32_t __hexagon_modsi3(int32_t a, int32_t b) { return (int32_t)divide_signed(a, b).r; }
uint64_t __hexagon_udivdi3(uint64_t a, uint64_t b) { return divide(a, b).q; }
uint64_t __hexagon_umoddi3(uint64_t a, uint64_t b) { return divide(a, b).r; }
int64_t __hexagon_divdi3(int64_t a, int64_t b) { return (int64_t)divide_signed(a, b).q; }
int64_t __hexagon_moddi3(int64_t a, int64_t b) { return (int64_t)divide_signed(a, b).r; }

static uint64_t bits_of(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double of_bits(uint64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/* The significand of a finite non-zero number with its top bit at 52, and the exponent that belongs to it. */
static uint64_t significand(uint64_t magnitude, int *exponent) {
  *exponent = (int)(magnitude >> 52);
  uint64_t m = magnitude & ((1ull << 52) - 1);
  if (*exponent) return m | 1ull << 52;
  int shift = __builtin_clzll(m) - 11;
  *exponent = 1 - shift;
  return m << shift;
}

double __hexagon_divdf3(double a, double b) {
  const uint64_t infinite = 0x7ffull << 52, not_a_number = 0x7ff8ull << 48;
  uint64_t x = bits_of(a), y = bits_of(b), sign = (x ^ y) & 1ull << 63;
  x &= ~(1ull << 63);
  y &= ~(1ull << 63);
  if (x > infinite || y > infinite || (x == 0 && y == 0) || (x == infinite && y == infinite)) return of_bits(not_a_number);
  if (x == infinite || y == 0) return of_bits(sign | infinite);
  if (x == 0 || y == infinite) return of_bits(sign);

  int ex, ey;
  uint64_t mx = significand(x, &ex), my = significand(y, &ey), q = 0;
  int e = ex - ey + 1023;
  if (mx < my) {
    mx <<= 1;
    e--;
  }
  for (int i = 0; i < 55; i++) { /* 53 bits of the result, one to round, one more for the shift below */
    q <<= 1;
    if (mx >= my) {
      mx -= my;
      q |= 1;
    }
    mx <<= 1;
  }
  q = q << 1 | (mx != 0); /* 56 bits, the last one says that the rest is not zero */
  if (e >= 0x7ff) return of_bits(sign | infinite);
  if (e <= 0) { /* subnormal: shift right, keep the sticky bit */
    int shift = 1 - e;
    if (shift > 56) shift = 56;
    q = q >> shift | ((q & ((1ull << shift) - 1)) != 0);
    e = 0;
  } else {
    q &= ~(1ull << 55);
  }
  uint64_t m = q >> 3, rest = q & 7;
  if (rest > 4 || (rest == 4 && (m & 1))) m++;
  return of_bits(sign | (((uint64_t)e << 52) + m)); /* a carry out of m raises the exponent, as it should */
}
