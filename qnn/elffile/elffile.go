// Package elffile reads ELF files with debug/elf, and writes small shared libraries.
//
// Files are untrusted. debug/elf unpacks compressed sections to any size and copies a name for each section and
// symbol. So Open rejects compressed tables and long names, and this package reads symbols and libraries itself,
// with limits.
//
// It does not know the meaning of a machine's flags or the purpose of a library.
package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrNotELF means that a file has another format. Returned errors wrap it.
var ErrNotELF = errors.New("not an ELF file")

// ErrCutOff means that a file is shorter than its headers say. Returned errors wrap it.
var ErrCutOff = errors.New("truncated or damaged file")

// Limits of reads, in bytes unless noted.
const (
	maxDynamic = 1 << 16
	maxNeeded  = 1024 // libraries or library folders
	maxNames   = 64 << 20
	maxSymbols = 96 << 20
	maxNotes   = 64 << 10
	maxText    = 4096 // length of one name
)

// File is an ELF file.
type File struct {
	*elf.File
	Flags uint32 // e_flags; the meaning depends on the machine
}

// Open reads the headers of an ELF file of the given size. It fails if the headers refer to anything outside the file.
func Open(r io.ReaderAt, size int64) (*File, error) {
	h := make([]byte, 64)
	if n, err := r.ReadAt(h, 0); n < 52 || !bytes.HasPrefix(h, []byte(elf.ELFMAG)) {
		if err == io.EOF {
			err = nil
		}
		return nil, errors.Join(ErrNotELF, err)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if elf.Data(h[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	f := &File{Flags: order.Uint32(h[36:])}
	at := uint64(order.Uint32(h[32:]))
	each, count, names := order.Uint16(h[46:]), order.Uint16(h[48:]), order.Uint16(h[50:])
	word := func(header []byte, at, _ int) uint64 { return uint64(order.Uint32(header[at:])) }
	if elf.Class(h[elf.EI_CLASS]) == elf.ELFCLASS64 {
		f.Flags = order.Uint32(h[48:])
		at, each, count, names = order.Uint64(h[40:]), order.Uint16(h[58:]), order.Uint16(h[60:]), order.Uint16(h[62:])
		word = func(header []byte, _, at int) uint64 { return order.Uint64(header[at:]) }
	}
	if end := at + uint64(each)*uint64(count); end > uint64(size) || end < at {
		return nil, cutOff(end, size)
	}
	switch {
	case count == 0 && at > 0 || count > 0 && names >= count:
		return nil, fmt.Errorf("%w: invalid number of sections", ErrNotELF)
	case count > 0 && each < 40:
		return nil, fmt.Errorf("%w: each section header has %d bytes, expected at least 40", ErrNotELF, each)
	}
	header, texts := make([]byte, 40), uint64(0)
	section := func(i uint16) (err error) {
		if _, err = r.ReadAt(header, int64(at)+int64(i)*int64(each)); err != nil {
			err = fmt.Errorf("section header %d: %w", i, err)
		}
		return err
	}
	var err error
	if count > 0 {
		err = section(names)
		texts = word(header, 16, 24)
	}
	for i := uint16(0); i < count && err == nil; i++ {
		if err = section(i); err != nil {
			break
		}
		kind := elf.SectionType(order.Uint32(header[4:]))
		if elf.SectionFlag(word(header, 8, 8))&elf.SHF_COMPRESSED != 0 && kind != elf.SHT_PROGBITS {
			err = fmt.Errorf("%w: compressed section of unsupported type %v", ErrNotELF, kind)
		}
		name := io.NewSectionReader(r, int64(texts+uint64(order.Uint32(header))), maxText)
		if b, _ := io.ReadAll(name); len(b) == maxText && bytes.IndexByte(b, 0) < 0 {
			err = fmt.Errorf("%w: the name of section %d has more than %d bytes", ErrNotELF, i, maxText)
		}
	}
	if err != nil {
		return nil, err
	}
	if f.File, err = elf.NewFile(io.NewSectionReader(r, 0, size)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotELF, err)
	}
	end := uint64(0)
	for _, p := range f.Progs {
		end = max(end, p.Off+p.Filesz)
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS {
			end = max(end, s.Offset+s.FileSize)
		}
	}
	if end > uint64(size) {
		return nil, cutOff(end, size)
	}
	return f, nil
}

func cutOff(end uint64, size int64) error {
	return fmt.Errorf("%w: the headers describe %d bytes, but the file has %d", ErrCutOff, end, size)
}

// Page returns the smallest alignment of all loaded segments, or 0.
func (f *File) Page() (page uint64) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && (page == 0 || p.Align < page) {
			page = p.Align
		}
	}
	return page
}

// segments calls each with the content of the segments of a type, up to the limit.
func (f *File) segments(kind elf.ProgType, limit uint64, each func(content []byte)) error {
	for _, p := range f.Progs {
		if p.Type != kind {
			continue
		}
		b := make([]byte, min(p.Filesz, limit))
		if _, err := p.ReadAt(b, 0); err != nil {
			return err
		}
		each(b)
	}
	return nil
}

