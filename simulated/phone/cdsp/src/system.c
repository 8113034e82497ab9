/* The few Linux system calls the shell makes; qemu-hexagon answers the asm-generic numbers. */
#include "shell.h"

enum { NR_OPENAT = 56, NR_CLOSE = 57, NR_LLSEEK = 62, NR_READ = 63, NR_WRITE = 64, NR_EXIT_GROUP = 94, NR_SIGACTION = 134, NR_MUNMAP = 215, NR_MMAP2 = 222 };
enum { SEEK_FROM_START = 0, SEEK_FROM_END = 2, EINTR = 4, AT_FDCWD = -100 };

static int call(int number, int a, int b, int c, int d, int e, int f) {
  register int r0 __asm__("r0") = a;
  register int r1 __asm__("r1") = b;
  register int r2 __asm__("r2") = c;
  register int r3 __asm__("r3") = d;
  register int r4 __asm__("r4") = e;
  register int r5 __asm__("r5") = f;
  register int r6 __asm__("r6") = number;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5), "r"(r6) : "memory");
  return r0;
}

int sys_open(const char *path) { return call(NR_OPENAT, AT_FDCWD, (int)path, 0, 0, 0, 0); }

int sys_close(int fd) { return call(NR_CLOSE, fd, 0, 0, 0, 0, 0); }

int sys_read(int fd, void *to, size_t bytes) {
  int n;
  do {
    n = call(NR_READ, fd, (int)to, (int)bytes, 0, 0, 0);
  } while (n == -EINTR);
  return n;
}

int sys_write(int fd, const void *from, size_t bytes) {
  int n;
  do {
    n = call(NR_WRITE, fd, (int)from, (int)bytes, 0, 0, 0);
  } while (n == -EINTR);
  return n;
}

int64_t sys_size(int fd) {
  int64_t at = 0;
  int n = call(NR_LLSEEK, fd, 0, 0, (int)&at, SEEK_FROM_END, 0);
  if (n < 0) return n;
  int64_t ignored = 0;
  n = call(NR_LLSEEK, fd, 0, 0, (int)&ignored, SEEK_FROM_START, 0);
  return n < 0 ? n : at;
}

void *sys_map(size_t bytes, int execute) {
  enum { READ_WRITE = 3, EXECUTE = 4, PRIVATE_ANONYMOUS = 0x22 };
  uint32_t at = (uint32_t)call(NR_MMAP2, 0, (int)bytes, READ_WRITE | (execute ? EXECUTE : 0), PRIVATE_ANONYMOUS, -1, 0);
  return at > 0xfffff000u ? NULL : (void *)at;
}

void sys_unmap(void *start, size_t bytes) { call(NR_MUNMAP, (int)start, (int)bytes, 0, 0, 0, 0); }

_Noreturn void sys_exit(int code) {
  call(NR_EXIT_GROUP, code, 0, 0, 0, 0, 0);
  __builtin_trap();
}

int sys_on_fault(void (*handler)(int signal)) {
  enum { SIGILL = 4, SIGBUS = 7, SIGFPE = 8, SIGSEGV = 11, SIGNAL_SET_BYTES = 8 };
  static const int signals[] = {SIGILL, SIGBUS, SIGFPE, SIGSEGV};
  struct {
    void (*handler)(int);
    uint32_t flags;
    void *restorer;
    uint32_t mask[2];
  } action = {.handler = handler};
  for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
    int n = call(NR_SIGACTION, signals[i], (int)&action, 0, SIGNAL_SET_BYTES, 0, 0);
    if (n < 0) return n;
  }
  return 0;
}
