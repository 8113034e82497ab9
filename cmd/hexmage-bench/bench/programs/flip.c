/* flip OUT IN: copies a file with all bits inverted, 1 MiB at a time. */
#include "sys.h"

static unsigned char b[1 << 20] __attribute__((aligned(64)));

int main(int argc, char **argv) {
  if (argc != 3) return 1;
  int i = open(argv[2], O_RDONLY, 0), o = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (i < 0 || o < 0) return 2;
  for (;;) {
    long n = read(i, b, sizeof b);
    if (n <= 0) return n < 0 ? 3 : 0;
    for (long k = 0; k < n; k++) b[k] = (unsigned char)~b[k];
    if (write(o, b, n) != n) return 4;
  }
}
