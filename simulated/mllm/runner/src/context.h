// What a context binary of the simulated compiler holds: the embedding, the norm layers, and sizes of prefill chunks.
#pragma once

#include "base.h"

// Rows of quantized numbers, an operand of an op.
struct Rows {
  u16 *data;
  u32 rows, depth;
  f32 scale;
  i32 zero_point;
};

// A norm layer. Its weight, and all that goes into norms and comes out of them, are quantized alike.
struct Norm {
  Str name;
  u16 *weight;
  u32 depth;
};

struct Context {
  Str build_id, op_package;
  u32 arch, soc_model, vtcm_mb, vocab, hidden, layers, length, n_norms, n_graphs;
  u32 graphs[4];  // tokens of each graph
  const u16 *embedding;
  Norm *norms;

  bool has_graph(u32 tokens) const;
};

// Reads a context binary, or ends the program with the reason.
Context *read_context(Str bytes, Str file);
