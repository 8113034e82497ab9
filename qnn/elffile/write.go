package elffile

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"strings"
)

// Library is a shared library in the making: texts, and functions that are all of the same code.
type Library struct {
	Class     elf.Class
	Machine   elf.Machine
	Flags     uint32 // e_flags
	Page      uint64 // alignment of segments
	Soname    string
	Texts     []string // of .rodata
	Label     string   // the symbol of the first text
	Functions []string // exported
	Code      string   // of each
	Comment   string   // where others name their compiler
}

// section is one section, in file order.
type section struct {
	elf.SectionHeader
	data []byte
	link string // the name of the section that Link means
}

// image is a file in the making. Values of 64 bits are narrowed where the class is of 32.
type image struct {
	Library
	sections []*section // without the null section
	out      bytes.Buffer
}

// segments is the number of program headers.
const segments = 5

// Bytes returns the library's file: one segment that is read and executed, one with the dynamic section, and section
// headers, so that linkers, loaders and readelf all find what they look for. The same Library gives the same bytes.
func (l Library) Bytes() []byte {
	b := &image{Library: l}
	strs := &stringTable{data: []byte{0}}
	soname := strs.add(l.Soname)
	var names []uint32
	for _, n := range append([]string{l.Label}, l.Functions...) {
		names = append(names, strs.add(n))
	}
	text := []byte(strings.Join(l.Texts, "\x00") + "\x00")
	id := sha256.Sum256(append([]byte(l.Soname+"\x00"), text...))
	symbolSize, dynamicSize := b.size(elf.Sym32{}, elf.Sym64{}), b.size(elf.Dyn32{}, elf.Dyn64{})
	const dynamicEntries = 7 // its end included

	note := b.section(".note.gnu.build-id", elf.SHT_NOTE, elf.SHF_ALLOC, gnuNote(id[:20]), 4)
	hash := b.section(".hash", elf.SHT_HASH, elf.SHF_ALLOC, hashTable(len(names)), 4)
	sym := b.section(".dynsym", elf.SHT_DYNSYM, elf.SHF_ALLOC, make([]byte, (1+len(names))*symbolSize), 8)
	str := b.section(".dynstr", elf.SHT_STRTAB, elf.SHF_ALLOC, strs.data, 1)
	rodata := b.section(".rodata", elf.SHT_PROGBITS, elf.SHF_ALLOC, text, 1)
	code := b.section(".text", elf.SHT_PROGBITS, elf.SHF_ALLOC|elf.SHF_EXECINSTR, []byte(strings.Repeat(l.Code, len(l.Functions))), 16)
	dyn := b.section(".dynamic", elf.SHT_DYNAMIC, elf.SHF_ALLOC|elf.SHF_WRITE, make([]byte, dynamicEntries*dynamicSize), 8)
	comment := b.section(".comment", elf.SHT_PROGBITS, elf.SHF_MERGE|elf.SHF_STRINGS, []byte(l.Comment+"\x00"), 1)
	shstr := b.section(".shstrtab", elf.SHT_STRTAB, 0, nil, 1)
	hash.link, hash.Entsize = ".dynsym", 4
	sym.link, sym.Info, sym.Entsize = ".dynstr", 1, uint64(symbolSize)
	dyn.link, dyn.Entsize = ".dynstr", uint64(dynamicSize)
	comment.Entsize = 1
	sectionNames := &stringTable{data: []byte{0}}
	nameOf := map[string]uint32{}
	for _, s := range b.sections {
		nameOf[s.Name] = sectionNames.add(s.Name)
	}
	shstr.data = sectionNames.data
	b.place()

	symbol := func(name uint32, kind elf.SymType, of *section, at, size uint64) {
		info, index := byte(elf.STB_GLOBAL)<<4|byte(kind), b.index(of.Name)
		b.put(elf.Sym32{Name: name, Info: info, Shndx: index, Value: uint32(at), Size: uint32(size)},
			elf.Sym64{Name: name, Info: info, Shndx: index, Value: at, Size: size})
	}
	b.put(elf.Sym32{}, elf.Sym64{})
	symbol(names[0], elf.STT_OBJECT, rodata, rodata.Addr, uint64(bytes.IndexByte(text, 0)+1))
	for i, name := range names[1:] {
		size := uint64(len(l.Code))
		symbol(name, elf.STT_FUNC, code, code.Addr+uint64(i)*size, size)
	}
	sym.data = b.taken()
	for _, d := range []struct {
		tag elf.DynTag
		val uint64
	}{{elf.DT_SONAME, uint64(soname)}, {elf.DT_HASH, hash.Addr}, {elf.DT_STRTAB, str.Addr}, {elf.DT_SYMTAB, sym.Addr},
		{elf.DT_STRSZ, uint64(len(strs.data))}, {elf.DT_SYMENT, sym.Entsize}, {elf.DT_NULL, 0}} {
		b.put(elf.Dyn32{Tag: int32(d.tag), Val: uint32(d.val)}, elf.Dyn64{Tag: int64(d.tag), Val: d.val})
	}
	dyn.data = b.taken()

	sectionsAt := alignUp(shstr.Offset+uint64(len(shstr.data)), 8)
	b.header(sectionsAt)
	b.program(elf.PT_LOAD, elf.PF_R|elf.PF_X, section{SectionHeader: elf.SectionHeader{Addralign: l.Page}}, code.Offset+uint64(len(code.data)))
	loaded := *dyn
	loaded.Addralign = l.Page
	b.program(elf.PT_LOAD, elf.PF_R|elf.PF_W, loaded, uint64(len(dyn.data)))
	b.program(elf.PT_DYNAMIC, elf.PF_R|elf.PF_W, *dyn, uint64(len(dyn.data)))
	b.program(elf.PT_NOTE, elf.PF_R, *note, uint64(len(note.data)))
	b.program(elf.PT_GNU_STACK, elf.PF_R|elf.PF_W, section{SectionHeader: elf.SectionHeader{Addralign: 16}}, 0)
	for _, s := range b.sections {
		b.out.Write(make([]byte, s.Offset-uint64(b.out.Len())))
		b.out.Write(s.data)
	}
	b.out.Write(make([]byte, sectionsAt-uint64(b.out.Len())))
	b.put(elf.Section32{}, elf.Section64{})
	for _, s := range b.sections {
		name, link, size := nameOf[s.Name], uint32(b.index(s.link)), uint64(len(s.data))
		b.put(elf.Section32{Name: name, Type: uint32(s.Type), Flags: uint32(s.Flags), Addr: uint32(s.Addr), Off: uint32(s.Offset), Size: uint32(size),
			Link: link, Info: s.Info, Addralign: uint32(s.Addralign), Entsize: uint32(s.Entsize)},
			elf.Section64{Name: name, Type: uint32(s.Type), Flags: uint64(s.Flags), Addr: s.Addr, Off: s.Offset, Size: size,
				Link: link, Info: s.Info, Addralign: s.Addralign, Entsize: s.Entsize})
	}
	return b.taken()
}

