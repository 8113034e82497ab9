// The layout is package blob's (simulated/mllm/blob).
#include "context.h"

namespace {

constexpr u32 VERSION = 3, NAME = 64;

struct Reader {
  Str left, file;

  [[noreturn]] void wrong(Str why) { FAIL("Could not create context from binary: ", file, ": ", why); }

  Str bytes(size_t n) {
    if (n > left.size) wrong("cut short");
    Str s = left.to(n);
    left = left.from(n);
    return s;
  }
  template <typename T>
  T get() {
    T value;
    memcpy(&value, bytes(sizeof value).at, sizeof value);
    return value;
  }
  u32 number(u32 least, u32 most) {
    u32 n = get<u32>();
    if (n < least || n > most) wrong("a size is out of bounds");
    return n;
  }
  Str name() {
    Str s = bytes(NAME);
    s.size = s.find('\0');
    return s;
  }
  // Numbers of the file, which are never written.
  u16 *numbers(size_t n) { return reinterpret_cast<u16 *>(const_cast<char *>(bytes(2 * n).at)); }
};

}  // namespace

Context *read_context(Str bytes, Str file) {
  const u8 head[] = {0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1};
  Reader r{bytes, file};
  if (memcmp(r.bytes(sizeof head).at, head, sizeof head) != 0) r.wrong("not a context binary");
  u64 meta = r.get<u64>(), start = r.get<u64>(), size = r.get<u64>();
  if (meta > bytes.size || start != 0x28 + meta || start > bytes.size || size != bytes.size - start)
    r.wrong("its header does not fit its size: cut short while copying?");
  r.left = bytes.from(start);
  if (!(r.bytes(8) == "HXMGCTX1")) r.wrong("not a context of the simulation; a real one runs on a real phone only");
  if (r.get<u32>() != VERSION) r.wrong("made for another version of the simulation; compile it again");
  auto c = take<Context>(1);
  c->arch = r.number(0, 99);
  c->soc_model = r.number(0, 1 << 16);
  c->vtcm_mb = r.number(0, 1024);
  c->vocab = r.number(256, 1 << 16);
  c->hidden = r.number(1, 4096);
  c->layers = r.number(1, 64);
  c->length = r.number(1, 4096);
  c->n_norms = r.number(1, 1024);
  c->n_graphs = r.number(0, 4);
  for (u32 &tokens : c->graphs) tokens = r.number(0, 4096);
  c->build_id = r.name();
  c->op_package = r.name();
  r.bytes(128);  // the options of the compile, for people
  c->embedding = r.numbers(size_t(c->vocab) * c->hidden);
  c->norms = take<Norm>(c->n_norms);
  for (u32 i = 0; i < c->n_norms; i++) {
    Norm &n = c->norms[i];
    n.name = r.name();
    n.depth = r.number(1, c->hidden);
    if (c->hidden % n.depth) r.wrong("a norm does not fit the model");
    n.weight = r.numbers(n.depth);
    for (u32 k = 0; k < i; k++) {
      if (c->norms[k].name == n.name) FAIL("Tensor name ", n.name, " already exists in the graph. ", file);
    }
  }
  return c;
}

bool Context::has_graph(u32 tokens) const {
  for (u32 i = 0; i < n_graphs; i++) {
    if (graphs[i] == tokens) return true;
  }
  return false;
}
