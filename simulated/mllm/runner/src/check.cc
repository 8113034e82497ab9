// Proves, before anything runs, that no op will reach beyond its operands' memory.
#include "context.h"

namespace {

struct Shape {
  u32 dtype;
  u64 rows;   // product of the dims but the last
  u32 depth;  // the last dim; 0: any
};

struct Checker {
  const Context *c;
  const Graph *g;
  const Op *op = nullptr;

  [[noreturn]] void wrong(Str what) { FAIL("Could not create context from binary: ", g->name, ": ", op->name, ": ", what); }

  void operand(const Tensor *t, Shape s, Str what) {
    if (!t || t->dtype != s.dtype || t->rows() * t->dims[3] != s.rows * (s.depth ? s.depth : t->dims[3])) wrong(what);
    if (s.depth && t->dims[3] != s.depth) wrong(what);
    if (!t->data) wrong(what);
  }
  void activation(const Tensor *t, u64 elements, Str what) {
    if (!t || t->dtype != DTYPE_QUINT16 || t->rows() * t->dims[3] != elements || t->size != elements * 2 || !t->data) wrong(what);
  }
  void heads(const Tensor *t, u32 n_heads, Str what) {
    activation(t, u64(g->n) * n_heads * c->head_dim, what);
    if (t->dims[2] != n_heads || t->dims[3] != c->head_dim) wrong(what);
  }
  void state(const Tensor *t, Str what) {
    operand(t, {DTYPE_QUINT8, u64(c->length) * c->kv_heads, c->head_dim}, what);
    if (t->kind != KIND_STATE || t->dims[1] != c->length || t->dims[2] != c->kv_heads || t->zero_point != 128) wrong(what);
  }
  void past(const Tensor *t) {
    if (t != g->past_length) wrong("its position is not past_length");
  }
  void counts(u32 n_in, u32 n_out) {
    if (op->n_in != n_in || op->n_out != n_out) wrong("wrong number of operands");
    for (u32 i = 0; i < n_out; i++) {
      for (u32 k = 0; k < n_in; k++) {
        if (op->out[i] == op->in[k]) wrong("an output is an input, too");
      }
    }
  }

  void linear() {
    counts(op->n_in > 4 ? 5 : 4, 1);
    const Tensor *w = op->in[1];
    if (w->dtype != DTYPE_INT4PACKED || w->kind != KIND_STATIC) wrong("its weight is not packed int4");
    u32 n_in = w->dims[2], n_out = w->dims[3];
    if (n_in % c->block || n_out % 2 || n_out > 65536 || w->dims[0] != 1 || w->dims[1] != 1) wrong("its weight has unusable dims");
    operand(op->in[2], {DTYPE_UINT8, n_out, n_in / c->block}, "scale1 does not fit the weight");
    operand(op->in[3], {DTYPE_FLOAT32, 1, n_out}, "scale2 does not fit the weight");
    if (op->n_in > 4) operand(op->in[4], {DTYPE_FLOAT32, 1, n_out}, "its bias does not fit the weight");
    activation(op->in[0], u64(g->n) * n_in, "its input does not fit the weight");
    activation(op->out[0], u64(g->n) * n_out, "its output does not fit the weight");
  }

  void rms_norm() {
    counts(2, 1);
    u32 d = op->in[1]->dims[3];
    operand(op->in[1], {DTYPE_QUINT16, 1, d}, "its weight is not one row");
    u64 elements = op->in[0]->rows() * op->in[0]->dims[3];
    if (elements % d) wrong("its input does not fit the weight");
    activation(op->in[0], elements, "its input is not a dense activation");
    activation(op->out[0], elements, "its output is not like its input");
  }

  void elementwise(u32 n_in) {
    counts(n_in, 1);
    u64 elements = op->out[0]->rows() * op->out[0]->dims[3];
    for (u32 i = 0; i < n_in; i++) activation(op->in[i], elements, "its inputs are not like its output");
    activation(op->out[0], elements, "its output is not a dense activation");
  }

  void one() {
    switch (op->code) {
      case OP_EMBEDDING:
        counts(2, 1);
        if (op->in[0] != g->input_ids) wrong("its ids are not input_ids");
        operand(op->in[1], {DTYPE_QUINT16, c->vocab, c->hidden}, "its table does not fit the model");
        activation(op->out[0], u64(g->n) * c->hidden, "its output does not fit the model");
        return;
      case OP_RMSNORM: return rms_norm();
      case OP_LINEAR: return linear();
      case OP_ROPE:
        counts(4, 1);
        heads(op->in[0], op->in[0]->dims[2], "its input does not fit the model");
        heads(op->out[0], op->in[0]->dims[2], "its output does not fit the model");
        operand(op->in[1], {DTYPE_QUINT16, c->length, c->head_dim}, "the table of cosines does not fit the model");
        operand(op->in[2], {DTYPE_QUINT16, c->length, c->head_dim}, "the table of sines does not fit the model");
        return past(op->in[3]);
      case OP_KVWRITE:
        counts(2, 1);
        heads(op->in[0], c->kv_heads, "its input does not fit the model");
        state(op->out[0], "its cache does not fit the model");
        return past(op->in[1]);
      case OP_ATTENTION:
        counts(4, 2);
        heads(op->in[0], c->heads, "the queries do not fit the model");
        state(op->in[1], "the keys do not fit the model");
        state(op->in[2], "the values do not fit the model");
        past(op->in[3]);
        return activation(op->out[0], u64(g->n) * c->heads * c->head_dim, "its output does not fit the model");
      case OP_ADD:
      case OP_MUL: return elementwise(2);
      case OP_SILU: return elementwise(1);
      default: wrong("an op this runner does not know");
    }
  }
};

}  // namespace

void check_ops(const Context *context, const Graph *graph) {
  Checker checker{context, graph};
  for (u32 i = 0; i < graph->n_ops; i++) {
    checker.op = &graph->ops[i];
    checker.one();
  }
}
