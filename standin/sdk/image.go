package sdk

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"path"
	"strings"
)

// standInSymbol names the text in .rodata that says what the file is.
const standInSymbol = "hexmage_open_stand_in"

// section is one section of an image, in file order.
type section struct {
	name    string
	typ     elf.SectionType
	flags   elf.SectionFlag
	data    []byte
	link    string // the name of the section that sh_link means
	info    uint32
	align   uint64
	entsize uint64
	offset  uint64
	addr    uint64
}

// layout is an ELF file in the making. 64-bit values are narrowed when the class is 32-bit.
type layout struct {
	m        machine
	flags    uint32
	sections []*section // without the null section
}

// image writes the ELF file of a library: one segment that is read and executed, one with the dynamic section, and
// section headers, so that linkers, loaders and readelf all find what they look for.
func image(l library) ([]byte, error) {
	b := &layout{m: l.machine, flags: l.flags}

	soname := path.Base(l.path)
	strs := &stringTable{data: []byte{0}}
	sonameAt := strs.add(soname)
	names := append([]string{standInSymbol}, l.functions...)
	var nameAt []uint32
	for _, n := range names {
		nameAt = append(nameAt, strs.add(n))
	}
	text := []byte(strings.Join(l.strings, "\x00") + "\x00")
	id := sha256.Sum256(append([]byte(soname+"\x00"), text...))

	b.section(".note.gnu.build-id", elf.SHT_NOTE, elf.SHF_ALLOC, note("GNU", 3, id[:20]), 4)
	b.section(".hash", elf.SHT_HASH, elf.SHF_ALLOC, hashTable(len(names)), 4).entsize = 4
	sym := b.section(".dynsym", elf.SHT_DYNSYM, elf.SHF_ALLOC, b.symbols(nil), 8)
	sym.data = make([]byte, (1+len(names))*len(sym.data))
	b.section(".dynstr", elf.SHT_STRTAB, elf.SHF_ALLOC, strs.data, 1)
	rodata := b.section(".rodata", elf.SHT_PROGBITS, elf.SHF_ALLOC, text, 1)
	code := b.section(".text", elf.SHT_PROGBITS, elf.SHF_ALLOC|elf.SHF_EXECINSTR,
		[]byte(strings.Repeat(l.machine.code, len(l.functions))), 16)
	dyn := b.section(".dynamic", elf.SHT_DYNAMIC, elf.SHF_ALLOC|elf.SHF_WRITE, b.dynamic(nil), 8)
	dyn.data = make([]byte, dynamicEntries*len(dyn.data))
	b.section(".comment", elf.SHT_PROGBITS, elf.SHF_MERGE|elf.SHF_STRINGS, []byte("hexmage open stand-in\x00"), 1).entsize = 1
	b.section(".shstrtab", elf.SHT_STRTAB, 0, b.sectionNames(), 1)

	b.place()
	sym.link, sym.info, sym.entsize = ".dynstr", 1, uint64(len(b.symbols(nil)))
	b.find(".hash").link = ".dynsym"
	dyn.link, dyn.entsize = ".dynstr", uint64(len(b.dynamic(nil)))

	table := []symbol{{}, {nameAt[0], elf.STT_OBJECT, b.index(".rodata"), rodata.addr, uint64(len(l.strings[0]) + 1)}}
	for i := range l.functions {
		size := uint64(len(l.machine.code))
		table = append(table, symbol{nameAt[i+1], elf.STT_FUNC, b.index(".text"), code.addr + uint64(i)*size, size})
	}
	sym.data = b.symbols(table)
	dyn.data = b.dynamic([]elf.Dyn64{
		{Tag: int64(elf.DT_SONAME), Val: uint64(sonameAt)},
		{Tag: int64(elf.DT_HASH), Val: b.find(".hash").addr},
		{Tag: int64(elf.DT_STRTAB), Val: b.find(".dynstr").addr},
		{Tag: int64(elf.DT_SYMTAB), Val: sym.addr},
		{Tag: int64(elf.DT_STRSZ), Val: uint64(len(strs.data))},
		{Tag: int64(elf.DT_SYMENT), Val: sym.entsize},
		{Tag: int64(elf.DT_NULL)},
	})
	return b.bytes()
}

