/* The float functions a library may import. sqrtf and sqrt are correctly rounded; the others are computed in double and
 * rounded once, so that they are off by less than one unit in the last place. */
#include "shell.h"

static uint32_t bits_of(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float of_bits(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

static double of_bits64(uint64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/* Integer square root of n, rounded down. */
static uint64_t root(uint64_t n) {
  uint64_t r = 0;
  for (uint64_t bit = 1ull << 62; bit; bit >>= 2) {
    uint64_t trial = r + bit;
    r >>= 1;
    if (n >= trial) {
      n -= trial;
      r += bit;
    }
  }
  return r;
}

float sqrtf(float x) {
  uint32_t bits = bits_of(x);
  if ((bits & 0x7fffffff) == 0 || bits == 0x7f800000) return x;
  if (bits > 0x7f800000) return of_bits(0x7fc00000); /* negative, or no number */
  int e = (int)(bits >> 23);
  uint64_t m = bits & 0x7fffff;
  if (e == 0) {
    int shift = __builtin_clz((uint32_t)m) - 8;
    m <<= shift;
    e = 1 - shift;
  } else {
    m |= 0x800000;
  }
  e -= 127;
  if (e & 1) {
    m <<= 1;
    e--;
  }
  /* m is in [2^23, 2^25); the root of m·2^25 has 25 bits: 24 of the result and one to round with. It is never exactly
   * halfway: its last bit would be set, so its square odd, and m·2^25 is even. */
  uint64_t r = root(m << 25);
  r = (r + 1) >> 1;
  return of_bits((uint32_t)((e / 2 + 126) << 23) + (uint32_t)r);
}

double sqrt(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  if (bits << 1 == 0 || bits == 0x7ffull << 52) return x;
  if (bits > 0x7ffull << 52) return of_bits64(0x7ff8ull << 48);
  int e = (int)(bits >> 52);
  uint64_t m = bits & ((1ull << 52) - 1);
  if (e == 0) {
    int shift = __builtin_clzll(m) - 11;
    m <<= shift;
    e = 1 - shift;
  } else {
    m |= 1ull << 52;
  }
  e -= 1023;
  if (e & 1) {
    m <<= 1;
    e--;
  }
  /* As above, but the 108 bits of m·2^54 do not fit: they are brought down two by two. */
  uint64_t r = 0, rest = 0;
  for (int i = 0; i < 54; i++) {
    rest = rest << 2 | (m >> 52 & 3);
    m <<= 2;
    uint64_t trial = r << 2 | 1;
    r <<= 1;
    if (rest >= trial) {
      rest -= trial;
      r |= 1;
    }
  }
  r = (r + 1) >> 1;
  return of_bits64(((uint64_t)(e / 2 + 1022) << 52) + r);
}

static double floor_of(double x) {
  if (!(x > -4e15 && x < 4e15)) return x;
  double whole = (double)(int64_t)x;
  return whole > x ? whole - 1 : whole;
}

float floorf(float x) { return (float)floor_of(x); }
float ceilf(float x) { return (float)-floor_of(-(double)x); }
float truncf(float x) { return x < 0 ? ceilf(x) : floorf(x); }
float roundf(float x) { return x < 0 ? (float)-floor_of(0.5 - (double)x) : (float)floor_of((double)x + 0.5); }
float fabsf(float x) { return of_bits(bits_of(x) & 0x7fffffff); }

float fminf(float a, float b) {
  if (a != a) return b;
  return b < a ? b : a;
}

float fmaxf(float a, float b) {
  if (a != a) return b;
  return b > a ? b : a;
}

/* Half to even: adding and taking away 2^23 rounds in the processor's own mode, which is that one. */
float rintf(float x) {
  const volatile float big = 8388608.0f;
  if (!(fabsf(x) < 8388608.0f)) return x;
  volatile float y = x < 0 ? x - big : x + big;
  return x < 0 ? y + big : y - big;
}

static double exp_of(double x) {
  if (x != x) return x;
  if (x > 709) return of_bits64(0x7ffull << 52);
  if (x < -708) return 0;
  const double log2_e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  double n = floor_of(x * log2_e + 0.5);
  double r = x - n * ln2_high - n * ln2_low;
  /* Taylor to r^13 / 13!; |r| <= 0.35, so the first term left out is below 2^-57. */
  static const double inverse_factorial[] = {1,
                                             1,
                                             0x1.0000000000000p-1,
                                             0x1.5555555555555p-3,
                                             0x1.5555555555555p-5,
                                             0x1.1111111111111p-7,
                                             0x1.6c16c16c16c17p-10,
                                             0x1.a01a01a01a01ap-13,
                                             0x1.a01a01a01a01ap-16,
                                             0x1.71de3a556c734p-19,
                                             0x1.27e4fb7789f5cp-22,
                                             0x1.ae64567f544e4p-26,
                                             0x1.1eed8eff8d898p-29,
                                             0x1.6124613a86d09p-33};
  double p = 0;
  for (int i = 13; i >= 0; i--) p = p * r + inverse_factorial[i];
  return p * of_bits64((uint64_t)((int64_t)n + 1023) << 52);
}

static double log_of(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  if (x != x || x < 0) return of_bits64(0x7ff8ull << 48);
  if (x == 0) return of_bits64(0xfffull << 52);
  if (bits >> 52 == 0x7ff) return x;
  int e = (int)(bits >> 52) - 1023; /* every float is a normal double */
  double m = of_bits64((bits & ((1ull << 52) - 1)) | 1023ull << 52);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    e++;
  }
  double s = (m - 1) / (m + 1), z = s * s, sum = 0;
  for (int i = 23; i >= 1; i -= 2) sum = sum * z + 1.0 / i; /* ln m = 2·(s + s³/3 + …), |s| < 0.172 */
  return e * 0x1.62e42fefa39efp-1 + 2 * s * sum;
}

float expf(float x) { return (float)exp_of(x); }
float logf(float x) { return (float)log_of(x); }

float powf(float x, float y) {
  if (y == 0 || x == 1) return 1;
  if (x > 0) return (float)exp_of(y * log_of(x));
  float whole = floorf(y);
  if (x == 0) return y < 0 ? of_bits(0x7f800000) : 0;
  if (whole != y) return of_bits(0x7fc00000);
  float magnitude = (float)exp_of(y * log_of(-(double)x));
  return floorf(y / 2) * 2 == y ? magnitude : -magnitude;
}

float tanhf(float x) {
  if (x > 20) return 1;
  if (x < -20) return -1;
  double e = exp_of(2 * (double)x);
  if (fabsf(x) < 0.01f) return (float)(x - (double)x * x * x / 3 + 2 * (double)x * x * x * x * x / 15);
  return (float)((e - 1) / (e + 1));
}

/* Sine by quadrant; the reduction is good for |x| < 2^20, which positions in a sequence stay far below. */
static double sine(double x, int quadrant) {
  if (!(x > -1048576 && x < 1048576)) return of_bits64(0x7ff8ull << 48);
  double n = floor_of(x * 0x1.45f306dc9c883p-1 + 0.5);
  double r = x - n * 0x1.921fb54400000p0 - n * 0x1.0b4611a626331p-34;
  quadrant = (int)((int64_t)n + quadrant) & 3;
  double z = r * r, term = quadrant & 1 ? 1 : r, sum = term;
  for (int i = quadrant & 1 ? 1 : 2; i < 18; i += 2) {
    term *= -z / (i * (i + 1));
    sum += term;
  }
  return quadrant & 2 ? -sum : sum;
}

float sinf(float x) { return (float)sine(x, 0); }
float cosf(float x) { return (float)sine(x, 1); }
