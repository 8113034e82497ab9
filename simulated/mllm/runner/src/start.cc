// Where the kernel enters: sp points at argc, argv, NULL, envp.
#include "main.h"

__asm__(
    ".globl _start\n"
    ".type _start,%function\n"
    "_start:\n"
    "  mov x29, #0\n"
    "  mov x30, #0\n"
    "  mov x0, sp\n"
    "  and sp, x0, #-16\n"
    "  b runner_start\n");

namespace {
const char *const *variables;
}

extern "C" [[noreturn]] void runner_start(const u64 *stack) {
  int count = static_cast<int>(stack[0]);
  auto arguments = reinterpret_cast<const char *const *>(stack + 1);
  variables = arguments + count + 1;
  sys::exit(run(count, arguments));
}

Str environment(Str name) {
  for (auto v = variables; *v; v++) {
    Str entry(*v);
    if (entry.starts_with(name) && entry.size > name.size && entry.at[name.size] == '=') return entry.from(name.size + 1);
  }
  return {};
}
