/* The dynamic section of an image: symbols, relocations, constructors. */
#include "elf.h"
#include "shell.h"

static struct elf_symbol symbol_at(const struct image *image, uint32_t index) {
  struct elf_symbol s;
  memcpy(&s, image->base + image->symbols + index * sizeof s, sizeof s);
  return s;
}

/* A symbol's name, or NULL when it does not lie in the string table; the table's last byte is checked to be zero. */
static const char *symbol_name(const struct image *image, const struct elf_symbol *s) {
  return s->name < image->strings_size ? (const char *)image->base + image->strings + s->name : NULL;
}

static int check_table(const struct image *image, uint32_t start, uint32_t size, uint32_t entry, const char *name, struct failure *failure) {
  if (size == 0) return 0;
  if (size % entry != 0 || !image_holds(image, start, size, SEGMENT_READ)) return fail(failure, (uint32_t)AEE_EBADELF, "damaged table: ", name);
  return 0;
}

int image_dynamic(struct image *image, struct failure *failure) {
  const uint32_t bad = (uint32_t)AEE_EBADELF;
  uint32_t hash = 0, rela_entry = sizeof(struct elf_rela), symbol_entry = sizeof(struct elf_symbol), plt_kind = DT_RELA, rel = 0;
  for (uint32_t at = image->dynamic, end = at + image->dynamic_size; end - at >= 8; at += 8) {
    uint32_t value = image_word(image, at + 4);
    uint32_t tag = image_word(image, at);
    if (tag == DT_NULL) break;
    switch (tag) {
      case DT_HASH: hash = value; break;
      case DT_STRTAB: image->strings = value; break;
      case DT_STRSZ: image->strings_size = value; break;
      case DT_SYMTAB: image->symbols = value; break;
      case DT_SYMENT: symbol_entry = value; break;
      case DT_RELA: image->rela = value; break;
      case DT_RELASZ: image->rela_size = value; break;
      case DT_RELAENT: rela_entry = value; break;
      case DT_JMPREL: image->plt_rela = value; break;
      case DT_PLTRELSZ: image->plt_rela_size = value; break;
      case DT_PLTREL: plt_kind = value; break;
      case DT_REL: rel = value; break;
      case DT_INIT: image->init = value; break;
      case DT_INIT_ARRAY: image->init_array = value; break;
      case DT_INIT_ARRAYSZ: image->init_array_size = value; break;
      default: break;
    }
  }
  if (rel || plt_kind != DT_RELA || rela_entry != sizeof(struct elf_rela) || symbol_entry != sizeof(struct elf_symbol))
    return fail(failure, bad, "tables of an unknown form", NULL);
  if (!hash) return fail(failure, bad, "no DT_HASH (link with --hash-style=sysv or both)", NULL);
  if (!image_holds(image, hash, 8, SEGMENT_READ)) return fail(failure, bad, "damaged table: DT_HASH", NULL);
  image->n_symbols = image_word(image, hash + 4);
  if (image->n_symbols > image->span / sizeof(struct elf_symbol)) return fail(failure, bad, "damaged table: DT_HASH", NULL);
  if (!image_holds(image, image->symbols, image->n_symbols * (uint32_t)sizeof(struct elf_symbol), SEGMENT_READ))
    return fail(failure, bad, "damaged table: DT_SYMTAB", NULL);
  if (image->strings_size == 0 || !image_holds(image, image->strings, image->strings_size, SEGMENT_READ) ||
      image_holds(image, image->strings, image->strings_size, SEGMENT_WRITE) || image->base[image->strings + image->strings_size - 1] != 0)
    return fail(failure, bad, "damaged table: DT_STRTAB", NULL);
  if (check_table(image, image->rela, image->rela_size, sizeof(struct elf_rela), "DT_RELA", failure) < 0) return -1;
  if (check_table(image, image->plt_rela, image->plt_rela_size, sizeof(struct elf_rela), "DT_JMPREL", failure) < 0) return -1;
  return check_table(image, image->init_array, image->init_array_size, 4, "DT_INIT_ARRAY", failure);
}

uint32_t image_symbol(const struct image *image, const char *name) {
  for (uint32_t i = 1; i < image->n_symbols; i++) {
    struct elf_symbol s = symbol_at(image, i);
    if (s.shndx == 0 || s.info >> 4 == STB_LOCAL) continue;
    const char *found = symbol_name(image, &s);
    if (found && strcmp(found, name) == 0) return s.value;
  }
  return 0;
}

/* The address a relocation's symbol stands for; 0 for a weak one that nobody defines. */
static int resolve(const struct image *image, uint32_t index, uint32_t *address, struct failure *failure) {
  if (index >= image->n_symbols) return fail(failure, (uint32_t)AEE_EBADELF, "a relocation names a symbol that is not there", NULL);
  struct elf_symbol s = symbol_at(image, index);
  if (index == 0) {
    *address = (uint32_t)image->base;
    return 0;
  }
  if (s.shndx != 0) {
    if (s.value > image->span) return fail(failure, (uint32_t)AEE_EBADELF, "a symbol lies outside the library", NULL);
    *address = (uint32_t)image->base + s.value;
    return 0;
  }
  const char *name = symbol_name(image, &s);
  if (!name) return fail(failure, (uint32_t)AEE_EBADELF, "a symbol has no name", NULL);
  *address = (uint32_t)symbol_find(name);
  if (*address || s.info >> 4 == STB_WEAK) return 0;
  fail(failure, (uint32_t)AEE_ENOSUCHSYMBOL, "undefined symbol ", name);
  text_add(&failure->text, "; the DSP's runtime has no such function");
  return -1;
}

static int apply(struct image *image, const struct elf_rela *r, struct failure *failure) {
  uint32_t kind = r->info & 0xff, value;
  if (kind == R_HEX_NONE) return 0;
  /* Writable only, so that no relocation can undo what image_dynamic has checked. */
  if (!image_holds(image, r->offset, 4, SEGMENT_WRITE))
    return fail(failure, (uint32_t)AEE_EBADELF, "a relocation lies outside the library's data (compile with -fPIC)", NULL);
  switch (kind) {
    case R_HEX_RELATIVE:
      value = (uint32_t)image->base;
      break;
    case R_HEX_32:
    case R_HEX_GLOB_DAT:
    case R_HEX_JMP_SLOT:
      if (resolve(image, r->info >> 8, &value, failure) < 0) return -1;
      break;
    default:
      fail(failure, (uint32_t)AEE_EBADELF, "unsupported relocation of type ", NULL);
      text_add_dec(&failure->text, kind);
      text_add(&failure->text, " (compile with -fPIC)");
      return -1;
  }
  value += (uint32_t)r->addend;
  memcpy(image->base + r->offset, &value, sizeof value);
  return 0;
}

int image_relocate(struct image *image, struct failure *failure) {
  const struct {
    uint32_t start, size;
  } tables[] = {{image->rela, image->rela_size}, {image->plt_rela, image->plt_rela_size}};
  for (unsigned t = 0; t < 2; t++) {
    for (uint32_t at = 0; at < tables[t].size; at += sizeof(struct elf_rela)) {
      struct elf_rela r;
      memcpy(&r, image->base + tables[t].start + at, sizeof r);
      if (apply(image, &r, failure) < 0) return -1;
    }
  }
  return 0;
}
