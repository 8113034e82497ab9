/* fastrpc_shell_3: what its source files share. No libc; freestanding C for Hexagon v67. */
#ifndef SHELL_H
#define SHELL_H

#include <stddef.h>
#include <stdint.h>

#include "fastrpc_wire.h"

/* system.c: the Linux calls that qemu-hexagon answers. Negative results are -errno. */
int sys_open(const char *path);
int sys_close(int fd);
int sys_read(int fd, void *to, size_t bytes);
int sys_write(int fd, const void *from, size_t bytes);
int64_t sys_size(int fd);                /* length of a regular file, which is then rewound */
void *sys_map(size_t bytes, int execute); /* zeroed pages, or NULL */
void sys_unmap(void *start, size_t bytes);
_Noreturn void sys_exit(int code);
int sys_on_fault(void (*handler)(int signal));

/* text.c */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);

/* A text of bounded length, built piece by piece; what does not fit is cut. */
struct text {
  size_t length;
  char bytes[480];
};
void text_add(struct text *text, const char *piece);
void text_add_hex(struct text *text, uint32_t number);
void text_add_dec(struct text *text, uint32_t number);
void text_log(const struct text *text); /* one line on the device's log, fd 2 */

/* Why a call failed: a FastRPC code and what a person needs to know. */
struct failure {
  uint32_t code;
  struct text text;
};
/* Each returns -1, so that a function can end with `return fail(…)`. piece2 may be NULL. */
int fail(struct failure *failure, uint32_t code, const char *piece, const char *piece2);

/* heap.c: memory for the library's operator new and malloc, 16-byte aligned. */
void *heap_take(size_t bytes);
void heap_give(void *block);
size_t heap_size(const void *block);

/* arch.c: "v79" -> 0x79; 0 when it is no arch. */
uint32_t arch_parse(const char *name);
int arch_accepts(uint32_t device, uint32_t e_flags);

/* symbols.c: what a library may import. NULL when it may not. */
const void *symbol_find(const char *name);


/* simulated_abi.h's tensor; the layout is shared with code built against the simulation headers. */
struct open_tensor {
  uint32_t dtype;
  uint32_t dims[4];
  float scale;
  int32_t zero_point;
  uint32_t bytes;
  void *data;
};

typedef int open_op_execute_fn(const char *op, struct open_tensor *out, uint32_t n_out, const struct open_tensor *in, uint32_t n_in);
typedef const char *open_op_name_fn(uint32_t index);
typedef const char *open_sdk_build_id_fn(void);

/* image.c, relocate.c: a shared object in memory. */
#define IMAGE_MAX_SEGMENTS 16u
struct segment {
  uint32_t start, size, flags;
};
struct image {
  uint8_t *base;
  uint32_t span, e_flags, n_segments;
  struct segment segments[IMAGE_MAX_SEGMENTS];
  uint32_t dynamic, dynamic_size, thread_local;
  uint32_t symbols, n_symbols, strings, strings_size;
  uint32_t rela, rela_size, plt_rela, plt_rela_size;
  uint32_t init, init_array, init_array_size;
  open_op_execute_fn *execute;
  open_op_name_fn *op_name;
  open_sdk_build_id_fn *build_id;
};
enum { SEGMENT_EXECUTE = 1, SEGMENT_WRITE = 2, SEGMENT_READ = 4 };

int image_open(struct image *image, const char *path, uint32_t device_arch, struct failure *failure);
/* Whether the DSP would load the library and find the symbol in it. Nothing of it is kept, and no code of it runs. */
int image_look(const char *path, const char *symbol, uint32_t device_arch, struct failure *failure);
/* Whether [start, start+size) lies in one segment that has every flag asked for. */
int image_holds(const struct image *image, uint32_t start, uint32_t size, uint32_t flags);
uint32_t image_word(const struct image *image, uint32_t start);
/* image_dynamic reads and checks the dynamic table, image_relocate applies its relocations. */
int image_dynamic(struct image *image, struct failure *failure);
int image_relocate(struct image *image, struct failure *failure);
/* Address of an exported symbol relative to base; 0 when it exports none of that name. */
uint32_t image_symbol(const struct image *image, const char *name);

/* serve.c: answers frames on fd 0/1 until the peer hangs up; the exit code. */
int serve(uint32_t device_arch);

#endif
