/* The four calls that the programs here make: from the C library, or with -DFREESTANDING from nothing, for a compiler that
   came without headers and library (x86-64 and AArch64 Linux). */
#ifdef FREESTANDING
#define O_RDONLY 0
#define O_WRONLY 01
#define O_CREAT 0100
#define O_TRUNC 01000
#if defined(__x86_64__)
enum { SYS_read = 0, SYS_write = 1, SYS_close = 3, SYS_exit = 60, SYS_openat = 257 };
static long sys(long n, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  long r;
  __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return r;
}
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call start\n");
#else
enum { SYS_read = 63, SYS_write = 64, SYS_close = 57, SYS_exit = 93, SYS_openat = 56 };
static long sys(long n, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = n;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
__asm__(".globl _start\n_start: mov x0, sp\n bl start\n");
#endif
static int open(const char *path, int flags, int mode) { return (int)sys(SYS_openat, -100, (long)path, flags, mode); }
static long read(int f, void *b, long n) { return sys(SYS_read, f, (long)b, n, 0); }
static long write(int f, const void *b, long n) { return sys(SYS_write, f, (long)b, n, 0); }
__attribute__((unused)) static int close(int f) { return (int)sys(SYS_close, f, 0, 0, 0); }
int main(int argc, char **argv);
void start(long *stack) {
  sys(SYS_exit, main((int)stack[0], (char **)(stack + 1)), 0, 0, 0);
  for (;;) {
  }
}
#else
#include <fcntl.h>
#include <unistd.h>
#endif
