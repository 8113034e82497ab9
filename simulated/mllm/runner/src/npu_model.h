// The arithmetic of docs/design/0025: int8 layers for a prompt, whose norms the DSP does; float layers for what follows.
#pragma once

#include "fastrpc.h"
#include "npu_file.h"

namespace npu {

struct Shape {
  u32 hidden, heads, ffn;

  void check() const;  // ends the program where no model has it
};

// A layer with weights of either kind.
struct Linear {
  u32 in = 0, out = 0;
  const f32 *bias = nullptr;
  const f32 *weights = nullptr;  // [out][in]

  const i8 *int8s = nullptr;  // [in][out], in the place of weights
  f32 scale = 0, scale_in = 0, scale_out = 0;
  bool clip_in = false, clip_out = false;

  void apply(const f32 *x, f32 *y) const;
  void apply8(const i32 *x, f32 scale_of_x, f32 *y) const;
};

struct Layer {
  const f32 *in_norm = nullptr, *post_norm = nullptr;
  Linear q, k, v, o, gate, up, down;
  f32 *keys = nullptr, *values = nullptr;  // a row for each position
};

// Sines and cosines by which heads turn: half a head's for each position.
struct Turns {
  f32 *sin, *cos;
  Turns(u32 head_dim, u32 positions);
};

class Model {
 public:
  // All of a file: with int8 layers, or with float ones, of a shape that was checked. There is room for so many positions.
  Model(const NpuFile &file, Shape shape, bool int8s, const Turns &turns, u32 positions);

  u32 vocab() const { return vocab_; }
  u32 layers() const { return n_layers_; }

  // Runs a group of n tokens, the first of which is at a position. What comes out of the last layer is rows of hidden values, valid until the next call.
  const f32 *prefill(const u32 *ids, u32 n, u32 position, DspLibrary *dsp);
  // Goes on from what another model has put into its caches, and gives the token after id.
  u32 step(u32 id, u32 position);
  void go_on_from(const Model &other, u32 positions);

  // The token that follows from a row of what came out of the last layer: the one with the most, the first of several.
  u32 next(const f32 *row) const;

 private:
  Linear linear(const NpuFile &file, Str name, u32 in, u32 out, bool biased) const;
  Layer layer(const NpuFile &file, u32 n) const;
  void embed(u32 id, f32 *row) const;
  void norm8(const f32 *rows, u32 n, const f32 *weight, const Linear &behind, DspLibrary *dsp, i32 *out) const;
  void turn(f32 *x, u32 size, u32 position) const;
  void attend(const Layer &layer, const f32 *q, u32 position, f32 *out) const;

  Shape shape_;
  u32 vocab_ = 0, n_layers_ = 0, kv_ = 0, head_dim_ = 0, positions_ = 0;
  bool int8s_;
  Turns turns_;
  const f32 *embedding_ = nullptr, *norm_ = nullptr;
  Linear head_;
  Layer *layers_ = nullptr;
};

}  // namespace npu
