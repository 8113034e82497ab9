#include "model.h"

Model::Model(const Context *context, DspLibrary *dsp) : context_(context), dsp_(dsp), state_(take<u16>(context->hidden)) {}

void Model::take_in(const u32 *ids, u32 n, u32 real, u32 position, bool mixed) {
  constexpr u32 STEP = 40503;
  u32 hidden = context_->hidden;
  auto in = take<u16>(size_t(n) * hidden), out = take<u16>(size_t(n) * hidden);
  for (u32 r = 0; r < n; r++) {
    for (u32 i = 0; i < hidden; i++)
      in[r * hidden + i] = static_cast<u16>(context_->embedding[ids[r] * hidden + i] + STEP * (position + r) + (mixed ? state_[i] : 0));
  }
  for (u32 k = 0; k < context_->n_norms; k++) {
    const Norm &norm = context_->norms[k];
    u32 rows = n * (hidden / norm.depth);
    Rows to{out, rows, norm.depth, 0x1p-13f, 32768}, from{in, rows, norm.depth, 0x1p-12f, 32768};
    dsp_->execute("RMSNorm", to, from, {norm.weight, 1, norm.depth, 0x1p-14f, 0});
    u16 *done = in;
    in = out, out = done;
  }
  for (u32 r = 0; r < real; r++) {
    for (u32 i = 0; i < hidden; i++) state_[i] = static_cast<u16>(3u * state_[i] + in[r * hidden + i]);
  }
}

[[gnu::noinline]] void Model::prefill(const u32 *ids, u32 n, u32 real, u32 chunk) {
  for (u32 at = 0; at < n; at += chunk) {
    u32 rows = n - at < chunk ? n - at : chunk;
    take_in(ids + at, rows, real < at ? 0 : real - at < rows ? real - at : rows, at, false);
  }
}

void Model::decode(u32 id, u32 position) { take_in(&id, 1, 1, position, true); }

u32 Model::next() const {
  constexpr u32 FIRST = ' ', PRINTABLE = 95;
  u32 hash = 0;
  for (u32 i = 0; i < context_->hidden; i++) hash += state_[i] * (2 * i + 1);
  return FIRST + (hash ^ hash >> 16) % PRINTABLE;
}
