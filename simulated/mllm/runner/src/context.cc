#include "context.h"

#include "tokenizer.h"

namespace {

constexpr u32 ARITHMETIC_VERSION = 1, STATIC_BIT = 1u << 31;
constexpr u64 HEADER = 160, TENSOR_RECORD = 64, GRAPH_RECORD = 64, OP_RECORD = 128;

struct Reader {
  Str blob, file;
  u64 strings_off = 0, strings_size = 0, weights_off = 0, weights_size = 0;
  Context *context = nullptr;

  [[noreturn]] void wrong(Str what) { FAIL("Could not create context from binary: ", file, ": ", what); }

  void range(u64 start, u64 size, Str what) {
    if (start > blob.size || size > blob.size - start) wrong(what);
  }
  template <typename T>
  T get(u64 at) {
    T value;
    range(at, sizeof value, "cut short");
    __builtin_memcpy(&value, blob.at + at, sizeof value);
    return value;
  }
  u32 word(u64 at) { return get<u32>(at); }
  u64 wide(u64 at) { return get<u64>(at); }

  // A table of n records: its place checked once, before anything is allocated for it.
  void table(u64 at, u64 n, u64 record, Str what) {
    if (n > blob.size / record) wrong(what);
    range(at, n * record, what);
  }

  Str string(u64 at) {
    u64 start = word(at), size = word(at + 4);
    if (start > strings_size || size > strings_size - start) wrong("a name outside the string table");
    return {blob.at + strings_off + start, size};
  }

  static u64 dense(const Tensor &t) {
    u64 bytes = t.dtype == DTYPE_QUINT16 ? 2 : t.dtype == DTYPE_FLOAT32 || t.dtype == DTYPE_INT32 ? 4 : 1;
    if (t.dtype == DTYPE_INT4PACKED && t.dims[3] % 2) return 0;
    for (u32 dim : t.dims) {
      if (dim == 0 || dim > 1u << 28 || __builtin_mul_overflow(bytes, u64(dim), &bytes) || bytes > u64(1) << 34) return 0;
    }
    return t.dtype == DTYPE_INT4PACKED ? bytes / 2 : bytes;
  }

  void tensor(u64 at, Tensor &t) {
    t.name = string(at);
    t.dtype = word(at + 8);
    t.kind = word(at + 12);
    for (u32 i = 0; i < 4; i++) t.dims[i] = word(at + 16 + 4 * i);
    t.scale = get<f32>(at + 32);
    t.zero_point = get<i32>(at + 36);
    t.size = wide(at + 48);
    bool known = t.dtype == DTYPE_QUINT8 || t.dtype == DTYPE_QUINT16 || t.dtype == DTYPE_FLOAT32 || t.dtype == DTYPE_INT32 || t.dtype == DTYPE_UINT8 ||
                 t.dtype == DTYPE_INT4PACKED;
    if (!known || t.kind > KIND_STATE) wrong("a tensor of an unknown type");
    if (dense(t) == 0 || (t.kind != KIND_NATIVE && t.size != dense(t))) FAIL(file, ": tensor ", t.name, ": its dims and its size do not agree");
    if (t.dtype == DTYPE_QUINT8 || t.dtype == DTYPE_QUINT16) {
      if (!(t.scale > 0) || t.zero_point < 0 || t.zero_point > 65535) FAIL(file, ": tensor ", t.name, ": unusable scale or zero point");
    }
    if (t.kind != KIND_STATIC) return;
    u64 data = wide(at + 40);
    if (data > weights_size || t.size > weights_size - data || data % 128) FAIL(file, ": tensor ", t.name, ": its data lie outside the weights");
    t.data = reinterpret_cast<u8 *>(const_cast<char *>(blob.at + weights_off + data));  // never written: statics are inputs only
  }

  Tensor *operand(const Graph &g, u32 reference, bool output) {
    u32 index = reference & ~STATIC_BIT;
    if (reference & STATIC_BIT) {
      if (output || index >= context->n_statics) wrong("an operand that is not there");
      return &context->statics[index];
    }
    if (index >= g.n_tensors) wrong("an operand that is not there");
    return &g.tensors[index];
  }

  void op(u64 at, const Graph &g, Op &o) {
    o.code = word(at);
    o.flags = word(at + 4);
    o.name = string(at + 8);
    o.type = string(at + 16);
    o.n_in = word(at + 24);
    o.n_out = word(at + 28);
    if (o.n_in > Op::MAX_INPUTS || o.n_out > Op::MAX_OUTPUTS) wrong("an op with too many operands");
    for (u32 i = 0; i < o.n_in; i++) o.in[i] = operand(g, word(at + 32 + 4 * i), false);
    for (u32 i = 0; i < o.n_out; i++) o.out[i] = operand(g, word(at + 80 + 4 * i), true);
  }

  // Gives a tensor memory. State tensors of one name share it, over all graphs: that is the KV cache.
  void place(Tensor &t) {
    if (t.kind == KIND_STATE) {
      for (u32 i = 0; i < context->n_graphs; i++) {
        Graph &other = context->graphs[i];
        for (u32 k = 0; k < other.n_tensors; k++) {
          Tensor &o = other.tensors[k];
          if (o.kind != KIND_STATE || !o.data || !(o.name == t.name)) continue;
          if (o.size != t.size || o.scale != t.scale || o.dtype != t.dtype) FAIL(file, ": state ", t.name, " differs between the graphs");
          t.data = o.data;
          return;
        }
      }
    }
    if (t.size) t.data = take<u8>(t.size);
  }

