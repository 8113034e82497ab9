// The context binary of docs/design/0002 §7: graphs of tensors and ops, read in place and checked before use.
#pragma once

#include "base.h"

enum : u32 { DTYPE_QUINT8 = 1, DTYPE_QUINT16 = 2, DTYPE_FLOAT32 = 3, DTYPE_INT32 = 5, DTYPE_UINT8 = 16, DTYPE_INT4PACKED = 32 };
enum : u32 { KIND_STATIC = 0, KIND_INPUT = 1, KIND_OUTPUT = 2, KIND_NATIVE = 3, KIND_STATE = 4 };
enum : u32 { OP_EMBEDDING = 1, OP_RMSNORM, OP_LINEAR, OP_ROPE, OP_KVWRITE, OP_ATTENTION, OP_ADD, OP_SILU, OP_MUL };
enum : u32 { OP_ON_DSP = 1 };

struct Tensor {
  Str name;
  u32 dtype = 0, kind = 0;
  u32 dims[4] = {};
  f32 scale = 1;
  i32 zero_point = 0;
  u64 size = 0;        // bytes
  u8 *data = nullptr;  // nullptr where no memory need exist

  u32 depth() const { return dims[3]; }
  u64 rows() const { return u64(dims[0]) * dims[1] * dims[2]; }
  const u16 *q16() const { return reinterpret_cast<const u16 *>(data); }
  u16 *q16() { return reinterpret_cast<u16 *>(data); }
  const f32 *floats() const { return reinterpret_cast<const f32 *>(data); }
  const i32 *ints() const { return reinterpret_cast<const i32 *>(data); }
};

struct Op {
  static constexpr u32 MAX_INPUTS = 12, MAX_OUTPUTS = 4;
  u32 code = 0, flags = 0, n_in = 0, n_out = 0;
  Str name, type;
  Tensor *in[MAX_INPUTS] = {}, *out[MAX_OUTPUTS] = {};
};

struct Graph {
  Str name;
  u32 n = 0;  // tokens of a run
  u32 n_ops = 0, n_tensors = 0;
  Op *ops = nullptr;
  Tensor *tensors = nullptr;
  Tensor *input_ids = nullptr, *past_length = nullptr, *logits = nullptr;
};

struct Context {
  u32 arch = 0, soc_model = 0, vtcm_mb = 0, block = 0;
  u32 vocab = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0, length = 0;
  Str build_id, options, op_package;
  u32 n_statics = 0, n_graphs = 0;
  Tensor *statics = nullptr;
  Graph *graphs = nullptr;

  Graph *find(Str name) const;
};

// Reads a context binary, or ends the program saying what is wrong with it. The bytes stay in use.
Context *read_context(Str bytes, Str file);

// Whether every op's operands are what the op needs; ends the program otherwise.
void check_ops(const Context *context, const Graph *graph);