// Interpreter returns the path of the file's dynamic loader, or "".
func (f *File) Interpreter() (name string, err error) {
	err = f.segments(elf.PT_INTERP, maxText, func(b []byte) { name = nameAt(string(b), 0) })
	return name, err
}

// Notes passes every ELF note, such as the linker's build id, to the function each.
func (f *File) Notes(each func(name string, kind uint32, desc []byte)) error {
	return f.segments(elf.PT_NOTE, maxNotes, func(b []byte) {
		for len(b) >= 12 {
			name, desc, kind := f.word(b), f.word(b[4:]), f.ByteOrder.Uint32(b[8:])
			begin := 12 + (name+3)&^3
			end := begin + (desc+3)&^3
			if end > uint64(len(b)) {
				break // padding, or a note of another alignment
			}
			each(nameAt(string(b[12:12+name]), 0), kind, b[begin:begin+desc])
			b = b[end:]
		}
	})
}

func (f *File) word(b []byte) uint64 { return uint64(f.ByteOrder.Uint32(b)) }

// nameAt returns the name at an offset, up to its zero byte or the end.
func nameAt(names string, at uint64) string {
	if at >= uint64(len(names)) {
		return ""
	}
	name, _, _ := strings.Cut(names[at:min(uint64(len(names)), at+maxText)], "\x00")
	return name
}

// table returns the content of the first section of a type and the names that it refers to, or nothing.
func (f *File) table(kind elf.SectionType, limit uint64) (content []byte, names string, err error) {
	s := f.SectionByType(kind)
	if s == nil || s.Link >= uint32(len(f.Sections)) || f.Sections[s.Link].Type != elf.SHT_STRTAB {
		return nil, "", nil
	}
	text := f.Sections[s.Link]
	if s.FileSize > limit || text.FileSize > maxNames {
		return nil, "", fmt.Errorf("section %s is too large: %d bytes, and %d bytes of names",
			s.Name, s.FileSize, text.FileSize)
	}
	content, err = s.Data()
	if err != nil {
		return nil, "", err
	}
	b, err := text.Data()
	return content, string(b), err
}

// Dynamic holds the names in the dynamic section.
type Dynamic struct {
	Soname  string
	Needed  []string
	RunPath []string // library search folders
}

// Dynamic returns the names in the dynamic section. A static file has no names.
func (f *File) Dynamic() (d Dynamic, err error) {
	b, names, err := f.table(elf.SHT_DYNAMIC, maxDynamic)
	for half := f.size(4, 8); len(b) >= 2*half; b = b[2*half:] {
		tag, at := elf.DynTag(f.word(b)), f.word(b[half:])
		if half == 8 {
			tag, at = elf.DynTag(f.ByteOrder.Uint64(b)), f.ByteOrder.Uint64(b[half:])
		}
		switch {
		case tag == elf.DT_NULL:
			return d, nil
		case tag == elf.DT_SONAME:
			d.Soname = nameAt(names, at)
		case tag == elf.DT_NEEDED && len(d.Needed) < maxNeeded:
			d.Needed = append(d.Needed, nameAt(names, at))
		case (tag == elf.DT_RPATH || tag == elf.DT_RUNPATH) && len(d.RunPath) < maxNeeded:
			d.RunPath = append(d.RunPath, strings.Split(nameAt(names, at), ":")...)
		}
	}
	return d, err
}

// size returns narrow for a 32-bit file and wide for a 64-bit file.
func (f *File) size(narrow, wide int) int {
	if f.Class == elf.ELFCLASS64 {
		return wide
	}
	return narrow
}

// DynamicSymbols passes every dynamic symbol, except the null symbol, to the function each.
func (f *File) DynamicSymbols(each func(elf.Symbol)) error { return f.symbols(elf.SHT_DYNSYM, each) }

// Symbols passes every debugging symbol, except the null symbol, to the function each. Stripped files have no such
// symbols.
func (f *File) Symbols(each func(elf.Symbol)) error { return f.symbols(elf.SHT_SYMTAB, each) }

func (f *File) symbols(kind elf.SectionType, each func(elf.Symbol)) error {
	b, names, err := f.table(kind, maxSymbols)
	size := f.size(elf.Sym32Size, elf.Sym64Size)
	for b = b[min(size, len(b)):]; len(b) >= size; b = b[size:] {
		s := elf.Symbol{Name: nameAt(names, f.word(b))}
		rest := b[4:]
		if f.Class == elf.ELFCLASS64 {
			s.Value, s.Size = f.ByteOrder.Uint64(b[8:]), f.ByteOrder.Uint64(b[16:])
		} else {
			s.Value, s.Size, rest = f.word(b[4:]), f.word(b[8:]), b[12:]
		}
		s.Info, s.Other, s.Section = rest[0], rest[1], elf.SectionIndex(f.ByteOrder.Uint16(rest[2:]))
		each(s)
	}
	return err
}
