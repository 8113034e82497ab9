// Runs the graphs of a context: prefill in chunks, then one token after the other.
#pragma once

#include "context.h"
#include "fastrpc.h"

class Model {
 public:
  Model(Context *context, Graph *prefill, Graph *decode, DspLibrary *dsp) : context_(context), prefill_(prefill), decode_(decode), dsp_(dsp) {}

  // Fills the KV cache with n > 0 tokens at positions 0..n-1 and returns the token after them.
  u32 prefill(const u32 *ids, u32 n);
  // Adds the token at the position and returns the one after it.
  u32 decode(u32 id, u32 position);

 private:
  void run(Graph *graph, u32 past);
  void run_op(const Graph *graph, const Op &op, u32 past);
  u32 best(const Graph *graph, u32 row) const;

  Context *context_;
  Graph *prefill_, *decode_;
  DspLibrary *dsp_;
};
