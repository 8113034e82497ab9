// main_qwen_npu and demo_qwen_npu of mllm's branch v1: their flags, paths and lines, on the toy model.
#include "device.h"
#include "flags.h"
#include "main.h"
#include "model.h"
#include "report.h"
#include "tokens.h"

namespace {

// Paths from the folder bin, in which the programs start.
constexpr const char *VOCAB = "../vocab/qwen_vocab.mllm", *MERGES = "../vocab/qwen_merges.txt";
constexpr const char *INT8 = "../models/qwen-1.5-1.8b-chat-int8.mllm", *Q4K = "../models/qwen-1.5-1.8b-chat-q4k.mllm";

// mllm's programs have another text in their code.
constexpr const char *PROMPT = "Why can greatness not be planned? Give three reasons, one a line, and name somebody who found something great while looking for something else.";

constexpr u32 CHUNK = 128, DECODED = 101, MAX_POSITIONS = 16384;

struct Options {
  const char *vocab = VOCAB;
  u32 limit = 1124, seq = 64, heads = 16, ffn = 5504, hidden = 2048, chunk = 1, ignored = 0;
};

Options parse(i32 count, const char *const *arguments) {
  Options o;
  for (i32 i = 1; i < count; i += 2) {
    Str flag(arguments[i]);
    if (i + 1 == count) FAIL(flag, " needs a value");
    if (flag == "-v") {
      o.vocab = arguments[i + 1];
      continue;
    }
    u32 *to = flag == "-l" ? &o.limit : flag == "-s" ? &o.seq : flag == "-h" ? &o.heads : flag == "-f" ? &o.ffn : flag == "-d" ? &o.hidden
            : flag == "-c" ? &o.chunk : flag == "-t" ? &o.ignored : nullptr;
    if (!to) FAIL("undefined short option: ", flag);
    *to = number_of(flag, arguments[i + 1]);
  }
  if (o.seq == 0 || o.limit <= o.seq || o.limit > MAX_POSITIONS)
    FAIL("-s ", o.seq, " with -l ", o.limit, ": the cache must hold the prompt and the answer, and at most ", MAX_POSITIONS, " tokens");
  return o;
}

// A tensor of a .mllm file of version 1, as the upper halves of its floats.
struct Tensor {
  u16 *data = nullptr;
  u32 count = 0;
};

Tensor find(File file, const char *path, Str wanted) {
  constexpr u32 MAGIC = 20012, FLOAT32 = 0, HEADER = 12;
  auto read = [&](size_t at, size_t bytes) {
    u64 value = 0;
    if (at > file.size || bytes > file.size - at) FAIL(path, ": the index is longer than the file: was all of it pushed?");
    memcpy(&value, file.at + at, bytes);
    return value;
  };
  if (!file.found) FAIL("cannot read the model ", path, "; push it");
  if (file.size < HEADER || read(0, 4) != MAGIC) FAIL(path, " is no .mllm file of version 1");
  u64 end = HEADER + read(4, 8);
  for (u64 at = HEADER; at < end;) {
    u64 size = read(at, 4), after = at + 4 + size;
    u64 bytes = read(after, 8), offset = read(after + 8, 8);
    Str name = file.str().from(at + 4).to(size);
    if (offset > file.size || bytes > file.size - offset) FAIL(path, ": tensor ", name, " lies beyond the end of the file: was all of it pushed?");
    if (name == wanted && read(after + 16, 4) == FLOAT32) {
      Tensor t{take<u16>(bytes / 4), static_cast<u32>(bytes / 4)};
      for (u32 i = 0; i < t.count; i++) memcpy(&t.data[i], file.at + offset + 4 * i + 2, 2);
      return t;
    }
    at = after + 20;
  }
  return {};
}

constexpr Str EMBEDDING = "model.embed_tokens.weight";

// The model as a context, in which numbers are the upper halves of floats.
Context *load(const char *path, u32 hidden) {
  u64 start = sys::microseconds();
  File file = map_file(path);
  auto c = take<Context>(1);
  Tensor embedding = find(file, path, EMBEDDING);
  if (embedding.count == 0 || embedding.count % hidden) FAIL(path, ": tensor ", EMBEDDING, " does not fit -d ", hidden);
  constexpr u32 MAX_NORMS = 129;
  c->hidden = hidden;
  c->vocab = embedding.count / hidden;
  c->embedding = embedding.data;
  c->norms = take<Norm>(MAX_NORMS);
  for (u32 i = 0; i < MAX_NORMS; i++) {
    Text name;
    name << "model.layers." << i / 2 << (i % 2 ? ".post_attention_layernorm.weight" : ".input_layernorm.weight");
    Tensor weight = find(file, path, name.str());
    bool last = weight.count == 0;
    if (last) weight = find(file, path, "model.norm.weight");
    if (weight.count != hidden) FAIL(path, ": the norms do not fit -d ", hidden);
    c->norms[c->n_norms++] = {{}, weight.data, hidden};
    if (last) break;
  }
  Text text;
  u64 us = sys::microseconds() - start;
  text << "Load model: " << us / 1000000 << '.';
  for (u64 digit = 100000; digit; digit /= 10) text << us / digit % 10;
  text << " s\n";
  print(text.str());
  return c;
}

}  // namespace

i32 run_npu(bool demo, i32 count, const char *const *arguments) {
  Options o = parse(count, arguments);
  Str backend_id = backend_build_id();
  check_libraries(backend_id);
  check_op_package("LLaMAPackage");
  Context *int8 = load(INT8, o.hidden), *floats = load(Q4K, o.hidden);
  if (floats->vocab != int8->vocab) FAIL(Q4K, " and ", INT8, " are of different models");
  Tokens prompt = tokenize(PROMPT, o.vocab, MERGES, int8->vocab);
  if (prompt.count > o.seq) prompt.count = o.seq;
  Text text;
  text << "real_seq_length: " << prompt.count << "\n[Q] " << PROMPT << "\n[A] ";
  print(text.str());
  auto ids = take<u32>(o.seq);
  memcpy(ids, prompt.ids, prompt.count * sizeof *ids);

  u64 start = sys::microseconds();
  Model model(int8, connect_dsp("LLaMAPackage"));
  model.prefill(ids, o.seq, prompt.count, o.chunk || demo ? CHUNK : o.seq);
  if (!demo) {
    text.clear();
    text << "prefill time: ";
    text.hundredths((sys::microseconds() - start + 5) / 10, 1) << "ms\n";
    print(text.str());
  }
  int8->embedding = floats->embedding;  // tokens come from the other model
  Answer answer(DECODED);
  for (u32 position = prompt.count;; position++) {
    answer.keep(model.next());
    if (answer.tokens().count == DECODED || position == o.limit) break;
    model.decode(model.next(), position);
  }
  print("\n====================\n");
  write_results(prompt, answer);
  return 0;
}
