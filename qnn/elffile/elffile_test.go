package elffile_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/qnn/elffile"
)

// library is a small one of a class.
func library(class elf.Class) []byte {
	l := elffile.Library{Class: class, Machine: elf.EM_AARCH64, Flags: 0x79, Page: 0x4000, Soname: "libx.so", Texts: []string{"first", "second"},
		Label: "label", Functions: []string{"open", "close"}, Code: "\x20\x00\x80\x52\xc0\x03\x5f\xd6", Comment: "made version 1"}
	return l.Bytes()
}

func open(t testing.TB, b []byte) *elffile.File {
	t.Helper()
	f, err := elffile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLibrary reads what is written.
func TestLibrary(t *testing.T) {
	for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
		b := library(class)
		f := open(t, b)
		if f.Class != class || f.Machine != elf.EM_AARCH64 || f.Flags != 0x79 || f.Type != elf.ET_DYN || f.Page() != 0x4000 {
			t.Errorf("%+v, pages of %#x", f, f.Page())
		}
		if _, err := elffile.Open(bytes.NewReader(b), int64(len(b)-1)); !errors.Is(err, elffile.ErrCutOff) {
			t.Errorf("without its last byte: %v", err)
		}
		if d, err := f.Dynamic(); err != nil || d.Soname != "libx.so" || d.Needed != nil {
			t.Errorf("%+v, %v", d, err)
		}
		notes := 0
		if err := f.Notes(func(name string, kind uint32, desc []byte) {
			if notes++; name != "GNU" || kind != 3 || len(desc) != 20 {
				t.Errorf("note %q %d %x", name, kind, desc)
			}
		}); err != nil || notes != 1 {
			t.Errorf("%d notes, %v", notes, err)
		}
		same(t, class.String(), b)
		if again := library(class); !bytes.Equal(b, again) {
			t.Error("the same library has other bytes")
		}
	}
}

// same compares symbols and libraries with those that debug/elf returns.
func same(t *testing.T, name string, b []byte) {
	t.Helper()
	f := open(t, b)
	want, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != want.Machine || f.Type != want.Type || f.Class != want.Class {
		t.Errorf("%s: %+v", name, f)
	}
	d, err := f.Dynamic()
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	needed, _ := want.ImportedLibraries()
	soname, _ := want.DynString(elf.DT_SONAME)
	if diff := cmp.Diff(needed, d.Needed); diff != "" || strings.Join(soname, "") != d.Soname {
		t.Errorf("%s: it is %s, want %q (-want +got):\n%s", name, d.Soname, soname, diff)
	}
	var symbols, dynamic []elf.Symbol
	if err := errors.Join(f.Symbols(func(s elf.Symbol) { symbols = append(symbols, s) }), f.DynamicSymbols(func(s elf.Symbol) { dynamic = append(dynamic, s) })); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	wantSymbols, _ := want.Symbols()
	wantDynamic, _ := want.DynamicSymbols()
	for i := range wantDynamic { // the versions of each are not asked for
		s := wantDynamic[i]
		wantDynamic[i] = elf.Symbol{Name: s.Name, Info: s.Info, Other: s.Other, Section: s.Section, Value: s.Value, Size: s.Size}
	}
	if !slices.Equal(wantSymbols, symbols) || len(wantDynamic) > 0 && !slices.Equal(wantDynamic, dynamic) {
		t.Errorf("%s: %d symbols and %d of the loader's, want %d and %d", name, len(symbols), len(dynamic), len(wantSymbols), len(wantDynamic))
	}
}

// TestReal reads this test's own program, and libraries of the machine.
func TestReal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := []string{self}
	for _, pattern := range []string{"/lib/*-linux-gnu/libc.so.6", "/lib/*-linux-gnu/libm.so.6", "/usr/lib/*-linux-gnu/libstdc++.so.6", "/lib64/libc.so.6", "/usr/bin/env"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(b, []byte(elf.ELFMAG)) { // not so on each system
			same(t, name, b)
		}
	}
}

