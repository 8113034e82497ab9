// Strings, memory, files and output on top of the Linux calls.
#include "base.h"

// The compiler calls these four by name, and -ffreestanding keeps it from turning their loops into such calls.
extern "C" {

void *memcpy(void *to, const void *from, size_t bytes) {
  auto t = static_cast<u8 *>(to);
  auto f = static_cast<const u8 *>(from);
  for (; bytes >= 8; bytes -= 8, t += 8, f += 8) {
    u64 word;
    __builtin_memcpy_inline(&word, f, 8);
    __builtin_memcpy_inline(t, &word, 8);
  }
  while (bytes--) *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
  auto t = static_cast<u8 *>(to);
  auto f = static_cast<const u8 *>(from);
  if (t <= f || t >= f + bytes) return memcpy(to, from, bytes);
  while (bytes--) t[bytes] = f[bytes];
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  for (auto t = static_cast<u8 *>(to); bytes--; t++) *t = static_cast<u8>(value);
  return to;
}

int memcmp(const void *a, const void *b, size_t bytes) {
  auto x = static_cast<const u8 *>(a), y = static_cast<const u8 *>(b);
  for (size_t i = 0; i < bytes; i++) {
    if (x[i] != y[i]) return x[i] - y[i];
  }
  return 0;
}

size_t strlen(const char *text) {
  size_t n = 0;
  while (text[n]) n++;
  return n;
}
}

size_t Str::find(char c) const {
  size_t i = 0;
  while (i < size && at[i] != c) i++;
  return i;
}

bool Str::starts_with(Str prefix) const { return size >= prefix.size && memcmp(at, prefix.at, prefix.size) == 0; }

bool Str::operator==(Str other) const { return size == other.size && memcmp(at, other.at, size) == 0; }

void *take_memory(size_t bytes) {
  constexpr size_t alignment = 128, chunk = 1 << 20, limit = size_t(4) << 30;
  static struct {
    u8 *at;
    size_t left, total;
  } memory;
  if (bytes > limit || memory.total + bytes > limit) FAIL("out of memory: ", static_cast<u64>(bytes), " bytes asked for");
  bytes = (bytes + alignment - 1) / alignment * alignment;
  if (bytes > memory.left) {
    size_t fresh = bytes > chunk ? bytes : chunk;
    memory.at = static_cast<u8 *>(sys::map(fresh, -1));
    if (!memory.at) {
      print("out of memory\n"); // FAIL itself needs some
      sys::exit(1);
    }
    memory.left = fresh;
    memory.total += fresh;
  }
  void *start = memory.at;
  memory.at += bytes;
  memory.left -= bytes;
  return start;
}

Text &Text::operator<<(Str s) {
  if (s.size >= capacity_ - size_) {
    size_t capacity = 2 * (size_ + s.size) + 64;
    auto grown = take<char>(capacity);
    memcpy(grown, at_, size_);
    at_ = grown;
    capacity_ = capacity;
  }
  memcpy(at_ + size_, s.at, s.size);
  size_ += s.size;
  return *this;
}

Text &Text::operator<<(u64 n) {
  char digits[20];
  size_t start = sizeof digits;
  do {
    digits[--start] = static_cast<char>('0' + n % 10);
    n /= 10;
  } while (n);
  return *this << Str(digits + start, sizeof digits - start);
}

Text &Text::operator<<(i32 n) {
  if (n < 0) *this << '-';
  return *this << static_cast<u64>(n < 0 ? -static_cast<i64>(n) : n);
}

Text &Text::hex(u32 n) {
  *this << "0x";
  bool started = false;
  for (int shift = 28; shift >= 0; shift -= 4) {
    u32 digit = n >> shift & 15;
    started = started || digit || shift == 0;
    if (started) *this << "0123456789abcdef"[digit];
  }
  return *this;
}

Text &Text::right(Str s, size_t width) {
  for (size_t n = s.size; n < width; n++) *this << ' ';
  return *this << s;
}

Text &Text::hundredths(u64 n, size_t width) {
  Text digits;
  digits << n / 100 << '.' << n / 10 % 10 << n % 10;
  return right(digits.str(), width);
}

const char *Text::c_str() {
  *this << '\0';
  size_--;
  return at_;
}

void print(Str s) {
  while (s.size) {
    i64 n = sys::write(1, s.at, s.size);
    if (n <= 0) sys::exit(1);  // nobody is listening
    s = s.from(static_cast<size_t>(n));
  }
}

void log_line(Str level, const char *colour, Str file, u32 line, Str message) {
  Text text;
  text << "\x1b[1m\x1b[" << colour << "m" << level << "\x1b[0m " << file << ':' << line << ' ' << message << '\n';
  print(text.str());
}

[[noreturn]] void fail_at(Str file, u32 line, Str message) {
  log_line("[ERROR]", COLOUR_RED, file, line, message);
  sys::exit(1);
}

File map_file(const char *path) {
  File file;
  i32 fd = sys::open(path);
  if (fd < 0) return file;
  i64 size = sys::size(fd);
  if (size > 0) file.at = static_cast<const u8 *>(sys::map(static_cast<size_t>(size), fd));
  file.found = size == 0 || file.at != nullptr;
  file.size = file.at ? static_cast<size_t>(size) : 0;
  sys::close(fd);
  return file;
}

bool file_exists(const char *path) {
  i32 fd = sys::open(path);
  if (fd >= 0) sys::close(fd);
  return fd >= 0;
}
