/* Text and numbers. */
#include "agent.h"

void *memcpy(void *to, const void *from, size_t bytes) {
  unsigned char *t = to;
  const unsigned char *f = from;
  for (; bytes; bytes--) *t++ = *f++;
  return to;
}

void *memset(void *to, int byte, size_t bytes) {
  unsigned char *t = to;
  for (; bytes; bytes--) *t++ = (unsigned char)byte;
  return to;
}

size_t length(const char *s) {
  size_t n = 0;
  while (s[n]) n++;
  return n;
}

bool equal(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

void text_add(struct text *t, const char *s) {
  while (*s && t->bytes < TEXT_BYTES) t->data[t->bytes++] = *s++;
}

static const char *decimal(int64_t n, char to[24]) {
  char *at = to + 23;
  uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
  *at = 0;
  do {
    *--at = (char)('0' + left % 10);
    left /= 10;
  } while (left);
  if (n < 0) *--at = '-';
  return at;
}

void text_number(struct text *t, int64_t n) {
  char digits[24];
  text_add(t, decimal(n, digits));
}

bool text_write(struct text *t, int fd) {
  size_t done = 0;
  while (done < t->bytes) {
    int64_t n = sys_write(fd, t->data + done, t->bytes - done);
    if (n <= 0) break;
    done += (size_t)n;
  }
  bool all = done == t->bytes;
  t->bytes = 0;
  return all;
}

void complain(const char *what, const char *name, int64_t error) {
  static struct text t;
  text_add(&t, "hexmage-agent: ");
  text_add(&t, what);
  text_add(&t, " ");
  text_add(&t, name);
  if (error < 0) {
    text_add(&t, ": error ");
    text_number(&t, -error);
  }
  text_add(&t, "\n");
  text_write(&t, 2);
}
