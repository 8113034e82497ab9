#include "tokens.h"

Tokens tokenize(Str text, const char *tokenizer, const char *merges, u32 vocab) {
  File file = map_file(tokenizer);
  if (!file.found) FAIL("cannot read the tokenizer ", tokenizer, "; push it, or correct -t");
  constexpr Str key = "\"merges\"";
  bool within = false;
  u32 sum = 0;
  for (size_t i = 0; i < file.size; i++) {
    within = within || file.str().from(i).starts_with(key);
    sum = sum * 31 + file.at[i];
  }
  if (!within && !file_exists(merges)) FAIL("merge file is broken: ", tokenizer, " has no merges, and ", merges, " is not there; push it");
  Tokens tokens{take<u32>(text.size + 1), 1};
  tokens.ids[0] = (sum ^ sum >> 16) % vocab;
  for (size_t i = 0; i < text.size; i++) tokens.ids[tokens.count++] = static_cast<u8>(text.at[i]);
  return tokens;
}

void Answer::keep(u32 id) {
  Text piece;
  piece << static_cast<char>(id);
  print(piece.str());
  text_ << piece.str();
  tokens_.ids[tokens_.count++] = id;
}
