#include "flags.h"

void print_help() {
  print(
      "mllm-qwen3-aot-runner: runs a context binary of the hexmage simulated; the prompt is one line on standard input\n"
      "  -h, --help              this text\n"
      "  -m, --model FILE        the context binary (default qwen3_qnn.mllm)\n"
      "  -t, --tokenizer FILE    (default tokenizer.json)\n"
      "  -c, --config FILE       the model's config.json; \"max_new_tokens\" in it bounds the answer (default 32)\n"
      "      --ar_len N          tokens of a prefill chunk: the context must hold the graph model.0.sN (default 128)\n"
      "Environment: LD_LIBRARY_PATH (libQnnHtp.so), ADSP_LIBRARY_PATH (the op package, entries separated by ';'),\n"
      "  OPEN_RUNNER_RESULTS (a file for the tokens), OPEN_FASTRPC_DEVICE (default /dev/fastrpc-cdsp)\n");
}

u32 number_of(Str flag, Str digits) {
  u32 n = 0;
  for (size_t k = 0; k < digits.size; k++) {
    if (digits.at[k] < '0' || digits.at[k] > '9' || k >= 6) FAIL(flag, " wants a number, not ", digits);
    n = n * 10 + static_cast<u32>(digits.at[k] - '0');
  }
  return n;
}

Flags parse_flags(i32 count, const char *const *arguments) {
  Flags flags;
  for (i32 i = 1; i < count; i++) {
    Str flag(arguments[i]);
    if (flag == "-h" || flag == "--help") {
      flags.help = true;
      return flags;
    }
    const char **to = flag == "-m" || flag == "--model" ? &flags.model
                      : flag == "-t" || flag == "--tokenizer" ? &flags.tokenizer
                      : flag == "-c" || flag == "--config"    ? &flags.config
                                                              : nullptr;
    if (!to && !(flag == "--ar_len")) {
      print_help();
      FAIL("unknown flag ", flag);
    }
    if (++i == count) FAIL(flag, " needs a value");
    if (to) {
      *to = arguments[i];
      continue;
    }
    flags.ar_len = number_of(flag, arguments[i]);
    if (flags.ar_len == 0) FAIL("--ar_len wants a number of at least 1");
  }
  if (!flags.config) {
    print_help();
    FAIL("-c is required");
  }
  return flags;
}
