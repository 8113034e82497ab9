package inspect

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// dynamic reads what the loader is told: names of libraries, and symbols.
func (f *elfFile) dynamic() error {
	var b []byte
	for _, s := range f.segs {
		if elf.ProgType(s.kind) == elf.PT_DYNAMIC {
			var err error
			if b, err = f.read(s.off, min(s.filesz, maxDynamic), "dynamic table"); err != nil {
				return err
			}
		}
	}
	size := 8
	if f.wide {
		size = 16
	}
	tags := map[elf.DynTag]uint64{}
	var needed, runpath []uint64
	for ; len(b) >= size; b = b[size:] {
		tag, v := elf.DynTag(f.word(b)), f.word(b[size/2:])
		switch tag {
		case elf.DT_NULL:
			b = nil
		case elf.DT_NEEDED:
			needed = append(needed, v)
		case elf.DT_RPATH, elf.DT_RUNPATH:
			runpath = append(runpath, v)
		}
		tags[tag] = v
		if b == nil {
			break
		}
	}
	if tags[elf.DT_STRTAB] == 0 {
		return nil
	}
	if tags[elf.DT_STRSZ] > maxStrings || len(needed) > maxNeeded {
		return fmt.Errorf("dynamic table: %d bytes of names, %d libraries", tags[elf.DT_STRSZ], len(needed))
	}
	at, err := f.at(tags[elf.DT_STRTAB])
	if err != nil {
		return fmt.Errorf("names: %w", err)
	}
	strs, err := f.read(at, tags[elf.DT_STRSZ], "names")
	if err != nil {
		return err
	}
	name := func(off uint64) string {
		if off >= uint64(len(strs)) {
			return ""
		}
		return text(strs[off:])
	}
	for _, v := range needed {
		f.out.Needed = append(f.out.Needed, name(v))
	}
	for _, v := range runpath {
		f.out.RunPath = append(f.out.RunPath, strings.Split(name(v), ":")...)
	}
	if v, ok := tags[elf.DT_SONAME]; ok {
		f.out.SOName = name(v)
	}
	return f.symbols(tags, name)
}

func (f *elfFile) symbols(tags map[elf.DynTag]uint64, name func(uint64) string) error {
	if tags[elf.DT_SYMTAB] == 0 {
		return nil
	}
	size, other := uint64(16), 12
	if f.wide {
		size, other = 24, 4
	}
	n, err := f.symbolCount(tags, size)
	if err != nil {
		return err
	}
	at, err := f.at(tags[elf.DT_SYMTAB])
	if err != nil {
		return fmt.Errorf("symbols: %w", err)
	}
	b, err := f.read(at, n*size, "symbols")
	if err != nil {
		return err
	}
	for ; len(b) > 0; b = b[size:] {
		nameAt, info, section := uint64(f.order.Uint32(b)), b[other], elf.SectionIndex(f.order.Uint16(b[other+2:]))
		bind := elf.SymBind(info >> 4)
		switch {
		case nameAt == 0 || bind == elf.STB_LOCAL:
		case section == elf.SHN_UNDEF:
			if bind == elf.STB_GLOBAL {
				f.out.Undefined++
			}
		default:
			f.out.Exported++
			f.roles(name(nameAt))
		}
	}
	slices.Sort(f.out.OpPackage)
	slices.Sort(f.out.Entry)
	return nil
}

// roles notes the symbols that say what a library is to QNN.
func (f *elfFile) roles(symbol string) {
	const enough = 64
	switch {
	case symbol == "QnnInterface_getProviders", symbol == "QnnSystemInterface_getProviders":
		f.out.Entry = append(f.out.Entry, symbol)
	case strings.HasSuffix(symbol, "InterfaceProvider") && !strings.HasPrefix(symbol, "_Z") && len(f.out.OpPackage) < enough:
		f.out.OpPackage = append(f.out.OpPackage, symbol)
	}
}

var errNoCount = errors.New("symbols: the file does not say how many it has")

// symbolCount finds out how many symbols there are, which no field says: a hash table of them does, or where the names begin.
func (f *elfFile) symbolCount(tags map[elf.DynTag]uint64, size uint64) (uint64, error) {
	if v := tags[elf.DT_HASH]; v != 0 {
		at, err := f.at(v)
		if err != nil {
			return 0, fmt.Errorf("hash table: %w", err)
		}
		b, err := f.read(at, 8, "hash table")
		if err != nil {
			return 0, err
		}
		return limitSymbols(uint64(f.order.Uint32(b[4:])))
	}
	if v := tags[elf.DT_GNU_HASH]; v != 0 {
		return f.gnuCount(v)
	}
	if sym, str := tags[elf.DT_SYMTAB], tags[elf.DT_STRTAB]; str > sym {
		return limitSymbols((str - sym) / size)
	}
	return 0, errNoCount
}

func limitSymbols(n uint64) (uint64, error) {
	if n > maxSymbols {
		return 0, fmt.Errorf("symbols: %d, at most %d make sense", n, maxSymbols)
	}
	return n, nil
}

// gnuCount looks for the last symbol of GNU's hash table: the end of the chain that begins last.
func (f *elfFile) gnuCount(vaddr uint64) (uint64, error) {
	at, err := f.at(vaddr)
	if err != nil {
		return 0, fmt.Errorf("hash table: %w", err)
	}
	h, err := f.read(at, 16, "hash table")
	if err != nil {
		return 0, err
	}
	buckets, first, bloom := uint64(f.order.Uint32(h)), uint64(f.order.Uint32(h[4:])), uint64(f.order.Uint32(h[8:]))
	word := uint64(4)
	if f.wide {
		word = 8
	}
	if buckets > maxSymbols || bloom > maxSymbols || first > maxSymbols {
		return 0, fmt.Errorf("hash table: %d buckets, %d words of filter", buckets, bloom)
	}
	at += 16 + bloom*word
	b, err := f.read(at, 4*buckets, "hash table")
	if err != nil {
		return 0, err
	}
	last := uint64(0)
	for ; len(b) > 0; b = b[4:] {
		last = max(last, uint64(f.order.Uint32(b)))
	}
	if last < first {
		return first, nil // only undefined ones
	}
	if _, err := limitSymbols(last); err != nil {
		return 0, err
	}
	at += 4*buckets + 4*(last-first)
	const step = 1024
	for {
		b, err := f.read(at, 4*min(step, max(1, uint64(f.size)/4)), "hash table")
		if err != nil { // near the end of the file
			if b, err = f.read(at, 4, "hash table"); err != nil {
				return 0, err
			}
		}
		for ; len(b) > 0; b, at, last = b[4:], at+4, last+1 {
			if f.order.Uint32(b)&1 != 0 {
				return limitSymbols(last + 1)
			}
		}
		if last > maxSymbols {
			return limitSymbols(last)
		}
	}
}
