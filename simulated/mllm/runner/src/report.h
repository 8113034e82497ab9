// What a run leaves behind: the tokens for programs, the summary for people.
#pragma once

#include "tokens.h"

struct Times {
  u64 prefill_us = 0, decode_us = 0, prefill_tokens = 0, decode_tokens = 0;
};

void print_summary(const Times &times);

// Writes {"prompt_tokens":[…],"tokens":[…],"text":"…"} to the file that OPEN_RUNNER_RESULTS names; mllm's runner writes nothing.
// It makes a missing folder.
void write_results(Tokens prompt, const Answer &answer);
