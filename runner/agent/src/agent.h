/* hexmage-agent computes SHA-256 on a device. Freestanding, AArch64 Linux: no libc, no allocation, no threads. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* start.c: Linux. What fails gives a negative errno. */
enum { EXIT_USAGE = 2, HWCAP_SHA2 = 1 << 6 };
struct machine {
  uint64_t hwcap;
};
extern struct machine machine;

int sys_open(const char *path);
void sys_close(int fd);
int64_t sys_read(int fd, void *to, size_t bytes);
int64_t sys_write(int fd, const void *from, size_t bytes);
void sys_read_ahead(int fd); /* the program reads the file from start to end */
_Noreturn void sys_exit(int code);

/* text.c: text in buffers of fixed size; what does not fit is cut off */
enum { TEXT_BYTES = 8192 };
struct text {
  char data[TEXT_BYTES];
  size_t bytes;
};
void text_add(struct text *t, const char *s);
void text_number(struct text *t, int64_t n);
bool text_write(struct text *t, int fd);                         /* and empties it */
void complain(const char *what, const char *name, int64_t error); /* on standard error */

bool equal(const char *a, const char *b);
size_t length(const char *s);
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);

/* sha256.c, sha256_armv8.c */
enum { SHA256_BLOCK = 64, SHA256_BYTES = 32 };
extern const uint32_t sha256_constants[64];
typedef void sha256_compress(uint32_t state[8], const uint8_t *data, size_t blocks);
sha256_compress sha256_compress_portable, sha256_compress_armv8;
struct sha256 {
  sha256_compress *compress;
  uint32_t state[8];
  uint64_t bytes;
  uint8_t rest[SHA256_BLOCK];
};
void sha256_start(struct sha256 *h, bool portable);
void sha256_add(struct sha256 *h, const void *data, size_t bytes);
void sha256_end(struct sha256 *h, uint8_t sum[SHA256_BYTES]);

int sum(int argc, char **argv);
