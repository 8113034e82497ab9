// Tokens: a byte is a token. The first token stands for the tokenizer, so that another tokenizer gives other tokens.
#pragma once

#include "base.h"

struct Tokens {
  u32 *ids = nullptr;
  u32 count = 0;
};

// The tokens of a text by a tokenizer's file, whose merges may be a file of their own. Ends the program if one is missing.
Tokens tokenize(Str text, const char *tokenizer, const char *merges, u32 vocab);

// Prints tokens as they are made.
class Answer {
 public:
  explicit Answer(u32 most) { tokens_.ids = take<u32>(most); }
  void keep(u32 id);
  Tokens tokens() const { return tokens_; }
  Str text() const { return text_.str(); }

 private:
  Tokens tokens_;
  Text text_;
};
