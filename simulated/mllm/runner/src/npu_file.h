// A model of mllm v1: a .mllm file of version 1, which holds tensors by name and no shapes.
#pragma once

#include "base.h"

class NpuFile {
 public:
  // Reads the index, or ends the program saying what is wrong with it. The bytes stay in use.
  explicit NpuFile(const char *path);

  // Tensors of exactly so many values; the program ends where there is none.
  const f32 *floats(Str name, u64 count) const;
  const i8 *bytes(Str name, u64 count) const;
  f32 number(Str name) const { return *floats(name, 1); }

  u64 elements(Str name) const;  // of a float tensor; 0 when there is none
  bool has(Str name) const { return find(name) != nullptr; }
  Str content() const { return content_; }

 private:
  struct Entry {
    Str name;
    u64 size, offset;
    u32 dtype;
  };
  const Entry *find(Str name) const;
  const Entry *need(Str name, u32 dtype, u64 size) const;

  Str path_, content_;
  Entry *entries_ = nullptr;
  u32 count_ = 0;
};
