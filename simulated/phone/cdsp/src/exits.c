/* Destructors of a library's static objects, which its constructors register and which run when it is closed. */
#include "shell.h"

enum { MAX_EXITS = 512 };

static struct {
  unsigned count;
  struct {
    void (*destroy)(void *object);
    void *object;
  } list[MAX_EXITS];
} exits;

int __cxa_atexit(void (*destroy)(void *object), void *object, void *library) {
  (void)library;
  if (exits.count == MAX_EXITS) return -1;
  exits.list[exits.count].destroy = destroy;
  exits.list[exits.count++].object = object;
  return 0;
}

/* Runs and forgets, last registered first, what was registered from [base, base+span). */
void exits_run(const uint8_t *base, size_t span) {
  for (unsigned i = exits.count; i-- > 0;) {
    uintptr_t at = (uintptr_t)exits.list[i].destroy - (uintptr_t)base;
    if (at >= span) continue;
    exits.list[i].destroy(exits.list[i].object);
    for (unsigned k = i + 1; k < exits.count; k++) exits.list[k - 1] = exits.list[k];
    exits.count--;
  }
}
