package elffile

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
)

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

// versionTable says where the fields of a table of versions are: a list of entries, each of which has a list of names.
type versionTable struct {
	table, length                          elf.DynTag
	size, count, first, next               uint64 // of an entry: its size, and where it says how many names it has, how far away they are, and the next entry
	nameSize, nameField, nameNext, maxName uint64 // of a name
}

// VersionNeeds returns the versions of symbols that a file needs of each library.
func (f *File) VersionNeeds() (map[string][]string, error) {
	needs := map[string][]string{}
	return needs, f.versions(versionTable{elf.DT_VERNEED, elf.DT_VERNEEDNUM, 16, 2, 8, 12, 16, 8, 12, maxVersions}, func(d *dynamic, entry []byte, version string) {
		lib := nameAt(d.names, uint64(f.Order.Uint32(entry[4:])))
		needs[lib] = append(needs[lib], version)
	})
}

// Versions returns the versions of symbols that a library defines.
func (f *File) Versions() ([]string, error) {
	var all []string
	const own = 1 // the names after the first are its parents'
	return all, f.versions(versionTable{elf.DT_VERDEF, elf.DT_VERDEFNUM, 20, 6, 12, 16, 8, 0, 4, own}, func(_ *dynamic, _ []byte, version string) {
		all = append(all, version)
	})
}

func (f *File) versions(t versionTable, each func(d *dynamic, entry []byte, version string)) error {
	d, err := f.dynamic()
	if err != nil {
		return err
	}
	at, left := d.tags[t.table], maxVersions
	for n := d.tags[t.length]; at != 0 && n > 0; n-- {
		entry, err := f.memory(at, t.size, "versions")
		if err != nil {
			return err
		}
		of := at + uint64(f.Order.Uint32(entry[t.first:]))
		for range min(uint64(f.Order.Uint16(entry[t.count:])), t.maxName) {
			if left--; left < 0 {
				return fmt.Errorf("versions: more than %d", maxVersions)
			}
			b, err := f.memory(of, t.nameSize, "versions")
			if err != nil {
				return err
			}
			each(d, entry, nameAt(d.names, uint64(f.Order.Uint32(b[t.nameField:]))))
			of += uint64(f.Order.Uint32(b[t.nameNext:]))
		}
		next := uint64(f.Order.Uint32(entry[t.next:]))
		if left--; next == 0 || left < 0 {
			return nil
		}
		at += next
	}
	return nil
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

// symbolCount finds out how many symbols there are, which no field says: a hash table of them does, or where the names begin.
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
