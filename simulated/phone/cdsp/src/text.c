/* Bytes and strings, for the shell itself and for the libraries it loads.
 * Compiled with -fno-builtin, or the compiler would turn these loops into calls of themselves. */
#include "shell.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  uint8_t *t = to;
  const uint8_t *f = from;
  if ((((uintptr_t)t ^ (uintptr_t)f) & 7) == 0) {
    for (; bytes && ((uintptr_t)t & 7); bytes--) *t++ = *f++;
    for (; bytes >= 8; bytes -= 8, t += 8, f += 8) *(uint64_t *)t = *(const uint64_t *)f;
  }
  while (bytes--) *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
  uint8_t *t = to;
  const uint8_t *f = from;
  if (t <= f || t >= f + bytes) return memcpy(to, from, bytes);
  while (bytes--) t[bytes] = f[bytes];
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  uint8_t *t = to;
  uint64_t word = (uint8_t)value * 0x0101010101010101ull;
  for (; bytes && ((uintptr_t)t & 7); bytes--) *t++ = (uint8_t)value;
  for (; bytes >= 8; bytes -= 8, t += 8) *(uint64_t *)t = word;
  while (bytes--) *t++ = (uint8_t)value;
  return to;
}

int memcmp(const void *a, const void *b, size_t bytes) {
  const uint8_t *x = a, *y = b;
  for (size_t i = 0; i < bytes; i++) {
    if (x[i] != y[i]) return x[i] - y[i];
  }
  return 0;
}

size_t strlen(const char *text) {
  size_t n = 0;
  while (text[n]) n++;
  return n;
}

int strcmp(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return (unsigned char)*a - (unsigned char)*b;
}

void text_add(struct text *text, const char *piece) {
  for (; *piece && text->length < sizeof text->bytes - 1; piece++) {
    /* A name out of a hostile file must not write control codes to someone's terminal. */
    unsigned char c = (unsigned char)*piece;
    text->bytes[text->length++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
  }
  text->bytes[text->length] = 0;
}

void text_add_hex(struct text *text, uint32_t number) {
  char digits[11] = "0x";
  int n = 2;
  for (int shift = 28; shift >= 0; shift -= 4) {
    unsigned digit = number >> shift & 15;
    if (digit || n > 2 || shift == 0) digits[n++] = "0123456789abcdef"[digit];
  }
  digits[n] = 0;
  text_add(text, digits);
}

void text_add_dec(struct text *text, uint32_t number) {
  char digits[11];
  int at = sizeof digits - 1;
  digits[at] = 0;
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  text_add(text, digits + at);
}

void text_log(const struct text *text) {
  struct text line = {0};
  text_add(&line, "fastrpc_shell_3: ");
  text_add(&line, text->bytes);
  line.bytes[line.length] = '\n'; /* over the final zero */
  sys_write(2, line.bytes, line.length + 1);
}

int fail(struct failure *failure, uint32_t code, const char *piece, const char *piece2) {
  failure->code = code;
  failure->text = (struct text){0};
  text_add(&failure->text, piece);
  if (piece2) text_add(&failure->text, piece2);
  return -1;
}
