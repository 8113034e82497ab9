package inspect

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/qnn/buildid"
)

// ELF describes a program, library or object file.
type ELF struct {
	Class   string `json:"class"`
	Machine string `json:"machine"`
	Type    string `json:"type"`
	Flags   uint32 `json:"flags"`
	Arch    string `json:"arch,omitempty"` // of Hexagon files: v79

	SOName      string   `json:"soname,omitempty"`
	Needed      []string `json:"needed,omitempty"`
	RunPath     []string `json:"runpath,omitempty"`
	Interpreter string   `json:"interpreter,omitempty"`
	Exported    int      `json:"exported"`             // symbols
	Undefined   int      `json:"undefined"`            // symbols that others must have; weak ones are not counted
	PageAlign   uint64   `json:"page_align,omitempty"` // the smallest alignment of a loaded segment, in bytes

	OpPackage []string `json:"op_package,omitempty"`        // the symbols that QNN registers an op package by
	Entry     []string `json:"qnn_entry,omitempty"`         // the symbols by which QNN's own libraries are opened
	Providers []string `json:"qnn_providers,omitempty"`     // HTP_QTI_AISW: what such a library calls itself
	BuildIDs  []string `json:"qnn_build_ids,omitempty"`     // QNN build ids in the file's text
	Versions  []string `json:"qnn_aisw_versions,omitempty"` // 2.45.0
	GNUID     string   `json:"gnu_build_id,omitempty"`
	Android   *Android `json:"android,omitempty"`
	Compilers []string `json:"compilers,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
}

// Android is what the NDK says of a file.
type Android struct {
	API      uint32 `json:"api"`
	NDK      string `json:"ndk,omitempty"`       // r26c
	NDKBuild string `json:"ndk_build,omitempty"` // 11394342
}

// emHexagon is ELF's number for Hexagon, which debug/elf prints as a bare number.
const emHexagon = 164

// What a file may have at most of each; more is damage or malice.
const (
	maxSegments = 512
	maxSections = 100_000
	maxDynamic  = 1 << 16 // bytes
	maxStrings  = 64 << 20
	maxSymbols  = 4 << 20
	maxNotes    = 64 << 10
	maxNeeded   = 1024
	maxText     = 4096 // bytes of one string
)

// elfFile reads an ELF file as its loader would: by the program headers. debug/elf reads sections, which a stripped file need
// not have, and unpacks compressed ones, to any size.
type elfFile struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
	wide  bool // 64 bits
	head  []byte
	segs  []segment
	out   *ELF
}

type segment struct {
	kind, flags                uint32
	off, vaddr, filesz, palign uint64
}

func describeELF(r io.ReaderAt, size int64) (*ELF, error) {
	f := &elfFile{r: r, size: size, out: &ELF{}, head: make([]byte, 64)}
	if n, err := r.ReadAt(f.head, 0); n < 52 {
		return nil, fmt.Errorf("an ELF file that ends in its header: %w", errors.Join(err, io.ErrUnexpectedEOF))
	}
	if err := f.header(); err != nil {
		return nil, err
	}
	for _, step := range []func() error{f.segments, f.dynamic, f.notes, f.comment} {
		if err := step(); err != nil { // the header is known, which is worth telling
			f.out.Warnings = append(f.out.Warnings, err.Error())
		}
	}
	texts, err := buildid.Scan(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	f.out.BuildIDs, f.out.Providers, f.out.Versions = texts.IDs, texts.Providers, texts.Versions
	return f.out, nil
}

func (f *elfFile) header() error {
	switch elf.Class(f.head[elf.EI_CLASS]) {
	case elf.ELFCLASS32:
	case elf.ELFCLASS64:
		f.wide = true
	default:
		return fmt.Errorf("an ELF file of class %d; 1 (32 bits) and 2 (64 bits) are known", f.head[elf.EI_CLASS])
	}
	switch elf.Data(f.head[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
		f.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		f.order = binary.BigEndian
	default:
		return fmt.Errorf("an ELF file of byte order %d; 1 (little) and 2 (big) are known", f.head[elf.EI_DATA])
	}
	machine, kind := elf.Machine(f.order.Uint16(f.head[18:])), elf.Type(f.order.Uint16(f.head[16:]))
	f.out.Class, f.out.Machine, f.out.Type = elf.Class(f.head[elf.EI_CLASS]).String(), machine.String(), kind.String()
	at := 36 // of e_flags
	if f.wide {
		at = 48
	}
	f.out.Flags = f.order.Uint32(f.head[at:])
	if machine == emHexagon {
		f.out.Machine = "EM_HEXAGON"
		f.out.Arch = fmt.Sprintf("v%x", f.out.Flags&0x3ff) // in hexadecimal digits: 0x79 is v79
	}
	return nil
}

// word reads an address or size: 4 or 8 bytes.
func (f *elfFile) word(b []byte) uint64 {
	if f.wide {
		return f.order.Uint64(b)
	}
	return uint64(f.order.Uint32(b))
}

// read returns n bytes at off, which must be there.
func (f *elfFile) read(off, n uint64, what string) ([]byte, error) {
	if off > uint64(f.size) || n > uint64(f.size)-off {
		return nil, fmt.Errorf("%s: %d bytes at %d of a file of %d: it is cut off or damaged", what, n, off, f.size)
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, int64(off)); err != nil && n > 0 {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return b, nil
}

func (f *elfFile) segments() error {
	off, size, count := uint64(f.order.Uint32(f.head[28:])), uint64(f.order.Uint16(f.head[42:])), int(f.order.Uint16(f.head[44:]))
	want := uint64(32)
	if f.wide {
		off, size, count, want = f.order.Uint64(f.head[32:]), uint64(f.order.Uint16(f.head[54:])), int(f.order.Uint16(f.head[56:])), 56
	}
	if count == 0 {
		return nil
	}
	if count > maxSegments || size != want {
		return fmt.Errorf("program headers: %d of %d bytes", count, size)
	}
	b, err := f.read(off, uint64(count)*size, "program headers")
	if err != nil {
		return err
	}
	for ; len(b) > 0; b = b[size:] {
		s := segment{kind: f.order.Uint32(b), off: f.word(b[4:]), vaddr: f.word(b[8:]), filesz: f.word(b[16:]), flags: f.order.Uint32(b[24:]), palign: f.word(b[28:])}
		if f.wide {
			s = segment{kind: f.order.Uint32(b), flags: f.order.Uint32(b[4:]), off: f.word(b[8:]), vaddr: f.word(b[16:]), filesz: f.word(b[32:]), palign: f.word(b[48:])}
		}
		f.segs = append(f.segs, s)
		switch elf.ProgType(s.kind) {
		case elf.PT_LOAD:
			if f.out.PageAlign == 0 || s.palign < f.out.PageAlign {
				f.out.PageAlign = s.palign
			}
			if s.off > uint64(f.size) || s.filesz > uint64(f.size)-s.off {
				f.out.Warnings = append(f.out.Warnings, fmt.Sprintf("a segment of %d bytes at %d of a file of %d: it is cut off or damaged", s.filesz, s.off, f.size))
			}
		case elf.PT_INTERP:
			b, err := f.read(s.off, min(s.filesz, maxText), "interpreter")
			if err != nil {
				return err
			}
			f.out.Interpreter = text(b)
		}
	}
	return nil
}

// text is a string that ends with a zero byte, at most.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return strings.ToValidUTF8(string(b[:min(len(b), maxText)]), "\ufffd")
}

// at returns where in the file an address is.
func (f *elfFile) at(vaddr uint64) (uint64, error) {
	for _, s := range f.segs {
		if elf.ProgType(s.kind) == elf.PT_LOAD && vaddr >= s.vaddr && vaddr-s.vaddr < s.filesz {
			return s.off + (vaddr - s.vaddr), nil
		}
	}
	return 0, fmt.Errorf("address %#x is in no segment", vaddr)
}

// notes reads the build id of the linker and the NDK's note.
func (f *elfFile) notes() error {
	for _, s := range f.segs {
		if elf.ProgType(s.kind) != elf.PT_NOTE {
			continue
		}
		b, err := f.read(s.off, min(s.filesz, maxNotes), "notes")
		if err != nil {
			return err
		}
		for len(b) >= 12 {
			name, desc, kind := uint64(f.order.Uint32(b)), uint64(f.order.Uint32(b[4:])), f.order.Uint32(b[8:])
			begin := 12 + (name+3)&^3
			end := begin + (desc+3)&^3
			if end > uint64(len(b)) {
				break // padding, or a note of another alignment
			}
			f.note(text(b[12:12+name]), kind, b[begin:begin+desc])
			b = b[end:]
		}
	}
	return nil
}

func (f *elfFile) note(name string, kind uint32, desc []byte) {
	switch {
	case name == "GNU" && kind == 3 && len(desc) <= 64:
		f.out.GNUID = fmt.Sprintf("%x", desc)
	case name == "Android" && kind == 1 && len(desc) >= 4:
		f.out.Android = &Android{API: f.order.Uint32(desc)}
		if len(desc) >= 132 {
			f.out.Android.NDK, f.out.Android.NDKBuild = text(desc[4:68]), text(desc[68:132])
		}
	}
}

// comment reads which compilers made the file; that is in a section, and a file without sections does not tell.
func (f *elfFile) comment() error {
	off, size, count, names := uint64(f.order.Uint32(f.head[32:])), uint64(f.order.Uint16(f.head[46:])), uint64(f.order.Uint16(f.head[48:])), uint64(f.order.Uint16(f.head[50:]))
	want, at := uint64(40), 16
	if f.wide {
		off, size, count, names = f.order.Uint64(f.head[40:]), uint64(f.order.Uint16(f.head[58:])), uint64(f.order.Uint16(f.head[60:])), uint64(f.order.Uint16(f.head[62:]))
		want, at = 64, 24
	}
	if off == 0 || count == 0 || names >= count || size != want || count > maxSections {
		return nil
	}
	b, err := f.read(off, count*size, "section headers")
	if err != nil {
		return err
	}
	place := func(h []byte) (off, size uint64) {
		if f.wide {
			return f.word(h[at:]), f.word(h[at+8:])
		}
		return f.word(h[at:]), f.word(h[at+4:])
	}
	nameOff, nameSize := place(b[names*size:])
	strs, err := f.read(nameOff, min(nameSize, maxNotes), "section names")
	if err != nil {
		return err
	}
	for h := b; len(h) > 0; h = h[size:] {
		n := f.order.Uint32(h)
		if uint64(n) >= uint64(len(strs)) || text(strs[n:]) != ".comment" {
			continue
		}
		o, s := place(h)
		raw, err := f.read(o, min(s, maxNotes), "comment")
		if err != nil {
			return err
		}
		for _, line := range bytes.Split(raw, []byte{0}) {
			if t := strings.TrimSpace(text(line)); strings.Contains(t, "ersion") && !slices.Contains(f.out.Compilers, t) && len(f.out.Compilers) < 16 {
				f.out.Compilers = append(f.out.Compilers, t)
			}
		}
	}
	return nil
}
