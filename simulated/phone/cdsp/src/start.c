/* Where qemu-hexagon enters: r29 points at argc, argv. */
#include "shell.h"

__asm__(
    ".globl _start\n"
    ".type _start,@function\n"
    "_start:\n"
    "  r0 = r29\n"
    "  r29 = and(r29,#-128)\n" /* aligned vectors may be spilled to the stack */
    "  r30 = #0\n"
    "  jump shell_start\n");

_Noreturn void shell_start(const uint32_t *stack) {
  struct text text = {0};
  const char *name = stack[0] == 2 ? (const char *)stack[2] : "";
  uint32_t arch = arch_parse(name);
  if (!arch) {
    text_add(&text, "usage: fastrpc_shell_3 ARCH, for example v79: the arch of the DSP that this is; it serves frames on fd 0 and 1");
    text_log(&text);
    sys_exit(2);
  }
  sys_exit(serve(arch));
}
