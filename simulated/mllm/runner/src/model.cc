#include "model.h"

#include "ops.h"

void Model::run_op(const Graph *graph, const Op &op, u32 past) {
  ops::Run run{context_, graph->n, past};
  if (op.flags & OP_ON_DSP) {
    dsp_->execute(op.type, *op.out[0], op.in, op.n_in, op.in[1]->depth());
    return;
  }
  switch (op.code) {
    case OP_EMBEDDING: return ops::embedding(run, op);
    case OP_RMSNORM: return ops::rms_norm(run, op);
    case OP_LINEAR: return ops::linear(run, op);
    case OP_ROPE: return ops::rope(run, op);
    case OP_KVWRITE: return ops::kv_write(run, op);
    case OP_ATTENTION: return ops::attention(run, op);
    case OP_ADD: return ops::add(run, op);
    case OP_SILU: return ops::silu(run, op);
    case OP_MUL: return ops::mul(run, op);
    default: FAIL(op.name, ": an op this runner does not know");
  }
}

void Model::run(Graph *graph, u32 past) {
  memcpy(graph->past_length->data, &past, sizeof past);
  for (u32 i = 0; i < graph->n_ops; i++) run_op(graph, graph->ops[i], past);
}

// The token with the largest logit; the lowest one of several.
u32 Model::best(const Graph *graph, u32 row) const {
  const u16 *logits = graph->logits->q16() + u64(row) * context_->vocab;
  u32 best = 0;
  for (u32 i = 1; i < context_->vocab; i++) {
    if (logits[i] > logits[best]) best = i;
  }
  return best;
}

u32 Model::prefill(const u32 *ids, u32 n) {
  u32 chunk = prefill_->n, row = 0;
  for (u32 past = 0; past < n; past += chunk) {
    auto slots = reinterpret_cast<u32 *>(prefill_->input_ids->data);
    u32 count = n - past < chunk ? n - past : chunk;
    for (u32 r = 0; r < chunk; r++) slots[r] = r < count ? ids[past + r] : 0;
    run(prefill_, past);
    row = count - 1;
  }
  return best(prefill_, row);
}

u32 Model::decode(u32 id, u32 position) {
  memcpy(decode_->input_ids->data, &id, sizeof id);
  run(decode_, position);
  return best(decode_, 0);
}