// put writes the one of two values of fixed size that is the class's, which cannot fail in memory.
func (b *image) put(narrow, wide any) {
	if b.Class == elf.ELFCLASS64 {
		narrow = wide
	}
	_ = binary.Write(&b.out, binary.LittleEndian, narrow)
}

// taken returns what was put since the last call.
func (b *image) taken() []byte {
	out := bytes.Clone(b.out.Bytes())
	b.out.Reset()
	return out
}

// size is that of the one of two values that is the class's.
func (b *image) size(narrow, wide any) int {
	if b.Class == elf.ELFCLASS64 {
		narrow = wide
	}
	return binary.Size(narrow)
}

type stringTable struct{ data []byte }

func (t *stringTable) add(s string) uint32 {
	at := uint32(len(t.data))
	t.data = append(append(t.data, s...), 0)
	return at
}

// gnuNote is the note with an id of the file.
func gnuNote(id []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 4) // the name's length
	b = binary.LittleEndian.AppendUint32(b, uint32(len(id)))
	b = binary.LittleEndian.AppendUint32(b, 3) // NT_GNU_BUILD_ID
	return append(append(b, "GNU\x00"...), id...)
}

// hashTable is a SysV hash table of n symbols with a single bucket: a list, which needs no hash function.
func hashTable(n int) []byte {
	var b []byte
	for _, v := range []int{1, n + 1, 1, 0} { // buckets, symbols, the bucket's first symbol, the null symbol's place
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32((i+2)%(n+1))) // 0 after the last
	}
	return b
}

func (b *image) section(name string, kind elf.SectionType, flags elf.SectionFlag, data []byte, align uint64) *section {
	s := &section{SectionHeader: elf.SectionHeader{Name: name, Type: kind, Flags: flags, Addralign: align}, data: data}
	b.sections = append(b.sections, s)
	return s
}

// index is the section's number in the table of section headers; 0, the null section's, when there is none.
func (b *image) index(name string) uint16 {
	for i, s := range b.sections {
		if s.Name == name {
			return uint16(i + 1)
		}
	}
	return 0
}

func alignUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// place gives every section its offset and address. What is written at run time starts one page after its offset, so
// that it lies in a page of its own without padding in the file.
func (b *image) place() {
	at := uint64(b.size(elf.Header32{}, elf.Header64{}) + segments*b.size(elf.Prog32{}, elf.Prog64{}))
	for _, s := range b.sections {
		at = alignUp(at, s.Addralign)
		s.Offset = at
		switch {
		case s.Flags&elf.SHF_ALLOC == 0:
		case s.Flags&elf.SHF_WRITE != 0:
			s.Addr = at + b.Page
		default:
			s.Addr = at
		}
		at += uint64(len(s.data))
	}
}

func (b *image) header(sectionsAt uint64) {
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(b.Class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	count := uint16(len(b.sections) + 1)
	size, program, header := uint16(b.size(elf.Header32{}, elf.Header64{})), uint16(b.size(elf.Prog32{}, elf.Prog64{})), uint16(b.size(elf.Section32{}, elf.Section64{}))
	b.put(elf.Header32{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(b.Machine), Version: 1, Phoff: uint32(size), Shoff: uint32(sectionsAt), Flags: b.Flags,
		Ehsize: size, Phentsize: program, Phnum: segments, Shentsize: header, Shnum: count, Shstrndx: count - 1},
		elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(b.Machine), Version: 1, Phoff: uint64(size), Shoff: sectionsAt, Flags: b.Flags,
			Ehsize: size, Phentsize: program, Phnum: segments, Shentsize: header, Shnum: count, Shstrndx: count - 1})
}

// program writes the header of a segment that begins where a section does.
func (b *image) program(kind elf.ProgType, flags elf.ProgFlag, from section, size uint64) {
	b.put(elf.Prog32{Type: uint32(kind), Flags: uint32(flags), Off: uint32(from.Offset), Vaddr: uint32(from.Addr), Paddr: uint32(from.Addr),
		Filesz: uint32(size), Memsz: uint32(size), Align: uint32(from.Addralign)},
		elf.Prog64{Type: uint32(kind), Flags: uint32(flags), Off: from.Offset, Vaddr: from.Addr, Paddr: from.Addr, Filesz: size, Memsz: size, Align: from.Addralign})
}
