/* SHA-256 (FIPS 180-4), for any processor. */
#include "agent.h"

const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, int by) { return x >> by | x << (32 - by); }

static uint32_t big_endian(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void sha256_compress_portable(uint32_t state[8], const uint8_t *data, size_t blocks) {
  for (; blocks; blocks--, data += SHA256_BLOCK) {
    uint32_t w[16], s[8];
    for (int i = 0; i < 8; i++) s[i] = state[i];
    for (int i = 0; i < 64; i++) {
      uint32_t x;
      if (i < 16) {
        x = big_endian(data + 4 * i);
      } else {
        uint32_t before15 = w[(i + 1) & 15], before2 = w[(i + 14) & 15];
        x = w[i & 15] + w[(i + 9) & 15] + (turn(before15, 7) ^ turn(before15, 18) ^ before15 >> 3) +
            (turn(before2, 17) ^ turn(before2, 19) ^ before2 >> 10);
      }
      w[i & 15] = x;
      uint32_t a = s[0], b = s[1], c = s[2], e = s[4], f = s[5], g = s[6];
      uint32_t t1 = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + sha256_constants[i] + x;
      uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      for (int j = 7; j > 0; j--) s[j] = s[j - 1];
      s[4] += t1;
      s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
  }
}

void sha256_start(struct sha256 *h, bool portable) {
  static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  h->compress = !portable && machine.hwcap & HWCAP_SHA2 ? sha256_compress_armv8 : sha256_compress_portable;
  h->bytes = 0;
  for (int i = 0; i < 8; i++) h->state[i] = first[i];
}

void sha256_add(struct sha256 *h, const void *data, size_t bytes) {
  const uint8_t *at = data;
  size_t have = h->bytes % SHA256_BLOCK;
  h->bytes += bytes;
  if (have) {
    size_t n = SHA256_BLOCK - have < bytes ? SHA256_BLOCK - have : bytes;
    memcpy(h->rest + have, at, n);
    at += n, bytes -= n;
    if (have + n < SHA256_BLOCK) return;
    h->compress(h->state, h->rest, 1);
  }
  size_t blocks = bytes / SHA256_BLOCK;
  if (blocks) h->compress(h->state, at, blocks);
  memcpy(h->rest, at + blocks * SHA256_BLOCK, bytes % SHA256_BLOCK);
}

void sha256_end(struct sha256 *h, uint8_t sum[SHA256_BYTES]) {
  uint64_t bits = h->bytes * 8;
  size_t have = h->bytes % SHA256_BLOCK;
  h->rest[have++] = 0x80;
  if (have > SHA256_BLOCK - 8) {
    memset(h->rest + have, 0, SHA256_BLOCK - have);
    h->compress(h->state, h->rest, 1);
    have = 0;
  }
  memset(h->rest + have, 0, SHA256_BLOCK - 8 - have);
  for (int i = 0; i < 8; i++) h->rest[SHA256_BLOCK - 1 - i] = (uint8_t)(bits >> 8 * i);
  h->compress(h->state, h->rest, 1);
  for (int i = 0; i < SHA256_BYTES; i++) sum[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}
