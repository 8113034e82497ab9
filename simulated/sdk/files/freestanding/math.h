// hexmage simulated: what op sources use, nothing more. Freestanding: no library stands behind it except where said.
// sqrtf and expf are the loader's. The rounding functions are small enough to be inline.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

float sqrtf(float x);
float expf(float x);
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

#ifdef __cplusplus
}
#endif
