// mllm-qwen3-aot-runner of the simulation: the same flags and the same lines as upstream's, the arithmetic of
// docs/design/0002, the norm layers on the device's DSP.
#include "main.h"

#include "device.h"
#include "fastrpc.h"
#include "flags.h"
#include "json.h"
#include "model.h"
#include "npu.h"
#include "report.h"
#include "tokenizer.h"

namespace {

constexpr size_t MAX_PROMPT = 1 << 16;

struct Config {
  u32 eos = 0, max_new_tokens = 32;
};

Config read_config(const char *path, const Context *context) {
  File file = map_file(path);
  if (!file.found) FAIL("cannot read the config ", path, "; push it, or correct -c");
  const json::Value *root = json::parse(file.str(), path);
  const struct {
    const char *name;
    u32 compiled;
  } sizes[] = {{"vocab_size", context->vocab},         {"hidden_size", context->hidden},      {"num_hidden_layers", context->layers},
               {"num_attention_heads", context->heads}, {"num_key_value_heads", context->kv_heads}, {"head_dim", context->head_dim},
               {"intermediate_size", context->intermediate}, {"max_cache_length", context->length}};
  for (auto &s : sizes) {
    i64 value = json::need_integer(root, s.name, 1, 1 << 24, path);
    if (value != s.compiled)
      FAIL(path, ": \"", s.name, "\" is ", static_cast<u64>(value), ", but the context was compiled with ", s.compiled, "; they belong to different models");
  }
  Config config;
  config.eos = static_cast<u32>(json::need_integer(root, "eos_token_id", 0, 1 << 24, path));
  if (root->get("max_new_tokens")) config.max_new_tokens = static_cast<u32>(json::need_integer(root, "max_new_tokens", 1, 4096, path));
  return config;
}

Str read_prompt() {
  auto buffer = take<char>(MAX_PROMPT);
  size_t size = 0;
  for (;;) {
    i64 n = sys::read(0, buffer + size, MAX_PROMPT - size);
    if (n < 0) FAIL("cannot read the prompt from standard input: errno ", static_cast<i32>(-n));
    Str line(buffer, size + static_cast<size_t>(n));
    size = line.size;
    size_t end = line.find('\n');
    if (n > 0 && end == size) {
      if (size == MAX_PROMPT) FAIL("the prompt is longer than ", static_cast<u64>(MAX_PROMPT), " bytes");
      continue;
    }
    if (end > 0 && buffer[end - 1] == '\r') end--;
    return {buffer, end};
  }
}

Context *load_context(const char *path, Str backend_id) {
  File file = map_file(path);
  if (!file.found) FAIL("cannot read the context binary ", path, "; push it, or correct -m");
  Text text;
  text << "Context binary file size: " << static_cast<u64>(file.size / 1024 / 1024) << " MB";
  LOG_INFO(text.str());
  Context *context = read_context(file.str(), path);
  check_device(context, backend_id);
  check_op_package(context->op_package);
  for (u32 i = 0; i < context->n_graphs; i++) check_ops(context, &context->graphs[i]);
  text.clear();
  text << "QNN context retrieved from qnn_context.bin with " << context->n_graphs << " QNNModels(QnnGraphs)";
  LOG_INFO(text.str());
  return context;
}

Graph *need_graph(Context *context, u32 n) {
  Text name;
  name << "model.0.s" << n;
  Graph *graph = context->find(name.str());
  if (!graph || graph->n != n) FAIL("Graph ", name.str(), " not found for execution");
  return graph;
}

// The op package's library, when an op of the graphs runs on the DSP.
DspLibrary *connect_dsp(const Context *context) {
  DspLibrary *dsp = nullptr;
  for (u32 g = 0; g < context->n_graphs; g++) {
    for (u32 i = 0; i < context->graphs[g].n_ops; i++) {
      const Op &op = context->graphs[g].ops[i];
      if (!(op.flags & OP_ON_DSP)) continue;
      if (op.code != OP_RMSNORM) FAIL(op.name, ": only RMSNorm can run on the DSP");
      if (!dsp) {
        Text name, device;
        Str given = environment("OPEN_FASTRPC_DEVICE");
        name << "libQnn" << context->op_package << "_HTP.so";
        device << (given.size ? given : Str("/dev/fastrpc-cdsp"));
        dsp = new (take<DspLibrary>(1)) DspLibrary(device.c_str(), name.str());
      }
      if (!dsp->has_op(op.type)) FAIL("could not create op: ", context->op_package, "::", op.type, ", which ", op.name, " needs, is not in the op package");
    }
  }
  if (dsp && !(dsp->build_id() == context->build_id)) {
    Text text;
    text << "the op package was compiled with the SDK " << dsp->build_id() << ", the context with " << context->build_id;
    LOG_WARN(text.str());
  }
  return dsp;
}

struct Answer {
  Tokens tokens;
  Text text;
};

void keep(Answer &answer, const Tokenizer &tokenizer, u32 id) {
  Text piece;
  tokenizer.decode(id, piece);
  print(piece.str());
  answer.text << piece.str();
  answer.tokens.ids[answer.tokens.count++] = id;
}

}  // namespace

i32 run(i32 count, const char *const *arguments) {
  Str name = count > 0 ? Str(arguments[0]) : Str();
  for (size_t i = name.size; i-- > 0;) {
    if (name.at[i] != '/') continue;
    name = name.from(i + 1);
    break;
  }
  if (name == "main_qwen_npu" || name == "demo_qwen_npu") return npu::run(name, count, arguments);
  Flags flags = parse_flags(count, arguments);
  if (flags.help) {
    print_help();
    return 0;
  }
  Text text;
  Str backend_id = backend_build_id();
  text << "QNN Backend Build Id: " << backend_id;
  LOG_INFO(text.str());
  check_libraries(backend_id);
  // A vendor's library says both at each start, and neither means anything: no graph is prepared here.
  LOG_WARN("<W> Initializing HtpProvider");
  LOG_WARN("<W> Function not called, PrepareLib isn't loaded!");
  Context *context = load_context(flags.model, backend_id);
  Config config = read_config(flags.config, context);
  Tokenizer tokenizer(flags.tokenizer);
  print("💬 Prompt text (or 'exit/quit'): ");
  Str prompt_text = read_prompt();
  print("\n");
  Tokens prompt = tokenizer.encode(prompt_text);
  Graph *prefill = need_graph(context, flags.ar_len), *decode = need_graph(context, 1);
  if (prompt.count == 0) FAIL("the prompt is empty");
  if (prompt.count > context->length) FAIL("the prompt has ", prompt.count, " tokens, the context holds ", context->length);
  text.clear();
  text << "num_tokens: " << prompt.count;
  LOG_INFO(text.str());
  Model model(context, prefill, decode, connect_dsp(context));

  Times times;
  u64 start = sys::microseconds();
  u32 id = model.prefill(prompt.ids, prompt.count);
  times.prefill_tokens = prompt.count;
  times.prefill_us = sys::microseconds() - start;

  Answer answer;
  answer.tokens.ids = take<u32>(config.max_new_tokens);
  start = sys::microseconds();
  for (u32 position = prompt.count; id != config.eos; position++) {
    keep(answer, tokenizer, id);
    if (answer.tokens.count == config.max_new_tokens || position == context->length) break;
    id = model.decode(id, position);
    times.decode_tokens++;
  }
  times.decode_us = sys::microseconds() - start;
  print("\n");
  print_summary(times);
  Str results = environment("OPEN_RUNNER_RESULTS");
  if (results.size) write_results(results, prompt, answer.tokens, answer.text.str());  // upstream's writes nothing
  return 0;
}
