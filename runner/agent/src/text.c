/* Text, numbers, paths and small files. */
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

bool starts_with(const char *s, const char *prefix) {
  while (*prefix && *s == *prefix) s++, prefix++;
  return !*prefix;
}

void text_add(struct text *t, const char *s) {
  while (*s && t->bytes < TEXT_BYTES) t->data[t->bytes++] = *s++;
}

const char *decimal(int64_t n, char to[24]) {
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

void text_printable(struct text *t, const char *s, size_t most) {
  for (; *s && most; s++, most--) {
    char one[2] = {*s > ' ' && *s < 127 ? *s : '_', 0};
    text_add(t, one);
  }
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

bool path_join(char to[PATH_BYTES], const char *a, const char *b, const char *c, const char *d) {
  const char *parts[] = {a, b, c, d};
  size_t n = 0;
  for (int i = 0; i < 4; i++) {
    for (const char *s = parts[i]; s && *s; s++) {
      if (n == PATH_BYTES - 1) return false;
      to[n++] = *s;
    }
  }
  to[n] = 0;
  return true;
}

const char *number_at(const char *s, int64_t *n) {
  while (*s == ' ' || *s == '\t') s++;
  bool negative = *s == '-';
  if (negative) s++;
  if (*s < '0' || *s > '9') return NULL;
  uint64_t value = 0;
  for (; *s >= '0' && *s <= '9'; s++) {
    if (value > (uint64_t)INT64_MAX / 10 - 1) return NULL;
    value = value * 10 + (uint64_t)(*s - '0');
  }
  *n = negative ? -(int64_t)value : (int64_t)value;
  return s;
}

int64_t file_text(const char *path, char *to, size_t bytes) {
  int fd = sys_open(path);
  if (fd < 0) return fd;
  size_t done = 0;
  int64_t n = 0;
  while (done < bytes - 1 && (n = sys_read(fd, to + done, bytes - 1 - done)) > 0) done += (size_t)n;
  sys_close(fd);
  if (n < 0) return n;
  while (done && (unsigned char)to[done - 1] <= ' ') done--;
  to[done] = 0;
  return (int64_t)done;
}
