/* sum: the SHA-256 of each file that standard input names, one a line, as sha256sum prints it. A file that cannot be read has no line
   on standard output and one on standard error; then the exit code is 1, after all others were read. */
#include "agent.h"

enum { BUFFER_BYTES = 256 << 10 };

static int64_t hash(const char *name, bool portable, uint8_t sum[SHA256_BYTES]) {
  static uint8_t buffer[BUFFER_BYTES];
  int fd = sys_open(name);
  if (fd < 0) return fd;
  sys_read_ahead(fd);
  struct sha256 h;
  sha256_start(&h, portable);
  int64_t n;
  while ((n = sys_read(fd, buffer, BUFFER_BYTES)) > 0) sha256_add(&h, buffer, (size_t)n);
  sys_close(fd);
  if (n < 0) return n;
  sha256_end(&h, sum);
  return 0;
}

/* one prints the sum of a file; false when there is none, or nobody to print it for. */
static bool one(const char *name, bool portable) {
  static struct text line;
  uint8_t sum[SHA256_BYTES];
  int64_t error = hash(name, portable, sum);
  if (error < 0) {
    complain("cannot read", name, error);
    return false;
  }
  for (int i = 0; i < SHA256_BYTES; i++) {
    static const char digits[] = "0123456789abcdef";
    char two[3] = {digits[sum[i] >> 4], digits[sum[i] & 15], 0};
    text_add(&line, two);
  }
  text_add(&line, "  ");
  text_add(&line, name);
  text_add(&line, "\n");
  return text_write(&line, 1);
}

int sum(int argc, char **argv) {
  bool portable = argc == 1 && equal(argv[0], "--portable");
  if (argc > portable) {
    complain("sum knows no argument", argv[0], 0);
    return EXIT_USAGE;
  }
  static char input[4096], name[4096];
  size_t bytes = 0;
  bool ok = true, too_long = false;
  for (int64_t n; (n = sys_read(0, input, sizeof input)) != 0;) {
    if (n < 0) {
      complain("cannot read", "standard input", n);
      return 1;
    }
    for (int64_t i = 0; i < n; i++) {
      if (input[i] != '\n') {
        if (bytes < sizeof name - 1) name[bytes++] = input[i];
        else too_long = true;
        continue;
      }
      name[bytes] = 0;
      if (too_long) complain("too long a name:", name, 0), ok = false;
      else if (bytes && !one(name, portable)) ok = false;
      bytes = 0, too_long = false;
    }
  }
  if (bytes) {
    name[bytes] = 0;
    if (too_long || !one(name, portable)) ok = false;
  }
  return ok ? 0 : 1;
}
