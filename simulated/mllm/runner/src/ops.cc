#include "ops.h"

#include "arithmetic.h"

using namespace arithmetic;

namespace ops {
namespace {

constexpr u32 EPSILON = 0x358637BD;    // 1e-6
constexpr u32 PROBABILITY = 0x37800080;  // 1/65535, the scale of what softmax gives

f32 inverse_scale(const Tensor &t) { return 1.0f / t.scale; }

i32 centred(const Tensor &t, u64 i) { return t.q16()[i] - t.zero_point; }

}  // namespace

void embedding(const Run &run, const Op &op) {
  const Tensor &ids = *op.in[0], &table = *op.in[1];
  Tensor &out = *op.out[0];
  u32 d = table.depth();
  for (u32 r = 0; r < run.n; r++) {
    i32 id = ids.ints()[r];
    if (id < 0 || static_cast<u64>(id) >= table.rows()) FAIL("token ", id, " is not in the model's vocabulary; is the tokenizer the model's own?");
    memcpy(out.q16() + u64(r) * d, table.q16() + static_cast<u64>(id) * d, d * sizeof(u16));
  }
}

void rms_norm(const Run &, const Op &op) {
  const Tensor &x = *op.in[0], &w = *op.in[1];
  Tensor &out = *op.out[0];
  u32 d = w.depth();
  u64 rows = x.size / 2 / d;
  f32 inverse = inverse_scale(out);
  for (u64 r = 0; r < rows; r++) {
    u64 sum = 0;
    for (u32 i = 0; i < d; i++) {
      i64 a = centred(x, r * d + i);
      sum += static_cast<u64>(a * a);
    }
    f32 mean = static_cast<f32>(sum) / static_cast<f32>(d);
    f32 v = (mean * (x.scale * x.scale)) + from_bits(EPSILON);
    f32 k = x.scale * (1.0f / __builtin_sqrtf(v));
    for (u32 i = 0; i < d; i++) {
      f32 a = static_cast<f32>(centred(x, r * d + i)), b = static_cast<f32>(centred(w, i));
      out.q16()[r * d + i] = quantise16((a * k) * (b * w.scale), inverse, out.zero_point);
    }
  }
}

void linear(const Run &run, const Op &op) {
  const Tensor &x = *op.in[0], &weight = *op.in[1], &scale1 = *op.in[2], &scale2 = *op.in[3];
  Tensor &out = *op.out[0];
  u32 n_in = weight.dims[2], n_out = weight.dims[3], block = run.context->block, blocks = n_in / block;
  static i32 partial[65536];
  static i64 sum[65536];
  const f32 *bias = op.n_in > 4 ? op.in[4]->floats() : nullptr;
  f32 inverse = inverse_scale(out);
  for (u32 r = 0; r < run.n; r++) {
    for (u32 o = 0; o < n_out; o++) sum[o] = 0;
    for (u32 b = 0; b < blocks; b++) {
      for (u32 o = 0; o < n_out; o++) partial[o] = 0;
      for (u32 i = b * block; i < (b + 1) * block; i++) {
        i32 a = centred(x, u64(r) * n_in + i);
        const u8 *row = weight.data + u64(i) * (n_out / 2);
        for (u32 o = 0; o < n_out / 2; o++) {
          i32 low = static_cast<i32>(row[o] & 15), high = static_cast<i32>(row[o] >> 4);
          partial[2 * o] += a * ((low ^ 8) - 8);
          partial[2 * o + 1] += a * ((high ^ 8) - 8);
        }
      }
      for (u32 o = 0; o < n_out; o++) sum[o] += i64(partial[o]) * scale1.data[u64(o) * blocks + b];
    }
    for (u32 o = 0; o < n_out; o++) {
      f32 y = static_cast<f32>(sum[o]) * (x.scale * scale2.floats()[o]);
      out.q16()[u64(r) * n_out + o] = quantise16(bias ? y + bias[o] : y, inverse, out.zero_point);
    }
  }
}

void rope(const Run &run, const Op &op) {
  const Tensor &x = *op.in[0], &cosines = *op.in[1], &sines = *op.in[2];
  Tensor &out = *op.out[0];
  u32 heads = x.dims[2], d = x.dims[3], half = d / 2;
  f32 inverse = inverse_scale(out), scale = x.scale * cosines.scale;
  for (u32 r = 0; r < run.n && run.past + r < run.context->length; r++) {
    u64 table = u64(run.past + r) * d;
    for (u32 h = 0; h < heads; h++) {
      u64 start = (u64(r) * heads + h) * d;
      for (u32 i = 0; i < half; i++) {
        i64 c = centred(cosines, table + i), s = centred(sines, table + i);
        i64 a = centred(x, start + i), b = centred(x, start + half + i);
        out.q16()[start + i] = quantise16(static_cast<f32>(a * c - b * s) * scale, inverse, out.zero_point);
        out.q16()[start + half + i] = quantise16(static_cast<f32>(b * c + a * s) * scale, inverse, out.zero_point);
      }
    }
  }
}

void kv_write(const Run &run, const Op &op) {
  const Tensor &x = *op.in[0];
  Tensor &cache = *op.out[0];
  u32 row = x.dims[2] * x.dims[3];
  f32 inverse = inverse_scale(cache);
  for (u32 r = 0; r < run.n && run.past + r < run.context->length; r++) {
    for (u32 i = 0; i < row; i++)
      cache.data[u64(run.past + r) * row + i] = quantise8(static_cast<f32>(centred(x, u64(r) * row + i)) * x.scale, inverse);
  }
}

namespace {

// What one head of one token pays attention to.
struct Head {
  const Tensor &q, &keys, &values, &scores;
  Tensor &out;
  u32 d, kv_heads;

