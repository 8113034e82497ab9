// Runs one op of the package it is linked with: a request on fd 0, the answer on fd 1.
//
// Request: u32 length and name of the op, u32 outputs, u32 inputs, 32 bytes for each tensor (dtype, dims[4], scale,
// zero_point, bytes), the inputs' data. Answer: u32 result, then for each output its 32 bytes and its data.
#include "HTP/core/open_abi.h"

typedef __SIZE_TYPE__ size;

static long call(long number, long a, const void *b, size c) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a;
  register const void *x1 __asm__("x1") = b;
  register size x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}

void *memcpy(void *to, const void *from, size n) {
  for (size i = 0; i < n; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}
void *memset(void *to, int value, size n) {
  for (size i = 0; i < n; i++) ((volatile char *)to)[i] = (char)value;
  return to;
}

static unsigned char request[1 << 20] __attribute__((aligned(128))), memory[1 << 20] __attribute__((aligned(128)));

extern void (*__init_array_start[])(void), (*__init_array_end[])(void);

__attribute__((noreturn)) void _start(void) {
  for (void (**f)(void) = __init_array_start; f < __init_array_end; f++) (*f)();
  size got = 0;
  for (long n; (n = call(63, 0, request + got, sizeof request - got)) > 0;) got += (size)n;

  const unsigned char *at = request;
  uint32_t length, count[2];
  char op[64] = {0};
  memcpy(&length, at, 4);
  memcpy(op, at + 4, length);
  memcpy(count, at + 4 + length, 8);
  at += 12 + length;
  open_tensor tensors[16];
  const uint32_t total = count[0] + count[1];
  for (uint32_t i = 0; i < total; i++, at += 32) memcpy(&tensors[i], at, 32);
  size used = 0;
  for (uint32_t i = 0; i < total; i++) {
    tensors[i].data = memory + used;
    used += (tensors[i].bytes + 127) & ~127u;
    if (i < count[0]) continue;
    memcpy(tensors[i].data, at, tensors[i].bytes);
    at += tensors[i].bytes;
  }
  const uint32_t result = (uint32_t)open_op_execute(op, tensors, count[0], tensors + count[0], count[1]);
  call(64, 1, &result, 4);
  for (uint32_t i = 0; i < count[0]; i++) {
    call(64, 1, &tensors[i], 32);
    call(64, 1, tensors[i].data, tensors[i].bytes);
  }
  call(93, 0, 0, 0);
  __builtin_unreachable();
}
