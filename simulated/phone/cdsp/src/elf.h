/* The parts of the ELF32 format and of the Hexagon ABI that loading a shared object needs. */
#ifndef ELF_H
#define ELF_H

#include <stdint.h>

struct elf_header {
  uint8_t magic[4], class, encoding, rest[10];
  uint16_t type, machine;
  uint32_t version, entry, phoff, shoff, flags;
  uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf_program_header {
  uint32_t type, offset, vaddr, paddr, filesz, memsz, flags, align;
};

struct elf_symbol {
  uint32_t name, value, size;
  uint8_t info, other;
  uint16_t shndx;
};

struct elf_rela {
  uint32_t offset, info;
  int32_t addend;
};

enum { ELF_CLASS_32 = 1, ELF_LITTLE_ENDIAN = 1, ET_DYN = 3, EM_HEXAGON = 164 };
enum { PT_LOAD = 1, PT_DYNAMIC = 2, PT_TLS = 7 };
enum { STB_LOCAL = 0, STB_WEAK = 2 };
enum { R_HEX_NONE = 0, R_HEX_32 = 6, R_HEX_GLOB_DAT = 33, R_HEX_JMP_SLOT = 34, R_HEX_RELATIVE = 35 };
enum {
  DT_NULL = 0,
  DT_PLTRELSZ = 2,
  DT_HASH = 4,
  DT_STRTAB = 5,
  DT_SYMTAB = 6,
  DT_RELA = 7,
  DT_RELASZ = 8,
  DT_RELAENT = 9,
  DT_STRSZ = 10,
  DT_SYMENT = 11,
  DT_INIT = 12,
  DT_REL = 17,
  DT_PLTREL = 20,
  DT_JMPREL = 23,
  DT_INIT_ARRAY = 25,
  DT_INIT_ARRAYSZ = 27,
};

#endif
