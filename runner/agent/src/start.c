/* Where Linux enters, and the system calls. */
#include "agent.h"

enum { NR_OPENAT = 56, NR_CLOSE = 57, NR_READ = 63, NR_WRITE = 64, NR_EXIT_GROUP = 94, NR_FADVISE64 = 223 };
enum { EINTR = 4, AT_FDCWD = -100, O_CLOEXEC = 02000000 };
enum { AT_NULL = 0, AT_HWCAP = 16 };

struct machine machine;

static int64_t call(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
  register int64_t x8 __asm__("x8") = number;
  register int64_t x0 __asm__("x0") = a;
  register int64_t x1 __asm__("x1") = b;
  register int64_t x2 __asm__("x2") = c;
  register int64_t x3 __asm__("x3") = d;
  register int64_t x4 __asm__("x4") = e;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory", "cc");
  return x0;
}

int sys_open(const char *path) { return (int)call(NR_OPENAT, AT_FDCWD, (int64_t)path, O_CLOEXEC, 0, 0); }

void sys_close(int fd) { call(NR_CLOSE, fd, 0, 0, 0, 0); }

int64_t sys_read(int fd, void *to, size_t bytes) {
  int64_t n;
  do {
    n = call(NR_READ, fd, (int64_t)to, (int64_t)bytes, 0, 0);
  } while (n == -EINTR);
  return n;
}

int64_t sys_write(int fd, const void *from, size_t bytes) {
  int64_t n;
  do {
    n = call(NR_WRITE, fd, (int64_t)from, (int64_t)bytes, 0, 0);
  } while (n == -EINTR);
  return n;
}

void sys_read_ahead(int fd) {
  enum { SEQUENTIAL = 2 };
  call(NR_FADVISE64, fd, 0, 0, SEQUENTIAL, 0);
}

_Noreturn void sys_exit(int code) {
  call(NR_EXIT_GROUP, code, 0, 0, 0, 0);
  __builtin_trap();
}

__asm__(
    ".globl _start\n"
    ".type _start,%function\n"
    "_start:\n"
    "  mov x29, #0\n"
    "  mov x30, #0\n"
    "  mov x0, sp\n"
    "  b agent_start\n");

_Noreturn __attribute__((used)) void agent_start(uint64_t *stack) {
  int argc = (int)stack[0];
  char **argv = (char **)(stack + 1);
  uint64_t *at = stack + 1 + argc + 1;
  while (*at) at++; /* the environment */
  for (at++; *at != AT_NULL; at += 2) {
    if (at[0] == AT_HWCAP) machine.hwcap = at[1];
  }
  if (argc >= 2 && equal(argv[1], "sum")) sys_exit(sum(argc - 2, argv + 2));
  static const char usage[] = "usage: hexmage-agent sum [--portable] <names\n";
  sys_write(2, usage, sizeof usage - 1);
  sys_exit(EXIT_USAGE);
}
