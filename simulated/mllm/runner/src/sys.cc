// Linux calls on AArch64.
#include "base.h"

namespace {

enum : i64 {
  NR_GETCWD = 17,
  NR_MKDIRAT = 34,
  NR_OPENAT = 56,
  NR_CLOSE = 57,
  NR_LSEEK = 62,
  NR_READ = 63,
  NR_WRITE = 64,
  NR_EXIT_GROUP = 94,
  NR_CLOCK_GETTIME = 113,
  NR_SOCKET = 198,
  NR_CONNECT = 203,
  NR_SENDTO = 206,
  NR_MMAP = 222
};
enum : i64 { AT_FDCWD = -100, EINTR = 4, ENAMETOOLONG = 36 };

i64 call(i64 number, i64 a = 0, i64 b = 0, i64 c = 0, i64 d = 0, i64 e = 0, i64 f = 0) {
  register i64 x8 __asm__("x8") = number;
  register i64 x0 __asm__("x0") = a;
  register i64 x1 __asm__("x1") = b;
  register i64 x2 __asm__("x2") = c;
  register i64 x3 __asm__("x3") = d;
  register i64 x4 __asm__("x4") = e;
  register i64 x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
}

i64 address(const void *p) { return reinterpret_cast<i64>(p); }

}  // namespace

namespace sys {

i32 open(const char *path) { return static_cast<i32>(call(NR_OPENAT, AT_FDCWD, address(path), 0)); }

i32 create(const char *path) {
  enum { WRITE_ONLY = 1, CREATE = 0100, TRUNCATE = 01000 };
  return static_cast<i32>(call(NR_OPENAT, AT_FDCWD, address(path), WRITE_ONLY | CREATE | TRUNCATE, 0644));
}

i32 make_dir(const char *path) { return static_cast<i32>(call(NR_MKDIRAT, AT_FDCWD, address(path), 0755)); }

void close(i32 fd) { call(NR_CLOSE, fd); }

i64 read(i32 fd, void *to, size_t bytes) {
  i64 n;
  do {
    n = call(NR_READ, fd, address(to), static_cast<i64>(bytes));
  } while (n == -EINTR);
  return n;
}

i64 write(i32 fd, const void *from, size_t bytes) {
  i64 n;
  do {
    n = call(NR_WRITE, fd, address(from), static_cast<i64>(bytes));
  } while (n == -EINTR);
  return n;
}

i64 size(i32 fd) {
  enum { FROM_START = 0, FROM_END = 2 };
  i64 n = call(NR_LSEEK, fd, 0, FROM_END);
  i64 back = call(NR_LSEEK, fd, 0, FROM_START);
  return back < 0 ? back : n;
}

void *map(size_t bytes, i32 fd) {
  enum { READ = 1, WRITE = 2, PRIVATE = 2, ANONYMOUS = 0x20 };
  i64 at = call(NR_MMAP, 0, static_cast<i64>(bytes), fd < 0 ? READ | WRITE : READ, fd < 0 ? PRIVATE | ANONYMOUS : PRIVATE, fd, 0);
  return at < 0 && at > -4096 ? nullptr : reinterpret_cast<void *>(at);
}

i32 connect_unix(const char *path) {
  enum { UNIX = 1, STREAM = 1, CLOSE_ON_EXEC = 02000000 };
  struct {
    u16 family;
    char path[108];
  } name = {UNIX, {}};
  size_t n = __builtin_strlen(path);
  if (n >= sizeof name.path) return -ENAMETOOLONG;
  memcpy(name.path, path, n);
  i32 fd = static_cast<i32>(call(NR_SOCKET, UNIX, STREAM | CLOSE_ON_EXEC, 0));
  if (fd < 0) return fd;
  i64 result = call(NR_CONNECT, fd, address(&name), static_cast<i64>(sizeof name.family + n + 1));
  if (result == 0) return fd;
  close(fd);
  return static_cast<i32>(result);
}

i64 send(i32 fd, const void *from, size_t bytes) {
  enum { NO_SIGNAL = 0x4000 };
  i64 n;
  do {
    n = call(NR_SENDTO, fd, address(from), static_cast<i64>(bytes), NO_SIGNAL);
  } while (n == -EINTR);
  return n;
}

i32 working_dir(char *to, size_t bytes) { return static_cast<i32>(call(NR_GETCWD, address(to), static_cast<i64>(bytes))); }

u64 microseconds() {
  enum { MONOTONIC = 1 };
  struct {
    i64 seconds, nanoseconds;
  } now = {};
  call(NR_CLOCK_GETTIME, MONOTONIC, address(&now));
  return static_cast<u64>(now.seconds) * 1000000u + static_cast<u64>(now.nanoseconds) / 1000u;
}

[[noreturn]] void exit(i32 code) {
  call(NR_EXIT_GROUP, code);
  __builtin_trap();
}

}  // namespace sys
