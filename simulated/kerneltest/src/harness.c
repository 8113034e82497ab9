// Runs ops of the package it is linked with, built for AArch64 with the ops' reference branches: requests on fd 0, answers
// on fd 1, until there are no more.
//
// Request: u32 length of all that follows, u32 length and name of the op, u32 outputs, u32 inputs, 32 bytes for each tensor
// (dtype, dims[4], scale, zero_point, bytes), the inputs' data. Answer: u32 length of all that follows, u32 result, and if
// that is 0 for each output its 32 bytes and its data, of which as much counts as its dims say.
#include "HTP/core/simulated_abi.h"

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes); // text.c's, as are these
void *memset(void *to, int value, size_t bytes);

enum { most = 64 << 20, heap = 64 << 20, tensors = 16 };

static long call(long number, long a, const void *b, size_t c) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a;
  register const void *x1 __asm__("x1") = b;
  register size_t x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}

// text.c wants these.
int sys_write(int fd, const void *from, size_t bytes) { return (int)call(64, fd, from, bytes); }

// What C++ sources may call, as far as packages for the simulated DSP may.
static unsigned char pool[heap] __attribute__((aligned(128)));
static size_t pooled;
void *malloc(size_t bytes) {
  bytes = (bytes + 127) & ~(size_t)127;
  if (bytes > sizeof pool - pooled) return 0;
  pooled += bytes;
  return pool + pooled - bytes;
}
void free(void *block) { (void)block; }
void *calloc(size_t n, size_t size) { return malloc(n * size); } // the pool is zero, and used once
_Noreturn void abort(void) {
  call(93, 134, 0, 0);
  __builtin_unreachable();
}
void __cxa_pure_virtual(void) { abort(); }
int __cxa_atexit(void (*f)(void *), void *a, void *d) {
  (void)f, (void)a, (void)d;
  return 0;
}
void *operator_new(size_t bytes) __asm__("_Znwm");
void *operator_new(size_t bytes) { return malloc(bytes); }
void *operator_new_array(size_t bytes) __asm__("_Znam");
void *operator_new_array(size_t bytes) { return malloc(bytes); }
void operator_delete(void *block) __asm__("_ZdlPv");
void operator_delete(void *block) { (void)block; }
void operator_delete_array(void *block) __asm__("_ZdaPv");
void operator_delete_array(void *block) { (void)block; }
void operator_delete_sized(void *block, size_t bytes) __asm__("_ZdlPvm");
void operator_delete_sized(void *block, size_t bytes) { (void)block, (void)bytes; }

static unsigned char request[most] __attribute__((aligned(128))), memory[most] __attribute__((aligned(128)));

static int get(void *to, size_t bytes) {
  for (size_t got = 0; got < bytes;) {
    const long n = call(63, 0, (char *)to + got, bytes - got);
    if (n <= 0) return 0;
    got += (size_t)n;
  }
  return 1;
}

static void put(const void *from, size_t bytes) {
  while (bytes) {
    const long n = call(64, 1, from, bytes);
    if (n <= 0) abort();
    from = (const char *)from + n;
    bytes -= (size_t)n;
  }
}

extern void (*__init_array_start[])(void), (*__init_array_end[])(void);

__attribute__((noreturn)) void _start(void) {
  for (void (**f)(void) = __init_array_start; f < __init_array_end; f++) (*f)();
  for (uint32_t size; get(&size, 4);) {
    if (size > sizeof request || !get(request, size)) abort();
    const unsigned char *at = request;
    uint32_t length, count[2];
    char op[128] = {0};
    memcpy(&length, at, 4);
    if (length >= sizeof op) abort();
    memcpy(op, at + 4, length);
    memcpy(count, at + 4 + length, 8);
    at += 12 + length;
    open_tensor t[tensors];
    const uint32_t total = count[0] + count[1];
    if (total > tensors) abort();
    for (uint32_t i = 0; i < total; i++, at += 32) memcpy(&t[i], at, 32);
    size_t used = 0;
    for (uint32_t i = 0; i < total; i++) {
      t[i].data = memory + used;
      used += (t[i].bytes + 127) & ~127u;
      if (used > sizeof memory) abort();
      if (i < count[0]) {
        memset(t[i].data, 0, t[i].bytes);
        continue;
      }
      memcpy(t[i].data, at, t[i].bytes);
      at += t[i].bytes;
    }
    const uint32_t result = (uint32_t)open_op_execute(op, t, count[0], t + count[0], count[1]);
    uint32_t answer = 4;
    for (uint32_t i = 0; !result && i < count[0]; i++) answer += 32 + t[i].bytes;
    put(&answer, 4);
    put(&result, 4);
    for (uint32_t i = 0; !result && i < count[0]; i++) {
      put(&t[i], 32);
      put(t[i].data, t[i].bytes);
    }
  }
  call(93, 0, 0, 0);
  __builtin_unreachable();
}
