package elffile

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"strings"
)

// Library describes a shared library to write. It contains strings, and functions with equal code.
type Library struct {
	Class     elf.Class
	Machine   elf.Machine
	Flags     uint32 // e_flags
	Page      uint64 // alignment of segments
	Soname    string
	Texts     []string // strings of .rodata
	Label     string   // symbol of the first string
	Functions []string // exported
	Code      string   // code of each function
	Comment   string   // content of section .comment, which names the compiler in other files
}

// section is one section of the file, in file order.
type section struct {
	elf.SectionHeader
	data []byte
	link string // name of the section for Link
}

// image is the file under construction.
type image struct {
	Library
	sections []*section // without the null section
	out      bytes.Buffer
}

// segments is the number of program headers.
const segments = 5

// Bytes encodes the library as an ELF file, with section headers for linkers, loaders and readelf. Equal libraries
// produce identical bytes.
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
	const dynamicEntries = 7 // including the end marker

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
		info, other, index := byte(elf.STB_GLOBAL)<<4|byte(kind), byte(0), b.index(of.Name)
		if b.Class == elf.ELFCLASS64 {
			b.put(name, info, other, index, at, size)
		} else {
			b.put(name, uint32(at), uint32(size), info, other, index)
		}
	}
	b.put(make([]byte, symbolSize))
	symbol(names[0], elf.STT_OBJECT, rodata, rodata.Addr, uint64(bytes.IndexByte(text, 0)+1))
	for i, name := range names[1:] {
		size := uint64(len(l.Code))
		symbol(name, elf.STT_FUNC, code, code.Addr+uint64(i)*size, size)
	}
	sym.data = b.taken()
	b.put(word(elf.DT_SONAME), word(soname), word(elf.DT_HASH), word(hash.Addr), word(elf.DT_STRTAB), word(str.Addr),
		word(elf.DT_SYMTAB), word(sym.Addr), word(elf.DT_STRSZ), word(len(strs.data)), word(elf.DT_SYMENT),
		word(sym.Entsize), word(elf.DT_NULL), word(0))
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
	b.put(make([]byte, b.size(elf.Section32{}, elf.Section64{})))
	for _, s := range b.sections {
		b.put(nameOf[s.Name], uint32(s.Type), word(s.Flags), word(s.Addr), word(s.Offset), word(len(s.data)),
			uint32(b.index(s.link)), s.Info, word(s.Addralign), word(s.Entsize))
	}
	return b.taken()
}

// word is a number with the width of the class.
type word uint64

// put appends values of fixed size, which cannot fail in memory.
func (b *image) put(values ...any) {
	for _, v := range values {
		if w, ok := v.(word); ok && b.Class == elf.ELFCLASS64 {
			v = uint64(w)
		} else if ok {
			v = uint32(w)
		}
		_ = binary.Write(&b.out, binary.LittleEndian, v)
	}
}

// taken returns the bytes put since the last call.
func (b *image) taken() []byte {
	out := bytes.Clone(b.out.Bytes())
	b.out.Reset()
	return out
}

// size returns the size of narrow or wide, depending on the class.
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

// gnuNote returns the note with the file's build id.
func gnuNote(id []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 4) // the name's length
	b = binary.LittleEndian.AppendUint32(b, uint32(len(id)))
	b = binary.LittleEndian.AppendUint32(b, 3) // NT_GNU_BUILD_ID
	return append(append(b, "GNU\x00"...), id...)
}

// hashTable returns a SysV hash table of n symbols. Its single bucket is a list, which needs no hash function.
func hashTable(n int) []byte {
	var b []byte
	for _, v := range []int{1, n + 1, 1, 0} { // buckets, symbols, first symbol of the bucket, slot of the null symbol
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32((i+2)%(n+1))) // 0 after the last symbol
	}
	return b
}

func (b *image) section(name string, kind elf.SectionType, flags elf.SectionFlag, data []byte, align uint64) *section {
	s := &section{SectionHeader: elf.SectionHeader{Name: name, Type: kind, Flags: flags, Addralign: align}, data: data}
	b.sections = append(b.sections, s)
	return s
}

// index returns the section's number in the section header table, or 0 for a missing section.
func (b *image) index(name string) uint16 {
	for i, s := range b.sections {
		if s.Name == name {
			return uint16(i + 1)
		}
	}
	return 0
}

func alignUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// place assigns an offset and an address to each section. Writable sections start one page after their offset, so
// they have their own page without padding in the file.
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
	size := uint16(b.size(elf.Header32{}, elf.Header64{}))
	const version, entry = uint32(1), word(0)
	b.put(ident, uint16(elf.ET_DYN), uint16(b.Machine), version, entry, word(size), word(sectionsAt), b.Flags, size,
		uint16(b.size(elf.Prog32{}, elf.Prog64{})), uint16(segments),
		uint16(b.size(elf.Section32{}, elf.Section64{})), count, count-1)
}

// program writes the header of a segment that begins with a section.
func (b *image) program(kind elf.ProgType, flags elf.ProgFlag, from section, size uint64) {
	place := []any{word(from.Offset), word(from.Addr), word(from.Addr), word(size), word(size)}
	if b.Class == elf.ELFCLASS64 {
		b.put(uint32(kind), uint32(flags))
		b.put(place...)
	} else {
		b.put(uint32(kind))
		b.put(place...)
		b.put(uint32(flags))
	}
	b.put(word(from.Addralign))
}
