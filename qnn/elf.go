package qnn

import (
	"debug/elf"
	"fmt"
	"path"
	"slices"
	"strings"
)

// MachineHexagon is the machine of Hexagon's ELF files.
const MachineHexagon = elf.EM_QDSP6

// hexagonMach is the part of e_flags that is the arch, whose number it has as hexadecimal digits.
const hexagonMach = 0x3ff

// HexagonArch returns the arch that the e_flags of a Hexagon ELF file tell: 0x79 is v79.
func HexagonArch(flags uint32) string { return fmt.Sprintf("v%x", flags&hexagonMach) }

// Systems that the libraries of a processor with an operating system are for.
const (
	Android = "android"
	Linux   = "linux"
)

// System is the operating system that a file is for, by its loader and the libraries that it needs; "" where they do not say it.
func System(machine elf.Machine, interpreter string, needed []string) string {
	if machine == MachineHexagon { // the DSP's own
		return ""
	}
	if strings.HasPrefix(interpreter, "/system/bin/linker") {
		return Android
	}
	for _, lib := range append(slices.Clone(needed), path.Base(interpreter)) {
		switch {
		case lib == "liblog.so", lib == "libc.so" && machine == elf.EM_AARCH64:
			return Android
		case Glibc(lib), strings.HasPrefix(lib, "libc.musl"), strings.HasPrefix(lib, "ld-musl"):
			return Linux
		}
	}
	return ""
}

// Glibc tells whether a library is one that only Linux with the GNU C library has.
func Glibc(lib string) bool {
	return strings.HasPrefix(lib, "libc.so.") || strings.HasPrefix(lib, "ld-linux")
}

// HexagonFlags returns the e_flags of code for an arch, 0 for what is none.
func HexagonFlags(arch string) uint32 {
	var flags uint32
	for _, c := range strings.TrimPrefix(arch, "v") {
		if c < '0' || c > '9' || flags > hexagonMach {
			return 0
		}
		flags = flags<<4 | uint32(c-'0')
	}
	return flags
}
