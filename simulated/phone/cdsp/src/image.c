/* Brings a shared object into memory: reads the file, checks it, copies its segments, and runs what must run first.
 * Nothing the file says is believed: every offset is checked against the file, every address against the segments. */
#include "elf.h"
#include "shell.h"

enum { MAX_FILE_BYTES = 64 << 20, MAX_SPAN = 256 << 20, PAGE = 4096, MAX_DYNAMIC_BYTES = 1 << 16 };

static uint32_t whole_pages(uint32_t bytes) { return (bytes + PAGE - 1) & ~(uint32_t)(PAGE - 1); }

int image_holds(const struct image *image, uint32_t start, uint32_t size, uint32_t flags) {
  for (uint32_t i = 0; i < image->n_segments; i++) {
    const struct segment *s = &image->segments[i];
    if (start >= s->start && start - s->start <= s->size && size <= s->size - (start - s->start)) return (s->flags & flags) == flags;
  }
  return 0;
}

uint32_t image_word(const struct image *image, uint32_t start) {
  uint32_t word;
  memcpy(&word, image->base + start, sizeof word); /* a hostile file may misalign it */
  return word;
}

/* The file's bytes, in a mapping of whole_pages(*bytes). */
static uint8_t *read_file(const char *path, uint32_t *bytes, struct failure *failure) {
  int fd = sys_open(path);
  if (fd < 0) {
    fail(failure, (uint32_t)AEE_EUNABLETOLOAD, "cannot open ", path);
    text_add(&failure->text, ": errno ");
    text_add_dec(&failure->text, (uint32_t)-fd);
    text_add(&failure->text, "; push the library, or correct ADSP_LIBRARY_PATH");
    return NULL;
  }
  int64_t size = sys_size(fd);
  uint8_t *file = NULL;
  if (size <= 0 || size > MAX_FILE_BYTES) {
    fail(failure, (uint32_t)AEE_EBADELF, path, ": not a file of a plausible size");
  } else if (!(file = sys_map(whole_pages((uint32_t)size), 0))) {
    fail(failure, (uint32_t)AEE_ENOMEMORY, "no memory to read ", path);
  } else {
    uint32_t done = 0;
    while (done < size) {
      int n = sys_read(fd, file + done, (uint32_t)size - done);
      if (n <= 0) break;
      done += (uint32_t)n;
    }
    if (done < size) {
      sys_unmap(file, whole_pages((uint32_t)size));
      file = NULL;
      fail(failure, (uint32_t)AEE_EUNABLETOLOAD, "cannot read the whole of ", path);
    }
  }
  sys_close(fd);
  *bytes = (uint32_t)size;
  return file;
}

static int check_header(const struct elf_header *h, uint32_t bytes, uint32_t device_arch, struct failure *failure) {
  const uint32_t bad = (uint32_t)AEE_EBADELF;
  if (bytes < sizeof *h || memcmp(h->magic, "\177ELF", 4) != 0) return fail(failure, bad, "not an ELF file", NULL);
  if (h->class != ELF_CLASS_32 || h->encoding != ELF_LITTLE_ENDIAN || h->machine != EM_HEXAGON) {
    fail(failure, bad, "not for Hexagon: e_machine is ", NULL);
    text_add_dec(&failure->text, h->machine);
    text_add(&failure->text, ", wanted 164; push the hexagon build of the package, not the aarch64 one");
    return -1;
  }
  if (h->type != ET_DYN) return fail(failure, bad, "not a shared object (link with -shared)", NULL);
  if (!arch_accepts(device_arch, h->flags)) {
    fail(failure, bad, "built for another arch: e_flags ", NULL);
    text_add_hex(&failure->text, h->flags);
    text_add(&failure->text, ", this device's DSP is ");
    text_add_hex(&failure->text, device_arch);
    text_add(&failure->text, "; build the package for this arch");
    return -1;
  }
  if (h->phentsize != sizeof(struct elf_program_header) || h->phoff > bytes || (bytes - h->phoff) / sizeof(struct elf_program_header) < h->phnum)
    return fail(failure, bad, "program headers lie outside the file", NULL);
  return 0;
}

static int add_segment(struct image *image, const struct elf_program_header *p, uint32_t bytes, struct failure *failure) {
  const uint32_t bad = (uint32_t)AEE_EBADELF;
  if (p->offset > bytes || p->filesz > bytes - p->offset) return fail(failure, bad, "a segment lies outside the file: truncated?", NULL);
  if (p->filesz > p->memsz) return fail(failure, bad, "a segment is larger in the file than in memory", NULL);
  if (p->vaddr > MAX_SPAN || p->memsz > MAX_SPAN - p->vaddr) return fail(failure, bad, "a segment is too large or too far out", NULL);
  if (image->n_segments == IMAGE_MAX_SEGMENTS) return fail(failure, bad, "too many segments", NULL);
  for (uint32_t i = 0; i < image->n_segments; i++) {
    const struct segment *s = &image->segments[i];
    if (p->vaddr < s->start + s->size && s->start < p->vaddr + p->memsz) return fail(failure, bad, "segments overlap", NULL);
  }
  image->segments[image->n_segments++] = (struct segment){p->vaddr, p->memsz, p->flags};
  if (p->vaddr + p->memsz > image->span) image->span = p->vaddr + p->memsz;
  return 0;
}

