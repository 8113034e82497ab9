#include "npu_model.h"

#include "arithmetic.h"

using namespace arithmetic;

namespace npu {
namespace {

constexpr u32 EPSILON = 0x358637BD;  // 1e-6
constexpr i32 ZERO = 32768;          // of values of 16 bits
constexpr u32 MAX_LAYERS = 256;

f32 absolute(f32 v) { return v < 0 ? -v : v; }
f32 larger(f32 a, f32 b) { return a > b ? a : b; }

// A value in steps of 1/inverse; one that is clipped has 8 bits.
i32 steps(f32 x, f32 inverse, bool clip) {
  i32 q = round_even(x * inverse);
  return !clip ? q : q < -128 ? -128 : q > 127 ? 127 : q;
}

void quantise(const f32 *x, u64 n, f32 scale, bool clip, i32 *out) {
  f32 inverse = 1.0f / scale;
  for (u64 i = 0; i < n; i++) out[i] = steps(x[i], inverse, clip);
}

// Values in steps of 1/32767 of the largest one, as a tensor of rows.
Tensor sixteen(const f32 *x, u64 n, u32 depth) {
  f32 top = 0;
  for (u64 i = 0; i < n; i++) top = larger(top, absolute(x[i]));
  if (top == 0) top = 1;
  Tensor t;
  t.dtype = DTYPE_QUINT16;
  t.scale = top / 32767.0f;
  t.zero_point = ZERO;
  t.size = n * sizeof(u16);
  t.dims[0] = t.dims[1] = 1;
  t.dims[2] = static_cast<u32>(n / depth);
  t.dims[3] = depth;
  t.data = take<u8>(t.size);
  f32 inverse = 1.0f / t.scale;
  for (u64 i = 0; i < n; i++) t.q16()[i] = quantise16(x[i], inverse, ZERO);
  return t;
}

// silu(gate)·up, in the place of gate.
void gate_by(f32 *gate, const f32 *up, u32 n) {
  for (u32 i = 0; i < n; i++) {
    f32 x = gate[i], e = exponential(-absolute(x)), d = 1.0f + e;
    f32 g = x >= 0 ? 1.0f / d : e / d;
    gate[i] = (x * g) * up[i];
  }
}

void add(f32 *to, const f32 *x, u32 n) {
  for (u32 i = 0; i < n; i++) to[i] = to[i] + x[i];
}

void norm(const f32 *x, const f32 *weight, u32 n, f32 *out) {
  f32 sum = 0;
  for (u32 i = 0; i < n; i++) sum = sum + x[i] * x[i];
  f32 r = 1.0f / __builtin_sqrtf(sum / static_cast<f32>(n) + from_bits(EPSILON));
  for (u32 i = 0; i < n; i++) out[i] = (x[i] * r) * weight[i];
}

constexpr double PI = 3.14159265358979323846;
constexpr double THETA = 1000000;  // whatever a model's config says: upstream's programs have it in their code

// The n-th root of v >= 1, by halving.
double root(double v, u32 n) {
  double lo = 1, hi = v;
  for (int i = 0; i < 200; i++) {
    double mid = (lo + hi) / 2, power = 1;
    for (u32 k = 0; k < n; k++) power = power * mid;
    if (power <= v) lo = mid;
    else hi = mid;
  }
  return lo;
}

double round_away(double x) {  // halves away from zero
  double whole = static_cast<double>(static_cast<i64>(x));
  double rest = x - whole;
  return rest >= 0.5 ? whole + 1 : rest <= -0.5 ? whole - 1 : whole;
}

void sine_and_cosine(double x, double *sin, double *cos) {
  double r = x - round_away(x / (2 * PI)) * (2 * PI), term = 1;
  *sin = *cos = 0;
  for (int k = 1; k < 34; k++) {
    switch (k % 4) {
      case 1: *cos = *cos + term; break;
      case 2: *sin = *sin + term; break;
      case 3: *cos = *cos - term; break;
      default: *sin = *sin - term;
    }
    term = (term * r) / k;
  }
}

}  // namespace

void Shape::check() const {
  constexpr u32 most = 65536;  // what is kept of a token at a time
  if (hidden == 0 || heads == 0 || ffn == 0 || hidden > most || ffn > most || hidden % (2 * heads) != 0)
    FAIL("-d ", hidden, " with -h ", heads, " and -f ", ffn, " is no model");
}

Turns::Turns(u32 head_dim, u32 positions) : sin(take<f32>(u64(head_dim) / 2 * positions)), cos(take<f32>(u64(head_dim) / 2 * positions)) {
  u32 half = head_dim / 2;
  double base = root(THETA, half);
  auto frequencies = take<double>(half);
  double f = 1;
  for (u32 i = 0; i < half; i++, f = f / base) frequencies[i] = f;
  for (u32 p = 0; p < positions; p++) {
    for (u32 i = 0; i < half; i++) {
      double s, c;
      sine_and_cosine(static_cast<double>(p) * frequencies[i], &s, &c);
      sin[u64(p) * half + i] = static_cast<f32>(s);
      cos[u64(p) * half + i] = static_cast<f32>(c);
    }
  }
}

void Linear::apply(const f32 *x, f32 *y) const {
  for (u32 o = 0; o < out; o++) {
    f32 sum = 0;
    const f32 *row = weights + u64(o) * in;
    for (u32 i = 0; i < in; i++) sum = sum + x[i] * row[i];
    y[o] = bias ? sum + bias[o] : sum;
  }
}

void Linear::apply8(const i32 *x, f32 scale_of_x, f32 *y) const {
  static i64 sums[65536];
  for (u32 o = 0; o < out; o++) sums[o] = 0;
  for (u32 i = 0; i < in; i++) {
    const i8 *row = int8s + u64(i) * out;
    for (u32 o = 0; o < out; o++) sums[o] += i64(x[i]) * row[o];
  }
  f32 step = scale_of_x * scale, inverse = 1.0f / scale_out;
  for (u32 o = 0; o < out; o++) {
    f32 v = static_cast<f32>(sums[o]) * step;
    if (bias) v = v + bias[o];
    y[o] = static_cast<f32>(steps(v, inverse, clip_out)) * scale_out;
  }
}

Model::Model(const NpuFile &file, Shape shape, bool int8s, const Turns &turns, u32 positions) : shape_(shape), positions_(positions), int8s_(int8s), turns_(turns) {
  head_dim_ = shape.hidden / shape.heads;
  vocab_ = static_cast<u32>(file.elements("model.embed_tokens.weight") / shape.hidden);
  embedding_ = file.floats("model.embed_tokens.weight", u64(vocab_) * shape.hidden);
  norm_ = file.floats("model.norm.weight", shape.hidden);
  head_.in = shape.hidden;
  head_.out = vocab_;
  head_.weights = file.has("lm_head.weight") ? file.floats("lm_head.weight", u64(vocab_) * shape.hidden) : embedding_;  // tied
  kv_ = static_cast<u32>(file.elements("model.layers.0.self_attn.k_proj.bias"));
  if (kv_ == 0 || kv_ % head_dim_ != 0 || shape.heads % (kv_ / head_dim_) != 0)
    FAIL("keys of ", kv_, " values for ", shape.heads, " heads of ", head_dim_, ": are -d and -h those of the model?");
  layers_ = take<Layer>(MAX_LAYERS);
  for (; n_layers_ < MAX_LAYERS; n_layers_++) {
    Text name;
    name << "model.layers." << n_layers_ << ".input_layernorm.weight";
    if (!file.has(name.str())) break;
    layers_[n_layers_] = layer(file, n_layers_);
  }
}

Linear Model::linear(const NpuFile &file, Str name, u32 in, u32 out, bool biased) const {
  auto of = [&](const char *end) {
    Text text;
    text << name << end;
    return text.str();
  };
  Linear l;
  l.in = in;
  l.out = out;
  if (biased) l.bias = file.floats(of(".bias"), out);
  if (!int8s_) {
    l.weights = file.floats(of(".weight"), u64(in) * out);
    return l;
  }
  l.int8s = file.bytes(of(".weight"), u64(in) * out);
  l.scale = file.number(of(".weight.scale"));
  l.scale_in = file.number(of(".input_scale")) / 127.0f;
  l.scale_out = file.number(of(".output_scale")) / 127.0f;
  l.clip_in = *file.bytes(of(".clip_input"), 1) != 0;
  l.clip_out = *file.bytes(of(".clip_output"), 1) != 0;
  return l;
}

Layer Model::layer(const NpuFile &file, u32 n) const {
  auto of = [&](const char *end) {
    Text text;
    text << "model.layers." << n << "." << end;
    return text.str();
  };
  u32 d = shape_.hidden;
  Layer l;
  l.in_norm = file.floats(of("input_layernorm.weight"), d);
  l.post_norm = file.floats(of("post_attention_layernorm.weight"), d);
  l.q = linear(file, of("self_attn.q_proj"), d, d, true);
  l.k = linear(file, of("self_attn.k_proj"), d, kv_, true);
  l.v = linear(file, of("self_attn.v_proj"), d, kv_, true);
  l.o = linear(file, of("self_attn.o_proj"), d, d, false);
  l.gate = linear(file, of("mlp.gate_proj"), d, shape_.ffn, false);
  l.up = linear(file, of("mlp.up_proj"), d, shape_.ffn, false);
  l.down = linear(file, of("mlp.down_proj"), shape_.ffn, d, false);
  l.keys = take<f32>(u64(kv_) * positions_);
  l.values = take<f32>(u64(kv_) * positions_);
  return l;
}

// The embedding of a token; of a number that is none, which is what a prompt is filled up with, zeros.
void Model::embed(u32 id, f32 *row) const {
  if (id < vocab_) memcpy(row, embedding_ + u64(id) * shape_.hidden, shape_.hidden * sizeof *row);
  else memset(row, 0, shape_.hidden * sizeof *row);
}

// Normalises rows with the op package on the DSP: 16 bits go in and come out, which are as wide as what the layer behind was seen to get.
void Model::norm8(const f32 *rows, u32 n, const f32 *weight, const Linear &behind, DspLibrary *dsp, i32 *out) const {
  u32 d = shape_.hidden;
  u64 count = u64(n) * d;
  Tensor x = sixteen(rows, count, d), w = sixteen(weight, d, d), y = x;
  f32 largest = behind.scale_in * 127.0f;
  y.scale = largest / 32767.0f;
  y.data = take<u8>(y.size);
  const Tensor *in[] = {&x, &w};
  dsp->execute("RMSNorm", y, in, 2, d);
  f32 inverse = 1.0f / behind.scale_in;
  for (u64 i = 0; i < count; i++) out[i] = steps(static_cast<f32>(y.q16()[i] - ZERO) * y.scale, inverse, behind.clip_in);
}

void Model::turn(f32 *x, u32 size, u32 position) const {
  u32 half = head_dim_ / 2;
  const f32 *sin = turns_.sin + u64(position) * half, *cos = turns_.cos + u64(position) * half;
  for (u32 h = 0; h < size; h += head_dim_) {
    for (u32 i = 0; i < half; i++) {
      f32 a = x[h + i], b = x[h + i + half];
      x[h + i] = a * cos[i] - b * sin[i];
      x[h + i + half] = b * cos[i] + a * sin[i];
    }
  }
}

void Model::attend(const Layer &l, const f32 *q, u32 position, f32 *out) const {
  static f32 scores[16384];
  f32 scale = 1.0f / __builtin_sqrtf(static_cast<f32>(head_dim_));
  u32 group = shape_.heads / (kv_ / head_dim_);
  for (u32 h = 0; h < shape_.heads; h++) {
    const f32 *query = q + u64(h) * head_dim_;
    u32 kv = h / group * head_dim_;
    f32 top = 0;
    for (u32 j = 0; j <= position; j++) {
      const f32 *key = l.keys + u64(j) * kv_ + kv;
      f32 sum = 0;
      for (u32 i = 0; i < head_dim_; i++) sum = sum + query[i] * key[i];
      scores[j] = sum * scale;
      top = j == 0 ? scores[0] : larger(top, scores[j]);
    }
    f32 total = 0;
    for (u32 j = 0; j <= position; j++) {
      scores[j] = exponential(scores[j] - top);
      total = total + scores[j];
    }
    f32 *to = out + u64(h) * head_dim_;
    for (u32 i = 0; i < head_dim_; i++) to[i] = 0;
    for (u32 j = 0; j <= position; j++) {
      const f32 *value = l.values + u64(j) * kv_ + kv;
      f32 weight = scores[j] / total;
      for (u32 i = 0; i < head_dim_; i++) to[i] = to[i] + weight * value[i];
    }
  }
}

const f32 *Model::prefill(const u32 *ids, u32 n, u32 position, DspLibrary *dsp) {
  u32 d = shape_.hidden, wide = shape_.ffn > d ? shape_.ffn : d;
  auto rows = take<f32>(u64(n) * d);
  auto normed = take<i32>(u64(n) * d);
  auto eights = take<i32>(wide);
  auto a = take<f32>(wide), b = take<f32>(wide);
  for (u32 r = 0; r < n; r++) embed(ids[r], rows + u64(r) * d);
  for (u32 i = 0; i < n_layers_; i++) {
    const Layer &l = layers_[i];
    norm8(rows, n, l.in_norm, l.q, dsp, normed);
    for (u32 r = 0; r < n; r++) {
      const i32 *x = normed + u64(r) * d;
      f32 *key = l.keys + u64(position + r) * kv_;
      l.k.apply8(x, l.q.scale_in, key);
      l.v.apply8(x, l.q.scale_in, l.values + u64(position + r) * kv_);
      turn(key, kv_, position + r);
      l.q.apply8(x, l.q.scale_in, a);
      turn(a, d, position + r);
      attend(l, a, position + r, b);
      quantise(b, d, l.o.scale_in, l.o.clip_in, eights);
      l.o.apply8(eights, l.o.scale_in, a);
      add(rows + u64(r) * d, a, d);
    }
    norm8(rows, n, l.post_norm, l.up, dsp, normed);
    for (u32 r = 0; r < n; r++) {
      const i32 *x = normed + u64(r) * d;
      l.gate.apply8(x, l.up.scale_in, a);
      l.up.apply8(x, l.up.scale_in, b);
      gate_by(a, b, shape_.ffn);
      quantise(a, shape_.ffn, l.down.scale_in, l.down.clip_in, eights);
      l.down.apply8(eights, l.down.scale_in, b);
      add(rows + u64(r) * d, b, d);
    }
  }
  return rows;
}

void Model::go_on_from(const Model &other, u32 positions) {
  if (other.n_layers_ != n_layers_ || other.kv_ != kv_ || other.vocab_ != vocab_) FAIL("the NPU's model and the CPU's have other layers, or vocabularies: push those of one model");
  for (u32 i = 0; i < n_layers_; i++) {
    memcpy(layers_[i].keys, other.layers_[i].keys, u64(positions) * kv_ * sizeof(f32));
    memcpy(layers_[i].values, other.layers_[i].values, u64(positions) * kv_ * sizeof(f32));
  }
}

u32 Model::step(u32 id, u32 position) {
  static f32 h[65536], x[65536], a[65536], b[65536];
  u32 d = shape_.hidden;
  embed(id, h);
  for (u32 i = 0; i < n_layers_; i++) {
    const Layer &l = layers_[i];
    norm(h, l.in_norm, d, x);
    f32 *key = l.keys + u64(position) * kv_;
    l.k.apply(x, key);
    l.v.apply(x, l.values + u64(position) * kv_);
    turn(key, kv_, position);
    l.q.apply(x, a);
    turn(a, d, position);
    attend(l, a, position, b);
    l.o.apply(b, a);
    add(h, a, d);
    norm(h, l.post_norm, d, x);
    l.gate.apply(x, a);
    l.up.apply(x, b);
    gate_by(a, b, shape_.ffn);
    l.down.apply(a, b);
    add(h, b, d);
  }
  return next(h);
}

u32 Model::next(const f32 *row) const {
  auto normed = take<f32>(shape_.hidden), logits = take<f32>(vocab_);
  norm(row, norm_, shape_.hidden, normed);
  head_.apply(normed, logits);
  u32 best = 0;
  for (u32 i = 1; i < vocab_; i++) {
    if (logits[i] > logits[best]) best = i;
  }
  return best;
}

}  // namespace npu
