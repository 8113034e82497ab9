package qnn

import (
	"debug/elf"
	"fmt"
	"strings"
)

// MachineHexagon is the machine of Hexagon's ELF files.
const MachineHexagon = elf.EM_QDSP6

// hexagonMach is the part of e_flags that is the arch, whose number it has as hexadecimal digits.
const hexagonMach = 0x3ff

// HexagonArch returns the arch that the e_flags of a Hexagon ELF file tell: 0x79 is v79.
func HexagonArch(flags uint32) string { return fmt.Sprintf("v%x", flags&hexagonMach) }

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
