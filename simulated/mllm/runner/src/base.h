// What every file of the runner stands on: integers, strings, memory, output, Linux calls. There is no libc.
#pragma once

#include <stddef.h>
#include <stdint.h>

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i8 = int8_t;
using i32 = int32_t;
using i64 = int64_t;
using f32 = float;

// A string that somebody else owns; not terminated.
struct Str {
  const char *at = "";
  size_t size = 0;

  constexpr Str() = default;
  constexpr Str(const char *text, size_t n) : at(text), size(n) {}
  constexpr Str(const char *text) : at(text), size(__builtin_strlen(text)) {}

  Str from(size_t start) const { return {at + start, size - start}; }
  Str to(size_t end) const { return {at, end}; }
  size_t find(char c) const;  // its index, or size
  bool starts_with(Str prefix) const;
  bool operator==(Str other) const;
};

// Memory that is never given back; zeroed, 128-byte aligned, bounded by what a model may need.
void *take_memory(size_t bytes);

template <typename T>
T *take(size_t count) {
  size_t bytes;
  return __builtin_mul_overflow(count, sizeof(T), &bytes) ? static_cast<T *>(take_memory(SIZE_MAX)) : static_cast<T *>(take_memory(bytes));
}

inline void *operator new(size_t, void *place) noexcept { return place; }

// A text that grows.
class Text {
 public:
  Text &operator<<(Str s);
  Text &operator<<(const char *s) { return *this << Str(s); }
  Text &operator<<(char c) { return *this << Str(&c, 1); }
  Text &operator<<(u64 n);
  Text &operator<<(u32 n) { return *this << static_cast<u64>(n); }
  Text &operator<<(i32 n);
  Text &hex(u32 n);
  Text &right(Str s, size_t width);                            // padded on the left
  Text &hundredths(u64 n, size_t width);                       // n/100 with two decimals
  Str str() const { return {at_, size_}; }
  const char *c_str();                                         // terminated
  void clear() { size_ = 0; }

 private:
  char *at_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

// Standard output, written at once.
void print(Str s);

// A line as upstream's logger prints it, on standard output.
void log_line(Str level, const char *colour, Str file, u32 line, Str message);
#define LOG_INFO(message) log_line("[INFO]", COLOUR_GREEN, __FILE_NAME__, __LINE__, message)
#define LOG_WARN(message) log_line("[WARN]", COLOUR_YELLOW, __FILE_NAME__, __LINE__, message)
#define LOG_ERROR(message) log_line("[ERROR]", COLOUR_RED, __FILE_NAME__, __LINE__, message)

// Prints an [ERROR] line and ends the program with code 1.
[[noreturn]] void fail_at(Str file, u32 line, Str message);

template <typename... T>
[[noreturn]] void fail_with(Str file, u32 line, T... pieces) {
  Text text;
  (void)(text << ... << pieces);
  fail_at(file, line, text.str());
}
#define FAIL(...) fail_with(__FILE_NAME__, __LINE__, __VA_ARGS__)

constexpr const char *COLOUR_GREEN = "38;2;000;128;000", *COLOUR_RED = "38;2;255;000;000", *COLOUR_CYAN = "38;2;000;255;255",
                     *COLOUR_WHITE = "38;2;255;255;255", *COLOUR_YELLOW = "38;2;255;255;000";

// Linux. Negative results are -errno.
namespace sys {
i32 open(const char *path);
i32 create(const char *path);
i32 make_dir(const char *path);
void close(i32 fd);
i64 read(i32 fd, void *to, size_t bytes);
i64 write(i32 fd, const void *from, size_t bytes);
i64 size(i32 fd);
void *map(size_t bytes, i32 fd);  // private; fd -1: zeroed memory; nullptr on failure
i32 connect_unix(const char *path);
i64 send(i32 fd, const void *from, size_t bytes);  // on a socket; a peer that has gone is an error, not a signal
i32 working_dir(char *to, size_t bytes);
u64 microseconds();  // a monotonic clock
[[noreturn]] void exit(i32 code);
}  // namespace sys

// The bytes of a file, mapped; size 0 with at nullptr when it cannot be opened.
struct File {
  const u8 *at = nullptr;
  size_t size = 0;
  bool found = false;
  Str str() const { return {reinterpret_cast<const char *>(at), size}; }
};
File map_file(const char *path);
bool file_exists(const char *path);

// The program's environment.
Str environment(Str name);  // empty when unset

extern "C" {
void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);
}
