// mllm-qwen3-aot-runner of the simulation: the flags and the lines of mllm's, on the toy model of simulated/mllm/toymodel/README.md, whose norm
// layers run on the device's DSP.
#include "main.h"

#include "device.h"
#include "flags.h"
#include "model.h"
#include "report.h"
#include "tokens.h"

namespace {

constexpr size_t MAX_PROMPT = 1 << 16;

// The whole number of a key in a JSON object.
u32 value_of(Str text, Str key, const char *path, u32 otherwise = 0) {
  Text quoted;
  quoted << '"' << key << "\":";
  for (size_t i = 0; i < text.size; i++) {
    if (!text.from(i).starts_with(quoted.str())) continue;
    Str rest = text.from(i + quoted.str().size);
    while (rest.size && rest.at[0] == ' ') rest = rest.from(1);
    u32 n = 0;
    for (size_t k = 0; k < rest.size && k < 9 && rest.at[k] >= '0' && rest.at[k] <= '9'; k++) n = n * 10 + static_cast<u32>(rest.at[k] - '0');
    return n;
  }
  if (!otherwise) FAIL(path, " has no number \"", key, "\": was all of it pushed?");
  return otherwise;
}

// Compares the model's config with the context, and returns how many tokens an answer has at most.
u32 read_config(const char *path, const Context *context) {
  File file = map_file(path);
  if (!file.found) FAIL("cannot read the config ", path, "; push it, or correct -c");
  const struct {
    const char *name;
    u32 compiled;
  } sizes[] = {{"vocab_size", context->vocab}, {"hidden_size", context->hidden}, {"num_hidden_layers", context->layers}, {"max_cache_length", context->length}};
  for (auto &s : sizes) {
    u32 value = value_of(file.str(), s.name, path);
    if (value != s.compiled)
      FAIL(path, ": \"", s.name, "\" is ", value, ", but the context was compiled with ", s.compiled, "; they belong to different models");
  }
  constexpr u32 MOST = 4096;
  u32 tokens = value_of(file.str(), "max_new_tokens", path, 32);
  return tokens < MOST ? tokens : MOST;
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
  text.clear();
  text << "QNN context retrieved from qnn_context.bin with " << context->n_graphs << " QNNModels(QnnGraphs)";
  LOG_INFO(text.str());
  return context;
}

void need_graph(const Context *context, u32 tokens) {
  if (!context->has_graph(tokens)) FAIL("Graph model.0.s", tokens, " not found for execution");
}

// The name that the program is started by, without its folder.
Str name_of(Str path) {
  for (size_t i = path.size; i-- > 0;) {
    if (path.at[i] == '/') return path.from(i + 1);
  }
  return path;
}

}  // namespace

i32 run(i32 count, const char *const *arguments) {
  Str name = name_of(count > 0 ? Str(arguments[0]) : Str());
  if (name == "main_qwen_npu" || name == "demo_qwen_npu") return run_npu(name == "demo_qwen_npu", count, arguments);
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
  // Qualcomm's library prints both at each start, and neither means anything: no graph is prepared here.
  LOG_WARN("<W> Initializing HtpProvider");
  LOG_WARN("<W> Function not called, PrepareLib isn't loaded!");
  Context *context = load_context(flags.model, backend_id);
  u32 most = read_config(flags.config, context);
  print("💬 Prompt text (or 'exit/quit'): ");
  Str prompt_text = read_prompt();
  print("\n");
  Tokens prompt = tokenize(prompt_text, flags.tokenizer, "merges.txt", context->vocab);
  need_graph(context, flags.ar_len);
  need_graph(context, 1);
  if (prompt_text.size == 0) FAIL("the prompt is empty");
  if (prompt.count > context->length) FAIL("the prompt has ", prompt.count, " tokens, the context holds ", context->length);
  text.clear();
  text << "num_tokens: " << prompt.count;
  LOG_INFO(text.str());
  DspLibrary *dsp = connect_dsp(context->op_package);
  if (!(dsp->build_id() == context->build_id)) {
    text.clear();
    text << "the op package was compiled with the SDK " << dsp->build_id() << ", the context with " << context->build_id;
    LOG_WARN(text.str());
  }
  Model model(context, dsp);

  Times times;
  u64 start = sys::microseconds();
  model.prefill(prompt.ids, prompt.count, prompt.count, flags.ar_len);
  times.prefill_tokens = prompt.count;
  times.prefill_us = sys::microseconds() - start;

  Answer answer(most);
  start = sys::microseconds();
  for (u32 position = prompt.count;; position++) {
    answer.keep(model.next());
    if (answer.tokens().count == most || position == context->length) break;
    model.decode(model.next(), position);
    times.decode_tokens++;
  }
  times.decode_us = sys::microseconds() - start;
  print("\n");
  print_summary(times);
  write_results(prompt, answer);
  return 0;
}
