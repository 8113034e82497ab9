/* What a library may import: the functions a real DSP's runtime would give it, as far as op packages use them. */
#include "shell.h"

static _Noreturn void die(const char *why) {
  struct text text = {0};
  text_add(&text, why);
  text_log(&text);
  __builtin_trap(); /* the fault handler tells the peer */
}

void abort(void) { die("the library called abort()"); }
void __cxa_pure_virtual(void) { die("the library called a pure virtual function"); }

/* The C++ ABI's one-time guard: the first byte says that the object is constructed. */
int __cxa_guard_acquire(uint8_t *guard) { return *guard == 0; }
void __cxa_guard_release(uint8_t *guard) { *guard = 1; }
void __cxa_guard_abort(uint8_t *guard) { *guard = 0; }
void __cxa_finalize(void *library) { (void)library; }

/* Libraries stay loaded until the domain ends, so no destructor runs. */
int __cxa_atexit(void (*destroy)(void *), void *object, void *library) {
  (void)destroy, (void)object, (void)library;
  return 0;
}

void *malloc(size_t bytes) { return heap_take(bytes); }
void free(void *block) { heap_give(block); }

void *calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  void *block = heap_take(bytes);
  return block ? memset(block, 0, bytes) : NULL;
}

void *realloc(void *block, size_t bytes) {
  void *grown = heap_take(bytes);
  if (!grown || !block) return grown;
  size_t old = heap_size(block);
  memcpy(grown, block, old < bytes ? old : bytes);
  heap_give(block);
  return grown;
}

static void *operator_new(size_t bytes) {
  void *block = heap_take(bytes);
  if (!block) die("operator new: out of memory");
  return block;
}

static void operator_delete_sized(void *block, size_t bytes) {
  (void)bytes;
  heap_give(block);
}

int strncmp(const char *a, const char *b, size_t n) {
  for (; n && *a && *a == *b; n--) a++, b++;
  return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

char *strchr(const char *text, int c) {
  for (;; text++) {
    if (*text == (char)c) return (char *)text;
    if (!*text) return NULL;
  }
}

char *strrchr(const char *text, int c) {
  char *found = NULL;
  for (;; text++) {
    if (*text == (char)c) found = (char *)text;
    if (!*text) return found;
  }
}

char *strcpy(char *to, const char *from) {
  memcpy(to, from, strlen(from) + 1);
  return to;
}

char *strncpy(char *to, const char *from, size_t n) {
  size_t i = 0;
  for (; i < n && from[i]; i++) to[i] = from[i];
  for (; i < n; i++) to[i] = 0;
  return to;
}

char *strcat(char *to, const char *from) {
  strcpy(to + strlen(to), from);
  return to;
}

char *strstr(const char *text, const char *piece) {
  size_t n = strlen(piece);
  for (; strncmp(text, piece, n) != 0; text++) {
    if (!*text) return NULL;
  }
  return (char *)text;
}

void *memchr(const void *memory, int c, size_t n) {
  for (const uint8_t *at = memory; n--; at++) {
    if (*at == (uint8_t)c) return (void *)at;
  }
  return NULL;
}

/* A line on the device's log, for libraries that want to say something. */
void open_log(const char *line) {
  struct text text = {0};
  text_add(&text, line);
  text_log(&text);
}

/* clang calls this for a copy that is known to be aligned and a multiple of 8 bytes. */
void *__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to, const void *from, size_t bytes) { return memcpy(to, from, bytes); }

#define IMPORTS(X)                                                                                                      \
  X(__hexagon_udivsi3) X(__hexagon_umodsi3) X(__hexagon_divsi3) X(__hexagon_modsi3)                                     \
  X(__hexagon_udivdi3) X(__hexagon_umoddi3) X(__hexagon_divdi3) X(__hexagon_moddi3) X(__hexagon_divdf3)                 \
  X(__extendhfsf2) X(__truncsfhf2) X(sqrt) X(sqrtf) X(floorf) X(ceilf) X(truncf) X(roundf) X(rintf) X(fabsf) X(fminf) X(fmaxf)                                   \
  X(expf) X(logf) X(powf) X(tanhf) X(sinf) X(cosf)

#define DECLARE(name) extern void name();
IMPORTS(DECLARE)

#define ENTRY(name) {#name, (const void *)name},
static const struct {
  const char *name;
  const void *address;
} imports[] = {
    IMPORTS(ENTRY)
    ENTRY(memcpy) ENTRY(memmove) ENTRY(memset) ENTRY(memcmp) ENTRY(memchr)
    ENTRY(strlen) ENTRY(strcmp) ENTRY(strncmp) ENTRY(strchr) ENTRY(strrchr) ENTRY(strcpy) ENTRY(strncpy) ENTRY(strcat) ENTRY(strstr)
    ENTRY(malloc) ENTRY(free) ENTRY(calloc) ENTRY(realloc) ENTRY(abort) ENTRY(open_log)
    ENTRY(__cxa_pure_virtual) ENTRY(__cxa_guard_acquire) ENTRY(__cxa_guard_release) ENTRY(__cxa_guard_abort) ENTRY(__cxa_finalize) ENTRY(__cxa_atexit)
    ENTRY(__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes)
    {"__hexagon_sqrtf", (const void *)sqrtf},
    {"__hexagon_sqrtdf2", (const void *)sqrt},
    {"__gnu_h2f_ieee", (const void *)__extendhfsf2},
    {"__gnu_f2h_ieee", (const void *)__truncsfhf2},
    {"_Znwj", (const void *)operator_new},
    {"_Znaj", (const void *)operator_new},
    {"_ZnwjRKSt9nothrow_t", (const void *)heap_take},
    {"_ZnajRKSt9nothrow_t", (const void *)heap_take},
    {"_ZdlPv", (const void *)heap_give},
    {"_ZdaPv", (const void *)heap_give},
    {"_ZdlPvj", (const void *)operator_delete_sized},
    {"_ZdaPvj", (const void *)operator_delete_sized},
    {"_ZSt9terminatev", (const void *)abort},
};

const void *symbol_find(const char *name) {
  for (unsigned i = 0; i < sizeof imports / sizeof *imports; i++) {
    if (strcmp(imports[i].name, name) == 0) return imports[i].address;
  }
  return NULL;
}
