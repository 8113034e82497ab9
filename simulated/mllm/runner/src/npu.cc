#include "npu.h"

#include "device.h"
#include "npu_model.h"
#include "report.h"
#include "tokenizer.h"

namespace npu {
namespace {

// Where upstream's programs look, from the folder bin.
constexpr const char *VOCAB = "../vocab/qwen_vocab.mllm", *MERGES = "../vocab/qwen_merges.txt";
constexpr const char *INT8 = "../models/qwen-1.5-1.8b-chat-int8.mllm", *Q4K = "../models/qwen-1.5-1.8b-chat-q4k.mllm";
constexpr const char *CONTEXT = "qnn_context.bin";
constexpr const char *OP_PACKAGE = "LLaMAPackage";

// What is asked: upstream's programs have a text of their own in their code, and this one has this.
constexpr const char *PROMPT = "Why can greatness not be planned? Give three reasons, one a line, and name somebody who found something great while looking for something else.";

constexpr u32 CHUNK = 128, DECODED = 100, MAX_POSITIONS = 16384;

struct Options {
  const char *vocab = VOCAB;
  u32 limit = 1124, seq = 64, heads = 16, ffn = 5504, hidden = 2048;
  bool chunk = true;
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
    u32 n = 0, *to = flag == "-l" ? &o.limit : flag == "-s" ? &o.seq : flag == "-h" ? &o.heads : flag == "-f" ? &o.ffn : flag == "-d" ? &o.hidden : nullptr;
    Str digits(arguments[i + 1]);
    for (size_t k = 0; k < digits.size; k++) {
      if (digits.at[k] < '0' || digits.at[k] > '9' || k >= 6) FAIL(flag, " wants a number, not ", digits);
      n = n * 10 + static_cast<u32>(digits.at[k] - '0');
    }
    if (flag == "-c") o.chunk = n != 0;
    else if (to) *to = n;
    else if (!(flag == "-t")) FAIL("undefined short option: ", flag);
  }
  if (o.seq == 0 || o.limit <= o.seq || o.limit > MAX_POSITIONS) FAIL("-s ", o.seq, " with -l ", o.limit, ": the cache is to hold the prompt and what follows, and at most ", MAX_POSITIONS);
  return o;
}

void print_load(u64 us) {
  Text text;
  text << "Load model: " << us / 1000000 << '.';
  for (u64 digit = 100000; digit; digit /= 10) text << us / digit % 10;
  text << " s\n";
  print(text.str());
}

void print_time(Str before, u64 us) {  // in ms
  Text text;
  text << before;
  text.hundredths((us + 5) / 10, 1) << "ms\n";
  print(text.str());
}

// What the graphs were made of: an SDK, and weights.
u64 fingerprint(Str build_id, const NpuFile &file) {
  u64 hash = 0xcbf29ce484222325u;
  const Str parts[] = {build_id, file.content()};
  for (Str s : parts) {
    for (size_t i = 0; i < s.size; i++) hash = (hash ^ static_cast<u8>(s.at[i])) * 0x100000001b3u;
  }
  return hash;
}

// Since June 2025 upstream's programs take up the graphs of an earlier run, which lie in the folder they start in, and do not look whether they are those of this model. This one looks, so that
// what they would do without a word is seen.
void take_up_context(u64 made_of) {
  File file = map_file(CONTEXT);
  if (!file.found) return;
  u64 old = 0;
  if (file.size == sizeof old) memcpy(&old, file.at, sizeof old);
  if (old != made_of) FAIL("Could not create context from binary: ", CONTEXT, " is that of another model or SDK, left by an earlier run; remove it");
  LOG_INFO("QNN context retrieved from qnn_context.bin");
}

void save_context(u64 made_of) {
  i32 fd = sys::create(CONTEXT);
  if (fd < 0 || sys::write(fd, &made_of, sizeof made_of) != sizeof made_of) FAIL("cannot write ", CONTEXT);
  sys::close(fd);
}

DspLibrary *connect() {
  Text name, device;
  Str given = environment("OPEN_FASTRPC_DEVICE");
  name << "libQnn" << OP_PACKAGE << "_HTP.so";
  device << (given.size ? given : Str("/dev/fastrpc-cdsp"));
  auto dsp = new (take<DspLibrary>(1)) DspLibrary(device.c_str(), name.str());
  if (!dsp->has_op("RMSNorm")) FAIL("could not create op: ", OP_PACKAGE, "::RMSNorm is not in the op package");
  return dsp;
}

}  // namespace

i32 run(Str program, i32 count, const char *const *arguments) {
  bool demo = program == "demo_qwen_npu";
  Options o = parse(count, arguments);
  Str backend_id = backend_build_id();
  check_libraries(backend_id);
  check_op_package(OP_PACKAGE);
  Tokenizer tokenizer(o.vocab, MERGES);

  u64 start = sys::microseconds();
  Shape shape{o.hidden, o.heads, o.ffn};
  shape.check();
  Turns turns(shape.hidden / shape.heads, o.limit);
  NpuFile int8s(INT8);
  Model prefill(int8s, shape, true, turns, o.limit);
  print_load(sys::microseconds() - start);
  start = sys::microseconds();
  NpuFile floats(Q4K);
  Model decode(floats, shape, false, turns, o.limit);
  print_load(sys::microseconds() - start);
  DspLibrary *dsp = connect();
  u64 made_of = demo ? fingerprint(backend_id, int8s) : 0;
  if (demo) take_up_context(made_of);

  Tokens prompt = tokenizer.encode(PROMPT);
  if (prompt.count > o.seq) prompt.count = o.seq;
  Text text;
  text << "real_seq_length: " << prompt.count << "\n[Q] " << PROMPT << "\n[A] ";
  print(text.str());
  auto ids = take<u32>(o.seq);
  for (u32 i = 0; i < o.seq; i++) ids[i] = i < prompt.count ? prompt.ids[i] : prefill.vocab();

  start = sys::microseconds();
  u32 group = o.chunk || demo ? CHUNK : o.seq;
  auto last = take<f32>(shape.hidden);
  for (u32 at = 0; at < o.seq; at += group) {
    u32 n = o.seq - at < group ? o.seq - at : group;
    const f32 *rows = prefill.prefill(ids + at, n, at, dsp);
    u32 end = prompt.count - 1;
    if (end >= at && end < at + n) memcpy(last, rows + u64(end - at) * shape.hidden, shape.hidden * sizeof *last);
  }
  if (!demo) print_time("prefill time: ", sys::microseconds() - start);  // upstream's demo tells none

  u32 eos;
  bool ends = tokenizer.find("<|im_end|>", &eos);
  Tokens answer;
  answer.ids = take<u32>(DECODED + 1);
  decode.go_on_from(prefill, prompt.count);
  Text said;
  for (u32 id = prefill.next(last); !ends || id != eos;) {
    Text piece;
    tokenizer.decode(id, piece);
    print(piece.str());
    said << piece.str();
    answer.ids[answer.count++] = id;
    u32 position = prompt.count + answer.count - 1;
    if (answer.count > DECODED || position >= o.limit) break;
    id = decode.step(id, position);
  }
  print("\n====================\n");
  if (demo) save_context(made_of);
  Str results = environment("OPEN_RUNNER_RESULTS");
  if (results.size) write_results(results, prompt, answer, said.str());  // upstream's programs write nothing
  return 0;
}

}  // namespace npu
