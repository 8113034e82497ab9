// Package elffile reads ELF files as their loader does, by the program headers, and writes small shared libraries.
//
// One enters it with Open. A file may be of anybody: whatever its headers say, what is read and kept is bounded, and
// nothing is taken for granted. debug/elf gives the types; its reader wants sections, which a stripped file need not
// have, and unpacks compressed ones, to any size. This package does not know what the machines' flags mean, nor what
// a library is for.
package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ErrNotELF is the error, wrapped, of a file that does not start as ELF.
var ErrNotELF = errors.New("not an ELF file")

// What a file may have at most of each; more is damage or malice.
const (
	maxSegments = 512
	maxSections = 100_000
	maxDynamic  = 1 << 16  // bytes
	maxNeeded   = 1024     // libraries, and folders to look for them in
	maxNames    = 64 << 20 // bytes
	maxSymbols  = 4 << 20
	maxNotes    = 64 << 10 // bytes
	maxText     = 4096     // bytes of one name
)

// File is an ELF file. It may be used by one goroutine at a time.
type File struct {
	Class   elf.Class
	Order   binary.ByteOrder
	Machine elf.Machine
	Type    elf.Type
	Flags   uint32 // e_flags, whose meaning is the machine's
	Size    int64

	r                  io.ReaderAt
	segments, sections table
	sectionNames       uint64     // the section that has them
	loaded             *[]segment // once they are read
	dyn                *dynamic   // likewise
}

// table is a table of headers in the file.
type table struct{ at, size, count uint64 }

type segment = elf.ProgHeader

// Open reads the header of an ELF file of the size.
func Open(r io.ReaderAt, size int64) (*File, error) {
	h := make([]byte, 64)
	if n, err := r.ReadAt(h, 0); n < 52 || !bytes.HasPrefix(h, []byte(elf.ELFMAG)) {
		if err == io.EOF {
			err = nil
		}
		return nil, errors.Join(ErrNotELF, err)
	}
	f := &File{r: r, Size: size, Class: elf.Class(h[elf.EI_CLASS])}
	switch d := elf.Data(h[elf.EI_DATA]); d {
	case elf.ELFDATA2LSB:
		f.Order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		f.Order = binary.BigEndian
	default:
		return nil, fmt.Errorf("%w: byte order %d; 1 (little) and 2 (big) are known", ErrNotELF, d)
	}
	half := func(at int) uint64 { return uint64(f.Order.Uint16(h[at:])) }
	f.Type, f.Machine = elf.Type(half(16)), elf.Machine(half(18))
	switch f.Class {
	case elf.ELFCLASS32:
		f.Flags, f.sectionNames = f.Order.Uint32(h[36:]), half(50)
		f.segments, f.sections = table{f.word(h[28:]), half(42), half(44)}, table{f.word(h[32:]), half(46), half(48)}
	case elf.ELFCLASS64:
		f.Flags, f.sectionNames = f.Order.Uint32(h[48:]), half(62)
		f.segments, f.sections = table{f.word(h[32:]), half(54), half(56)}, table{f.word(h[40:]), half(58), half(60)}
	default:
		return nil, fmt.Errorf("%w: class %d; 1 (32 bits) and 2 (64 bits) are known", ErrNotELF, f.Class)
	}
	return f, nil
}

func (f *File) wide() bool { return f.Class == elf.ELFCLASS64 }

// pick is the size of something in a file of 32 bits, or of 64.
func (f *File) pick(narrow, wide uint64) uint64 {
	if f.wide() {
		return wide
	}
	return narrow
}

// word reads an address or size: 4 or 8 bytes.
func (f *File) word(b []byte) uint64 {
	if f.wide() {
		return f.Order.Uint64(b)
	}
	return uint64(f.Order.Uint32(b))
}

