#include "npu_file.h"

namespace {

constexpr u32 MAGIC = 20012, FLOAT32 = 0, INT8 = 16;
constexpr u32 MAX_TENSORS = 1 << 16;
constexpr size_t HEADER = 12;  // the magic number and the size of the index in bytes

template <typename T>
T read(const char *at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

NpuFile::NpuFile(const char *path) : path_(path) {
  File file = map_file(path);
  if (!file.found) FAIL("cannot read the model ", path, "; push it");
  content_ = file.str();
  if (content_.size < HEADER || read<u32>(content_.at) != MAGIC) FAIL(path, " is no .mllm file of version 1");
  u64 size = read<u64>(content_.at + 4);
  if (size > content_.size - HEADER) FAIL(path, ": the index is longer than the file: was all of it pushed?");
  entries_ = take<Entry>(MAX_TENSORS);
  for (Str rest = content_.to(HEADER + size).from(HEADER); rest.size;) {
    u64 name = rest.size >= 4 ? read<u32>(rest.at) : rest.size;
    if (name + 24 > rest.size || count_ == MAX_TENSORS) FAIL(path, ": the index is broken");
    const char *at = rest.at + 4 + name;
    Entry e{{rest.at + 4, name}, read<u64>(at), read<u64>(at + 8), read<u32>(at + 16)};
    if (e.offset > content_.size || e.size > content_.size - e.offset) FAIL(path, ": tensor ", e.name, " lies beyond the end of the file: was all of it pushed?");
    entries_[count_++] = e;
    rest = rest.from(24 + name);
  }
}

const NpuFile::Entry *NpuFile::find(Str name) const {
  for (u32 i = 0; i < count_; i++) {
    if (entries_[i].name == name) return &entries_[i];
  }
  return nullptr;
}

const NpuFile::Entry *NpuFile::need(Str name, u32 dtype, u64 size) const {
  const Entry *e = find(name);
  if (!e) FAIL(path_, ": no tensor ", name);
  if (e->dtype != dtype) FAIL(path_, ": tensor ", name, " is of type ", e->dtype, ", which this program does not read");
  if (e->size != size) FAIL(path_, ": tensor ", name, " has ", e->size, " bytes, not ", size, ": are -d, -h and -f those of the model?");
  return e;
}

const f32 *NpuFile::floats(Str name, u64 count) const {
  const Entry *e = need(name, FLOAT32, count * sizeof(f32));
  auto values = take<f32>(count);  // those of the file need not lie where a float may
  memcpy(values, content_.at + e->offset, e->size);
  return values;
}

const i8 *NpuFile::bytes(Str name, u64 count) const { return reinterpret_cast<const i8 *>(content_.at + need(name, INT8, count)->offset); }

u64 NpuFile::elements(Str name) const {
  const Entry *e = find(name);
  return e ? e->size / sizeof(f32) : 0;
}
