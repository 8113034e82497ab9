/* SHA-256 by the instructions that ARMv8 may have for it. Only to be called when AT_HWCAP says so. */
#include <arm_neon.h>

#include "agent.h"

__attribute__((target("sha2"))) void sha256_compress_armv8(uint32_t state[8], const uint8_t *data, size_t blocks) {
  uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
  for (; blocks; blocks--, data += SHA256_BLOCK) {
    uint32x4_t before_abcd = abcd, before_efgh = efgh, w[4];
    for (int i = 0; i < 4; i++) w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(data + 16 * i)));
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++) { /* four rounds each */
      uint32x4_t sum = vaddq_u32(w[i % 4], vld1q_u32(sha256_constants + 4 * i));
      if (i < 12) w[i % 4] = vsha256su1q_u32(vsha256su0q_u32(w[i % 4], w[(i + 1) % 4]), w[(i + 2) % 4], w[(i + 3) % 4]);
      uint32x4_t old = abcd;
      abcd = vsha256hq_u32(abcd, efgh, sum);
      efgh = vsha256h2q_u32(efgh, old, sum);
    }
    abcd = vaddq_u32(abcd, before_abcd);
    efgh = vaddq_u32(efgh, before_efgh);
  }
  vst1q_u32(state, abcd);
  vst1q_u32(state + 4, efgh);
}
