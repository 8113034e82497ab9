"""A shared library for x86-64 Linux with a name and nothing in it, for programs that want one to be there which they do not use."""

from __future__ import annotations

import struct

HEADER, PROGRAM = 64, 56  # bytes of an ELF header, and of a program header
LOAD, DYNAMIC, STACK = 1, 2, 0x6474E551  # kinds of segments
READ_WRITE = 6
HASH, STRINGS, SYMBOLS, STRINGS_SIZE, SYMBOL_SIZE, NAME = 4, 5, 6, 10, 11, 14  # entries of a dynamic section


def library(name: str) -> bytes:
    """The file, named so by its DT_SONAME."""
    strings = b"\0" + name.encode() + b"\0"
    symbols = HEADER + 3 * PROGRAM
    table = symbols + 24  # the first symbol, which stands for none
    dynamic = table + 16  # of one bucket and one chain, both empty
    text = dynamic + 7 * 16
    entries = [(NAME, 1), (HASH, table), (STRINGS, text), (SYMBOLS, symbols), (STRINGS_SIZE, len(strings)), (SYMBOL_SIZE, 24), (0, 0)]
    size = text + len(strings)
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, HEADER, 0, 0, HEADER, PROGRAM, 3, 0, 0, 0)
    segments = [(LOAD, 0, size, 0x1000), (DYNAMIC, dynamic, 7 * 16, 8), (STACK, 0, 0, 16)]
    programs = b"".join(struct.pack("<IIQQQQQQ", kind, READ_WRITE, at, at, at, n, n, align) for kind, at, n, align in segments)
    return header + programs + bytes(24) + struct.pack("<IIII", 1, 1, 0, 0) + b"".join(struct.pack("<QQ", *e) for e in entries) + strings
