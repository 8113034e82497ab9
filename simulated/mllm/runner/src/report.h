// What a run leaves behind: the tokens for programs, the summary for people.
#pragma once

#include "tokenizer.h"

struct Times {
  u64 prefill_us = 0, decode_us = 0, prefill_tokens = 0, decode_tokens = 0;
};

void print_summary(const Times &times);

// Writes {"prompt_tokens":[…],"tokens":[…],"text":"…"}; a missing folder is made. Ends the program on failure.
void write_results(Str path, Tokens prompt, Tokens answer, Str text);
