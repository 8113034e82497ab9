// The command line: upstream's flags, each followed by its value.
#pragma once

#include "base.h"

struct Flags {
  const char *model = "qwen3_qnn.mllm", *tokenizer = "tokenizer.json", *config = nullptr;
  u32 ar_len = 128;
  bool help = false;
};

// Ends the program when a flag is not known or lacks its value.
Flags parse_flags(i32 count, const char *const *arguments);
void print_help();

// The value of a flag as a number. Ends the program when it is none.
u32 number_of(Str flag, Str digits);
