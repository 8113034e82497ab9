/* A small heap: blocks of power-of-two size on free lists, big ones mapped one by one.
 * It serves one thread, which is all a protection domain here has. */
#include "shell.h"

enum { SMALLEST_SHIFT = 5, LARGEST_SHIFT = 16, HEADER_BYTES = 16, CHUNK_BYTES = 1 << 20 };

struct header {
  uint32_t total; /* bytes of the block with its header */
  uint32_t shift; /* its size class; 0: mapped alone */
  struct header *next;
  uint32_t unused;
};
_Static_assert(sizeof(struct header) == HEADER_BYTES, "blocks must stay 16-byte aligned");

static struct {
  struct header *free[LARGEST_SHIFT + 1];
  uint8_t *chunk, *chunk_end;
} heap;

static struct header *carve(uint32_t shift) {
  uint32_t total = 1u << shift;
  if ((uint32_t)(heap.chunk_end - heap.chunk) < total) {
    uint8_t *chunk = sys_map(CHUNK_BYTES, 0);
    if (!chunk) return NULL;
    heap.chunk = chunk;
    heap.chunk_end = chunk + CHUNK_BYTES;
  }
  struct header *block = (struct header *)heap.chunk;
  heap.chunk += total;
  *block = (struct header){.total = total, .shift = shift};
  return block;
}

void *heap_take(size_t bytes) {
  if (bytes > WIRE_MAX_PAYLOAD * 4u) return NULL;
  uint32_t total = (uint32_t)bytes + HEADER_BYTES, shift = SMALLEST_SHIFT;
  while (shift <= LARGEST_SHIFT && 1u << shift < total) shift++;
  struct header *block;
  if (shift > LARGEST_SHIFT) {
    block = sys_map(total, 0);
    if (!block) return NULL;
    *block = (struct header){.total = total};
  } else if (heap.free[shift]) {
    block = heap.free[shift];
    heap.free[shift] = block->next;
  } else {
    block = carve(shift);
    if (!block) return NULL;
  }
  return block + 1;
}

void heap_give(void *memory) {
  if (!memory) return;
  struct header *block = (struct header *)memory - 1;
  if (block->shift == 0) {
    sys_unmap(block, block->total);
    return;
  }
  block->next = heap.free[block->shift];
  heap.free[block->shift] = block;
}

size_t heap_size(const void *memory) { return ((const struct header *)memory - 1)->total - HEADER_BYTES; }