// dynamicEntries is the length of the dynamic section, its end included.
const dynamicEntries = 7

type symbol struct {
	name  uint32
	typ   elf.SymType
	shndx uint16
	addr  uint64
	size  uint64
}

type stringTable struct{ data []byte }

func (t *stringTable) add(s string) uint32 {
	at := uint32(len(t.data))
	t.data = append(append(t.data, s...), 0)
	return at
}

// note is an ELF note with a name of three letters.
func note(name string, typ uint32, desc []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)+1))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(desc)))
	b = binary.LittleEndian.AppendUint32(b, typ)
	b = append(append(b, name...), 0)
	return append(b, desc...)
}

// hashTable is a SysV hash table of n symbols with a single bucket: a list, which needs no hash function.
func hashTable(n int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(n+1))
	b = binary.LittleEndian.AppendUint32(b, 1) // the bucket: the first symbol
	b = binary.LittleEndian.AppendUint32(b, 0) // the null symbol's place
	for i := range n {
		next := uint32(i + 2)
		if i == n-1 {
			next = 0
		}
		b = binary.LittleEndian.AppendUint32(b, next)
	}
	return b
}

func (b *layout) is64() bool { return b.m.class == elf.ELFCLASS64 }

func (b *layout) section(name string, typ elf.SectionType, flags elf.SectionFlag, data []byte, align uint64) *section {
	s := &section{name: name, typ: typ, flags: flags, data: data, align: align}
	b.sections = append(b.sections, s)
	return s
}

func (b *layout) find(name string) *section {
	return b.sections[b.index(name)-1]
}

// index is the section's number in the section header table; 0, the null section's, when there is none.
func (b *layout) index(name string) uint16 {
	for i, s := range b.sections {
		if s.name == name {
			return uint16(i + 1)
		}
	}
	return 0
}

// sectionNames is the content of .shstrtab, which is the last section and names itself.
func (b *layout) sectionNames() []byte {
	t := &stringTable{data: []byte{0}}
	for _, s := range b.sections {
		t.add(s.name)
	}
	t.add(".shstrtab")
	return t.data
}

// symbols encodes a symbol table; nil gives the bytes of one empty symbol.
func (b *layout) symbols(table []symbol) []byte {
	if table == nil {
		table = []symbol{{}}
	}
	var out bytes.Buffer
	for _, s := range table {
		info := byte(elf.STB_GLOBAL)<<4 | byte(s.typ)
		if s == (symbol{}) {
			info = 0
		}
		if b.is64() {
			put(&out, elf.Sym64{Name: s.name, Info: info, Shndx: s.shndx, Value: s.addr, Size: s.size})
		} else {
			put(&out, elf.Sym32{Name: s.name, Info: info, Shndx: s.shndx, Value: uint32(s.addr), Size: uint32(s.size)})
		}
	}
	return out.Bytes()
}

// dynamic encodes dynamic entries; nil gives the bytes of one empty entry.
func (b *layout) dynamic(entries []elf.Dyn64) []byte {
	if entries == nil {
		entries = []elf.Dyn64{{}}
	}
	var out bytes.Buffer
	for _, d := range entries {
		if b.is64() {
			put(&out, d)
		} else {
			put(&out, elf.Dyn32{Tag: int32(d.Tag), Val: uint32(d.Val)})
		}
	}
	return out.Bytes()
}

// put writes a value of fixed size, which cannot fail in memory.
func put(w *bytes.Buffer, v any) { _ = binary.Write(w, binary.LittleEndian, v) }