// read returns n bytes at off, which must be there.
func (f *File) read(off, n uint64, what string) ([]byte, error) {
	if off > uint64(f.Size) || n > uint64(f.Size)-off {
		return nil, fmt.Errorf("%s: %d bytes at %d of a file of %d: it is cut off or damaged", what, n, off, f.Size)
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, int64(off)); err != nil && n > 0 {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return b, nil
}

// End returns how long a file must be for all that its headers speak of, in bytes.
func (f *File) End() uint64 {
	end := uint64(0)
	upTo := func(at, size uint64) {
		if at+size >= at { // else it is no place in any file, which loaders find out
			end = max(end, at+size)
		}
	}
	for _, t := range []table{f.segments, f.sections} {
		upTo(t.at, t.size*t.count)
	}
	segments, _ := f.Segments() // where their own table is cut off, that is known already
	for _, s := range segments {
		upTo(s.Off, s.Filesz)
	}
	return end
}

// Whole returns an error for a file that is shorter than its headers say.
func (f *File) Whole() error {
	if end := f.End(); end > uint64(f.Size) {
		return fmt.Errorf("its headers speak of %d bytes, and it has %d: it is cut off or damaged", end, f.Size)
	}
	return nil
}

// Segments returns the program headers.
func (f *File) Segments() ([]elf.ProgHeader, error) {
	if f.loaded != nil {
		return *f.loaded, nil
	}
	t, size := f.segments, f.pick(32, 56)
	if t.count > 0 && (t.count > maxSegments || t.size != size) {
		return nil, fmt.Errorf("program headers: %d of %d bytes", t.count, t.size)
	}
	b, err := f.read(t.at, t.count*size, "program headers")
	if err != nil && t.count > 0 {
		return nil, err
	}
	var all []segment
	for ; len(b) > 0; b = b[size:] {
		word := func(narrow, wide int) uint64 {
			if f.wide() {
				return f.word(b[wide:])
			}
			return f.word(b[narrow:])
		}
		all = append(all, segment{
			Type: elf.ProgType(f.Order.Uint32(b)), Flags: elf.ProgFlag(f.Order.Uint32(b[f.pick(24, 4):])),
			Off: word(4, 8), Vaddr: word(8, 16), Paddr: word(12, 24), Filesz: word(16, 32), Memsz: word(20, 40), Align: word(28, 48),
		})
	}
	f.loaded = &all
	return all, nil
}

// Page returns the smallest alignment of a segment that is loaded, 0 when none is.
func (f *File) Page() uint64 {
	page := uint64(0)
	segments, _ := f.Segments()
	for _, s := range segments {
		if s.Type == elf.PT_LOAD && (page == 0 || s.Align < page) {
			page = s.Align
		}
	}
	return page
}

// Interpreter returns the path of the loader that the file asks for, "" when it asks for none.
func (f *File) Interpreter() (string, error) {
	b, err := f.segment(elf.PT_INTERP, maxText, "interpreter")
	return text(string(b)), err
}

// segment returns the content of the first segment of a type, as far as the limit; nil when there is none.
func (f *File) segment(t elf.ProgType, limit uint64, what string) ([]byte, error) {
	segments, err := f.Segments()
	for _, s := range segments {
		if s.Type == t {
			return f.read(s.Off, min(s.Filesz, limit), what)
		}
	}
	return nil, err
}

// text is a string up to its zero byte, or to where no name goes on.
func text(s string) string {
	s = s[:min(len(s), maxText)]
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s
}

// place returns where in the file an address is.
func (f *File) place(addr uint64, what string) (uint64, error) {
	segments, err := f.Segments()
	for _, s := range segments {
		if s.Type == elf.PT_LOAD && addr >= s.Vaddr && addr-s.Vaddr < s.Filesz {
			return s.Off + (addr - s.Vaddr), nil
		}
	}
	return 0, errors.Join(err, fmt.Errorf("%s: address %#x is in no segment", what, addr))
}

// memory returns n bytes at an address, which must be there.
func (f *File) memory(addr, n uint64, what string) ([]byte, error) {
	at, err := f.place(addr, what)
	if err != nil {
		return nil, err
	}
	return f.read(at, n, what)
}

// Notes calls each for the notes, such as the id that a linker gives what it makes.
func (f *File) Notes(each func(name string, kind uint32, desc []byte)) error {
	segments, err := f.Segments()
	if err != nil {
		return err
	}
	for _, s := range segments {
		if s.Type != elf.PT_NOTE {
			continue
		}
		b, err := f.read(s.Off, min(s.Filesz, maxNotes), "notes")
		if err != nil {
			return err
		}
		for len(b) >= 12 {
			name, desc, kind := uint64(f.Order.Uint32(b)), uint64(f.Order.Uint32(b[4:])), f.Order.Uint32(b[8:])
			begin := 12 + (name+3)&^3
			end := begin + (desc+3)&^3
			if end > uint64(len(b)) {
				break // padding, or a note of another alignment
			}
			each(text(string(b[12:12+name])), kind, b[begin:begin+desc])
			b = b[end:]
		}
	}
	return nil
}

// Sections returns the section headers; a file need not have any. Size is that in the file, also of a compressed one.
func (f *File) Sections() ([]elf.SectionHeader, error) {
	t, size := f.sections, f.pick(40, 64)
	if t.at == 0 || t.count == 0 || f.sectionNames >= t.count || t.size != size || t.count > maxSections {
		return nil, nil
	}
	b, err := f.read(t.at, t.count*size, "section headers")
	if err != nil {
		return nil, err
	}
	var all []elf.SectionHeader
	var names []uint64
	for ; len(b) > 0; b = b[size:] {
		s := elf.SectionHeader{Type: elf.SectionType(f.Order.Uint32(b[4:])), Flags: elf.SectionFlag(f.word(b[8:]))}
		rest := b[f.pick(12, 16):]
		w := f.pick(4, 8)
		s.Addr, s.Offset, s.Size = f.word(rest), f.word(rest[w:]), f.word(rest[2*w:])
		s.Link, s.Info = f.Order.Uint32(rest[3*w:]), f.Order.Uint32(rest[3*w+4:])
		s.Addralign, s.Entsize = f.word(rest[3*w+8:]), f.word(rest[4*w+8:])
		if s.FileSize = s.Size; s.Type == elf.SHT_NOBITS {
			s.FileSize = 0
		}
		all, names = append(all, s), append(names, uint64(f.Order.Uint32(b)))
	}
	at := all[f.sectionNames]
	raw, err := f.read(at.Offset, min(at.Size, maxNames), "section names")
	if err != nil {
		return nil, err
	}
	for i, n := range names {
		all[i].Name = nameAt(string(raw), n)
	}
	return all, nil
}

// Data returns what a section has in the file, as far as the limit.
func (f *File) Data(s elf.SectionHeader, limit uint64) ([]byte, error) {
	return f.read(s.Offset, min(s.FileSize, limit), "section "+s.Name)
}

func nameAt(names string, at uint64) string {
	if at >= uint64(len(names)) {
		return ""
	}
	return text(names[at:])
}

// Dynamic is what the loader is told of libraries.
type Dynamic struct {
	Soname  string
	Needed  []string
	RunPath []string // folders to look for libraries in
}

// dynamic is the dynamic table: addresses, sizes, and places in the table of names.
type dynamic struct {
	tags            map[elf.DynTag]uint64
	needed, runPath []uint64
	names           string
}

// Dynamic returns what the loader is told; nothing for a file that is not linked dynamically.
func (f *File) Dynamic() (Dynamic, error) {
	d, err := f.dynamic()
	if err != nil {
		return Dynamic{}, err
	}
	var out Dynamic
	if at, ok := d.tags[elf.DT_SONAME]; ok {
		out.Soname = nameAt(d.names, at)
	}
	for _, at := range d.needed {
		out.Needed = append(out.Needed, nameAt(d.names, at))
	}
	for _, at := range d.runPath {
		out.RunPath = append(out.RunPath, strings.Split(nameAt(d.names, at), ":")...)
	}
	return out, nil
}

func (f *File) dynamic() (*dynamic, error) {
	if f.dyn != nil {
		return f.dyn, nil
	}
	b, err := f.segment(elf.PT_DYNAMIC, maxDynamic, "dynamic table")
	if err != nil {
		return nil, err
	}
	d := &dynamic{tags: map[elf.DynTag]uint64{}}
	half := int(f.pick(4, 8))
	for ; len(b) >= 2*half; b = b[2*half:] {
		tag, v := elf.DynTag(f.word(b)), f.word(b[half:])
		if tag == elf.DT_NULL {
			break
		}
		switch tag {
		case elf.DT_NEEDED:
			d.needed = append(d.needed, v)
		case elf.DT_RPATH, elf.DT_RUNPATH:
			d.runPath = append(d.runPath, v)
		}
		d.tags[tag] = v
	}
	if addr, size := d.tags[elf.DT_STRTAB], d.tags[elf.DT_STRSZ]; addr != 0 {
		if size > maxNames || len(d.needed) > maxNeeded || len(d.runPath) > maxNeeded {
			return nil, fmt.Errorf("dynamic table: %d bytes of names, %d libraries", size, len(d.needed))
		}
		names, err := f.memory(addr, size, "names")
		if err != nil {
			return nil, err
		}
		d.names = string(names)
	} else {
		d.needed, d.runPath = nil, nil
		delete(d.tags, elf.DT_SONAME)
	}
	f.dyn = d
	return d, nil
}

// DynamicSymbols calls each for the symbols that the loader knows, without the null symbol.
func (f *File) DynamicSymbols(each func(elf.Symbol)) error {
	d, err := f.dynamic()
	if err != nil || d.tags[elf.DT_SYMTAB] == 0 {
		return err
	}
	n, err := f.symbolCount(d)
	if err != nil {
		return err
	}
	b, err := f.memory(d.tags[elf.DT_SYMTAB], n*f.symbolSize(), "symbols")
	if err != nil {
		return err
	}
	f.symbols(b, d.names, each)
	return nil
}

// Symbols calls each for the symbols that debuggers know, without the null symbol. Files are often stripped of them.
func (f *File) Symbols(each func(elf.Symbol)) error {
	sections, err := f.Sections()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(sections, func(s elf.SectionHeader) bool { return s.Type == elf.SHT_SYMTAB })
	if i < 0 || uint64(sections[i].Link) >= uint64(len(sections)) {
		return nil
	}
	if n := sections[i].FileSize / f.symbolSize(); n > maxSymbols {
		return tooManySymbols(n)
	}
	b, err := f.Data(sections[i], maxSymbols*f.symbolSize())
	if err != nil {
		return err
	}
	names, err := f.Data(sections[sections[i].Link], maxNames)
	if err != nil {
		return err
	}
	f.symbols(b, string(names), each)
	return nil
}

func (f *File) symbolSize() uint64 { return f.pick(16, 24) }

func (f *File) symbols(b []byte, names string, each func(elf.Symbol)) {
	size := int(f.symbolSize())
	for b = b[min(size, len(b)):]; len(b) >= size; b = b[size:] {
		s := elf.Symbol{Name: nameAt(names, uint64(f.Order.Uint32(b)))}
		rest := b[4:]
		if !f.wide() {
			s.Value, s.Size, rest = f.word(b[4:]), f.word(b[8:]), b[12:]
		} else {
			s.Value, s.Size = f.word(b[8:]), f.word(b[16:])
		}
		s.Info, s.Other, s.Section = rest[0], rest[1], elf.SectionIndex(f.Order.Uint16(rest[2:]))
		each(s)
	}
}

// symbolCount finds out how many symbols there are, which no field says: a hash table of them does, or where the
// names begin.
func (f *File) symbolCount(d *dynamic) (uint64, error) {
	n := uint64(0)
	switch sym, names := d.tags[elf.DT_SYMTAB], d.tags[elf.DT_STRTAB]; {
	case d.tags[elf.DT_HASH] != 0:
		b, err := f.memory(d.tags[elf.DT_HASH], 8, "hash table")
		if err != nil {
			return 0, err
		}
		n = uint64(f.Order.Uint32(b[4:]))
	case d.tags[elf.DT_GNU_HASH] != 0:
		return f.gnuCount(d.tags[elf.DT_GNU_HASH])
	case names > sym:
		n = (names - sym) / f.symbolSize()
	default:
		return 0, errors.New("symbols: the file does not say how many it has")
	}
	if n > maxSymbols {
		return 0, tooManySymbols(n)
	}
	return n, nil
}

func tooManySymbols(n uint64) error {
	return fmt.Errorf("symbols: %d, at most %d make sense", n, maxSymbols)
}

// gnuCount looks for the last symbol of GNU's hash table: the end of the chain that begins last.
func (f *File) gnuCount(addr uint64) (uint64, error) {
	const what = "hash table"
	at, err := f.place(addr, what)
	if err != nil {
		return 0, err
	}
	h, err := f.read(at, 16, what)
	if err != nil {
		return 0, err
	}
	buckets, first, filter := uint64(f.Order.Uint32(h)), uint64(f.Order.Uint32(h[4:])), uint64(f.Order.Uint32(h[8:]))
	if buckets > maxSymbols || filter > maxSymbols || first > maxSymbols {
		return 0, fmt.Errorf("hash table: %d buckets, %d words of filter", buckets, filter)
	}
	at += 16 + filter*f.pick(4, 8)
	b, err := f.read(at, 4*buckets, what)
	if err != nil {
		return 0, err
	}
	last := uint64(0)
	for ; len(b) > 0; b = b[4:] {
		last = max(last, uint64(f.Order.Uint32(b)))
	}
	if last < first {
		return first, nil // only undefined ones
	}
	at += 4*buckets + 4*(last-first)
	const step = 4 << 10
	for last <= maxSymbols {
		left := uint64(f.Size) - min(uint64(f.Size), at)
		b, err := f.read(at, min(step, max(4, left&^3)), what)
		if err != nil {
			return 0, err
		}
		for ; len(b) >= 4; b, at, last = b[4:], at+4, last+1 {
			if f.Order.Uint32(b)&1 != 0 {
				return last + 1, nil
			}
		}
	}
	return 0, tooManySymbols(last)
}