  void graph(u64 at, Graph &g) {
    g.name = string(at);
    g.n = word(at + 8);
    g.n_tensors = word(at + 12);
    u64 tensors = wide(at + 16), ops = wide(at + 32), io = wide(at + 48);
    u32 n_ops = word(at + 24), n_in = word(at + 40), n_out = word(at + 44);
    if (word(at + 28) != OP_RECORD) wrong("op records of an unknown size");
    if (g.n == 0 || g.n > 4096) wrong("a graph with an unusable number of tokens");
    table(tensors, g.n_tensors, TENSOR_RECORD, "a graph's tensors outside the file");
    table(ops, n_ops, OP_RECORD, "a graph's ops outside the file");
    table(io, u64(n_in) + n_out, 4, "a graph's inputs outside the file");
    g.tensors = take<Tensor>(g.n_tensors);
    for (u32 i = 0; i < g.n_tensors; i++) {
      tensor(tensors + i * TENSOR_RECORD, g.tensors[i]);
      if (g.tensors[i].kind == KIND_STATIC) wrong("a static tensor inside a graph");
    }
    StringMap names(g.n_tensors);
    for (u32 i = 0, first; i < g.n_tensors; i++) {
      if (names.get(g.tensors[i].name, "", &first)) FAIL("Tensor name ", g.tensors[i].name, " already exists in the graph. ", file, ": ", g.name);
      names.put(g.tensors[i].name, "", i);
    }
    for (u32 i = 0; i < g.n_tensors; i++) place(g.tensors[i]);
    g.n_ops = n_ops;
    g.ops = take<Op>(n_ops);
    for (u32 i = 0; i < n_ops; i++) op(ops + i * OP_RECORD, g, g.ops[i]);
    if (n_in < 2 || n_out < 1) wrong("a graph without input_ids, past_length and logits");
    auto io_tensor = [&](u32 i, Str name, u32 dtype, u64 elements, u64 element) {
      Tensor *t = operand(g, word(io + 4 * u64(i)), true);
      if (!(t->name == name) || t->dtype != dtype || t->size != elements * element) FAIL(file, ": ", g.name, ": ", name, " is not as it must be");
      return t;
    };
    g.input_ids = io_tensor(0, "input_ids", DTYPE_INT32, g.n, 4);
    g.past_length = io_tensor(1, "past_length", DTYPE_INT32, 1, 4);
    g.logits = io_tensor(n_in, "logits", DTYPE_QUINT16, u64(g.n) * context->vocab, 2);
  }

  void header() {
    range(0, HEADER, "cut short");
    if (!blob.starts_with("HXMGCTX1")) wrong("not a context of the simulation; a real one runs on a real phone only");
    if (word(8) != ARITHMETIC_VERSION || word(12) != HEADER) wrong("made for another version of the arithmetic; compile it again");
    u32 *fields[] = {&context->arch,  &context->soc_model, &context->vtcm_mb,  &context->block,    &context->vocab,        &context->hidden,
                     &context->layers, &context->heads,     &context->kv_heads, &context->head_dim, &context->intermediate, &context->length};
    const u32 most[] = {99, 1u << 16, 1024, 64, 65536, 4096, 64, 64, 64, 256, 16384, 4096};
    for (u32 i = 0; i < 12; i++) {
      *fields[i] = word(16 + 4 * i);
      if (*fields[i] > most[i] || (i >= 3 && *fields[i] == 0)) wrong("a size of the model is out of bounds");
    }
    if (context->heads % context->kv_heads || context->head_dim % 2) wrong("a size of the model is out of bounds");
    context->n_statics = word(64);
    context->n_graphs = word(68);
    strings_off = wide(88);
    strings_size = wide(96);
    weights_off = wide(104);
    weights_size = wide(112);
    range(strings_off, strings_size, "the string table lies outside the file");
    range(weights_off, weights_size, "the weights lie outside the file");
    context->build_id = string(120);
    context->options = string(128);
    context->op_package = string(136);
  }
};

}  // namespace

Context *read_context(Str bytes, Str file) {
  Reader r{bytes, file};
  const u8 head[] = {0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1};
  if (bytes.size < 0x28 || memcmp(bytes.at, head, sizeof head) != 0) r.wrong("not a context binary");
  u64 meta = r.wide(0x10), start = r.wide(0x18), size = r.wide(0x20);
  if (meta > bytes.size || start != 0x28 + meta || start > bytes.size || size != bytes.size - start)
    r.wrong("its header does not fit its size: cut short while copying?");
  r.blob = bytes.from(start);
  r.context = new (take<Context>(1)) Context;
  Context *c = r.context;
  r.header();
  u64 statics = r.wide(72), graphs = r.wide(80);
  r.table(statics, c->n_statics, TENSOR_RECORD, "the weights' table lies outside the file");
  r.table(graphs, c->n_graphs, GRAPH_RECORD, "the graphs' table lies outside the file");
  c->statics = take<Tensor>(c->n_statics);
  for (u32 i = 0; i < c->n_statics; i++) {
    r.tensor(statics + i * TENSOR_RECORD, c->statics[i]);
    if (c->statics[i].kind != KIND_STATIC) r.wrong("a weight that is not static");
  }
  c->graphs = take<Graph>(c->n_graphs);
  for (u32 i = 0; i < c->n_graphs; i++) r.graph(graphs + i * GRAPH_RECORD, c->graphs[i]);
  return c;
}

Graph *Context::find(Str name) const {
  for (u32 i = 0; i < n_graphs; i++) {
    if (graphs[i].name == name) return &graphs[i];
  }
  return nullptr;
}
