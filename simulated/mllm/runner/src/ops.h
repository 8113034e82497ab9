// The ops of docs/design/0002 §3, on tensors that check_ops has found fit.
#pragma once

#include "context.h"

namespace ops {

// What ops know besides their operands.
struct Run {
  const Context *context;
  u32 n;     // tokens in this run
  u32 past;  // position of the first one; a token whose position is the context's length or more is padding and left out
};

void embedding(const Run &run, const Op &op);
void rms_norm(const Run &run, const Op &op);
void linear(const Run &run, const Op &op);
void rope(const Run &run, const Op &op);
void kv_write(const Run &run, const Op &op);
void attention(const Run &run, const Op &op);
void add(const Run &run, const Op &op);
void silu(const Run &run, const Op &op);
void mul(const Run &run, const Op &op);

}  // namespace ops
