package qnn

import (
	"debug/elf"
	"fmt"
	"path"
	"slices"
	"strings"
)

// MachineHexagon is the machine number of Hexagon ELF files.
const MachineHexagon = elf.EM_QDSP6

// hexagonMach masks the bits of e_flags that hold the arch, as hexadecimal digits.
const hexagonMach = 0x3ff

// HexagonArch returns the arch for the e_flags of a Hexagon ELF file: "v79" for 0x79.
func HexagonArch(flags uint32) string { return fmt.Sprintf("v%x", flags&hexagonMach) }

// Operating systems of CPU libraries.
const (
	Android = "android"
	Linux   = "linux"
)

// System returns the operating system of an ELF file, or "". It examines the file's loader and needed libraries.
func System(machine elf.Machine, interpreter string, needed []string) string {
	if machine == MachineHexagon { // the DSP has its own system
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

// Glibc reports whether a library is part of the GNU C library on Linux.
func Glibc(lib string) bool {
	return strings.HasPrefix(lib, "libc.so.") || strings.HasPrefix(lib, "ld-linux")
}

// HexagonFlags returns the e_flags of code for an arch, or 0 for an invalid name.
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
