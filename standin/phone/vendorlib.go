package phone

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
)

// Build ids of the QNN libraries that the device's vendor has put on it. They are made up, so that they are those of no SDK: what is pushed
// never agrees with them by chance, as it seldom does on a phone.
const (
	vendorQNN      = "v2.28.0.241101000000_100000"
	olderVendorQNN = "v2.20.0.240301000000_100000"
)

func checkBuildID(id string) error {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+\.\d{12}(_\d+)?$`).MatchString(id) {
		return fmt.Errorf("%q is no build id: want one such as %s", id, olderVendorQNN)
	}
	return nil
}

// vendorLibraries returns the vendor's QNN libraries by their paths on the device. They are ELF files that say what they are, and nothing else.
func vendorLibraries(arch, buildID string) map[string][]byte {
	number := strings.TrimPrefix(arch, "v")
	libs := map[string][]byte{}
	for _, name := range []string{"libQnnHtp.so", "libQnnHtpV" + number + "Stub.so", "libQnnSystem.so"} {
		libs["vendor/lib64/"+name] = standInLibrary(name, buildID, elf.EM_AARCH64, 0)
	}
	var flags uint32 // of Hexagon files the arch, in hexadecimal digits that look like it
	_, _ = fmt.Sscanf(number, "%x", &flags)
	skel := "libQnnHtpV" + number + "Skel.so"
	libs["vendor/dsp/cdsp/"+skel] = standInLibrary(skel, buildID, elf.EM_QDSP6, flags)
	return libs
}

// standInLibrary makes a shared object with a name, a build id among its read-only data, and no function.
func standInLibrary(soname, buildID string, machine elf.Machine, flags uint32) []byte {
	names := "\x00" + soname + "\x00"
	text := "hexmage emulator: in the place of a vendor's " + soname + "; no vendor code, does nothing\x00" + buildID + "\x00"
	sections := "\x00.dynstr\x00.rodata\x00.dynamic\x00.shstrtab\x00"
	if machine == elf.EM_QDSP6 {
		return assemble(names, text, sections, elf.ELFCLASS32, machine, flags, 52, 32, 40, 8)
	}
	return assemble(names, text, sections, elf.ELFCLASS64, machine, flags, 64, 56, 64, 16)
}

// assemble puts the file together: header, two program headers, the parts, five section headers. The last arguments are the sizes that the
// class gives a header, a program header, a section header and an entry of the dynamic section.
func assemble(names, text, sections string, class elf.Class, machine elf.Machine, flags uint32, header, program, section, entry int) []byte {
	at := func(sizes ...int) (sum int) {
		for _, n := range sizes {
			sum += n
		}
		return (sum + 15) &^ 15
	}
	namesAt := at(header, 2*program)
	textAt := at(namesAt, len(names))
	dynamicAt := at(textAt, len(text))
	sectionsAt := at(dynamicAt, 4*entry)
	tableAt := at(sectionsAt, len(sections))

	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	dynamic := [][2]int{{int(elf.DT_SONAME), 1}, {int(elf.DT_STRTAB), namesAt}, {int(elf.DT_STRSZ), len(names)}, {}}
	programs := [][3]int{{int(elf.PT_LOAD), 0, sectionsAt}, {int(elf.PT_DYNAMIC), dynamicAt, 4 * entry}} // type, offset, size
	table := [][6]int{                                                                                   // name, type, offset, size, link, size of an entry
		{},
		{1, int(elf.SHT_STRTAB), namesAt, len(names), 0, 0},
		{9, int(elf.SHT_PROGBITS), textAt, len(text), 0, 0},
		{17, int(elf.SHT_DYNAMIC), dynamicAt, 4 * entry, 1, entry},
		{26, int(elf.SHT_STRTAB), sectionsAt, len(sections), 0, 0},
	}
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // a buffer takes all
	pad := func(to int) { b.Write(make([]byte, to-b.Len())) }
	wide := class == elf.ELFCLASS64
	if wide {
		put(elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Phoff: uint64(header), Shoff: uint64(tableAt), Flags: flags,
			Ehsize: uint16(header), Phentsize: uint16(program), Phnum: 2, Shentsize: uint16(section), Shnum: uint16(len(table)), Shstrndx: 4})
	} else {
		put(elf.Header32{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Phoff: uint32(header), Shoff: uint32(tableAt), Flags: flags,
			Ehsize: uint16(header), Phentsize: uint16(program), Phnum: 2, Shentsize: uint16(section), Shnum: uint16(len(table)), Shstrndx: 4})
	}
	for _, p := range programs {
		if wide {
			put(elf.Prog64{Type: uint32(p[0]), Flags: uint32(elf.PF_R), Off: uint64(p[1]), Vaddr: uint64(p[1]), Paddr: uint64(p[1]), Filesz: uint64(p[2]), Memsz: uint64(p[2]), Align: 16})
		} else {
			put(elf.Prog32{Type: uint32(p[0]), Flags: uint32(elf.PF_R), Off: uint32(p[1]), Vaddr: uint32(p[1]), Paddr: uint32(p[1]), Filesz: uint32(p[2]), Memsz: uint32(p[2]), Align: 16})
		}
	}
	pad(namesAt)
	b.WriteString(names)
	pad(textAt)
	b.WriteString(text)
	pad(dynamicAt)
	for _, d := range dynamic {
		if wide {
			put(elf.Dyn64{Tag: int64(d[0]), Val: uint64(d[1])})
		} else {
			put(elf.Dyn32{Tag: int32(d[0]), Val: uint32(d[1])})
		}
	}
	pad(sectionsAt)
	b.WriteString(sections)
	pad(tableAt)
	for i, s := range table {
		var allocated int
		if i > 0 && i < 4 {
			allocated = int(elf.SHF_ALLOC)
		}
		if wide {
			put(elf.Section64{Name: uint32(s[0]), Type: uint32(s[1]), Flags: uint64(allocated), Addr: uint64(s[2]), Off: uint64(s[2]), Size: uint64(s[3]), Link: uint32(s[4]), Addralign: 1, Entsize: uint64(s[5])})
		} else {
			put(elf.Section32{Name: uint32(s[0]), Type: uint32(s[1]), Flags: uint32(allocated), Addr: uint32(s[2]), Off: uint32(s[2]), Size: uint32(s[3]), Link: uint32(s[4]), Addralign: 1, Entsize: uint32(s[5])})
		}
	}
	return b.Bytes()
}
