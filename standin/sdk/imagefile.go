package sdk

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
)

// segments is the number of program headers.
const segments = 5

func (b *layout) headerSize() uint64 {
	if b.is64() {
		return uint64(binary.Size(elf.Header64{}) + segments*binary.Size(elf.Prog64{}))
	}
	return uint64(binary.Size(elf.Header32{}) + segments*binary.Size(elf.Prog32{}))
}

func alignUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// place gives every section its offset and address. What is written at run time starts one page after its offset, so that
// it lies in a page of its own without padding in the file.
func (b *layout) place() {
	at := b.headerSize()
	for _, s := range b.sections {
		at = alignUp(at, s.align)
		s.offset = at
		switch {
		case s.flags&elf.SHF_ALLOC == 0:
		case s.flags&elf.SHF_WRITE != 0:
			s.addr = at + b.m.page
		default:
			s.addr = at
		}
		at += uint64(len(s.data))
	}
}

// bytes writes headers and sections.
func (b *layout) bytes() ([]byte, error) {
	last := b.sections[len(b.sections)-1]
	sectionsAt := alignUp(last.offset+uint64(len(last.data)), 8)

	var out bytes.Buffer
	b.header(&out, sectionsAt)
	for _, p := range b.programs() {
		if b.is64() {
			put(&out, p)
		} else {
			put(&out, elf.Prog32{Type: p.Type, Flags: p.Flags, Off: uint32(p.Off), Vaddr: uint32(p.Vaddr),
				Paddr: uint32(p.Paddr), Filesz: uint32(p.Filesz), Memsz: uint32(p.Memsz), Align: uint32(p.Align)})
		}
	}
	for _, s := range b.sections {
		if uint64(out.Len()) > s.offset {
			return nil, fmt.Errorf("section %s overlaps what is before it", s.name)
		}
		out.Write(make([]byte, s.offset-uint64(out.Len())))
		out.Write(s.data)
	}
	out.Write(make([]byte, sectionsAt-uint64(out.Len())))
	b.sectionHeaders(&out)
	return out.Bytes(), nil
}

func (b *layout) header(out *bytes.Buffer, sectionsAt uint64) {
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(b.m.class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	count := uint16(len(b.sections) + 1)
	if b.is64() {
		size := uint16(binary.Size(elf.Header64{}))
		put(out, elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(b.m.id), Version: 1,
			Phoff: uint64(size), Shoff: sectionsAt, Flags: b.flags, Ehsize: size,
			Phentsize: uint16(binary.Size(elf.Prog64{})), Phnum: segments,
			Shentsize: uint16(binary.Size(elf.Section64{})), Shnum: count, Shstrndx: count - 1})
		return
	}
	size := uint16(binary.Size(elf.Header32{}))
	put(out, elf.Header32{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(b.m.id), Version: 1,
		Phoff: uint32(size), Shoff: uint32(sectionsAt), Flags: b.flags, Ehsize: size,
		Phentsize: uint16(binary.Size(elf.Prog32{})), Phnum: segments,
		Shentsize: uint16(binary.Size(elf.Section32{})), Shnum: count, Shstrndx: count - 1})
}

func (b *layout) programs() []elf.Prog64 {
	text, dyn, id := b.find(".text"), b.find(".dynamic"), b.find(".note.gnu.build-id")
	segment := func(t elf.ProgType, f elf.ProgFlag, offset, addr, size, align uint64) elf.Prog64 {
		return elf.Prog64{Type: uint32(t), Flags: uint32(f), Off: offset, Vaddr: addr, Paddr: addr, Filesz: size, Memsz: size, Align: align}
	}
	return []elf.Prog64{
		segment(elf.PT_LOAD, elf.PF_R|elf.PF_X, 0, 0, text.offset+uint64(len(text.data)), b.m.page),
		segment(elf.PT_LOAD, elf.PF_R|elf.PF_W, dyn.offset, dyn.addr, uint64(len(dyn.data)), b.m.page),
		segment(elf.PT_DYNAMIC, elf.PF_R|elf.PF_W, dyn.offset, dyn.addr, uint64(len(dyn.data)), dyn.align),
		segment(elf.PT_NOTE, elf.PF_R, id.offset, id.addr, uint64(len(id.data)), id.align),
		segment(elf.PT_GNU_STACK, elf.PF_R|elf.PF_W, 0, 0, 0, 16),
	}
}

func (b *layout) sectionHeaders(out *bytes.Buffer) {
	names := b.find(".shstrtab").data
	for i := range len(b.sections) + 1 {
		h := elf.Section64{}
		if i > 0 {
			s := b.sections[i-1]
			h = elf.Section64{
				Name: uint32(bytes.Index(names, slices.Concat([]byte{0}, []byte(s.name), []byte{0})) + 1),
				Type: uint32(s.typ), Flags: uint64(s.flags), Addr: s.addr, Off: s.offset, Size: uint64(len(s.data)),
				Link: uint32(b.index(s.link)), Info: s.info, Addralign: s.align, Entsize: s.entsize,
			}
		}
		if b.is64() {
			put(out, h)
		} else {
			put(out, elf.Section32{Name: h.Name, Type: h.Type, Flags: uint32(h.Flags), Addr: uint32(h.Addr),
				Off: uint32(h.Off), Size: uint32(h.Size), Link: h.Link, Info: h.Info,
				Addralign: uint32(h.Addralign), Entsize: uint32(h.Entsize)})
		}
	}
}
