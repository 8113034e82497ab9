// The one op of LLaMAPackage that the toy model's graphs send to the DSP, as plainly as it can be written.
#include <stdint.h>

struct open_tensor {
  uint32_t dtype, dims[4];
  float scale;
  int32_t zero_point;
  uint32_t bytes;
  void *data;
};

extern "C" float sqrtf(float);

static float bits(uint32_t b) {
  float f;
  __builtin_memcpy(&f, &b, sizeof f);
  return f;
}

static int32_t rounded(float u) {
  const float rounder = 12582912.0f;
  u = u > -131072.0f ? u : -131072.0f;
  u = u < 131072.0f ? u : 131072.0f;
  return static_cast<int32_t>((u + rounder) - rounder);
}

#define API extern "C" __attribute__((visibility("default")))

API int open_op_execute(const char *op, open_tensor *out, uint32_t n_out, const open_tensor *in, uint32_t n_in) {
  if (op[0] != 'R') return 1;
  if (n_out != 1 || n_in != 2) return 2;
  if (in[1].dims[3] != in[0].dims[3] || out[0].bytes < in[0].bytes) return 3;
  uint32_t d = in[0].dims[3], rows = in[0].bytes / 2 / d;
  auto x = static_cast<const uint16_t *>(in[0].data), w = static_cast<const uint16_t *>(in[1].data);
  auto y = static_cast<uint16_t *>(out[0].data);
  float inverse = 1.0f / out[0].scale;
  for (uint32_t r = 0; r < rows; r++, x += d, y += d) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d; i++) {
      int64_t a = x[i] - in[0].zero_point;
      sum += static_cast<uint64_t>(a * a);
    }
    float mean = static_cast<float>(sum) / static_cast<float>(d);
    float k = in[0].scale * (1.0f / sqrtf(mean * (in[0].scale * in[0].scale) + bits(0x358637BD)));
    for (uint32_t i = 0; i < d; i++) {
      float a = static_cast<float>(x[i] - in[0].zero_point), b = static_cast<float>(w[i] - in[1].zero_point);
      int32_t q = rounded(((a * k) * (b * in[1].scale)) * inverse) + out[0].zero_point;
      y[i] = static_cast<uint16_t>(q < 0 ? 0 : q > 65535 ? 65535 : q);
    }
  }
  return 0;
}

API const char *open_op_name(uint32_t i) { return i == 0 ? "RMSNorm" : nullptr; }

API const char *open_sdk_build_id() { return "v2.41.0.251128000000_0"; }
