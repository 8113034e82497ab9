// hexmage simulated: what op sources use, nothing more. Freestanding: no library stands behind it except where said.
// Those that are only declared are the loader's.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

float sqrtf(float x);
float expf(float x);
float logf(float x);
float powf(float x, float y);
float tanhf(float x);
float sinf(float x);
float cosf(float x);
float rintf(float x);
float fminf(float x, float y);
float fmaxf(float x, float y);
double sqrt(double x);
double exp(double x);

static inline float fabsf(float x) { return __builtin_fabsf(x); }
static inline double fabs(double x) { return __builtin_fabs(x); }

// Beyond 2^52 every double is an integer already (so are infinities; a NaN stays one).
static inline double floor(double x) {
  if (!(x > -4503599627370496.0 && x < 4503599627370496.0)) return x;
  const double whole = (double)(long long)x;
  return whole > x ? whole - 1 : whole;
}
static inline double ceil(double x) { return -floor(-x); }
static inline float floorf(float x) {
  if (!(x > -8388608.0f && x < 8388608.0f)) return x;
  const float whole = (float)(int)x;
  return whole > x ? whole - 1 : whole;
}
static inline float ceilf(float x) { return -floorf(-x); }
// Halves away from zero.
static inline float roundf(float x) {
  if (!(x > -8388608.0f && x < 8388608.0f)) return x;
  const float whole = (float)(int)x;
  const float rest = x - whole;
  return rest >= 0.5f ? whole + 1 : rest <= -0.5f ? whole - 1 : whole;
}
static inline long lroundf(float x) { return (long)roundf(x); }

// The integral of a Taylor series; beyond 4 the result rounds to 1.
static inline float erff(float x) {
  if (x > 4) return 1;
  if (x < -4) return -1;
  double term = x, sum = x;
  for (int n = 1; n < 64; n++) {
    term *= -(double)x * x / n;
    sum += term / (2 * n + 1);
  }
  return (float)(sum * 1.1283791670955126);
}

#ifdef __cplusplus
}
#endif