  void attend(u64 query, u32 position, u32 kv_head) {
    static u16 score[4096];
    static u32 weight[4096];
    f32 root = 1.0f / __builtin_sqrtf(static_cast<f32>(d));
    f32 scale = (q.scale * keys.scale) * root, inverse_score = inverse_scale(scores);
    u16 most = 0;
    for (u32 j = 0; j <= position; j++) {
      i64 sum = 0;
      const u8 *key = keys.data + (u64(j) * kv_heads + kv_head) * d;
      for (u32 i = 0; i < d; i++) sum += i64(centred(q, query + i)) * (key[i] - 128);
      score[j] = quantise16(static_cast<f32>(sum) * scale, inverse_score, scores.zero_point);
      most = score[j] > most ? score[j] : most;
    }
    u64 total = 0;
    for (u32 j = 0; j <= position; j++) {
      f32 e = exponential(static_cast<f32>(score[j] - most) * scores.scale);
      weight[j] = static_cast<u32>(((e * 1048576.0f) + ROUNDER) - ROUNDER);
      total += weight[j];
    }
    f32 gain = 65535.0f / static_cast<f32>(total);
    for (u32 j = 0; j <= position; j++) weight[j] = static_cast<u32>(clamp(round_even(static_cast<f32>(weight[j]) * gain), 65535));
    f32 inverse = inverse_scale(out);
    for (u32 i = 0; i < d; i++) {
      i64 sum = 0;
      for (u32 j = 0; j <= position; j++) sum += i64(weight[j]) * (values.data[(u64(j) * kv_heads + kv_head) * d + i] - 128);
      out.q16()[query + i] = quantise16(static_cast<f32>(sum) * (values.scale * from_bits(PROBABILITY)), inverse, out.zero_point);
    }
  }
};

}  // namespace

void attention(const Run &run, const Op &op) {
  const Tensor &q = *op.in[0];
  u32 heads = q.dims[2], d = q.dims[3], kv_heads = op.in[1]->dims[2];
  Head head{q, *op.in[1], *op.in[2], *op.out[1], *op.out[0], d, kv_heads};
  for (u32 r = 0; r < run.n && run.past + r < run.context->length; r++) {
    for (u32 h = 0; h < heads; h++) head.attend((u64(r) * heads + h) * d, run.past + r, h / (heads / kv_heads));
  }
}

void add(const Run &, const Op &op) {
  const Tensor &a = *op.in[0], &b = *op.in[1];
  Tensor &out = *op.out[0];
  f32 inverse = inverse_scale(out);
  for (u64 i = 0; i < out.size / 2; i++) {
    f32 x = static_cast<f32>(centred(a, i)) * a.scale, y = static_cast<f32>(centred(b, i)) * b.scale;
    out.q16()[i] = quantise16(x + y, inverse, out.zero_point);
  }
}

void silu(const Run &, const Op &op) {
  const Tensor &gate = *op.in[0];
  Tensor &out = *op.out[0];
  f32 inverse = inverse_scale(out);
  for (u64 i = 0; i < out.size / 2; i++) {
    f32 x = static_cast<f32>(centred(gate, i)) * gate.scale;
    f32 e = exponential(x >= 0 ? -x : x), n = 1.0f + e;
    f32 g = x >= 0 ? 1.0f / n : e / n;
    out.q16()[i] = quantise16(x * g, inverse, out.zero_point);
  }
}

void mul(const Run &, const Op &op) {
  const Tensor &a = *op.in[0], &b = *op.in[1];
  Tensor &out = *op.out[0];
  f32 inverse = inverse_scale(out), scale = a.scale * b.scale;
  for (u64 i = 0; i < out.size / 2; i++) {
    i64 product = i64(centred(a, i)) * centred(b, i);
    out.q16()[i] = quantise16(static_cast<f32>(product) * scale, inverse, out.zero_point);
  }
}

}  // namespace ops