/* Reads the program headers, then copies the loaded segments into fresh memory. */
static int place(struct image *image, const uint8_t *file, uint32_t bytes, uint32_t device_arch, struct failure *failure) {
  const uint32_t bad = (uint32_t)AEE_EBADELF;
  const struct elf_header *h = (const struct elf_header *)file;
  if (check_header(h, bytes, device_arch, failure) < 0) return -1;
  image->e_flags = h->flags;
  struct elf_program_header p;
  for (uint32_t i = 0; i < h->phnum; i++) {
    memcpy(&p, file + h->phoff + i * sizeof p, sizeof p);
    if (p.type == PT_LOAD && p.memsz > 0 && add_segment(image, &p, bytes, failure) < 0) return -1;
    if (p.type == PT_TLS) image->thread_local = 1;
    if (p.type == PT_DYNAMIC) {
      image->dynamic = p.vaddr;
      image->dynamic_size = p.memsz;
    }
  }
  if (image->n_segments == 0) return fail(failure, bad, "nothing to load", NULL);
  image->base = sys_map(whole_pages(image->span), 1);
  if (!image->base) return fail(failure, (uint32_t)AEE_ENOMEMORY, "no memory for the library", NULL);
  for (uint32_t i = 0; i < h->phnum; i++) {
    memcpy(&p, file + h->phoff + i * sizeof p, sizeof p);
    if (p.type == PT_LOAD) memcpy(image->base + p.vaddr, file + p.offset, p.filesz);
  }
  if (image->dynamic_size == 0 || image->dynamic_size > MAX_DYNAMIC_BYTES || !image_holds(image, image->dynamic, image->dynamic_size, SEGMENT_READ))
    return fail(failure, bad, "no usable dynamic section", NULL);
  return 0;
}

/* Calls the functions of an array of addresses, after checking that each is code of this image. */
static int call_all(const struct image *image, uint32_t array, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes / 4; i++) {
    uint32_t at = image_word(image, array + 4 * i) - (uint32_t)image->base;
    if (!image_holds(image, at, 4, SEGMENT_EXECUTE)) return -1;
    ((void (*)(void))(image->base + at))();
  }
  return 0;
}

static int find_entry(struct image *image, const char *name, void *address, struct failure *failure) {
  uint32_t at = image_symbol(image, name);
  if (!at || !image_holds(image, at, 4, SEGMENT_EXECUTE)) {
    fail(failure, (uint32_t)AEE_ENOSUCHSYMBOL, "the library does not export ", name);
    text_add(&failure->text, "; was it compiled against the simulation's headers?");
    return -1;
  }
  void *found = image->base + at;
  memcpy(address, &found, sizeof found);
  return 0;
}

static int look(struct image *image, const uint8_t *file, uint32_t bytes, const char *symbol, uint32_t device_arch, struct failure *failure) {
  if (place(image, file, bytes, device_arch, failure) < 0 || image_dynamic(image, failure) < 0) return -1;
  uint32_t at = image_symbol(image, symbol);
  if (!at || !image_holds(image, at, 4, SEGMENT_EXECUTE)) return fail(failure, (uint32_t)AEE_ENOSUCHSYMBOL, "the library does not export ", symbol);
  return 0;
}

static int load(struct image *image, const uint8_t *file, uint32_t bytes, uint32_t device_arch, struct failure *failure) {
  if (place(image, file, bytes, device_arch, failure) < 0) return -1;
  if (image->thread_local) return fail(failure, (uint32_t)AEE_EBADELF, "thread-local storage is not supported", NULL);
  if (image_dynamic(image, failure) < 0) return -1;
  /* Before any code of the library runs: is it a library for us at all? */
  if (find_entry(image, "open_op_execute", &image->execute, failure) < 0) return -1;
  if (find_entry(image, "open_op_name", &image->op_name, failure) < 0) return -1;
  if (find_entry(image, "open_sdk_build_id", &image->build_id, failure) < 0) return -1;
  if (image_relocate(image, failure) < 0) return -1;
  if (image->init) {
    if (!image_holds(image, image->init, 4, SEGMENT_EXECUTE)) return fail(failure, (uint32_t)AEE_EBADELF, "DT_INIT is not code", NULL);
    ((void (*)(void))(image->base + image->init))();
  }
  if (call_all(image, image->init_array, image->init_array_size) < 0)
    return fail(failure, (uint32_t)AEE_EBADELF, "a constructor is not code of the library", NULL);
  return 0;
}

static int name_library(struct failure *failure, const char *path) {
  struct text reason = failure->text;
  failure->text = (struct text){0};
  text_add(&failure->text, path);
  text_add(&failure->text, ": ");
  text_add(&failure->text, reason.bytes);
  return -1;
}

static uint8_t *read_library(const char *path, uint32_t *bytes, struct failure *failure) {
  if (path[0] == '/') return read_file(path, bytes, failure);
  fail(failure, (uint32_t)AEE_EBADPARM, "the path of a library must be absolute: ", path);
  return NULL;
}

int image_look(const char *path, const char *symbol, uint32_t device_arch, struct failure *failure) {
  struct image image = {0};
  uint32_t bytes;
  uint8_t *file = read_library(path, &bytes, failure);
  if (!file) return -1;
  int result = look(&image, file, bytes, symbol, device_arch, failure);
  sys_unmap(file, whole_pages(bytes));
  if (image.base) sys_unmap(image.base, whole_pages(image.span));
  return result == 0 ? 0 : name_library(failure, path);
}

int image_open(struct image *image, const char *path, uint32_t device_arch, struct failure *failure) {
  *image = (struct image){0};
  uint32_t bytes;
  uint8_t *file = read_library(path, &bytes, failure);
  if (!file) return -1;
  int result = load(image, file, bytes, device_arch, failure);
  sys_unmap(file, whole_pages(bytes));
  if (result == 0) return 0;
  if (image->base) sys_unmap(image->base, whole_pages(image->span));
  *image = (struct image){0};
  return name_library(failure, path);
}