// damaged are files that say of themselves what cannot be, with the error that they cause.
func damaged(t testing.TB) map[string]struct {
	file []byte
	want error
} {
	whole := library(elf.ELFCLASS64)
	le := binary.LittleEndian
	edit := func(change func(b []byte)) []byte {
		b := bytes.Clone(whole)
		change(b)
		return b
	}
	// section changes the header of a section.
	section := func(name string, change func(header []byte)) []byte {
		return edit(func(b []byte) {
			i := slices.IndexFunc(open(t, b).Sections, func(s *elf.Section) bool { return s.Name == name })
			change(b[le.Uint64(b[40:])+64*uint64(i):])
		})
	}
	compress := func(header []byte) { le.PutUint64(header[8:], uint64(elf.SHF_COMPRESSED)) }
	large := func(header []byte) { le.PutUint64(header[32:], 1<<40) }
	return map[string]struct {
		file []byte
		want error
	}{
		"headers at the end of numbers": {edit(func(b []byte) { le.PutUint64(b[32:], 1<<64-1); le.PutUint16(b[56:], 1<<16-1) }), elffile.ErrNotELF},
		"headers elsewhere":             {edit(func(b []byte) { le.PutUint64(b[32:], 1<<62) }), elffile.ErrNotELF},
		"many headers":                  {edit(func(b []byte) { le.PutUint16(b[56:], 65000) }), elffile.ErrNotELF},
		"large headers":                 {edit(func(b []byte) { le.PutUint16(b[54:], 65000) }), elffile.ErrNotELF},
		"sections elsewhere":            {edit(func(b []byte) { le.PutUint64(b[40:], 1<<63) }), elffile.ErrCutOff},
		"sections at the end":           {edit(func(b []byte) { le.PutUint64(b[40:], 1<<64-1) }), elffile.ErrCutOff},
		"many sections":                 {edit(func(b []byte) { le.PutUint16(b[60:], 65000) }), elffile.ErrCutOff},
		"sections without a number":     {edit(func(b []byte) { le.PutUint16(b[60:], 0) }), elffile.ErrNotELF},
		"names of none":                 {edit(func(b []byte) { le.PutUint16(b[62:], 65000) }), elffile.ErrNotELF},
		"no sections":                   {edit(func(b []byte) { le.PutUint64(b[40:], 0); le.PutUint32(b[60:], 0) }), nil},
		"cut in the middle":             {whole[:len(whole)/2], elffile.ErrCutOff},
		"cut after the header":          {whole[:64], elffile.ErrCutOff},
		"compressed names":              {section(".shstrtab", compress), elffile.ErrNotELF},
		"a long name": {append(section(".shstrtab", func(h []byte) {
			le.PutUint64(h[24:], uint64(len(whole)))
			le.PutUint64(h[32:], 8<<10)
		}), strings.Repeat("x", 8<<10-1)+"\x00"...), elffile.ErrNotELF},
		"compressed symbols":       {section(".dynsym", compress), elffile.ErrNotELF},
		"large symbols":            {section(".dynsym", large), elffile.ErrCutOff},
		"symbols nowhere":          {section(".dynsym", func(h []byte) { le.PutUint64(h[24:], 1<<63) }), elffile.ErrNotELF},
		"names of symbols nowhere": {section(".dynsym", func(h []byte) { le.PutUint32(h[40:], 65000) }), nil},
		"library name nowhere": {edit(func(b []byte) {
			at := open(t, b).Section(".dynamic").Offset
			le.PutUint64(b[at+8:], 1<<40)
		}), nil},
		"huge note": {edit(func(b []byte) {
			le.PutUint32(b[open(t, b).Section(".note.gnu.build-id").Offset+4:], 1<<31)
		}), nil},
		"text": {[]byte("#!/bin/sh\n" + strings.Repeat(" ", 100)), elffile.ErrNotELF},
	}
}

// everything asks for all that a file can be asked for, and returns what went wrong.
func everything(f *elffile.File) error {
	_ = f.Page()
	_, interpreter := f.Interpreter()
	_, dynamic := f.Dynamic()
	return errors.Join(interpreter, dynamic, f.Symbols(func(elf.Symbol) {}), f.DynamicSymbols(func(elf.Symbol) {}),
		f.Notes(func(string, uint32, []byte) {}))
}

func TestDamaged(t *testing.T) {
	for name, c := range damaged(t) {
		f, err := elffile.Open(bytes.NewReader(c.file), int64(len(c.file)))
		if err == nil {
			err = everything(f)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	whole := library(elf.ELFCLASS32)
	for name, b := range map[string][]byte{"empty": nil, "cut in the header": whole[:51],
		"class": append([]byte("\x7fELF\x07\x01"), whole[6:]...), "byte order": append([]byte("\x7fELF\x01\x07"), whole[6:]...)} {
		if f, err := elffile.Open(bytes.NewReader(b), int64(len(b))); !errors.Is(err, elffile.ErrNotELF) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// FuzzOpen reads files that anybody may have written: all questions end, in an answer or an error, and without a panic.
func FuzzOpen(f *testing.F) {
	for _, c := range damaged(f) {
		f.Add(c.file)
	}
	f.Add(library(elf.ELFCLASS32))
	f.Add(library(elf.ELFCLASS64))
	f.Add([]byte("\x7fELF"))
	if self, err := os.Executable(); err == nil {
		if b, err := os.ReadFile(self); err == nil {
			f.Add(b[:min(len(b), 64<<10)])
		}
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		if e, err := elffile.Open(bytes.NewReader(b), int64(len(b))); err == nil {
			_ = everything(e)
		}
	})
}
