/* What the sources here use of the C library of arm64 Linux. Its headers are not needed for so little. */
#ifndef LIBC_H
#define LIBC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int snprintf(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int fflush(void *stream);
void *fopen(const char *path, const char *mode);
int fseek(void *stream, long offset, int whence);
long ftell(void *stream);
size_t fread(void *to, size_t size, size_t count, void *stream);

void *malloc(size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes);
void free(void *block);
char *getenv(const char *name);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t bytes);
void *memcpy(void *to, const void *from, size_t bytes);

void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
char *dlerror(void);

int socket(int domain, int type, int protocol);
int connect(int fd, const void *address, unsigned length);
char *getcwd(char *to, size_t size);
int close(int fd);
int access(const char *path, int mode);
long read(int fd, void *to, size_t bytes);
long write(int fd, const void *from, size_t bytes);

enum { RTLD_NOW = 2, F_OK = 0, AF_UNIX = 1, SOCK_STREAM = 1, SOCK_CLOEXEC = 02000000, SEEK_SET = 0, SEEK_END = 2 };

#endif
