/* Hexagon arch names and the e_flags that carry them. */
#include "shell.h"

static int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : -1; }

uint32_t arch_parse(const char *name) {
  if (name[0] != 'v' || digit(name[1]) < 0 || digit(name[2]) < 0 || name[3] != 0) return 0;
  return (uint32_t)(digit(name[1]) << 4 | digit(name[2]));
}

/* A DSP runs code of its own arch and of older ones. The arch is in the low byte of e_flags, as two decimal digits in hex;
 * bit 15 marks the small cores ("v67t", "v71t"), whose code is a subset. Anything else is not understood and refused. */
int arch_accepts(uint32_t device, uint32_t e_flags) {
  uint32_t arch = e_flags & 0xff;
  if (e_flags & ~0x80ffu) return 0;
  return arch >= 0x60 && (arch & 15) <= 9 && arch <= device;
}
