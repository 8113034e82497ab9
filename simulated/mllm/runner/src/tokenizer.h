// Byte-level BPE over the subset of tokenizer.json that docs/design/0002 §5 defines.
#pragma once

#include "base.h"
#include "json.h"

struct Tokens {
  u32 *ids = nullptr;
  u32 count = 0;
};

// Finds a value by a string, or by two. Built once, never shrinks.
class StringMap {
 public:
  explicit StringMap(size_t entries);
  void put(Str left, Str right, u32 value);  // the first value of a key stays
  bool get(Str left, Str right, u32 *value) const;

 private:
  struct Slot {
    Str left, right;
    u32 value;
    bool used;
  };
  size_t slot(Str left, Str right) const;
  Slot *slots_;
  size_t mask_;
};

class Tokenizer {
 public:
  explicit Tokenizer(const char *path);            // a tokenizer.json
  Tokenizer(const char *vocab, const char *merges);  // the two files of mllm v1
  Tokens encode(Str text) const;         // ends the program when a piece has no token
  void decode(u32 id, Text &out) const;  // appends the bytes that a token stands for
  bool find(Str name, u32 *id) const { return vocab_->get(name, "", id); }

 private:
  struct Added {
    u32 id;
    Str content;
    bool special;
  };
  void read_added(const json::Value *list);
  void read_vocab(const json::Value *vocab);
  void read_merges(const json::Value *merges, Str file);
  void read_merges_beside(Str tokenizer);
  void read_merges_file(Str path);
  void read_vocab_file(Str path);
  void spell_bytes();
  const Added *added_at(Str text) const;
  void encode_segment(Str segment, Tokens &out) const;
  void encode_piece(Str piece, Tokens &out) const;

  Str letters_[256];          // each byte's string in the byte alphabet
  u16 bytes_[0x144];          // the byte of each code point of the alphabet, or 0xffff
  Added *added_ = nullptr;
  u32 n_added_ = 0;
  StringMap *vocab_ = nullptr, *merges_ = nullptr;
  Str *names_ = nullptr;      // by id; at nullptr: no such id
  u32 n_names_ = 0;
};
